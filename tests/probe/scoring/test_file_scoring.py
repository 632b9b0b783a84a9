"""A scoring that was interrupted goes on: the files are those of one that was not."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from probe.analysis.summary import fp32_sample
from probe.data.rows import guess
from probe.data.source import open_source
from probe.errors import FileError
from probe.models.classifier import Classifier, Precision
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


def whole(source: Path, places: Places, model: Classifier) -> dict[str, object]:
    """Score a file to its end."""
    scoring = begun(source, places, model)
    assert [chunk.done for chunk in scoring.chunks()][-1] == ROWS
    return scoring.hand_over()


def broken_off(source: Path, places: Places, model: Classifier, chunks: int) -> None:
    """Score some chunks, as a process does that is killed within the next one."""
    steps = begun(source, places, model).chunks()
    for _ in range(chunks):
        next(steps)
    for path in filter(None, (places.scored, places.pairs)):
        if path.is_file():  # written, and then killed before that was noted
            with path.open("ab") as file:
                file.write(b"half a li")


def places_in(folder: Path, form: str) -> Places:
    """Return the places of the two files."""
    return Places(folder / f"out.{form}", folder / f"pairs.{form}")


def contents(places: Places) -> list[object]:
    """Return what the files hold."""
    paths = [path for path in (places.scored, places.pairs) if path]
    if places.scored.suffix == ".parquet":
        return [pq.read_table(path).to_pylist() for path in paths]
    return [path.read_bytes() for path in paths]


@pytest.mark.parametrize("form", ["csv", "csv.gz", "jsonl.zst", "parquet"])
def test_what_was_broken_off_goes_on_to_the_same_bytes(
    form: str, source: Path, classifier: Classifier, tmp_path: Path
) -> None:
    at_once, in_parts = (places_in(tmp_path / name, form) for name in ("once", "parts"))
    expected = whole(source, at_once, classifier)
    broken_off(source, in_parts, classifier, 1)
    broken_off(source, in_parts, classifier, 1)
    scoring = begun(source, in_parts, classifier)
    assert (scoring.start, scoring.anew) == (256, "")
    assert [chunk.start for chunk in scoring.chunks()] == [256, 256]
    assert scoring.hand_over() == expected
    assert contents(in_parts) == contents(at_once)
    assert not in_parts.work.exists()


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


def test_what_is_done_is_handed_over_and_can_go_on(
    source: Path, classifier: Classifier, tmp_path: Path
) -> None:
    places = places_in(tmp_path, "parquet")
    steps = (scoring := begun(source, places, classifier)).chunks()
    next(steps)
    assert scoring.hand_over()["rows"] == pq.read_table(places.scored).num_rows == 32
    assert begun(source, places, classifier).start == 32


@pytest.mark.parametrize("name", IDENTITY)
def test_who_asks_for_something_else_is_told_and_begins_anew(
    name: str, source: Path, classifier: Classifier, tmp_path: Path
) -> None:
    places = places_in(tmp_path, "csv")
    broken_off(source, places, classifier, 1)
    scoring = begun(source, places, classifier, IDENTITY | {name: "other"})
    assert scoring.start == 0
    assert scoring.anew == f"{name} changed since 32 rows were scored"


def test_a_place_that_is_written_in_another_way_is_the_same(
    source: Path, tmp_path: Path, classifier: Classifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    broken_off(source, places_in(Path(), "csv"), classifier, 2)
    for folder in (tmp_path, Path("sub/..")):
        again = begun(source, places_in(folder, "csv"), classifier)
        assert (again.anew, again.start) == ("", 256)
    list(again.chunks())
    again.hand_over()
    whole(source, at_once := places_in(tmp_path / "sub", "csv"), classifier)
    assert contents(places_in(tmp_path, "csv")) == contents(at_once)


def test_a_file_that_is_gone_is_begun_anew(
    source: Path, classifier: Classifier, tmp_path: Path
) -> None:
    places = places_in(tmp_path, "csv")
    broken_off(source, places, classifier, 1)
    places.scored.unlink()
    scoring = begun(source, places, classifier)
    assert (scoring.start, scoring.anew) == (0, "out.csv of an earlier call is not there any more")


def test_rows_come_in_the_order_of_the_input_and_bad_ones_say_why(
    source: Path, classifier: Classifier, tmp_path: Path
) -> None:
    places = places_in(tmp_path, "jsonl")
    whole(source, places, classifier)
    lines = [json.loads(line) for line in places.scored.read_text().splitlines()]
    assert columns(lines, "hypothesis") == [
        PAIRS[number % len(PAIRS)].hypothesis for number in range(ROWS)
    ]
    assert lines[300]["error"] == "the premise is empty"
    assert sum(bool(line["error"]) for line in lines) == 1


def columns(lines: Sequence[dict[str, object]], name: str) -> list[object]:
    """Return a column."""
    return [line[name] for line in lines]


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


def of_rows(
    rows: Sequence[Mapping[str, object]], out: str, pairs: str, model: Classifier, folder: Path
) -> FileScoring:
    """Return the scoring of JSON lines into two files of a folder of their own."""
    path = folder / "in.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    opened, places = open_source(path), Places(folder / "out" / out, folder / "out" / pairs)
    return FileScoring(
        opened, model, ScoringRequest(guess(opened.names, NLI), ("reverse",)), places
    )


@pytest.mark.parametrize(
    ("rows", "out", "pairs", "said"),
    [
        (MIXED, "a.parquet", "b.csv", "a.parquet: Parquet cannot hold a column of this table; "),
        ([PAIR | {"none": {}}], "a.parquet", "b.csv", "a.parquet: Parquet cannot hold a column"),
        (BROKEN_LINE, "a.tsv", "b.csv", "a.tsv: a text holds a tab or line break, which TSV "),
        (BROKEN_NOTE, "a.tsv", "b.csv", "a.tsv: a text holds a tab or line break, which TSV "),
        ([PAIR | {"a\tb": ""}], "a.tsv", "b.csv", "a.tsv: a text holds a tab or line break, "),
        (BROKEN_LINE, "a.csv", "b.tsv", "b.tsv: a text holds a tab or line break, which TSV "),
    ],
)
def test_what_a_form_cannot_hold_is_refused_before_any_row_is_scored(
    rows: Sequence[Mapping[str, object]],
    out: str,
    pairs: str,
    said: str,
    classifier: Classifier,
    tmp_path: Path,
) -> None:
    with pytest.raises(FileError) as refused:
        of_rows(rows, out, pairs, classifier, tmp_path)
    assert str(refused.value).startswith(said)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("rows", "out", "pairs"),
    [
        (MIXED, "a.csv", "b.parquet"),
        (MIXED, "a.tsv", "b.tsv"),
        (BROKEN_LINE, "a.parquet", "b.csv"),
        (BROKEN_NOTE, "a.jsonl", "b.tsv"),
    ],
)
def test_what_a_form_can_hold_is_not_refused(
    rows: Sequence[Mapping[str, object]],
    out: str,
    pairs: str,
    classifier: Classifier,
    tmp_path: Path,
) -> None:
    scoring = of_rows(rows, out, pairs, classifier, tmp_path)
    list(scoring.chunks())
    assert scoring.hand_over()["scored"] == len(rows)
    assert len(list(open_source(tmp_path / "out" / out).records())) == len(rows)
