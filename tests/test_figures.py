"""The tables of the documentation: from result files, of shipped weights, by whole commands."""

import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from benchmarks import figures
from benchmarks.figures import Table, cards, needed, result_tables, tables
from benchmarks.repairs import RUNS, VERB, missing
from benchmarks.tables import PAGE, PLACE, cell, current, gallery_weights, page, results, row_of
from probe.models.weights import weights_hash
from probe.runs.gallery import FOLDER, write
from probe.runs.models import named_model_hash
from tests.support.checkout import text
from tests.support.runs.repairs import calibration_run

SECTIONS = f"""# Measurements
## First

    python -m probe pair

    python -m probe one.csv --model da \\
        --sign abs
    zcat two.csv.gz > two.csv
    python -m probe two.csv --model minilm
    python -m benchmarks.all

| a | b |
|---|---|
| 1 | 2 |

Weights: minilm 00000000, da {current("da")} (older weights)

## Second

| a | b |
|---|---|
| 1 | 2 |

Weights: none

Made by `python -m benchmarks.page.idle [--root CHECKOUT]`.

| a | b |
|---|---|
"""


def test_the_tables_of_benchmarks_are_those_that_the_command_writes_and_prose_has_no_others() -> (
    None
):
    written = text(PAGE.name)
    assert page(written) == written
    tables = re.findall(r"<!--(\w+)-->", written)
    assert [match[1] for match in PLACE.finditer(written)] == tables
    assert set(tables) == set(results())
    prose = PLACE.sub("", written).replace("SQuAD 1.1", "")
    held = "".join(match[0] for match in PLACE.finditer(written))
    assert not re.findall(r"^\|.*", prose, re.MULTILINE)
    decimals = re.compile(r"\d+\.\d+")
    assert set(decimals.findall(prose)) <= set(decimals.findall(held))


def test_figures_are_written_with_their_digits_intervals_and_what_was_published() -> None:
    values = ["sort", 4957, "82.70", ["82.7", "81.7", "83.8"], [["1.0", "0.5", "2.0"], "9.0"], ""]
    assert list(map(cell, values)) == [
        "sort", "4,957", "82.70", "82.7 (81.7 to 83.8)", "1.0 (0.5 to 2.0) / 9.0", "–"
    ]  # fmt: skip
    forms = ["agreement.{}.nli", "confidence.{}.nli"]
    columns = ["transform", "n", {"title": "paper", "published": forms}]
    assert row_of(columns, ["`reverse`", 9]) == ["`reverse`", "9", "76.9 / 94.2"]
    by_model = ["model", {"title": "lexical", "published": "kinds_by_model/{}/lexical"}]
    assert row_of(by_model, ["`ESIM-GloVe`"]) == ["`ESIM-GloVe`", "74.2"]
    assert row_of(columns, ["`nothing`", 9]) == ["`nothing`", "9", "–"]
    assert row_of(columns, ["`reverse`", 9, "1.0"]) == ["`reverse`", "9", "1.0"]
    shipped = {"minilm": named_model_hash("minilm")}
    assert gallery_weights(shipped) == f"Weights: minilm {current('minilm')}; "
    assert gallery_weights({"gone": "ab12"}) == "Weights: (older weights); "


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


def test_lines_weights_and_commands_of_a_card_are_read_and_what_is_stale_is_needed(
    tmp_path: Path,
) -> None:
    file = tmp_path / "README.md"
    file.write_text(SECTIONS, encoding="utf-8")
    one, two, both, idle = (
        "python -m probe one.csv --model da --sign abs",
        "python -m probe two.csv --model minilm",
        "python -m benchmarks.all",
        "python -m benchmarks.page.idle",
    )
    weights = {"minilm": "00000000", "da": current("da")}
    first, *others = tables(file)
    assert first == Table(file, 12, weights, True, (one, two, both))
    assert others == [Table(file, 20, {}, False, (idle,)), Table(file, 28, None, False, (idle,))]
    da = Table(file, 1, {"da": "00000000"}, False, ())
    assert list(needed([replace(first, older=False)])) == [two, both]
    assert list(needed([replace(first, older=False), da])) == [one, two, both]
    assert da.stale and first.stale
    assert not Table(tmp_path, 1, {"minilm": current("minilm")}, False, ()).stale
    assert Table(tmp_path, 1, {"minilm": current("minilm")}, True, ()).stale
    assert Table(tmp_path, 1, {"gone": "00000000"}, False, ()).stale


def test_words_of_a_config_change_no_weights(tmp_path: Path) -> None:
    hashes = []
    for weights, config in ((b"1", "{}"), (b"1", '{"task": "nli"}'), (b"2", "{}")):
        (tmp_path / "model.safetensors").write_bytes(weights)
        (tmp_path / "config.json").write_text(config, encoding="utf-8")
        hashes.append(weights_hash(tmp_path))
    assert hashes[0] == hashes[1] != hashes[2]


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
    assert computed(checkout).exit_code == 0  # one that is skipped is no failure


def test_gallery_runs_that_are_missing_or_of_other_weights_are_computed(tmp_path: Path) -> None:
    everything = [run.name for run in RUNS]
    write(tmp_path, "minilm-calibration", calibration_run(artefacts={"model": "ab12"}))
    assert [run.name for run in missing(tmp_path)] == everything
    shipped = {"model": named_model_hash("minilm")}
    write(tmp_path, "minilm-calibration", calibration_run(artefacts=shipped))
    assert [run.name for run in missing(tmp_path)] == everything[1:]
    repairs = [run for run in RUNS if run.words[0] != VERB]  # generalisations take days
    assert {f"{run.name}.json" for run in repairs} <= {path.name for path in FOLDER.iterdir()}
