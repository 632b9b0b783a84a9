"""A place that cannot take an output is refused before a model is loaded or a row is read."""

from pathlib import Path

import pytest

from tests.support.commands import refusal

COMPARE = ["compare", "in.csv", "--model", "one", "--model", "two"]
BATCH = ["batch", "in.csv", "--model", "one"]
DRAW = ["annotate", "draw", "--file", "in.csv", "--model", "one"]
CHECKUP = ["checkup", "one", "in.csv"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work beside a file, a link to it, a hard link, an empty folder and a file without rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("premise,hypothesis\nA man.,He.\n")
    (tmp_path / "link.csv").symlink_to("in.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "in.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "old.json").touch()
    return tmp_path


def test_no_output_replaces_an_input_or_another_output(folder: Path) -> None:
    for words in [
        [*BATCH, "--out", "./in.csv"],
        [*BATCH, "--out", "link.csv"],
        [*BATCH, "--out", "hard.csv"],
        [*BATCH, "--out", "out.csv", "--pairs", "in.csv"],
        [*BATCH, "--out", "out.csv", "--summary", "in.csv"],
        [*BATCH, "--out", "out.csv", "--summary", "folder.csv/../out.csv"],
        [*BATCH, "--out", "out.csv", "--pairs", "same.jsonl", "--summary", "same.jsonl"],
        [*COMPARE, "--out", "in.csv"],
        [*COMPARE, "--summary", "in.csv"],
        [*COMPARE, "--out", "same.csv", "--summary", "same.csv"],
        ["distractors", "in.csv", "--out", "in.csv"],
        [*DRAW, "--out", "in.csv"],
        [*CHECKUP, "--reference", "in.csv"],
        [*CHECKUP, "--reference", "old.json", "--against", "old.json"],
        [*CHECKUP, "--reference", "checkup/report.json"],
    ]:
        before = (folder / "in.csv").read_bytes()
        assert refusal(*words).endswith(
            " is named twice; the files that are written need other names"
        ), words
        assert (folder / "in.csv").read_bytes() == before, words


def test_an_output_has_a_place_to_go() -> None:
    for words in [
        [*BATCH, "--out", "out.csv", "--summary"],
        [*BATCH, "--out", "out.csv", "--pairs"],
        [*COMPARE, "--out"],
        [*COMPARE, "--summary"],
        [*DRAW, "--out"],
        [*CHECKUP, "--reference"],
        ["distractors", "in.csv", "--out"],
        ["templates", "dative", "--out"],
    ]:
        for place, reason in [
            ("folder.csv", "it is a folder"),
            ("old.json/new/out.csv", "old.json is no folder"),
        ]:
            sentence = refusal(*words, place)
            assert sentence.startswith(f"{place} cannot be written: "), (words, place, reason)
            assert sentence.endswith(reason), (words, place, reason)
