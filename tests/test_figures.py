"""The tables of the documentation: from result files, of shipped weights, by whole commands."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from benchmarks import figures
from benchmarks.figures import Table, cards, needed, result_tables, tables
from benchmarks.repairs import RUNS, missing
from benchmarks.tables import PAGE, PLACE, current, gallery_weights, page, results
from probe.runs.gallery import FOLDER, write
from probe.runs.models import named_model_hash
from tests.support.checkout import text
from tests.support.runs.repairs import calibration_run

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


def test_the_tables_of_benchmarks_are_those_that_the_command_writes() -> None:
    written = text(PAGE.name)
    assert page(written) == written
    assert [match[1] for match in PLACE.finditer(written)] == re.findall(r"<!--(\w+)-->", written)
    assert set(re.findall(r"<!--(\w+)-->", written)) == set(results())


def test_the_prose_of_benchmarks_has_no_table_and_no_figure_of_its_own() -> None:
    written = text(PAGE.name)
    prose = PLACE.sub("", written).replace("SQuAD 1.1", "")
    held = "".join(match[0] for match in PLACE.finditer(written))
    assert not re.findall(r"^\|.*", prose, re.MULTILINE)
    decimals = re.compile(r"\d+\.\d+")
    assert set(decimals.findall(prose)) <= set(decimals.findall(held))


def test_every_table_names_shipped_weights_and_whole_commands() -> None:
    every = [*result_tables(), *(table for card in cards() for table in tables(card))]
    assert len(every) > 60
    wrong = []
    for table in every:
        weights = table.weights or {}
        named = {name for words in table.commands for name in re.findall(r"--model (\S+)", words)}
        unnamed = any("--model" not in words for words in table.commands)
        modules = {words.split()[2] for words in table.commands}
        wrong += [
            f"{table.place}: {what}"
            for what, holds in {
                "no line of weights": table.weights is not None,
                "no such model": all(map(current, weights)),
                "stale without saying so": table.older or not table.stale,
                "no command": bool(table.commands),
                "no such command": all(map(find_spec, modules)),
                "a command to be completed": not weights
                or not re.search(r"[A-Z]{4}|\.\.\.", " ".join(table.commands)),
                "a model without its command": unnamed or set(weights) <= named,
            }.items()
            if not holds
        ]
    assert wrong == []


def test_lines_weights_and_commands_of_a_card_are_read(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text(SECTIONS, encoding="utf-8")
    older = {"minilm": "00000000", "da": "11111111"}
    assert list(tables(file)) == [
        Table(file, 7, older, True, ("python -m probe batch one.csv --transforms sort",)),
        Table(file, 15, {}, False, ("python -m benchmarks.page.idle",)),
        Table(file, 23, None, False, ("python -m benchmarks.page.idle",)),
    ]


def test_other_weights_or_older_ones_make_a_table_stale(tmp_path: Path) -> None:
    now, other = {"minilm": current("minilm")}, {"minilm": "00000000"}
    cases = ((now, False), (now, True), (other, False), ({"gone": "00000000"}, False))
    assert [Table(tmp_path, 1, *each, ()).stale for each in cases] == [False, True, True, True]
    told = gallery_weights({"minilm": named_model_hash("minilm")})
    assert told == f"Weights: minilm {current('minilm')}; "
    assert gallery_weights({"gone": "ab12"}) == "Weights: (older weights); "


def test_adjoining_commands_are_one_table_s_and_those_of_other_models_are_left_out(
    tmp_path: Path,
) -> None:
    file = tmp_path / "README.md"
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
    one, two, both = table.commands
    assert one == "python -m probe one.csv --model da --sign abs"
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
    file = folder / "README.md"
    file.write_text(f"{lines}\n| a |\n\nWeights: minilm 00000000\n", encoding="utf-8")
    monkeypatch.setattr(figures, "ROOT", folder)
    monkeypatch.setattr(figures, "cards", lambda: [file])
    monkeypatch.setattr(figures, "result_tables", lambda: iter(()))
    return folder


def computed(checkout: Path) -> Result:
    data = checkout.parent / "data"
    (data / "dev").mkdir(parents=True, exist_ok=True)
    (data / "dev" / "away.jsonl").write_text("away")
    words = ["run", "--data", str(data), "--out", str(checkout.parent / "out")]
    return CliRunner().invoke(figures.app, words)


def test_a_failing_command_is_named_one_without_its_file_skipped_and_the_others_go_on(
    checkout: Path,
) -> None:
    before = set(checkout.iterdir())
    listed = CliRunner().invoke(figures.app, ["stale"]).stdout
    assert listed.splitlines() == [f"README.md:6  python -m fake {words}" for words in COMMANDS]
    result = computed(checkout)
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert [line for line in lines if line.startswith("$")] == [
        f"$ python -m fake {words}" for words in COMMANDS
    ]
    assert lines[2].startswith("  failed: exit code 1: error: it is broken; see ")
    assert sum(line.startswith("  done; see ") for line in lines) == 2
    assert "  skipped: the checkout and --data lack lost.csv" in lines
    out = checkout.parent / "out"
    assert sorted(path.read_text() for path in out.glob("*/copy.csv")) == ["away", "here"]
    assert sorted(path.read_text() for path in out.glob("*/output.txt")) == [
        "away.jsonl --out copy.csv\n", "fail\n", "here.csv --out copy.csv\n"
    ]  # fmt: skip
    assert set(checkout.iterdir()) <= before | {checkout / "__pycache__"}
    file = checkout / "README.md"
    file.write_text(file.read_text().replace("fake fail", "fake"))
    assert computed(checkout).exit_code == 0  # a skipped command is no failure


def test_gallery_runs_that_are_missing_or_of_other_weights_are_computed(tmp_path: Path) -> None:
    everything = [run.name for run in RUNS]
    write(tmp_path, "minilm-calibration", calibration_run(artefacts={"model": "ab12"}))
    assert [run.name for run in missing(tmp_path)] == everything
    shipped = {"model": named_model_hash("minilm")}
    write(tmp_path, "minilm-calibration", calibration_run(artefacts=shipped))
    assert [run.name for run in missing(tmp_path)] == everything[1:]
    assert {f"{run.name}.json" for run in RUNS} <= {path.name for path in FOLDER.iterdir()}
