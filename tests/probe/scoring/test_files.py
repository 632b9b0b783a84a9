"""A scoring that was interrupted goes on: the files are those of one that was not."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from probe.analysis.summary import fp32_sample
from probe.data import writers
from probe.data.rows import guess
from probe.data.source import open_source
from probe.errors import FileError
from probe.models.classifier import Classifier, Precision
from probe.models.library import load
from probe.scoring.files import FileScoring, Places, ScoringRequest
from probe.tasks.nli import NLI
from tests.support.files.pair_files import PAIRS

IDENTITY = {"the file": "a", "the model": "b", "the settings": "c"}
ROWS = 600


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 600 pairs, one of them without a premise."""
    path = tmp_path_factory.mktemp("source") / "in.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        write = csv.writer(file, lineterminator="\n").writerow
        write(["premise", "hypothesis", "label"])
        for number in range(ROWS):
            pair = PAIRS[number % len(PAIRS)]
            write(["" if number == 300 else pair.premise, pair.hypothesis, pair.gold])
    return path


def begun(
    source: Path,
    places: Places,
    model: Classifier,
    identity: dict[str, str] = IDENTITY,
    precision: Precision = "fp32",
) -> FileScoring:
    """Return the scoring of a file, each row reversed as well."""
    opened = open_source(source)
    request = ScoringRequest(guess(opened.names, NLI), ("reverse",), precision=precision)
    return FileScoring(opened, model, request, places, identity)


def broken_off(source: Path, places: Places, model: Classifier, chunks: int) -> None:
    """Score some chunks, as a process does that is killed within the next one."""
    steps = begun(source, places, model).chunks()
    for _ in range(chunks):
        next(steps)
    (places.work / "000000256.json.gz.new").write_bytes(b"half a pa")


def places_in(folder: Path, form: str) -> Places:
    """Return the places of the two files."""
    return Places(folder / f"out.{form}", folder / f"pairs.{form}")


def contents(places: Places) -> list[object]:
    """Return what the files hold."""
    paths = [path for path in (places.scored, places.pairs) if path]
    if places.scored.suffix == ".parquet":
        return [pq.read_table(path).to_pylist() for path in paths]
    return [path.read_bytes() for path in paths]


@pytest.fixture(scope="module")
def at_once(
    source: Path, model: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Places, Mapping[str, object]]]:
    """The files of a scoring that was not broken off, by their form, and its summary."""
    classifier, found = load(model), {}
    for form in ("csv.gz", "jsonl", "parquet"):
        places = places_in(tmp_path_factory.mktemp("once"), form)
        scoring = begun(source, places, classifier)
        assert [chunk.done for chunk in scoring.chunks()] == [32, 256, 512, 600]
        found[form] = places, scoring.hand_over()
    return found


@pytest.mark.parametrize("form", ["csv.gz", "jsonl", "parquet"])
def test_what_was_broken_off_goes_on_to_the_same_bytes(
    form: str,
    source: Path,
    classifier: Classifier,
    at_once: Mapping[str, tuple[Places, Mapping[str, object]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places, (whole, expected) = places_in(tmp_path, form), at_once[form]
    broken_off(source, places, classifier, 1)
    broken_off(source, places, classifier, 1)
    places.scored.unlink(missing_ok=True)  # the parts hold all that was done
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    scoring = begun(source, places_in(Path("sub/.."), form), classifier)  # the same places
    assert (scoring.start, scoring.anew) == (256, "")
    assert [chunk.start for chunk in scoring.chunks()] == [256, 256]
    assert scoring.hand_over() == expected
    assert contents(places) == contents(whole)
    assert not places.work.exists()


def test_rows_come_in_the_order_of_the_input_and_bad_ones_say_why(
    at_once: Mapping[str, tuple[Places, Mapping[str, object]]],
) -> None:
    rows = [json.loads(line) for line in at_once["jsonl"][0].scored.read_text().splitlines()]
    hypotheses = [PAIRS[number % len(PAIRS)].hypothesis for number in range(ROWS)]
    assert [row["hypothesis"] for row in rows] == hypotheses
    errors = [row["error"] for row in rows]
    assert errors.pop(300) == "the premise is empty" and not any(errors)


def test_a_sample_in_fp32_is_the_same_whether_a_scoring_was_broken_off_or_not(
    source: Path, classifier: Classifier, tmp_path: Path
) -> None:
    summaries = []
    for stops in (0, 2):
        places = places_in(tmp_path / str(stops), "csv")
        for _ in range(stops):
            next(begun(source, places, classifier, precision="bf16").chunks())
        scoring = begun(source, places, classifier, precision="bf16")
        assert bool(scoring.start) == bool(stops)
        list(scoring.chunks())
        summaries.append(scoring.hand_over())
    assert summaries[0] == summaries[1]
    sampled = len(fp32_sample(summaries[0]["rows"], 0))
    assert sampled - 1 <= summaries[0]["fp32_sample"]["rows"] <= sampled


def test_what_is_done_is_handed_over_and_can_go_on_unless_something_else_is_asked(
    source: Path, classifier: Classifier, tmp_path: Path
) -> None:
    places = places_in(tmp_path, "parquet")
    next((scoring := begun(source, places, classifier)).chunks())
    assert scoring.hand_over()["rows"] == pq.read_table(places.scored).num_rows == 32
    assert begun(source, places, classifier).start == 32
    for name in IDENTITY:
        next(begun(source, places, classifier).chunks())
        scoring = begun(source, places, classifier, IDENTITY | {name: "other"})
        found = (scoring.start, scoring.anew)
        assert found[0] == 0 and found[1].startswith(f"{name} changed since "), name
        begun(source, places, classifier)


def test_a_name_that_the_input_has_too_gets_the_models_behind_it(
    classifier: Classifier, tmp_path: Path
) -> None:
    path = tmp_path / "in.csv"
    path.write_text("premise,hypothesis,prediction\nA man walks.,He moves.,mine\n")
    opened = open_source(path)
    request = ScoringRequest(guess(opened.names, NLI))
    model = replace(classifier, name="tiny")
    scoring = FileScoring(opened, model, request, Places(tmp_path / "out.csv"))
    list(scoring.chunks())
    scoring.hand_over()
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


def test_what_a_form_cannot_hold_is_refused_before_any_row_is_scored(
    classifier: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "EXCEL_ROWS", 3)
    for number, (rows, out, pairs, said) in enumerate(HELD):
        (folder := tmp_path / str(number)).mkdir()
        (folder / "in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        opened = open_source(folder / "in.jsonl")
        places = Places(folder / "out" / out, folder / "out" / pairs)
        request = ScoringRequest(guess(opened.names, NLI), ("reverse",))
        if said:
            with pytest.raises(FileError) as refused:
                FileScoring(opened, classifier, request, places)
            assert str(refused.value).startswith(said)
            assert not (folder / "out").exists()
            continue
        scoring = FileScoring(opened, classifier, request, places)
        list(scoring.chunks())
        assert scoring.hand_over()["scored"] == len(rows), number
        assert len(list(open_source(places.scored).records())) == len(rows), number
