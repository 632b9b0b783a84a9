"""A whole table: every row scored or its reason given, and measures recomputed by plain loops."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from probe.analysis.batch import CHUNK_ROWS, FIRST_ROWS, Chunk, Row, score
from probe.analysis.summary import Totals, summarise
from probe.data.rows import Columns
from probe.data.source import Table, read_table
from probe.errors import FileError, UnknownTransform
from probe.reports.scored import notes, summary_frame, summary_json
from probe.tasks.nli import LABELS, NLI
from probe.transforms import Options
from probe.transforms.options import DEFAULTS, OtherLanguages
from tests.support.files.pair_files import pair_columns
from tests.support.files.scored_frames import scored_frame
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import shared

NAMES = ("sort", "drop", "copysort", "negation", "drop+sort")
TINY = replace(shared(), name="tiny")
COLUMNS = pair_columns("premise", "hypothesis", "label")
PARTS = ("premise", "hypothesis", "gold", "prediction", "confidence", "agrees", "note")
OURS = ["prediction", "confidence", "p_entailment", "p_neutral", "p_contradiction", "error"]
OURS += ["cut", "unknown", "language"]


def make(
    rows: Sequence[Sequence[str]], names: Sequence[str] = ("premise", "hypothesis", "label")
) -> Table:
    """Return a table of text."""
    return Table(pd.DataFrame(list(rows), columns=list(names), dtype=object), "csv")


def plain(n: int) -> Table:
    """Return n rows with gold labels in turn."""
    return make([(p.premise, p.hypothesis, str(p.gold)) for p in tiny_pairs(n)])


def run(
    table: Table,
    names: Sequence[str] = NAMES,
    columns: Columns = COLUMNS,
    options: Options = DEFAULTS,
) -> list[Row]:
    """Score a table to its end in fp32."""
    chunks = score(table, columns, shared(), names, options=options, precision="fp32")
    return [row for chunk in chunks for row in chunk.rows]


BAD = make(
    [
        ("A man walks.", "He moves.", "entailment"),
        ("", "He moves.", "entailment"),
        ("A man walks.", "  ", "neutral"),
        ("", "", "neutral"),
        ("A man walks.", "He moves.", "-"),
        ("A man walks.", "He moves.", "perhaps"),
        ("A man walks.", "He is \ud83d happy.", "neutral"),
        ("A man walks.", "He sleeps.", ""),
        ("A man walks.", "He does not walk.", "c"),
    ]
)
REASONS = [
    "",
    "the premise is empty",
    "the hypothesis is empty",
    "the premise and the hypothesis are empty",
    "no gold label: the annotators did not agree ('-')",
    "unknown gold label 'perhaps'; use entailment, neutral or contradiction",
    "the text holds half of a character, a lone surrogate, and cannot be read",
    "",
    "",
]


def test_a_bad_row_gets_its_reason_and_the_rest_is_scored() -> None:
    rows = run(BAD)
    assert [row.error for row in rows] == REASONS
    assert [row.prediction is None for row in rows] == [bool(reason) for reason in REASONS]


def test_a_row_that_does_not_fit_the_header_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("premise,hypothesis\nA man walks.,He moves.\nA man walks.\n")
    rows = run(read_table(path), columns=pair_columns("premise", "hypothesis"))
    assert [row.error for row in rows] == ["", "the row has 1 fields, the header 2"]


def test_a_table_of_bad_rows_only_is_gone_through() -> None:
    rows = run(make([("", "", "")] * 3))
    assert summarise(rows, NAMES, NLI).scored == 0
    assert len(scored_frame(make([("", "", "")] * 3), rows, NAMES, TINY)) == 3


def test_the_columns_are_the_inputs_and_ours_behind_them() -> None:
    table = plain(3)
    frame = scored_frame(table, run(table), NAMES, TINY)
    transformed = [f"{name}.{part}" for name in NAMES for part in PARTS]
    assert list(frame.columns) == ["premise", "hypothesis", "label", *OURS, *transformed]


def test_the_inputs_columns_come_out_unchanged() -> None:
    given = [["007", " He said ''no''. ", "NA", "1.10", "😀 yes"], ["", "a\nb", "", "", "x"]]
    table = make(given, ["id", "premise", "hypothesis", "score", "note"])
    rows = run(table, columns=pair_columns("premise", "hypothesis"))
    frame = scored_frame(table, rows, NAMES, TINY)
    assert frame[["id", "premise", "hypothesis", "score", "note"]].to_numpy().tolist() == given


def test_a_column_of_our_name_stays_the_inputs() -> None:
    names = ["premise", "hypothesis", "prediction", "error", "prediction.tiny"]
    table = make([["A man walks.", "He moves.", "mine", "too", "also"]], names)
    rows = run(table, ["sort"], pair_columns("premise", "hypothesis"))
    frame = scored_frame(table, rows, ["sort"], TINY)
    assert frame[names].to_numpy().tolist() == [
        ["A man walks.", "He moves.", "mine", "too", "also"]
    ]
    assert frame["prediction.tiny.tiny"][0] in LABELS
    assert frame["error.tiny"][0] == ""
    assert frame.columns.is_unique


def test_a_rows_cells_are_what_the_model_says() -> None:
    table = plain(5)
    frame = scored_frame(table, run(table), NAMES, TINY)
    said = shared().predict(tiny_pairs(5))
    assert list(frame["prediction"]) == [p.label for p in said]
    assert list(frame["confidence"]) == pytest.approx([p.confidence for p in said], abs=1e-5)
    for place, label in enumerate(LABELS):
        expected = [p.probabilities[place] for p in said]
        assert list(frame[f"p_{label}"]) == pytest.approx(expected, abs=1e-5)


def test_a_bad_rows_cells_are_empty() -> None:
    frame = scored_frame(BAD, run(BAD, ["sort"]), ["sort"], TINY)
    assert frame.loc[1, "prediction"] is None
    assert frame.loc[1, "sort.agrees"] is None
    assert frame.loc[1, "error"] == "the premise is empty"


def test_rows_keep_their_order_across_chunks() -> None:
    rows = run(plain(FIRST_ROWS + 10), ["sort"])
    assert [row.number for row in rows] == list(range(FIRST_ROWS + 10))
    assert [row.example.premise for row in rows if row.example] == [
        pair.premise for pair in tiny_pairs(FIRST_ROWS + 10)
    ]


def test_chunks_say_how_far_the_work_is() -> None:
    total = FIRST_ROWS + CHUNK_ROWS + 5
    table = make([("A man walks.", "He moves.", "neutral")] * total)
    chunks = list(score(table, COLUMNS, shared()))
    assert [(chunk.done, chunk.total) for chunk in chunks] == [
        (FIRST_ROWS, total),
        (CHUNK_ROWS, total),
        (total, total),
    ]
    assert [len(chunk.rows) for chunk in chunks] == [FIRST_ROWS, CHUNK_ROWS - FIRST_ROWS, 37]
    seconds = [chunk.seconds for chunk in chunks]
    assert seconds == sorted(seconds)
    assert chunks[-1].left == 0


def test_speed_and_time_left_are_those_of_simple_division() -> None:
    chunk = Chunk((), done=30, total=90, seconds=10.0)
    assert (chunk.per_second, chunk.left) == (3.0, 20.0)


def test_whoever_drives_it_may_stop() -> None:
    chunks = score(plain(FIRST_ROWS + 1), COLUMNS, shared())
    assert len(next(chunks).rows) == FIRST_ROWS
    chunks.close()  # type: ignore[attr-defined]  # a generator


def test_a_row_does_not_depend_on_its_chunk() -> None:
    long = run(plain(FIRST_ROWS + 8), ["shuffle", "repeat", "replace"])
    rows = plain(FIRST_ROWS + 8)
    single = Table(rows.frame, rows.form, {n: "left out" for n in range(FIRST_ROWS + 7)})
    alone = run(single, ["shuffle", "repeat", "replace"])[-1]
    assert alone.prediction is not None and long[-1].prediction is not None
    assert alone.prediction.probabilities == pytest.approx(
        long[-1].prediction.probabilities, abs=1e-5
    )
    for name, transformed in alone.transformed.items():
        assert transformed[0].result.example == long[-1].transformed[name][0].result.example


def test_a_cut_row_says_so() -> None:
    table = make([("the man walks " * 100, "He moves.", ""), ("A man.", "He moves.", "")])
    rows = run(table, [])
    assert [row.legible.cut for row in rows] == [True, False]
    assert summarise(rows, [], NLI).cut == 1


LANGUAGES = make(
    [
        ("A man walks in the park with his dog.", "A man is outside.", "entailment"),
        ("Ein Mann geht mit seinem Hund im Park.", "Der Mann ist draußen.", "entailment"),
        ("男人在公园里遛狗。", "男人在外面。", "entailment"),
        ("ผู้ชายเดินในสวน", "ผู้ชายอยู่ข้างนอก", "entailment"),
    ]
)


@pytest.mark.parametrize(("option", "n"), [("skip", 1), ("count", 4)])
def test_a_change_for_english_counts_for_english_rows_alone_unless_asked(
    option: OtherLanguages, n: int
) -> None:
    options = Options(other_languages=option)
    names = ["negation", "sort+negation", "shuffleprem"]
    found = summarise(run(LANGUAGES, names, options=options), names, NLI)
    for name in names[:2]:
        measured = found.transforms[name]
        assert (measured["agreement"].n, measured.not_applicable) == (n, 4 - n)
    assert found.transforms["shuffleprem"].not_applicable == 0
    assert found.languages == {"German": 1, "Chinese": 1, "Thai": 1}
    (said, *_) = notes(found, options)
    assert "3 of 4 rows are not in English" in said
    assert "negation" in said and "shuffleprem" not in said


def test_words_that_the_model_does_not_know_are_counted_and_said() -> None:
    rows = run(LANGUAGES, [])
    assert [row.legible.mostly_unknown for row in rows][1:] == [False, True, True]
    found = summarise(rows, [], NLI)
    assert found.unknown == 2
    assert any(said.startswith("2 of 4 rows are mostly words") for said in notes(found, Options()))


def spelt(text: str) -> str:
    """Return the letters and marks, case and spacing aside."""
    return "".join(text.lower().split())


@pytest.mark.parametrize("name", NAMES)
def test_measures_are_those_of_a_plain_loop(name: str) -> None:
    table = plain(40)
    rows = run(table)
    frame = scored_frame(table, rows, NAMES, TINY)
    agreed, confident, right, n = 0, 0.0, 0, 0
    for _, cells in frame.iterrows():
        before = spelt(cells["premise"] + "|" + cells["hypothesis"])
        if before == spelt(cells[f"{name}.premise"] + "|" + cells[f"{name}.hypothesis"]):
            continue
        n += 1
        compared = "entailment" if name == "copysort" else cells["prediction"]
        agreed += cells[f"{name}.prediction"] == compared
        confident += cells[f"{name}.confidence"]
        right += cells[f"{name}.prediction"] == cells["label"]
    found = summarise(rows, NAMES, NLI).transforms[name]
    assert n > 20
    assert found["agreement"].n == found["confidence"].n == n
    assert found["agreement"].value == pytest.approx(agreed / n)
    assert found["confidence"].value == pytest.approx(confident / n, abs=1e-5)
    if name == "negation":
        assert (found["accuracy"].n, found["accuracy"].value) == (n, pytest.approx(right / n))
    else:
        assert found["accuracy"].n == 0  # destroyed: no gold label


def test_accuracy_is_that_of_a_plain_loop() -> None:
    table = plain(40)
    frame = scored_frame(table, run(table, []), [], TINY)
    hits = sum(frame["prediction"] == frame["label"])
    found = summarise(run(table, []), [], NLI).original
    assert (found["accuracy"].value, found["accuracy"].n) == (hits / 40, 40)
    assert found["confidence"].value == pytest.approx(frame["confidence"].mean(), abs=1e-5)


@pytest.mark.parametrize("name", ["copysort", "copyone"])
def test_copies_are_compared_with_entailment(name: str) -> None:
    for row in run(plain(12), [name]):
        (transformed,) = row.transformed[name]
        assert transformed.agrees == (transformed.prediction.label == "entailment")


def test_other_transforms_are_compared_with_the_original_prediction() -> None:
    for row in run(plain(12), ["reverse"]):
        assert row.prediction is not None
        (transformed,) = row.transformed["reverse"]
        assert transformed.agrees == (transformed.prediction.label == row.prediction.label)


def test_non_entailment_is_compared_in_two_classes() -> None:
    table = make([(p.premise, p.hypothesis, "non-entailment") for p in tiny_pairs(12)])
    rows = run(table, ["negation"])
    said = [row.prediction.label for row in rows if row.prediction]
    expected = sum(label != "entailment" for label in said) / 12
    assert summarise(rows, ["negation"], NLI).original["accuracy"].value == pytest.approx(expected)


def test_what_is_unchanged_is_not_measured() -> None:
    table = make([("A man walks.", "No.", "neutral"), ("A man walks.", "No one walks.", "neutral")])
    found = summarise(run(table, ["reverse"]), ["reverse"], NLI).transforms["reverse"]
    assert (found["agreement"].n, found.unchanged) == (1, 1)


def test_by_label_the_rows_add_up() -> None:
    rows = run(plain(30))
    summary = summarise(rows, NAMES, NLI)
    assert set(summary.by_label) == set(LABELS)
    for name in NAMES:
        parts = [summary.by_label[label][name]["agreement"] for label in LABELS]
        whole = summary.transforms[name]["agreement"]
        assert sum(part.n for part in parts) == whole.n
        hits = math.fsum(part.value * part.n for part in parts if part.n)
        assert hits == pytest.approx(whole.value * whole.n)


def test_chunks_summed_up_one_by_one_are_the_whole() -> None:
    rows, totals = run(plain(30)), Totals(NLI, NAMES)
    for start in range(0, 30, 7):
        totals.add(rows[start : start + 7])
        assert totals.summary() == summarise(rows[: start + 7], NAMES, NLI)


def test_predictions_are_counted() -> None:
    rows = run(BAD, [])
    summary = summarise(rows, [], NLI)
    assert sum(summary.predicted.values()) == summary.scored == 3
    assert (summary.rows, summary.errors) == (9, 6)


def test_the_summary_has_the_promised_keys_and_is_json() -> None:
    shape = summary_json(summarise(run(BAD), NAMES, NLI), shared(), "fp32", 3, Options())
    assert {"rows", "scored", "errors", "accuracy", "transforms"} <= set(shape)
    assert list(shape["transforms"]) == list(NAMES)
    for measured in shape["transforms"].values():
        assert {"n", "agreement", "confidence", "accuracy"} <= set(measured)
    assert (shape["model"], shape["precision"], shape["seed"]) == ("tiny-bert", "fp32", 3)
    assert json.loads(json.dumps(shape, allow_nan=False)) == shape


def test_an_undefined_measure_is_null_in_json() -> None:
    shape = summary_json(summarise(run(BAD), NAMES, NLI), shared(), "fp32", 0, Options())
    assert shape["transforms"]["sort"]["accuracy"] is None
    assert shape["transforms"]["sort"]["accuracy_n"] == 0


def test_the_summarys_frame_has_every_measure_once() -> None:
    frame = summary_frame(summarise(run(plain(9)), NAMES, NLI))
    estimate = ["value", "low", "high", "n", "not_applicable"]
    assert list(frame.columns) == ["label", "transform", "measure", *estimate]
    assert not frame.duplicated(["label", "transform", "measure"]).any()
    assert len(frame) == 4 * (1 + len(NAMES)) * 5


def test_a_missing_column_is_named_before_anything_is_scored() -> None:
    with pytest.raises(FileError, match=r"^no column 'gold' in your file; it has: premise, "):
        next(score(plain(2), pair_columns("premise", "hypothesis", "gold"), shared()))


def test_an_unknown_transform_is_named_before_anything_is_scored() -> None:
    with pytest.raises(UnknownTransform, match=r"^there is no transform 'srot'"):
        next(score(plain(2), COLUMNS, shared(), ["srot"]))


def test_a_transform_named_twice_is_applied_once() -> None:
    table = plain(3)
    rows = run(table, ["sort", "sort"])
    frame = scored_frame(table, rows, ["sort", "sort"], TINY)
    assert list(frame.columns).count("sort.prediction") == 1
