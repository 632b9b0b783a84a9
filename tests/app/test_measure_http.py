"""Measure's endpoints, by gradio's own client and by plain HTTP, cut off from the network."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from benchmarks.faults.bad_file_kinds import BadFile, one_of_each
from probe.settings import ASSETS
from probe.tasks.nli import LABELS, NLI
from probe.tasks.paraphrase import LABELS as LABELS_OF_PARAPHRASE
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from tests.app.test_train_http import reached
from tests.conftest import App
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.processes.running_app import add_model, answer_over_http

QUESTIONS = ASSETS / "examples" / "questions.csv"
TWO = {"text1": "Who is it?", "text2": "Who is he?"}
FIFTY = random.Random(1).sample(list(one_of_each(seed=1)), 50)
LONGEST = 600
"""Characters of a sentence."""


@pytest.fixture(scope="module")
def paraphrase_models(app: App) -> list[str]:
    """Two tiny models of another task than inference."""
    return [add_model(app, name, PARAPHRASE_IDENTIFICATION) for name in ("para-a", "para-b")]


def given(folder: Path, text: str, name: str = "mine.csv") -> Any:  # Any: gradio's file
    """Write a file and return it as it is sent."""
    path = folder / name
    path.write_text(text)
    return handle_file(str(path))


def rows_of(file: str) -> list[dict[str, str]]:
    with Path(file).open(newline="") as opened:
        return list(csv.DictReader(opened))


def test_a_file_is_scored_and_its_summary_returned(
    app: App, client: Client, tmp_path: Path
) -> None:
    text = "id,premise,hypothesis,label\n007,Ola swims.,Ola swims.,e\n008,Ola swims.,,n\n"
    summary, files = client.predict(given(tmp_path, text), "sort", api_name="/batch")
    assert (summary["rows"], summary["scored"], summary["errors"]) == (2, 1, 1)
    scored = rows_of(files[0])
    assert [row["id"] for row in scored] == ["007", "008"]
    assert scored[1]["error"] == "the hypothesis is empty"
    assert scored[0]["sort.hypothesis"] == "ola swims ."
    assert json.loads(Path(files[1]).read_text()) == summary
    asked = {"importance": "gradient_x_input", "api_name": "/batch"}
    *_, words = client.predict(given(tmp_path, text), "", **asked)[1]
    assert [row["word"] for row in rows_of(words)] == ["Ola", "swims", "."] * 2
    _, files = client.predict(given(tmp_path, text), "negation", api_name="/batch")
    assert Path(files[-1]).name == "mine-training.jsonl" and len(files) == 4
    with pytest.raises(AppError, match=r"no columns 'premise' and 'hypothesis' .*text, label"):
        client.predict(given(tmp_path, "text,label\nA.,neutral\n"), "sort", api_name="/batch")


def test_uploaded_files_of_answers_stand_where_models_stand(
    app: App, client: Client, tmp_path: Path
) -> None:
    text = "premise,hypothesis,label\nOla swims.,Ola moves.,e\nOla swims.,Ola is glad.,n\n"
    sent = {"files": ("base.tsv", "index\tprediction\n0\tneutral\n1\tneutral\n")}
    (path,) = httpx.post(f"{app.url}gradio_api/upload", files=sent).json()
    name, file = f"answers:{Path(path).parent.name}", given(tmp_path, text)
    summary, _ = client.predict(file, "", name, api_name="/batch")
    assert (summary["model"], summary["accuracy"], summary["precision"]) == ("base.tsv", 0.5, None)
    bundled = client.predict(file, "", name, bundle="premise", api_name="/batch")[0]
    assert bundled["contrast_sets"]["models"]["base.tsv"]["consistency"]["value"] == 0
    both = client.predict(file, f"{name},minilm", bundle="premise", api_name="/compare")[0]
    assert both["contrast_sets"]["models"]["base.tsv"]["by_row"]["value"] == 0.5
    compared, files = client.predict(file, f"{name},minilm", api_name="/compare")
    assert compared["models"] == ["base.tsv", "minilm"]
    assert [row["base.tsv.prediction"] for row in rows_of(files[0])] == ["neutral", "neutral"]
    for wrong in ("answers:..", f"answers:{'0' * 64}"):
        with pytest.raises(AppError, match="not here any more"):
            client.predict(file, "", wrong, api_name="/batch")


def test_a_file_of_any_task_is_scored_with_its_columns_and_labels_said(
    app: App, client: Client, tmp_path: Path
) -> None:
    said = {
        "task": "sentiment",
        "columns": json.dumps({"text": "opinion", "gold": "stars"}),
        "label_values": json.dumps({"five": "positive", "one": "negative"}),
    }
    file = given(tmp_path, "opinion,stars\nA joy.,five\nA bore.,one\n")
    asked = {"file": file, "transforms": "sort", **said, "api_name": "/batch"}
    summary, _ = client.predict(model=add_model(app, "tiny-sentiment", SENTIMENT), **asked)
    assert (summary["scored"], summary["accuracy_n"]) == (2, 2)
    assert set(summary["by_label"]) == {"positive", "negative"}
    assert client.predict(**asked)[0]["model"] == "minilm_sst2"
    with pytest.raises(AppError, match=r"the task sentiment has no text 'premise'"):
        client.predict(**asked | {"columns": '{"premise": "opinion"}'})
    file = handle_file(str(QUESTIONS))
    summary, _ = client.predict(file, model="minilm_qqp", api_name="/batch")
    assert set(summary["by_label"]) == {"paraphrase", "non-paraphrase"}
    with pytest.raises(AppError, match="no columns 'premise' and 'hypothesis'"):
        client.predict(file, model="minilm_qqp", task="nli", api_name="/batch")


def test_a_file_and_texts_of_another_task_come_by_plain_http(
    app: App, paraphrase_models: list[str]
) -> None:
    with httpx.Client(base_url=f"{app.url}gradio_api", timeout=120) as http:
        sent = {"files": (QUESTIONS.name, QUESTIONS.read_bytes())}
        (place,) = http.post("/upload", files=sent).json()
        file = {"path": place, "orig_name": "questions.csv", "meta": {"_type": "gradio.FileData"}}
        data = [file, "", paraphrase_models[0], 0, 0.5, "support", "auto", "{}", "", "paraphrase"]
        asked = {"data": [*data, "{}", "{}", "", "cut", "", ""]}
        event = http.post("/call/batch", json=asked).json()["event_id"]
        stream = http.get(f"/call/batch/{event}").text
    assert "event: complete" in stream
    summary = json.loads(stream.rpartition("data: ")[2])[0]
    assert (summary["rows"], summary["scored"]) == (40, 40)
    values = ["", "", ",".join(paraphrase_models), "", "fp32", "", TWO, "paraphrase", "cut"]
    shape = answer_over_http(app.url, "compare_pair", values)
    assert [one["model"] for one in shape["models"]] == paraphrase_models


def test_models_are_compared_on_a_file_and_on_one_example_of_their_task(
    client: Client, second: str, paraphrase_models: list[str], tmp_path: Path
) -> None:
    file = given(tmp_path, "premise,hypothesis,label\nA dog barks.,A cat barks.,c\nA dog.,,n\n")
    shape, files = client.predict(file, f"minilm, {second}", "fp32", api_name="/compare")
    assert (shape["models"], shape["rows"], shape["errors"]) == (["minilm", second], 2, 1)
    scored = rows_of(files[0])
    assert scored[0][f"{second}.prediction"] in LABELS
    assert scored[1]["error"] == "the hypothesis is empty"
    assert json.loads(Path(files[1]).read_text()) == shape
    pair = client.predict("A dog.", "A cat.", ["minilm", second], api_name="/compare_pair")
    assert [one["model"] for one in pair["models"]] == ["minilm", second]
    named = ",".join(paraphrase_models)
    file = given(tmp_path, "question1,question2,is_duplicate,label\nWho is it?,Who is he?,1,1\n")
    for task in ("paraphrase", ""):
        shape, files = client.predict(file, named, "fp32", "", task, api_name="/compare")
        assert (shape["models"], shape["scored"], shape["errors"]) == (paraphrase_models, 1, 0)
        assert "text1" not in Path(files[0]).read_text().splitlines()[0]
        asked = {"models": paraphrase_models, "texts": TWO, "task": task}
        shape = client.predict(**asked, api_name="/compare_pair")
        assert shape["text2"] == TWO["text2"]
        assert all(one["label"] in LABELS_OF_PARAPHRASE for one in shape["models"])


def test_readers_are_compared_by_f1_and_a_bootstrap(
    app: App, client: Client, tmp_path: Path
) -> None:
    readers = ["reader-a", "reader-b"]
    for name in readers:
        add_model(app, name, READING)
    file = given(tmp_path, "question,context,answers\nWho sat?,The man sat.,The man\n")
    asked = file, ",".join(readers), "fp32", "", "reading"
    shape, files = client.predict(*asked, api_name="/compare")
    assert list(shape["f1"]) == list(shape["em"]) == readers
    assert shape["pairs_of_models"][0]["bootstrap"]["n"] == 1
    assert f"{readers[0]}.f1" in Path(files[0]).read_text().splitlines()[0]
    texts = {"question": "Who sat?", "passage": "The man sat."}
    one = client.predict(
        models=readers, texts=texts, task="reading", gold="The man", api_name="/compare_pair"
    )
    assert all(0 <= answer["f1"] <= 1 for answer in one["models"])


def test_a_profile_and_a_check_up_end_with_what_they_found(
    client: Client, second: str, tmp_path: Path
) -> None:
    shape = client.predict([second], 1, api_name="/hans")
    assert len(shape["models"][second]["heuristics"]) == 6
    path = tmp_path / "mine.jsonl"
    rows = [
        {"premise": each.premise, "hypothesis": each.hypothesis, "label": f"our {each.gold}"}
        for each in tiny_pairs(8)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    values = json.dumps({f"our {label}": label for label in NLI.labels})
    asked = {"n": 2, "per_subcase": 1, "file": handle_file(str(path)), "label_values": values}
    started = client.predict(model=second, **asked, api_name="/checkup")
    run = (started["run"], started["owner"])
    reached(client, run)
    told = client.predict(*run, api_name="/run")
    assert told["plan"]["file"] == "mine.jsonl" and told["cells"][0]["part"] == "plain"
    assert told["verdict"]["findings"][0].endswith("of 8 pairs.")


def refusal(client: Client, *asked: object, api_name: str) -> str:
    """Return the sentence with which a call is refused, "" where it is answered."""
    try:
        summary, files = client.predict(*asked, api_name=api_name)
    except AppError as refused:
        return str(refused)
    assert summary["rows"] >= summary["errors"]
    assert all(Path(file).is_file() for file in files)
    return ""


@each("bad", FIFTY)
def test_a_bad_file_is_answered_or_refused_by_a_sentence(
    app: App, client: Client, second: str, bad: BadFile, tmp_path: Path
) -> None:
    def tracebacks() -> int:
        return (app.home / "app.log").read_text().count("Traceback")

    before, path = tracebacks(), tmp_path / bad.name
    path.write_bytes(bad.data)
    upload = handle_file(str(path))
    scored = refusal(client, upload, "sort", api_name="/batch")
    compared = refusal(client, upload, f"minilm,{second}", "fp32", api_name="/compare")
    for sentence in filter(None, (scored, compared)):
        assert len(sentence) <= LONGEST and "\n" not in sentence and "Error:" not in sentence
    assert bool(scored) == bool(compared)
    assert tracebacks() == before


def test_a_text_one_longer_than_is_read_is_its_rows_error(client: Client, tmp_path: Path) -> None:
    rows = [f"A dog barks.,{'b' * (50_000 + more)}" for more in (0, 1)]
    file = given(tmp_path, "\n".join(["premise,hypothesis", *rows, ""]))
    summary, files = client.predict(file, "", api_name="/batch")
    assert (summary["scored"], summary["errors"]) == (1, 1)
    assert "at most 50,000 are read here" in Path(files[0]).read_text()


def test_a_set_is_looked_at_without_a_model_and_with_one(
    app: App, client: Client, tmp_path: Path
) -> None:
    lines = [f"{p.premise},{p.hypothesis},{p.gold}\n" for p in tiny_pairs(60)]
    file = given(tmp_path, "premise,hypothesis,label\n" + "".join(lines))
    asked = {"file": file, "api_name": "/data", "least": 10}
    shape = client.predict(**asked)
    assert ("not", "contradiction") in {(word["text"], word["label"]) for word in shape["words"]}
    shape = client.predict(**asked, against=file, model=add_model(app, "tiny-data", NLI))
    assert (shape["shared"]["equal"], shape["weighed"][0]["having"]["n"]) == (60, 60)
    assert shape["weighed"][0]["lacking"] is None  # every row has a word that gives it away
    with pytest.raises(AppError, match="has no text 'text'"):
        client.predict(**asked, field="text")


def test_a_set_is_mapped_by_what_a_training_says(client: Client, tmp_path: Path) -> None:
    rows = [
        {"id": at, "gold": at % 3, "epoch 0": [3, 0, 0], "epoch 1": [2, 0, 0]} for at in range(6)
    ]
    own = given(tmp_path, "\n".join(map(json.dumps, rows)), "own.jsonl")
    golds = ["entailment", "neutral", "contradiction"]
    lines = [f"A man sleeps.,It is {at}.,{golds[at % 3]}\n" for at in range(6)]
    file = given(tmp_path, "premise,hypothesis,label\n" + "".join(lines))
    shape, place = client.predict([own], file, share=0.5, api_name="/map")
    assert shape["accuracy"] == [1 / 3, 1 / 3] and shape["too_few"].startswith("2 epochs")
    assert shape["regions"]["easy"]["labels"]["entailment"]["value"] == 2 / 3
    assert "It is 5." in Path(place).read_text()
    with pytest.raises(AppError, match="first is 0 or 1"):
        client.predict([own], first="2", api_name="/map")
    moved = given(tmp_path, "premise,hypothesis,label\n" + "".join(lines[1:] + lines[:2]))
    with pytest.raises(AppError, match="cannot be joined"):
        client.predict([own], moved, labels=",".join(golds), api_name="/map")
