"""Readers side by side: F1, exact match, the paired bootstrap, where they differ, files."""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from probe.analysis.comparison import (
    Cell,
    McNemar,
    Row,
    accuracy,
    agreeing,
    agreement,
    differing,
    f1,
    in_words,
    outcomes,
    score,
    significance,
)
from probe.cli.main import app
from probe.data.tables import Table, read_table
from probe.models.library import load_reader
from probe.models.reader import SpanPrediction
from probe.reports.comparison import (
    compared_frame,
    comparison_json,
    example_comparison_json,
    in_a_sentence,
    keep,
    kept,
)
from probe.statistics import FEWEST, PairedBootstrap, paired_bootstrap
from probe.tasks import reading
from probe.tasks.nli import NLI, Pair
from probe.tasks.reading import READING, Question
from tests.support.models.tiny_models import shared
from tests.support.models.tiny_reader import tiny_reader

PASSAGE = "Thirty blue boats lay in Rome in 1956."


def row(number: int, gold: str | None, *said: str, question: str = "What lay there?") -> Row:
    answers = tuple(SpanPrediction(each, (0.9,), (each,), 0, len(each), 1) for each in said)
    asked = Question(question, PASSAGE, gold, str(number))
    return Row(number, READING, asked, answers, "", (False,) * len(said))


FOUR = [
    row(0, "blue boats", "Blue boats.", "boats"),  # F1 1 and 2/3: one of one, one of two words
    row(1, "Rome | in Rome", "in Rome", "Rome"),  # both right with other words
    row(2, "1956", "Thirty", "1956"),
    row(3, None, "Rome", "Rome"),
]


def test_f1_is_the_mean_over_rows_with_a_gold_answer() -> None:
    assert [(f1(FOUR, at).n, f1(FOUR, at).value) for at in (0, 1)] == [
        (3, pytest.approx(2 / 3)),  # 1, 1 and 0
        (3, pytest.approx((2 / 3 + 2) / 3)),
    ]


def test_exact_match_stands_beside() -> None:
    assert [accuracy(FOUR, at).value for at in (0, 1)] == [pytest.approx(2 / 3)] * 2


def test_readers_are_compared_by_f1_and_classifiers_by_accuracy() -> None:
    assert score(FOUR, 1) == f1(FOUR, 1)
    label = shared("bert").predict([Pair("A.", "B.")])[0]
    pair = Row(0, NLI, Pair("A.", "B.", label.label), (label, label), "", (False, False))
    assert score([pair], 0) == accuracy([pair], 0)
    assert isinstance(significance([pair], 0, 1), McNemar)


def test_the_bootstrap_is_of_the_difference_in_f1() -> None:
    test = significance(FOUR, 0, 1)
    assert isinstance(test, PairedBootstrap)
    assert (test.n, test.first_higher, test.second_higher) == (3, 1, 1)
    assert test.difference == pytest.approx((1 / 3 - 1) / 3)


def test_a_row_has_no_f1_without_an_answer_or_where_answers_are_labels() -> None:
    label = shared("bert").predict([Pair("A.", "B.")])[0]
    assert Row(0, NLI, Pair("A.", "B.", "neutral"), (label,)).f1(0) is None
    assert FOUR[3].f1(0) is None
    assert Row(0, READING, error="the question is empty").f1(0) is None


def test_answers_that_differ_in_words_count_by_who_is_right() -> None:
    assert [each.number for each in differing(FOUR, 0, 1)] == [0, 1, 2]
    assert [each.number for each in agreeing(FOUR, 0, 1)] == [3]
    assert outcomes(differing(FOUR, 0, 1), 0, 1) == Cell(3, 1, 1, 1, 0)
    assert agreement(FOUR, 0, 1).value == 1 / 4


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        ([], "a and b cannot be tested: there are no right answers to compare with."),
        ([0.0] * 3, "a and b have the same F1 on each of the 3 questions: no test."),
        ([0.5] * 20, "The F1 of a is 50.0 points above that of b (95 % interval 50.0 to 50.0)"),
        ([-0.5] * 20, "The F1 of b is 50.0 points above that of a (95 % interval 50.0 to 50.0)"),
        ([0.5] * 20, "higher on 20 of 20 questions, lower on 0."),
        ([0.5] * 20, "10,000 resamples: p < 0.001; chance alone would seldom"),
        ([0.5, -0.5] * 9, "; these questions do not tell the two apart."),
        ([1.0, -1.0], "(95 % interval \N{MINUS SIGN}100.0 to 100.0)"),
    ],
)
def test_a_bootstrap_is_said_in_words(differences: Sequence[float], said: str) -> None:
    assert said in in_words(paired_bootstrap(differences), "a", "b", "question")


def test_the_sentence_names_the_better_reader_by_f1() -> None:
    said = in_a_sentence([row(0, "blue boats", "Thirty", "blue boats")] * 6, ["one", "two"])
    assert said == "two is better than one (F1 100.0 against 0.0 %, p < 0.001)."


def test_the_sentence_says_where_chance_could_make_the_difference() -> None:
    said = in_a_sentence(FOUR, ["one", "two"])
    assert said.startswith("two and one cannot be told apart (F1 88.9 and 66.7 %, p = ")


def test_the_sentence_says_where_readers_are_equally_good() -> None:
    said = in_a_sentence([row(0, "1956", "1956", "1956")], ["one", "two"])
    assert said == "one and two are equally good on each question, F1 100.0 %."


def test_the_sentence_names_the_questions_on_which_all_are_weaker() -> None:
    wrong = [row(0, "1956", "Rome", "Rome", question="Why?")] * FEWEST
    right = [row(0, "blue boats", "blue boats", "blue boats")] * FEWEST
    said = in_a_sentence([*wrong, *right], ["one", "two"])
    assert f" Both are weaker where the question asks why (0 and 0 % of {FEWEST})." in said


def test_without_right_answers_the_sentence_says_how_often_they_agree() -> None:
    said = in_a_sentence([FOUR[3]], ["one", "two"])
    assert said.startswith("one and two say the same of 100 % of 1 questions.")
    assert said.endswith("no right answers to compare with, so nothing can be called right.")


def test_the_summary_has_f1_exact_match_and_the_bootstrap() -> None:
    shape = comparison_json(FOUR, ["a", "b"], "fp32")
    assert shape["f1"]["a"]["value"] == pytest.approx(2 / 3)
    assert (shape["em"]["b"]["n"], shape["f1"]["b"]["cut"]) == (3, 0)
    (couple,) = shape["pairs_of_models"]
    assert couple["bootstrap"]["second_higher"] == 1
    assert couple["differing"] == {
        "n": 3,
        "both_right": 1,
        "only_first_right": 1,
        "only_second_right": 1,
        "neither_right": 0,
    }
    assert {"accuracy", "mcnemar", "matrix"}.isdisjoint({*shape, *couple, *shape["slices"][0]})
    assert json.loads(json.dumps(shape, allow_nan=False)) == shape


def test_a_summary_without_right_answers_is_null() -> None:
    shape = comparison_json([FOUR[3]], ["a", "b"], "fp32")
    assert shape["f1"]["a"]["value"] is None
    assert shape["pairs_of_models"][0]["bootstrap"]["p"] is None
    assert shape["slices"] == []


def test_the_file_has_each_readers_span_and_f1() -> None:
    table = Table(pd.DataFrame({"question": ["What lay there?"] * 4}, dtype=object), "csv")
    frame = compared_frame(table, FOUR, ["a", "b"])
    columns = ["prediction", "confidence", "start", "end", "right", "cut", "f1"]
    assert list(frame.columns) == [
        *("question", "error"),
        *(f"{name}.{column}" for name in ("a", "b") for column in columns),
    ]
    assert list(frame["b.f1"]) == [0.666667, 1.0, 1.0, None]
    assert list(frame["a.end"]) == [11, 7, 6, 4]


def test_kept_spans_come_back_as_they_were(tmp_path: Path) -> None:
    keep(FOUR, tmp_path / "rows")
    found = kept(tmp_path / "rows")
    assert [each.predictions for each in found] == [each.predictions for each in FOUR]
    assert [each.f1(1) for each in found] == [each.f1(1) for each in FOUR]


def test_one_question_has_each_readers_span_and_f1(tmp_path: Path) -> None:
    models = [load_reader(str(tiny_reader(tmp_path / name))) for name in ("first", "second")]
    asked = Question("What lay there?", PASSAGE, "boats")
    shape = example_comparison_json(asked, models, "fp32")
    for one in shape["models"]:
        assert PASSAGE[one["start"] : one["end"]] == one["label"]
        assert one["f1"] == reading.f1(one["label"], "boats")


def test_the_command_compares_readers_on_a_file(tmp_path: Path) -> None:
    models = [str(tiny_reader(tmp_path / name)) for name in ("first", "second")]
    given, out = tmp_path / "in.csv", tmp_path / "out.csv"
    given.write_text(f"question,context,answers\nWhat lay there?,{PASSAGE},boats\n")
    chosen = [word for model in models for word in ("--model", model)]
    ended = CliRunner().invoke(app, ["compare", str(given), *chosen, "--out", str(out)])
    assert ended.exit_code == 0, ended.output
    assert ended.output.count("exact match ") == 2
    assert "have the same F1 on each of the 1 questions: no test." in ended.output
    assert "question word: what " in ended.output
    assert "first.f1" in read_table(out).frame.columns
