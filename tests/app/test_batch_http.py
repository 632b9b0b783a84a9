"""The Batch tab's endpoint, by gradio's own client, cut off from the network."""

import csv
import json
from pathlib import Path

import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from probe.settings import ASSETS
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from tests.conftest import App
from tests.support.processes.running_app import add_model


def test_batch_returns_the_scored_file_and_its_summary(client: Client, tmp_path: Path) -> None:
    upload = tmp_path / "mine.csv"
    rows = [
        ["id", "premise", "hypothesis", "label"],
        ["007", "Ola swims every morning.", "Ola swims.", "entailment"],
        ["008", "Ola swims every morning.", "", "neutral"],
        ["009", "Ola swims every morning.", "Ola never swims.", "contradiction"],
    ]
    with upload.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    summary, files = client.predict(handle_file(str(upload)), "sort", api_name="/batch")
    assert (summary["rows"], summary["scored"], summary["errors"]) == (3, 2, 1)
    with Path(files[0]).open(newline="") as file:
        scored = list(csv.DictReader(file))
    assert [row["id"] for row in scored] == ["007", "008", "009"]
    assert scored[1]["error"] == "the hypothesis is empty"
    assert scored[0]["sort.hypothesis"] == "ola swims ."
    assert json.loads(Path(files[1]).read_text()) == summary


def test_batch_says_which_column_is_missing(client: Client, tmp_path: Path) -> None:
    upload = tmp_path / "mine.csv"
    upload.write_text("text,label\nA dog barks.,neutral\n")
    with pytest.raises(AppError, match=r"no columns 'premise' and 'hypothesis' .*text, label"):
        client.predict(handle_file(str(upload)), "sort", api_name="/batch")


def test_a_file_of_any_task_is_scored_with_its_columns_and_labels_said(
    app: App, client: Client, tmp_path: Path
) -> None:
    model = add_model(app, "tiny-sentiment", SENTIMENT)
    upload = tmp_path / "mine.csv"
    upload.write_text("opinion,stars\nA joy.,five\nA bore.,one\n")
    said = {
        "task": "sentiment",
        "columns": json.dumps({"text": "opinion", "gold": "stars"}),
        "label_values": json.dumps({"five": "positive", "one": "negative"}),
    }
    asked = {"file": handle_file(str(upload)), "transforms": "sort", "model": model, **said}
    summary, _ = client.predict(**asked, api_name="/batch")
    assert (summary["scored"], summary["accuracy_n"]) == (2, 2)
    assert set(summary["by_label"]) == {"positive", "negative"}
    without_model = {name: value for name, value in asked.items() if name != "model"}
    summary, _ = client.predict(**without_model, api_name="/batch")
    assert summary["model"] == "minilm_sst2"
    with pytest.raises(AppError, match=r"the task sentiment has no text 'premise'"):
        client.predict(**asked | {"columns": '{"premise": "opinion"}'}, api_name="/batch")


def test_the_task_of_a_bundled_model_need_not_be_said(client: Client) -> None:
    file = handle_file(str(ASSETS / "examples" / "questions.csv"))
    summary, _ = client.predict(file, model="minilm_qqp", api_name="/batch")
    assert set(summary["by_label"]) == {"paraphrase", "non-paraphrase"}
    with pytest.raises(AppError, match="no columns 'premise' and 'hypothesis'"):
        client.predict(file, model="minilm_qqp", task="nli", api_name="/batch")


def test_a_file_is_scored_by_plain_http(app: App) -> None:
    example = ASSETS / "examples" / "questions.csv"
    model = add_model(app, "tiny-paraphrase", PARAPHRASE_IDENTIFICATION)
    with httpx.Client(base_url=f"{app.url}gradio_api", timeout=120) as http:
        (place,) = http.post(
            "/upload", files={"files": (example.name, example.read_bytes())}
        ).json()
        file = {"path": place, "orig_name": "questions.csv", "meta": {"_type": "gradio.FileData"}}
        data = [file, "", model, 0, 0.5, "support", "auto", "{}", "", "paraphrase", "{}", "{}", ""]
        data.append("cut")
        event = http.post("/call/batch", json={"data": data}).json()["event_id"]
        stream = http.get(f"/call/batch/{event}").text
    assert "event: complete" in stream
    summary = json.loads(stream.rpartition("data: ")[2])[0]
    assert (summary["rows"], summary["scored"]) == (40, 40)
