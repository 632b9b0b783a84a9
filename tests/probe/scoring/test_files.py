"""A file that is scored, at once, broken off or as a run: the same files come of it."""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pytest import approx

from probe.analysis.importance import METHODS, Method
from probe.analysis.summary import fp32_sample
from probe.analysis.transformed import examine
from probe.data import writers
from probe.data.reading import reading_of
from probe.data.rows import guess, read_rows
from probe.data.source import open_source
from probe.errors import FileError
from probe.models.classifier import Classifier, Precision
from probe.runs.access import COMMAND_LINE, delete_run
from probe.runs.engine import Engine
from probe.runs.experiment import CellContext, Progress, Result
from probe.runs.models import named_model_hash
from probe.runs.run import RunRequest, StoredRun, ended
from probe.runs.store import Store
from probe.scoring.files import (
    SCORING,
    FileScoring,
    Places,
    ScoringRequest,
    assemble,
    identity,
    packed_part,
    part,
    plan_json,
    read_packed_part,
    read_packed_values,
    read_plan,
    run_cell,
    scoring_request,
    stored_bytes,
)
from probe.tasks.nli import NLI
from probe.text.words import tokenise
from probe.transforms import Options
from probe.ui.measure.score import Score
from tests.support.cases import each
from tests.support.commands import run
from tests.support.files.scoring_files import pair_file
from tests.support.pages.views import named, view_of
from tests.support.pages.visitors import ME
from tests.support.waiting import until

IDENTITY = {"the file": "a", "the model": "b", "the settings": "c"}
ROWS, EMPTY = 600, 300


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of three parts, one row of which has no premise."""
    path = pair_file(tmp_path_factory.mktemp("file") / "in.csv", ROWS)
    lines = path.read_text().splitlines()
    lines[EMPTY + 1] = f"{EMPTY},,B.,neutral"
    path.write_text("\n".join([*lines, ""]))
    return path


def asked(names: Sequence[str], precision: Precision = "fp32") -> ScoringRequest:
    """Return what is done with every row of a file with these columns."""
    options = Options(keep=0.25, pin=(".",))
    return ScoringRequest(guess(names, NLI), ("reverse",), 3, options, precision)


def begun(
    file: Path, places: Places, model: Classifier,
    identity: Mapping[str, str] | None = IDENTITY, precision: Precision = "fp32",
) -> FileScoring:  # fmt: skip
    """Return the scoring of a file."""
    source = open_source(file)
    return FileScoring(source, model, asked(source.names, precision), places, identity)


def whole(scoring: FileScoring) -> dict[str, Any]:  # Any: JSON
    """Score all that is left, and return the summary."""
    list(scoring.chunks())
    return scoring.hand_over()


def places_in(folder: Path, form: str) -> Places:
    """Return the places of the two files."""
    return Places(folder / f"out.{form}", folder / f"pairs.{form}")


def contents(places: Places) -> list[object]:
    """Return what the files hold."""
    paths = [path for path in (places.scored, places.pairs) if path]
    if places.scored.suffix == ".parquet":
        return [pq.read_table(path).to_pylist() for path in paths]
    return [path.read_bytes() for path in paths]


@each("form", ["csv.gz", "parquet"])
def test_what_was_broken_off_goes_on_to_the_same_bytes(
    form: str, file: Path, classifier: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places, at_once = places_in(tmp_path, form), places_in(tmp_path / "once", form)
    for _ in range(2):
        next(begun(file, places, classifier, precision="bf16").chunks())
        (places.work / "000000256.json.gz.new").write_bytes(b"half a pa")
    places.scored.unlink(missing_ok=True)  # the parts hold all that was done
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    same = places_in(Path("sub/.."), form)
    scoring = begun(file, same, classifier, precision="bf16")
    assert (scoring.start, scoring.anew) == (256, "")
    assert [chunk.start for chunk in scoring.chunks()] == [256, 256]
    once = begun(file, at_once, classifier, None, "bf16")
    assert [chunk.done for chunk in once.chunks()] == [32, 256, 512, 600]
    summary, sampled = scoring.hand_over(), len(fp32_sample(ROWS, 3))
    assert summary == once.hand_over()
    assert sampled - 1 <= summary["fp32_sample"]["rows"] <= sampled
    assert contents(places) == contents(at_once)
    assert not places.work.exists()
    rows = [record.cells for record in open_source(places.scored).records()]
    assert [row["id"] for row in rows] == list(map(str, range(ROWS)))  # in the input's order
    errors = [row["error"] for row in rows]
    assert errors.pop(EMPTY) == "the premise is empty" and not any(errors)


@each("method", METHODS)
def test_importance_goes_on_and_is_what_probe_shows(
    method: Method, classifier: Classifier, tmp_path: Path
) -> None:
    source = open_source(pair_file(tmp_path / f"{method}.csv", 40))
    request = ScoringRequest(guess(source.names, NLI), importance=method, precision="fp32")
    rows, words = (tmp_path / f"{method}-{kind}.jsonl" for kind in ("rows", "words"))
    places = Places(rows, words=words)
    next(FileScoring(source, classifier, request, places, IDENTITY).chunks())
    scoring = FileScoring(source, classifier, request, places, IDENTITY)
    assert scoring.start == 32
    assert whole(scoring)["importance"] == {"method": method, "sign": "support", "rows": 40}
    written = list(map(json.loads, words.read_text().splitlines()))
    scored = list(map(json.loads, rows.read_text().splitlines()))
    for row in read_rows(source, request.columns, NLI):
        shown = examine(classifier, row.example, method=method).importance
        assert shown and scored[row.number]["explained"] == shown.label == row.example.gold
        for field, text in NLI.texts(row.example).items():
            mine = [
                each for each in written if (each["row"], each["field"]) == (row.number + 1, field)
            ]
            assert [each["word"] for each in mine] == tokenise(text)
            assert [each["position"] for each in mine] == [*range(1, len(mine) + 1)]
            tokens = shown.tokens(field)
            assert sum(each["score"] for each in mine) == approx(
                sum(t.score for t in tokens), abs=1e-4
            )
            first = sum(t.score for t in tokens if t.end <= len(mine[0]["word"]))
            assert mine[0]["score"] == approx(first, abs=1e-4)
            told = json.loads(scored[row.number][f"importance_{field}"])
            assert told == [[each["word"], each["score"]] for each in mine]


def test_what_is_done_is_handed_over_and_can_go_on_unless_something_else_is_asked(
    file: Path, classifier: Classifier, tmp_path: Path
) -> None:
    places = places_in(tmp_path, "parquet")
    next((scoring := begun(file, places, classifier)).chunks())
    assert scoring.hand_over()["rows"] == pq.read_table(places.scored).num_rows == 32
    assert begun(file, places, classifier).start == 32
    for name in IDENTITY:
        next(begun(file, places, classifier).chunks())
        scoring = begun(file, places, classifier, IDENTITY | {name: "other"})
        assert scoring.start == 0 and scoring.anew.startswith(f"{name} changed since "), name
        begun(file, places, classifier)


def test_a_name_that_the_input_has_too_gets_the_models_behind_it(
    classifier: Classifier, tmp_path: Path
) -> None:
    path = tmp_path / "in.csv"
    path.write_text("premise,hypothesis,prediction\nA man walks.,He moves.,mine\n")
    whole(begun(path, Places(tmp_path / "out.csv"), replace(classifier, name="tiny"), None))
    (record,) = open_source(tmp_path / "out.csv").records()
    assert record.cells["prediction"] == "mine"
    assert record.cells["prediction.tiny"] in NLI.labels


PAIR = {"premise": "A man walks.", "hypothesis": "He moves."}
MIXED = [PAIR | {"id": 7}, PAIR | {"id": "x"}]
BROKEN_LINE = [PAIR, PAIR | {"hypothesis": "He\nmoves."}]
BROKEN_NOTE = [PAIR | {"note": "a\tb"}]
NO_PARQUET = "a.parquet: Parquet cannot hold a column of this table; "
NO_TSV = ": a text holds a tab or line break, which TSV "
HELD: list[tuple[Sequence[Mapping[str, object]], str, str, str]] = [
    (MIXED, "a.parquet", "b.csv", NO_PARQUET),
    ([PAIR | {"none": {}}], "a.parquet", "b.csv", NO_PARQUET),
    (BROKEN_LINE, "a.tsv", "b.csv", f"a.tsv{NO_TSV}"),
    (BROKEN_NOTE, "a.tsv", "b.csv", f"a.tsv{NO_TSV}"),
    ([PAIR | {"note": "a\rb"}], "a.tsv", "b.csv", f"a.tsv{NO_TSV}"),
    ([PAIR | {"a\tb": ""}], "a.tsv", "b.csv", f"a.tsv{NO_TSV}"),
    (BROKEN_LINE, "a.csv", "b.tsv", f"b.tsv{NO_TSV}"),
    ([PAIR] * 3, "a.xlsx", "b.csv", "a.xlsx: a sheet holds 3 rows; choose .csv"),
    ([PAIR] * 3, "a.csv", "b.xlsx", "b.xlsx: a sheet holds 3 rows; choose .csv"),
    (MIXED, "a.csv", "b.parquet", ""),
    (MIXED, "a.tsv", "b.tsv", ""),
    (MIXED, "a.xlsx", "b.csv", ""),
    (BROKEN_LINE, "a.parquet", "b.csv", ""),
    (BROKEN_NOTE, "a.jsonl", "b.tsv", ""),
]
"""Rows, two files, and why they are refused where they are."""


@each("rows, out, pairs, said", HELD)
def test_what_a_form_cannot_hold_is_refused_before_any_row_is_scored(
    rows: Sequence[Mapping[str, object]], out: str, pairs: str, said: str,
    classifier: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(writers, "EXCEL_ROWS", 3)
    path, places = tmp_path / "in.jsonl", Places(tmp_path / "out" / out, tmp_path / "out" / pairs)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    if said:
        with pytest.raises(FileError) as refused:
            begun(path, places, classifier, None)
        assert str(refused.value).startswith(said)
        assert not (tmp_path / "out").exists()
        return
    assert whole(begun(path, places, classifier, None))["scored"] == len(rows)
    assert len(open_source(places.scored)) == len(rows)


def stored(store: Store, model: str, file: Path) -> StoredRun:
    """Store the run of a file."""
    source = open_source(file)
    request = asked(source.names, "bf16")
    return store.create(ME, scoring_request(file, source, model, NLI, request))


def rounded(shape: Any) -> Any:  # Any: JSON
    """Return a JSON with its fractions to seven places."""
    return json.loads(json.dumps(shape), parse_float=lambda digits: round(float(digits), 7))


def test_the_files_of_a_run_are_those_of_the_command_and_go_with_it(
    home: Path, model: str, classifier: Classifier, file: Path, tmp_path: Path
) -> None:
    store = Store()
    run, engine = stored(store, model, file), Engine(store, in_process=True)
    with pytest.raises(FileError, match=r"^no part of this file is scored yet$"):
        assemble(run, Places(tmp_path / "out.csv"))
    engine.submit(run.id)
    until(store, run.id, ended)
    engine.close()
    run = store.get(run.id)
    assert (run.state, [(cell.key["start"], cell.key["rows"]) for cell in run.cells]) == (
        "done", [(0, 256), (256, 256), (512, 88)]
    )  # fmt: skip
    in_parts, at_once = (Places(tmp_path / f"{n}.csv", tmp_path / f"{n}.jsonl") for n in "ab")
    shape, _ = assemble(run, in_parts)
    named = replace(classifier, name=model)
    assert rounded(shape) == rounded(whole(begun(file, at_once, named, None, "bf16")))
    assert shape["fp32_sample"]["rows"] == len(fp32_sample(ROWS, 3))
    assert contents(in_parts) == contents(at_once)
    first, second, last = run.cells  # what is done of one that was stopped is handed over
    cells = (first, replace(second, state="cancelled", result=None), last)
    shape, _ = assemble(replace(run, cells=cells), in_parts)
    numbers = [int(record.cells["id"]) for record in open_source(in_parts.scored).records()]
    assert (shape["rows"], numbers) == (ROWS - 256, [*range(256), *range(512, ROWS)])
    assert stored_bytes(run.plan) > file.stat().st_size
    delete_run(store, Engine(store), ME, run.id)
    assert stored_bytes(run.plan) == 0


def test_a_part_tells_what_its_rows_took_and_a_plan_is_read_as_it_was_written(
    home: Path, model: str, file: Path
) -> None:
    run = stored(Store(), model, file)
    plan = read_plan(run.plan)
    assert plan.request == asked(open_source(file).names, "bf16") and plan_json(plan) == run.plan
    key = run.cells[0].key
    context = CellContext(named_model_hash(model), part=SCORING.part(run.plan, key))
    *rows, result = run_cell(run.plan, {}, key, context)
    told = [row.values for row in rows if isinstance(row, Progress)]
    assert [values["rows"] for values in told] == [32, 256]
    assert 0 < told[0]["seconds"] < told[1]["seconds"]
    assert isinstance(result, Result)
    flat = json.loads(gzip.decompress(result.content))  # as a run of before today has it
    old = {"values": {name: flat.pop(name) for name in ("scored", "made", "variants")}, **flat}
    again = read_packed_values(gzip.compress(json.dumps(old).encode()))
    assert again == read_packed_values(result.content)


def test_a_file_that_cannot_be_kept_whole_leaves_nothing_behind(home: Path, tmp_path: Path) -> None:
    source = open_source(path := pair_file(tmp_path / "in.csv", 3))
    path.unlink()  # since it was opened
    with pytest.raises(FileError, match="cannot be written"):
        scoring_request(path, source, "minilm", NLI, asked(source.names))
    assert list((home / "scoring").iterdir()) == []


def test_a_run_of_arrow_is_written_as_parquet(home: Path, model: str, tmp_path: Path) -> None:
    table = pa.table({"premise": ["A man sings."], "hypothesis": ["He sings."]})
    with pa.ipc.new_file(tmp_path / "in.arrow", table.schema) as writer:
        writer.write_table(table)
    plan = stored(Store(), model, tmp_path / "in.arrow").plan
    assert read_plan(plan).form == "parquet"
    old = {name: value for name, value in plan.items() if name != "form"}
    forms = [read_plan({**old, "file": name}).form for name in ("in.arrow", "a.csv.gz")]
    assert forms == ["parquet", "csv"]  # as an earlier version told none


def test_a_run_refuses_the_cells_that_the_command_refuses(tmp_path: Path) -> None:
    texts = pa.array([b"A man sings.", None], pa.binary())
    table = pa.table({"premise": texts, "hypothesis": ["He sings.", "He sings."]})
    pq.write_table(table, tmp_path / "in.parquet")
    source = open_source(tmp_path / "in.parquet")
    sent = read_packed_part(packed_part(part(source.names, list(source.records()))))
    direct, through = (
        [row.error for row in read_rows(rows, guess(source.names, NLI), NLI)]
        for rows in (source, sent)
    )
    assert through == direct == ["the premise is bytes, not a text", "the premise is empty"]


SHORT, FIRST = 257, 256
BOTH: Sequence[Precision] = ("bf16", "fp32")


def scored_as(owner: str, request: RunRequest, precisions: Sequence[Precision]) -> StoredRun:
    """Store a run whose parts are scored, each as a worker with that precision scores it."""
    plan, results = request.plan, {}
    for number, (key, precision) in enumerate(zip(SCORING.cells(plan), precisions, strict=True)):
        context = CellContext(named_model_hash(plan["model"]), part=SCORING.part(plan, key))
        *_, result = run_cell(plan | {"precision": precision}, {}, key, context)
        assert isinstance(result, Result)
        SCORING.store_content(plan, key, result.content)
        results[number] = result.values
    return Store().create(owner, request, results)


def test_summary_page_and_command_name_each_precision_with_its_rows(
    home: Path, model: str, classifier: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, out = pair_file(tmp_path / "short.csv", SHORT), tmp_path / "out.csv"
    source = open_source(short)
    request = ScoringRequest(reading_of(source, short, NLI).settled, ("reverse",))
    called = replace(classifier, name=model)

    def requested(place: Path) -> RunRequest:
        known = identity(short, called, request, Places(place))
        return scoring_request(short, source, model, NLI, request, identity=known)

    shape, _ = assemble(scored_as(ME, requested(out), BOTH[::-1]), Places(out))
    rows = {"fp32": FIRST, "bf16": SHORT - FIRST}
    assert (shape["precision"], shape["precision_rows"]) == ("bf16 and fp32", rows)
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    view = view_of(Score, Store())
    shown = named(view, view.shown(scored_as(ME, requested(out), BOTH), ME))
    assert "bf16 for 256 rows and fp32 for 1 row" in shown["head"]
    assert "(bf16): in a sample of the rows" in shown["figures"]
    out, summary = tmp_path / "by-command.csv", tmp_path / "summary.json"
    scored_as(COMMAND_LINE, requested(out), BOTH)
    words = ["--model", model, "--transforms", "reverse", "--out", str(out), "--run"]
    told = run("batch", str(short), *words, "--summary", str(summary)).output
    assert "computed in bf16 for 256 rows and fp32 for 1 row" in told
    assert json.loads(summary.read_text())["precision_rows"] == {"bf16": 256, "fp32": 1}
