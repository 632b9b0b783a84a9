"""The tables of the documentation say with which weights they were made."""

from pathlib import Path

import pytest

from benchmarks import figures
from benchmarks.figures import Table, current, documents, tables
from probe.models.weights.hashes import weights_hash
from tests.support.checkout import ROOT

TABLES = [table for path in documents() for table in tables(path)]
SECTIONS = """# Measurements
## First

    python -m probe batch one.csv \\
        --transforms sort

| a | b |
|---|---|
| 1 | 2 |

Weights: minilm 00000000, da 11111111 (older weights)

## Second

| a | b |
|---|---|
| 1 | 2 |

Weights: none

Made by `python -m benchmarks.page.idle [--root CHECKOUT]`.

| a | b |
|---|---|
"""


def place(table: Table) -> str:
    return f"{table.path.relative_to(ROOT)}:{table.line}"


@pytest.mark.parametrize("table", TABLES, ids=place)
def test_a_table_names_the_shipped_weights_or_says_that_they_are_older(table: Table) -> None:
    assert table.weights is not None
    assert all(map(current, table.weights))
    assert table.older or not table.stale


@pytest.mark.parametrize("table", TABLES, ids=place)
def test_a_table_comes_from_a_command(table: Table) -> None:
    assert table.command.startswith("python -m ")


def test_lines_weights_and_commands_are_read(tmp_path: Path) -> None:
    file = tmp_path / "BENCHMARKS.md"
    file.write_text(SECTIONS, encoding="utf-8")
    older = {"minilm": "00000000", "da": "11111111"}
    assert list(tables(file)) == [
        Table(file, 7, older, True, "python -m probe batch one.csv --transforms sort"),
        Table(file, 15, {}, False, "python -m benchmarks.page.idle"),
        Table(file, 23, None, False, "python -m benchmarks.page.idle"),
    ]


def test_other_weights_or_older_ones_make_a_table_stale(tmp_path: Path) -> None:
    weights = {"minilm": current("minilm")}
    assert not Table(tmp_path, 1, weights, False, "").stale
    assert Table(tmp_path, 1, weights, True, "").stale
    assert Table(tmp_path, 1, {"minilm": "00000000"}, False, "").stale
    assert Table(tmp_path, 1, {"gone": "00000000"}, False, "").stale


def test_words_of_a_config_change_no_weights(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"1")
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    before = weights_hash(tmp_path)
    (tmp_path / "config.json").write_text('{"task": "nli"}', encoding="utf-8")
    assert weights_hash(tmp_path) == before
    (tmp_path / "model.safetensors").write_bytes(b"2")
    assert weights_hash(tmp_path) != before


def test_a_stale_table_is_listed_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "BENCHMARKS.md"
    file.write_text(SECTIONS, encoding="utf-8")
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "documents", lambda: [file])
    figures.stale()
    listed = "BENCHMARKS.md:7  python -m probe batch one.csv --transforms sort\n"
    assert capsys.readouterr().out == listed
