"""The tables of the documentation say with which weights they were made, and are made anew."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from benchmarks import figures
from benchmarks.figures import Table, current, documents, needed, tables
from probe.models.weights import weights_hash
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
def test_a_table_comes_from_commands(table: Table) -> None:
    assert table.commands


@pytest.mark.parametrize("table", [table for table in TABLES if table.weights], ids=place)
def test_a_table_with_weights_has_whole_commands_for_each_of_its_models(table: Table) -> None:
    assert not [command for command in table.commands if re.search(r"[A-Z]{4}|\.\.\.", command)]
    named = {model for command in table.commands for model in re.findall(r"--model (\S+)", command)}
    unnamed = any("--model" not in command for command in table.commands)
    assert unnamed or set(table.weights or {}) <= named


def test_lines_weights_and_commands_are_read(tmp_path: Path) -> None:
    file = tmp_path / "BENCHMARKS.md"
    file.write_text(SECTIONS, encoding="utf-8")
    older = {"minilm": "00000000", "da": "11111111"}
    assert list(tables(file)) == [
        Table(file, 7, older, True, ("python -m probe batch one.csv --transforms sort",)),
        Table(file, 15, {}, False, ("python -m benchmarks.page.idle",)),
        Table(file, 23, None, False, ("python -m benchmarks.page.idle",)),
    ]


def test_other_weights_or_older_ones_make_a_table_stale(tmp_path: Path) -> None:
    weights = {"minilm": current("minilm")}
    assert not Table(tmp_path, 1, weights, False, ()).stale
    assert Table(tmp_path, 1, weights, True, ()).stale
    assert Table(tmp_path, 1, {"minilm": "00000000"}, False, ()).stale
    assert Table(tmp_path, 1, {"gone": "00000000"}, False, ()).stale


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


def test_adjoining_commands_are_one_table_s_and_those_of_other_models_are_left_out(
    tmp_path: Path,
) -> None:
    file = tmp_path / "BENCHMARKS.md"
    file.write_text(
        "    python -m probe pair\n\n"
        "    python -m probe one.csv --model da \\\n        --sign abs\n"
        "    zcat two.csv.gz > two.csv\n"
        "    python -m probe two.csv --model minilm\n"
        "    python -m benchmarks.all\n\n"
        f"| a |\n\nWeights: da {current('da')}, minilm 00000000\n",
        encoding="utf-8",
    )
    (table,) = tables(file)
    one, two, both = (
        "python -m probe one.csv --model da --sign abs",
        "python -m probe two.csv --model minilm",
        "python -m benchmarks.all",
    )
    assert table.commands == (one, two, both)
    assert list(needed([table])) == [two, both]
    da = Table(file, 1, {"da": "00000000"}, False, ())
    assert list(needed([table, da])) == [one, two, both]


FAKE = """import pathlib, sys
print(*(pathlib.Path(word).name for word in sys.argv[1:]))
if "--out" in sys.argv:
    pathlib.Path(sys.argv[-1]).write_text(pathlib.Path(sys.argv[1]).read_text())
if "fail" in sys.argv:
    sys.exit("error: it is broken")
"""
COMMANDS = ("fail", "here.csv --out copy.csv", "lost.csv", "away.jsonl --out copy.csv")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one file, a command that copies files or fails, and a stale table."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "here.csv").write_text("here")
    (folder / "fake.py").write_text(FAKE)
    lines = "".join(f"    python -m fake {words}\n" for words in COMMANDS)
    file = folder / "BENCHMARKS.md"
    file.write_text(f"{lines}\n| a |\n\nWeights: minilm 00000000\n", encoding="utf-8")
    monkeypatch.setattr(figures, "ROOT", folder)
    monkeypatch.setattr(figures, "documents", lambda: [file])
    return folder


def computed(checkout: Path) -> Result:
    data = checkout.parent / "data"
    (data / "dev").mkdir(parents=True)
    (data / "dev" / "away.jsonl").write_text("away")
    words = ["run", "--data", str(data), "--out", str(checkout.parent / "out")]
    return CliRunner().invoke(figures.app, words)


def test_a_failing_command_is_named_in_a_line_and_the_others_go_on(checkout: Path) -> None:
    result = computed(checkout)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert [line for line in lines if line.startswith("$")] == [
        f"$ python -m fake {words}" for words in COMMANDS
    ]
    assert lines[1] == "  for BENCHMARKS.md:6"
    assert lines[2].startswith("  failed: exit code 1: error: it is broken; see ")
    assert sum(line.startswith("  done; see ") for line in lines) == 2


def test_a_command_without_its_file_is_skipped_which_is_no_failure(checkout: Path) -> None:
    file = checkout / "BENCHMARKS.md"
    file.write_text(file.read_text().replace("fake fail", "fake"))
    result = computed(checkout)
    assert result.exit_code == 0
    assert (
        "fake lost.csv\n  for BENCHMARKS.md:6\n  skipped: the checkout and --data lack lost.csv"
        in (result.stdout)
    )


def test_each_command_writes_into_its_own_folder_and_reads_the_checkout_s_and_the_data_s_files(
    checkout: Path,
) -> None:
    before = set(checkout.iterdir())
    computed(checkout)
    out = checkout.parent / "out"
    assert sorted(path.read_text() for path in out.glob("*/copy.csv")) == ["away", "here"]
    assert sorted(path.read_text() for path in out.glob("*/output.txt")) == [
        "away.jsonl --out copy.csv\n", "fail\n", "here.csv --out copy.csv\n"
    ]  # fmt: skip
    assert set(checkout.iterdir()) <= before | {checkout / "__pycache__"}
