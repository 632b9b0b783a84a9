"""A file of which one worker computed a part in bf16 and another one the rest in fp32."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from probe.data.reading import reading_of
from probe.data.source import open_source
from probe.models.classifier import Precision
from probe.models.library import load
from probe.runs.access import COMMAND_LINE
from probe.runs.engine import Engine
from probe.runs.experiment import CellContext, Result
from probe.runs.models import named_model_hash
from probe.runs.run import RunRequest, StoredRun
from probe.runs.store import Store
from probe.scoring.experiment import (
    assemble,
    keys,
    read_part,
    run_cell,
    scoring_request,
    write_values,
)
from probe.scoring.files import Places, ScoringRequest, identity, precision_words
from probe.tasks.nli import NLI
from probe.ui.tabs.background_result import result_of
from probe.ui.tabs.batch_background import Background
from tests.support.commands import run
from tests.support.files.scoring_files import pair_file
from tests.support.pages.visitors import ME

ROWS, FIRST = 257, 256
BOTH: Sequence[Precision] = ("bf16", "fp32")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of two parts."""
    return pair_file(tmp_path / "in.csv", ROWS)


def requested(file: Path, model: str, out: Path) -> RunRequest:
    """Return the run that the command asks for."""
    source = open_source(file)
    request = ScoringRequest(reading_of(source, file, NLI).settled, ("reverse",))
    known = identity(file, load(model), request, Places(out))
    return scoring_request(file, source, model, NLI, request, identity=known)


def scored(owner: str, request: RunRequest, precisions: Sequence[Precision]) -> StoredRun:
    """Store a run whose parts are scored, each as a worker with that precision scores it."""
    plan, results = request.plan, {}
    for number, (key, precision) in enumerate(zip(keys(plan), precisions, strict=True)):
        context = CellContext(named_model_hash(plan["model"]), part=read_part(plan["folder"], key))
        *_, result = run_cell(plan | {"precision": precision}, {}, key, context)
        assert isinstance(result, Result)
        write_values(plan["folder"], key, result.content)
        results[number] = result.values
    return Store().create(owner, request, results)


@pytest.mark.parametrize("precisions", [BOTH, BOTH[::-1]])
def test_the_summary_names_both_with_their_rows(
    home: Path, model: str, file: Path, tmp_path: Path, precisions: Sequence[Precision]
) -> None:
    out = tmp_path / "out.csv"
    shape = assemble(scored(ME, requested(file, model, out), precisions), Places(out)).shape
    rows = dict(zip(precisions, (FIRST, ROWS - FIRST), strict=True))
    assert (shape["precision"], shape["precision_rows"]) == ("bf16 and fp32", rows)


def test_one_precision_is_named_alone(home: Path, model: str, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run = scored(ME, requested(file, model, out), ("bf16", "bf16"))
    shape = assemble(run, Places(out)).shape
    assert shape["precision"] == "bf16"
    assert "precision_rows" not in shape
    assert precision_words(shape) == "bf16"


def test_the_page_names_both_with_their_rows(
    home: Path, model: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    stored = scored(ME, requested(file, model, tmp_path / "out.csv"), BOTH)
    store = Store()
    shown = result_of(Background(store, Engine(store, in_process=True)), stored, ME)
    assert "bf16 for 256 rows and fp32 for 1 row" in str(shown.head)
    assert "In a sample of the rows computed in bf16" in str(shown.figures)


def test_the_command_names_both_with_their_rows(
    home: Path, model: str, file: Path, tmp_path: Path
) -> None:
    out, summary = tmp_path / "out.csv", tmp_path / "summary.json"
    scored(COMMAND_LINE, requested(file, model, out), BOTH)
    words = ["--model", model, "--transforms", "reverse", "--out", str(out), "--run"]
    told = run("batch", str(file), *words, "--summary", str(summary)).output
    assert "computed in bf16 for 256 rows and fp32 for 1 row" in told
    assert json.loads(summary.read_text())["precision_rows"] == {"bf16": 256, "fp32": 1}
