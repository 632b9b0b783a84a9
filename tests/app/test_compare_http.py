"""The Compare tab's endpoints, by gradio's own client, cut off from the network."""

import csv
import json
from pathlib import Path

import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from probe.tasks.nli import LABELS
from probe.tasks.paraphrase import LABELS as LABELS_OF_PARAPHRASE
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from tests.conftest import App
from tests.support.models.tiny_bert import tiny_reader
from tests.support.processes.running_app import add_model, answer_over_http


@pytest.fixture(scope="module")
def paraphrase_models(app: App) -> list[str]:
    """Two tiny models of another task than inference."""
    return [add_model(app, name, PARAPHRASE_IDENTIFICATION) for name in ("para-a", "para-b")]


@pytest.fixture(scope="module")
def readers(app: App) -> list[str]:
    """Two tiny readers."""
    names, folder = ["reader-a", "reader-b"], app.home / "models"
    folder.mkdir(exist_ok=True)
    for name in names:
        tiny_reader(app.home / "unready").rename(folder / name)
    return names


def test_compare_returns_the_scored_file_and_its_summary(
    client: Client, second: str, tmp_path: Path
) -> None:
    upload = tmp_path / "mine.csv"
    upload.write_text("premise,hypothesis,label\nA dog barks.,A cat barks.,c\nA dog barks.,,n\n")
    shape, files = client.predict(
        handle_file(str(upload)), f"minilm, {second}", "fp32", api_name="/compare"
    )
    assert (shape["models"], shape["rows"], shape["errors"]) == (["minilm", second], 2, 1)
    with Path(files[0]).open(newline="") as file:
        scored = list(csv.DictReader(file))
    assert scored[0][f"{second}.prediction"] in LABELS
    assert scored[1]["error"] == "the hypothesis is empty"
    assert json.loads(Path(files[1]).read_text()) == shape


def test_compare_answers_for_one_pair(client: Client, second: str) -> None:
    shape = client.predict(
        "A dog barks.", "A dog is silent.", ["minilm", second], api_name="/compare_pair"
    )
    assert [one["model"] for one in shape["models"]] == ["minilm", second]


def test_a_paraphrase_file_is_compared_and_recognised_by_its_columns(
    client: Client, paraphrase_models: list[str], tmp_path: Path
) -> None:
    upload = tmp_path / "questions.csv"
    upload.write_text("question1,question2,is_duplicate,label\nWho is it?,Who is he?,1,1\n")
    shape, files = client.predict(
        handle_file(str(upload)),
        ",".join(paraphrase_models),
        "fp32",
        "",
        "paraphrase",
        api_name="/compare",
    )
    assert (shape["models"], shape["scored"], shape["errors"]) == (paraphrase_models, 1, 0)
    assert "text1" not in Path(files[0]).read_text().splitlines()[0]


def test_readers_are_compared_by_f1_and_a_bootstrap(
    client: Client, readers: list[str], tmp_path: Path
) -> None:
    upload = tmp_path / "mine.csv"
    upload.write_text("question,context,answers\nWho sat?,The man sat.,The man\n")
    shape, files = client.predict(
        handle_file(str(upload)), ",".join(readers), "fp32", "", "reading", api_name="/compare"
    )
    assert list(shape["f1"]) == list(shape["em"]) == readers
    assert shape["pairs_of_models"][0]["bootstrap"]["n"] == 1
    assert f"{readers[0]}.f1" in Path(files[0]).read_text().splitlines()[0]
    asked = {"question": "Who sat?", "passage": "The man sat."}
    one = client.predict(
        models=readers, texts=asked, task="reading", gold="The man", api_name="/compare_pair"
    )
    assert all(0 <= answer["f1"] <= 1 for answer in one["models"])


def test_texts_of_another_task_come_by_their_fields(
    client: Client, paraphrase_models: list[str]
) -> None:
    shape = client.predict(
        models=paraphrase_models,
        texts={"text1": "Who is it?", "text2": "Who is he?"},
        task="paraphrase",
        api_name="/compare_pair",
    )
    assert shape["text2"] == "Who is he?"
    assert [one["label"] in LABELS_OF_PARAPHRASE for one in shape["models"]] == [True, True]


def test_the_task_of_models_on_disk_need_not_be_said(
    client: Client, paraphrase_models: list[str], tmp_path: Path
) -> None:
    texts = {"text1": "Who is it?", "text2": "Who is he?"}
    shape = client.predict(models=paraphrase_models, texts=texts, api_name="/compare_pair")
    assert shape["text2"] == "Who is he?"
    upload = tmp_path / "questions.csv"
    upload.write_text("question1,question2\nWho is it?,Who is he?\n")
    asked = handle_file(str(upload)), ",".join(paraphrase_models)
    shape, _ = client.predict(*asked, api_name="/compare")
    assert (shape["models"], shape["scored"]) == (paraphrase_models, 1)


def test_texts_of_another_task_come_as_plain_json_over_http(
    app: App, paraphrase_models: list[str]
) -> None:
    texts = {"text1": "Who is it?", "text2": "Who is he?"}
    values = ["", "", ",".join(paraphrase_models), "", "fp32", "", texts, "paraphrase", "cut"]
    shape = answer_over_http(app.url, "compare_pair", values)
    assert [one["model"] for one in shape["models"]] == paraphrase_models


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"task": "sentiment", "texts": {"text": "A fine film."}}, "answers another task"),
        ({"task": "translation", "texts": {}}, "there is no task 'translation' here"),
        ({"task": "sentiment", "texts": {"text1": "A fine film."}}, "has no text 'text1'"),
        ({"task": "paraphrase", "premise": "A dog barks."}, "has no text 'premise'"),
        ({"task": "paraphrase", "texts": {"text1": "Who?"}}, "the second text is empty"),
    ],
)
def test_what_does_not_fit_the_task_is_refused_by_a_sentence(
    client: Client, paraphrase_models: list[str], given: dict[str, object], sentence: str
) -> None:
    with pytest.raises(AppError, match=sentence):
        client.predict(models=paraphrase_models, api_name="/compare_pair", **given)


def test_the_profile_has_every_heuristic_and_label(client: Client, second: str) -> None:
    shape = client.predict([second], 1, api_name="/hans")
    assert len(shape["models"][second]["heuristics"]) == 6


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        (["minilm"], "choose two models or more"),
        (["minilm", "/etc"], "no model called '/etc'"),
        (["minilm", "minilm"], "named twice"),
    ],
)
def test_models_that_cannot_be_compared_are_refused_by_a_sentence(
    client: Client, models: list[str], sentence: str
) -> None:
    with pytest.raises(AppError, match=sentence):
        client.predict("A dog barks.", "It is silent.", models, api_name="/compare_pair")


def test_a_profile_of_too_many_pairs_is_refused_by_a_sentence(client: Client) -> None:
    with pytest.raises(AppError, match="1 to 500 pairs"):
        client.predict(["minilm"], 501, api_name="/hans")
