"""A file as a run: scored part by part, put together in the order of the input, removed whole."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probe.analysis.summary import fp32_sample
from probe.data import writers
from probe.data.rows import guess, read_rows
from probe.data.source import Source, open_source
from probe.errors import FileError
from probe.models.library import load
from probe.runs.access import delete_run
from probe.runs.engine import Engine
from probe.runs.experiment import CellContext, Progress
from probe.runs.models import named_model_hash
from probe.runs.run import StoredRun, ended
from probe.runs.store import Store
from probe.scoring.experiment import (
    Part,
    assemble,
    folder_bytes,
    packed_part,
    plan_json,
    read_packed_part,
    read_part,
    read_plan,
    run_cell,
    scoring_request,
)
from probe.scoring.files import FileScoring, Places, ScoringRequest
from probe.tasks.nli import NLI
from probe.transforms import Options
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
    assert shape == scoring.hand_over()
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
    part = read_part(run.plan["folder"], key)
    rows = list(run_cell(run.plan, {}, key, CellContext(named_model_hash(model), part=part)))
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
    file.write_bytes(file.read_bytes().replace(b"550,", b"\xff,"))  # changed since it was opened
    with pytest.raises(FileError, match="not text"):
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
    part = read_packed_part(packed_part(Part(source.names, list(source.records()))))
    asked = guess(source.names, NLI)
    direct, sent = (
        [[str(problem) for problem in row.problems] for row in read_rows(rows, asked, NLI)]
        for rows in (source, part)
    )
    assert sent == direct
    assert direct[0] == ["the premise is bytes, not a text"]


def test_more_rows_than_a_sheet_holds_are_refused_before_any_is_scored(
    model: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "EXCEL_ROWS", ROWS)
    source, classifier = open_source(file), load(model)
    request = ScoringRequest(guess(source.names, NLI), ("reverse", "shuffle"))
    for places in (
        Places(tmp_path / "out.xlsx"),
        Places(tmp_path / "out.csv", tmp_path / "pairs.xlsx"),
    ):
        with pytest.raises(FileError, match=r"\.xlsx: a sheet holds 600 rows; choose \.csv$"):
            FileScoring(source, classifier, request, places)
        assert not places.work.exists()
    monkeypatch.setattr(writers, "EXCEL_ROWS", ROWS + 1)
    FileScoring(source, classifier, request, Places(tmp_path / "out.xlsx"))
