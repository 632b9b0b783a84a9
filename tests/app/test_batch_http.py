"""The Batch tab's endpoint, by gradio's own client, cut off from the network."""

import csv
import json
from pathlib import Path

import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError


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
    with pytest.raises(AppError, match=r"no column 'premise' and 'hypothesis' .*text, label"):
        client.predict(handle_file(str(upload)), "sort", api_name="/batch")
