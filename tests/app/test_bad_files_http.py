"""Bad files over HTTP: a proper result or one sentence, and nothing in the app's log."""

import random
from pathlib import Path

import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from benchmarks.faults.bad_file_kinds import BadFile, one_of_each
from tests.conftest import App

FIFTY = random.Random(1).sample(list(one_of_each(seed=1)), 50)
LONGEST = 600
"""Characters of a sentence."""


def answer(client: Client, *asked: object, api_name: str) -> str:
    """Return the sentence with which a call is refused, "" where it is answered."""
    try:
        summary, files = client.predict(*asked, api_name=api_name)
    except AppError as refused:
        return str(refused)
    assert summary["rows"] >= summary["errors"]
    assert all(Path(file).is_file() for file in files)
    return ""


def tracebacks(app: App) -> int:
    """Return how often the app's log shows a failure of its own."""
    return (app.home / "app.log").read_text().count("Traceback")


@pytest.mark.parametrize("bad", FIFTY, ids=lambda bad: f"{bad.kind} {bad.name[:12]}")
def test_a_bad_file_is_answered_or_refused_by_a_sentence(
    app: App, client: Client, second: str, bad: BadFile, tmp_path: Path
) -> None:
    before = tracebacks(app)
    path = tmp_path / bad.name
    path.write_bytes(bad.data)
    upload = handle_file(str(path))
    scored = answer(client, upload, "sort", api_name="/batch")
    compared = answer(client, upload, f"minilm,{second}", "fp32", api_name="/compare")
    for sentence in filter(None, (scored, compared)):
        assert len(sentence) <= LONGEST
        assert "\n" not in sentence
        assert "Error:" not in sentence
    assert bool(scored) == bool(compared)
    assert tracebacks(app) == before


def test_a_text_one_longer_than_is_read_is_its_rows_error(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    rows = [f"A dog barks.,{'b' * (50_000 + more)}" for more in (0, 1)]
    path.write_text("\n".join(["premise,hypothesis", *rows, ""]))
    summary, files = client.predict(handle_file(str(path)), "", api_name="/batch")
    assert (summary["scored"], summary["errors"]) == (1, 1)
    assert "at most 50,000 are read here" in Path(files[0]).read_text()
