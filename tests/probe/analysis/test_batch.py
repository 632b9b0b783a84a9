"""A whole table: every row scored or its reason given, and measures recomputed by plain loops."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probe.analysis.batch import CHUNK_ROWS, FIRST_ROWS, Chunk, Row, score
from probe.analysis.summary import Totals, notes, summarise, summary_frame, summary_json
from probe.data.rows import Columns, Source, of_frame
from probe.data.source import read_table
from probe.errors import FileError, UnknownTransform
from probe.tasks.nli import LABELS, NLI
from probe.transforms import Options
from tests.support.files.pair_files import pair_columns
from tests.support.files.scored_frames import scored_frame
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import shared

NAMES = ("sort", "drop", "copysort", "negation", "drop+sort")
TINY = replace(shared(), name="tiny")
COLUMNS = pair_columns("premise", "hypothesis", "label")
PARTS = ("premise", "hypothesis", "gold", "prediction", "confidence", "agrees", "note")
OURS = ["prediction", "confidence", "p_entailment", "p_neutral", "p_contradiction", "error"]
OURS += ["right", "cut", "unknown", "language"]


def make(
    rows: Sequence[Sequence[str]], names: Sequence[str] = ("premise", "hypothesis", "label")
) -> Source:
    """Return a table of text."""
    return of_frame(pd.DataFrame(list(rows), columns=list(names), dtype=object), "csv")


def plain(n: int) -> Source:
    """Return n rows with gold labels in turn."""
    return make([(p.premise, p.hypothesis, str(p.gold)) for p in tiny_pairs(n)])


def run(
    table: Source, names: Sequence[str] = NAMES, columns: Columns = COLUMNS, **more: Any
) -> list[Row]:
    """Score a table to its end in fp32."""
    chunks = score(table, columns, shared(), names, precision="fp32", **more)
    return [row for chunk in chunks for row in chunk.rows]


REASONS = {
    ("A man walks.", "He moves.", "entailment"): "",
    ("", "He moves.", "entailment"): "the premise is empty",
    ("A man walks.", "  ", "neutral"): "the hypothesis is empty",
    ("", "", "neutral"): "the premise and the hypothesis are empty",
    ("A man walks.", "He moves.", "-"): "no gold label: the annotators did not agree ('-')",
    ("A man walks.", "He moves.", "perhaps"): "unknown gold label 'perhaps'; use entailment, "
    "neutral or contradiction",
    ("A man walks.", "He is \ud83d happy.", "neutral"): "the text holds half of a character, a "
    "lone surrogate, and cannot be read",
    ("A man walks.", "He sleeps.", ""): "",
    ("A man walks.", "He does not walk.", "c"): "",
}
BAD = make(list(REASONS))


def test_a_bad_row_gets_its_reason_and_the_rest_is_scored(tmp_path: Path) -> None:
    rows = run(BAD)
    assert [row.error for row in rows] == list(REASONS.values())
    assert [row.prediction is None for row in rows] == [bool(why) for why in REASONS.values()]
    summary = summarise(rows, NAMES, NLI)
    assert (summary.rows, summary.scored, summary.errors) == (9, 3, 6)
    assert sum(summary.predicted.values()) == 3
    shape = summary_json(summary, shared(), "fp32", 3, Options())
    assert list(shape["transforms"]) == list(NAMES)
    for measured in shape["transforms"].values():
        assert {"n", "agreement", "confidence", "accuracy"} <= set(measured)
    assert (shape["model"], shape["precision"], shape["seed"]) == ("tiny-bert", "fp32", 3)
    undefined = shape["transforms"]["sort"]
    assert (undefined["accuracy"], undefined["accuracy_n"]) == (None, 0)
    assert json.loads(json.dumps(shape, allow_nan=False)) == shape
    frame = scored_frame(BAD, rows, NAMES, TINY)
    assert frame.loc[1, "prediction"] is None and frame.loc[1, "sort.agrees"] is None
    assert frame.loc[1, "error"] == "the premise is empty"
    none = make([("", "", "")] * 3)
    assert summarise(run(none), NAMES, NLI).scored == 0
    assert len(scored_frame(none, run(none), NAMES, TINY)) == 3
    path = tmp_path / "a.csv"
    path.write_text("premise,hypothesis\nA man walks.,He moves.\nA man walks.\n")
    rows = run(read_table(path), columns=pair_columns("premise", "hypothesis"))
    assert [row.error for row in rows] == ["", "the row has 1 fields, the header 2"]


def test_our_columns_stand_behind_the_inputs_which_come_out_unchanged() -> None:
    frame = scored_frame(plain(5), run(plain(5)), NAMES, TINY)
    transformed = [f"{name}.{part}" for name in NAMES for part in PARTS]
    assert list(frame.columns) == ["premise", "hypothesis", "label", *OURS, *transformed]
    said = shared().predict(tiny_pairs(5))
    assert list(frame["prediction"]) == [p.label for p in said]
    assert list(frame["confidence"]) == pytest.approx([p.confidence for p in said], abs=1e-5)
    for place, label in enumerate(LABELS):
        expected = [p.probabilities[place] for p in said]
        assert list(frame[f"p_{label}"]) == pytest.approx(expected, abs=1e-5)
    given = [["007", " He said ''no''. ", "NA", "1.10", "😀 yes"], ["", "a\nb", "", "", "x"]]
    names = ["id", "premise", "hypothesis", "score", "note"]
    rows = run(make(given, names), columns=pair_columns("premise", "hypothesis"))
    assert scored_frame(make(given, names), rows, NAMES, TINY)[names].to_numpy().tolist() == given


def test_chunks_say_how_far_the_work_is_and_rows_do_not_depend_on_theirs() -> None:
    total = FIRST_ROWS + CHUNK_ROWS + 5
    table = make([("A man walks.", "He moves.", "neutral")] * total)
    chunks = list(score(table, COLUMNS, shared()))
    assert [chunk.done for chunk in chunks] == [FIRST_ROWS, CHUNK_ROWS, total]
    assert [len(chunk.rows) for chunk in chunks] == [FIRST_ROWS, CHUNK_ROWS - FIRST_ROWS, 37]
    assert chunks[-1].left == 0
    chunk = Chunk((), done=30, total=90, seconds=10.0)
    assert (chunk.per_second, chunk.left) == (3.0, 20.0)
    names, rows = ["shuffle", "repeat", "replace"], plain(FIRST_ROWS + 8)
    long = run(rows, names)
    assert [row.number for row in long] == list(range(FIRST_ROWS + 8))
    pairs = [pair.premise for pair in tiny_pairs(FIRST_ROWS + 8)]
    assert [row.example.premise for row in long if row.example] == pairs
    kept = [
        replace(record, broken="left out" if record.number < FIRST_ROWS + 7 else "")
        for record in rows.records()
    ]
    single = replace(rows, read=lambda: iter(kept))
    alone, other = run(single, names)[-1], long[-1]
    assert alone.prediction is not None and other.prediction is not None
    expected = pytest.approx(other.prediction.probabilities, abs=1e-5)
    assert alone.prediction.probabilities == expected
    for name, transformed in alone.transformed.items():
        assert transformed[0].result.example == other.transformed[name][0].result.example


LANGUAGES = make(
    [
        ("A man walks in the park with his dog.", "A man is outside.", "entailment"),
        ("Ein Mann geht mit seinem Hund im Park.", "Der Mann ist draußen.", "entailment"),
        ("男人在公园里遛狗。", "男人在外面。", "entailment"),
        ("ผู้ชายเดินในสวน", "ผู้ชายอยู่ข้างนอก", "entailment"),
    ]
)


def test_what_a_model_cannot_read_is_counted_and_said() -> None:
    for option, n in (("skip", 1), ("count", 4)):  # rows for which a change for English counts
        options = Options(other_languages=option)  # type: ignore[arg-type]  # one of its values
        names = ["negation", "sort+negation", "shuffleprem"]
        found = summarise(run(LANGUAGES, names, options=options), names, NLI)
        for name in names[:2]:
            measured = found.transforms[name]
            assert (measured["agreement"].n, measured.not_applicable) == (n, 4 - n), name
            assert measured.unchanged == 0, name
        assert found.transforms["shuffleprem"].not_applicable == 0
        assert found.languages == {"German": 1, "Chinese": 1, "Thai": 1}
        (said, *_) = notes(found, options)
        assert "3 of 4 rows are not in English" in said
        assert "negation" in said and "shuffleprem" not in said
    found = summarise(run(LANGUAGES, []), [], NLI)
    assert found.unknown == 2
    assert any(said.startswith("2 of 4 rows are mostly words") for said in notes(found, Options()))
    table = make([("the man walks " * 100, "He moves.", ""), ("A man.", "He moves.", "")])
    assert summarise(run(table, []), [], NLI).cut == 1


def test_measures_are_those_of_a_plain_loop() -> None:
    table = plain(40)
    rows = run(table)
    frame, summary = scored_frame(table, rows, NAMES, TINY), summarise(rows, NAMES, NLI)
    frame["right"] = frame["prediction"] == frame["label"]
    whole = summary.original
    assert (whole["accuracy"].value, whole["accuracy"].n) == (frame["right"].mean(), 40)
    assert whole["confidence"].value == pytest.approx(frame["confidence"].mean(), abs=1e-5)
    for name in NAMES:
        before, after = (
            frame[[f"{start}{side}" for side in ("premise", "hypothesis")]].map(
                lambda text: "".join(text.lower().split())
            )
            for start in ("", f"{name}.")
        )
        own = frame[(before.to_numpy() != after.to_numpy()).any(axis=1)]
        said, found = own[f"{name}.prediction"], summary.transforms[name]
        compared = "entailment" if name == "copysort" else own["prediction"]
        assert found["agreement"].n == found["confidence"].n == len(own) > 20, name
        assert found["agreement"].value == pytest.approx((said == compared).mean()), name
        sure = own[f"{name}.confidence"].mean()
        assert found["confidence"].value == pytest.approx(sure, abs=1e-5), name
        assert found["accuracy"].n == (len(own) if name == "negation" else 0), name  # no gold label
        if name == "negation":
            assert found["accuracy"].value == pytest.approx((said == own["label"]).mean())
        parts = [summary.by_label[label][name]["agreement"] for label in LABELS]
        assert sum(part.n for part in parts) == len(own)
        hits = math.fsum(part.value * part.n for part in parts if part.n)
        assert hits == pytest.approx(found["agreement"].value * len(own)), name
    totals = Totals(NLI, NAMES)
    for start in range(0, 40, 7):
        totals.add(rows[start : start + 7])
        assert totals.summary() == summarise(rows[: start + 7], NAMES, NLI)
    tidy = summary_frame(summary)
    estimate = ["value", "low", "high", "n", "spread", "not_applicable"]
    assert list(tidy.columns) == ["label", "transform", "measure", *estimate]
    assert len(tidy) == len(tidy.drop_duplicates(["label", "transform", "measure"])) == 4 * 6 * 6


def test_what_is_missing_is_named_before_anything_is_scored() -> None:
    with pytest.raises(FileError, match=r"^no column 'gold' in your file; it has: premise, "):
        next(score(plain(2), pair_columns("premise", "hypothesis", "gold"), shared()))
    with pytest.raises(UnknownTransform, match=r"^there is no transform 'srot'"):
        next(score(plain(2), COLUMNS, shared(), ["srot"]))
