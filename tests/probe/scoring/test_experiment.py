"""A file as a run: scored part by part, put together in the order of the input, removed whole."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probe.analysis.summary import fp32_sample
from probe.data.reading import reading_of
from probe.data.rows import Source, guess, read_rows
from probe.data.source import open_source
from probe.errors import FileError
from probe.models.classifier import Precision
from probe.models.library import load
from probe.runs.access import COMMAND_LINE, delete_run
from probe.runs.engine import Engine
from probe.runs.experiment import CellContext, Progress, Result
from probe.runs.models import named_model_hash
from probe.runs.run import RunRequest, StoredRun, ended
from probe.runs.store import Store
from probe.scoring.files import (
    FileScoring,
    Places,
    ScoringRequest,
    assemble,
    folder_bytes,
    identity,
    keys,
    packed_part,
    part,
    plan_json,
    precision_words,
    read_packed_part,
    read_part,
    read_plan,
    run_cell,
    scoring_request,
    write_values,
)
from probe.tasks.nli import NLI
from probe.transforms import Options
from probe.ui.tabs.background_result import result_of
from probe.ui.tabs.batch_background import Background
from tests.support.commands import run
from tests.support.files.scoring_files import pair_file
from tests.support.pages.visitors import ME
from tests.support.waiting import until

ROWS = 600


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of three parts."""
    return pair_file(tmp_path / "in.csv", ROWS)


def asked(source: Source) -> ScoringRequest:
    """Return what is done with every row."""
    options = Options(keep=0.25, pin=(".",))
    return ScoringRequest(guess(source.names, NLI), ("reverse",), 3, options, "bf16")


def begun(store: Store, model: str, file: Path) -> StoredRun:
    """Store the run of a file."""
    source = open_source(file)
    return store.create(ME, scoring_request(file, source, model, NLI, asked(source)))


@pytest.fixture
def computed(home: Path, model: str, file: Path) -> Callable[[], StoredRun]:
    """Compute a run of the file on a thread of this process."""

    def compute() -> StoredRun:
        store = Store()
        engine = Engine(store, in_process=True)
        run = begun(store, model, file)
        engine.submit(run.id)
        until(store, run.id, ended)
        engine.close()
        return store.get(run.id)

    return compute


def rounded(shape: Any) -> Any:  # Any: JSON
    """Return a JSON with its fractions to nine places."""
    return json.loads(json.dumps(shape), parse_float=lambda digits: round(float(digits), 9))


def test_the_files_of_a_run_are_those_of_the_command(
    computed: Callable[[], StoredRun], model: str, file: Path, tmp_path: Path
) -> None:
    run = computed()
    assert (run.state, len(run.cells)) == ("done", 3)
    in_parts, at_once = (
        Places(tmp_path / f"{name}.csv", tmp_path / f"{name}-pairs.jsonl") for name in "ab"
    )
    shape = assemble(run, in_parts).shape
    source, classifier = open_source(file), load(model)
    scoring = FileScoring(source, classifier, asked(source), at_once)
    list(scoring.chunks())
    assert rounded(shape) == rounded(scoring.hand_over())  # to the last digits
    assert shape["fp32_sample"]["rows"] == len(fp32_sample(len(source), 0))
    assert in_parts.scored.read_bytes() == at_once.scored.read_bytes()
    assert in_parts.pairs and at_once.pairs
    assert in_parts.pairs.read_bytes() == at_once.pairs.read_bytes()


def test_what_is_done_of_a_stopped_run_is_handed_over_and_the_rest_goes_on(
    computed: Callable[[], StoredRun], tmp_path: Path
) -> None:
    run = computed()
    first, _, last = run.cells
    cells = (first, replace(run.cells[1], state="cancelled", result=None), last)
    places = Places(tmp_path / "part.csv")
    assert assemble(replace(run, cells=cells), places).shape["rows"] == ROWS - 256
    numbers = [record.cells["id"] for record in open_source(places.scored).records()]
    assert numbers == [str(number) for number in (*range(256), *range(512, ROWS))]


def test_a_part_tells_what_its_rows_took(home: Path, model: str, file: Path) -> None:
    run = begun(Store(), model, file)
    key = run.cells[0].key
    content = read_part(run.plan["folder"], key)
    rows = list(run_cell(run.plan, {}, key, CellContext(named_model_hash(model), part=content)))
    told = [row.values for row in rows if isinstance(row, Progress)]
    assert [values["rows"] for values in told] == [32, 256]
    assert 0 < told[0]["seconds"] < told[1]["seconds"]


def test_nothing_is_handed_over_before_a_part_is_done(
    home: Path, model: str, file: Path, tmp_path: Path
) -> None:
    run = begun(Store(), model, file)
    with pytest.raises(FileError, match=r"^no part of this file is scored yet$"):
        assemble(run, Places(tmp_path / "out.csv"))


def test_a_plan_is_read_as_it_was_written(home: Path, model: str, file: Path) -> None:
    run = begun(Store(), model, file)
    plan = read_plan(run.plan)
    assert plan.request == asked(open_source(file))
    assert read_plan(plan_json(plan)) == plan
    assert [(key["start"], key["rows"]) for key in plan.parts] == [
        *((0, 256), (256, 256), (512, 88))
    ]


def test_a_file_that_cannot_be_kept_whole_leaves_nothing_behind(home: Path, file: Path) -> None:
    source = open_source(file)
    file.unlink()  # since it was opened
    with pytest.raises(FileError, match="cannot be written"):
        scoring_request(file, source, "minilm", NLI, asked(source))
    assert list((home / "scoring").iterdir()) == []


def test_a_deleted_run_takes_its_file_along(home: Path, model: str, file: Path) -> None:
    store = Store()
    run = begun(store, model, file)
    folder = run.plan["folder"]
    assert folder_bytes(folder) > file.stat().st_size
    store.set_state(run.id, "cancelled")
    delete_run(store, Engine(store), ME, run.id)
    assert folder_bytes(folder) == 0


def test_a_run_refuses_the_cells_that_the_command_refuses(
    home: Path, model: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.parquet"
    texts = pa.array([b"A man sings.", None], pa.binary())
    pq.write_table(pa.table({"premise": texts, "hypothesis": ["He sings.", "He sings."]}), file)
    source = open_source(file)
    sent_rows = read_packed_part(packed_part(part(source.names, list(source.records()))))
    asked = guess(source.names, NLI)
    direct, sent = (
        [[str(problem) for problem in row.problems] for row in read_rows(rows, asked, NLI)]
        for rows in (source, sent_rows)
    )
    assert sent == direct
    assert direct[0] == ["the premise is bytes, not a text"]


SHORT, FIRST = 257, 256
BOTH: Sequence[Precision] = ("bf16", "fp32")


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A file of two parts, of which one worker may compute one in bf16 and the rest in fp32."""
    return pair_file(tmp_path / "short.csv", SHORT)


def requested(file: Path, model: str, out: Path) -> RunRequest:
    """Return the run that the command asks for."""
    source = open_source(file)
    request = ScoringRequest(reading_of(source, file, NLI).settled, ("reverse",))
    known = identity(file, load(model), request, Places(out))
    return scoring_request(file, source, model, NLI, request, identity=known)


def scored_as(owner: str, request: RunRequest, precisions: Sequence[Precision]) -> StoredRun:
    """Store a run whose parts are scored, each as a worker with that precision scores it."""
    plan, results = request.plan, {}
    for number, (key, precision) in enumerate(zip(keys(plan), precisions, strict=True)):
        context = CellContext(named_model_hash(plan["model"]), part=read_part(plan["folder"], key))
        *_, result = run_cell(plan | {"precision": precision}, {}, key, context)
        assert isinstance(result, Result)
        write_values(plan["folder"], key, result.content)
        results[number] = result.values
    return Store().create(owner, request, results)


def test_the_summary_names_each_precision_with_its_rows(
    home: Path, model: str, short: Path, tmp_path: Path
) -> None:
    for number, precisions in enumerate((BOTH, BOTH[::-1], ("bf16", "bf16"))):
        out = tmp_path / f"{number}.csv"
        shape = assemble(scored_as(ME, requested(short, model, out), precisions), Places(out)).shape
        if len(set(precisions)) == 1:
            assert (precision_words(shape), shape["precision"]) == ("bf16", "bf16")
            assert "precision_rows" not in shape
            continue
        rows = dict(zip(precisions, (FIRST, SHORT - FIRST), strict=True))
        assert (shape["precision"], shape["precision_rows"]) == ("bf16 and fp32", rows)


def test_the_page_names_both_with_their_rows(
    home: Path, model: str, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    stored = scored_as(ME, requested(short, model, tmp_path / "out.csv"), BOTH)
    store = Store()
    shown = result_of(Background(store, Engine(store, in_process=True)), stored, ME)
    assert "bf16 for 256 rows and fp32 for 1 row" in str(shown.head)
    assert "In a sample of the rows computed in bf16" in str(shown.figures)


def test_the_command_names_both_with_their_rows(
    home: Path, model: str, short: Path, tmp_path: Path
) -> None:
    out, summary = tmp_path / "out.csv", tmp_path / "summary.json"
    scored_as(COMMAND_LINE, requested(short, model, out), BOTH)
    words = ["--model", model, "--transforms", "reverse", "--out", str(out), "--run"]
    told = run("batch", str(short), *words, "--summary", str(summary)).output
    assert "computed in bf16 for 256 rows and fp32 for 1 row" in told
    assert json.loads(summary.read_text())["precision_rows"] == {"bf16": 256, "fp32": 1}
