"""Models side by side: rows, scores, where they differ, tests, files, the command."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from probe.analysis.batch import CHUNK_ROWS, FIRST_ROWS
from probe.analysis.comparison import (
    Cell,
    Row,
    accuracy,
    agreement,
    compare,
    compare_rows,
    differing,
    disagreement,
    f1,
    group_accuracies,
    in_words,
    members,
    outcomes,
    read,
    score,
    significance,
)
from probe.cli.main import app
from probe.data.source import Table, read_table
from probe.errors import ComparisonError, FileError
from probe.models.classifier import Prediction
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
from probe.statistics import FEWEST, paired_bootstrap
from probe.tasks import reading
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, TWO_WAY, Pair
from probe.tasks.reading import READING, Question
from probe.tasks.task import Label
from probe.templates import TemplatePair
from tests.support.files.pair_files import pair_columns
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs
from tests.support.models.tiny_models import shared, tiny_classifier
from tests.support.models.tiny_reader import tiny_reader

LETTERS: dict[str, Label] = {
    "E": "entailment",
    "N": "neutral",
    "C": "contradiction",
    "X": "non-entailment",
}


def three(letter: str) -> Prediction:
    """A model of three labels that says this one."""
    label = LETTERS[letter]
    return Prediction(label, tuple(0.8 if each == label else 0.1 for each in LABELS), LABELS)


def two(letter: str) -> Prediction:
    """A model of two labels that says this one."""
    label = LETTERS[letter]
    return Prediction(label, tuple(0.7 if each == label else 0.3 for each in TWO_WAY), TWO_WAY)


def rows(*texts: str) -> list[Row]:
    """Rows from a gold label (- for none) and what each model says, such as "E EN"."""
    found = []
    for number, text in enumerate(texts):
        gold, said = text.split()
        pair = Pair("A man walks.", "He moves.", LETTERS.get(gold), str(number))
        found.append(Row(number, NLI, pair, tuple(map(three, said)), "", (False,) * len(said)))
    return found


FIVE = rows("E EN", "N NN", "C EC", "X NE", "- CC")


def mixed(gold: str, first: str, second: str) -> Row:
    """A row of a model of three labels and one of two."""
    pair = Pair("A.", "B.", LETTERS[gold])
    return Row(0, NLI_TWO_WAY, pair, (three(first), two(second)), "", (False, False))


PASSAGE = "Thirty blue boats lay in Rome in 1956."


def asked(number: int, gold: str | None, *said: str, question: str = "What lay there?") -> Row:
    answers = tuple(SpanPrediction(each, (0.9,), (each,), 0, len(each), 1) for each in said)
    about = Question(question, PASSAGE, gold, str(number))
    return Row(number, READING, about, answers, "", (False,) * len(said))


FOUR = [
    asked(0, "blue boats", "Blue boats.", "boats"),  # F1 1 and 2/3: one of one, one of two words
    asked(1, "Rome | in Rome", "in Rome", "Rome"),  # both right with other words
    asked(2, "1956", "Thirty", "1956"),
    asked(3, None, "Rome", "Rome"),
]


def test_scores_count_examples_with_gold_labels_in_the_classes_of_all() -> None:
    assert [(accuracy(FIVE, at).n, accuracy(FIVE, at).value) for at in (0, 1)] == [
        (4, 3 / 4),  # right on E, N and, in two classes, on X
        (4, 2 / 4),  # right on N and C
    ]
    entailed, others = group_accuracies(rows("E EN", "E NE", "N CC", "C NE"), 0).values()
    assert (entailed.n, entailed.value) == (2, 1 / 2)
    assert (others.n, others.value) == (2, 1.0)  # neutral for contradiction is not entailment too
    assert (agreement(FIVE, 0, 1).n, agreement(FIVE, 0, 1).value) == (5, 2 / 5)
    assert [(f1(FOUR, at).n, f1(FOUR, at).value) for at in (0, 1)] == [
        (3, pytest.approx(2 / 3)),  # 1, 1 and 0
        (3, pytest.approx((2 / 3 + 2) / 3)),
    ]
    assert [accuracy(FOUR, at).value for at in (0, 1)] == [pytest.approx(2 / 3)] * 2
    assert score(FOUR, 1) == f1(FOUR, 1) and score(FIVE, 0) == accuracy(FIVE, 0)
    for none in (FIVE[0], FOUR[3], Row(0, READING, error="the question is empty")):
        assert none.f1(0) is None


def test_disagreement_counts_every_cell_and_who_is_right() -> None:
    found = disagreement(FIVE, 0, 1)
    assert len(found) == 9 and sum(cell.n for cell in found.values()) == 5
    for letters, cell in {
        "EN": Cell(1, 0, 1, 0, 0),
        "NN": Cell(1, 1, 0, 0, 0),
        "EC": Cell(1, 0, 0, 1, 0),
        "NE": Cell(1, 0, 1, 0, 0),
        "CC": Cell(1, 0, 0, 0, 0),  # no gold label
    }.items():
        assert found[LETTERS[letters[0]], LETTERS[letters[1]]] == cell, letters
    assert [row.number for row in members(FIVE, 0, 1, ("entailment", "contradiction"))] == [2]
    assert members(FIVE, 0, 1, ("nonsense", "neutral")) == []
    assert [each.number for each in differing(FOUR, 0, 1)] == [0, 1, 2]
    assert [each.number for each in differing(FOUR, 0, 1, agree=True)] == [3]
    assert outcomes(differing(FOUR, 0, 1), 0, 1) == Cell(3, 1, 1, 1, 0)
    assert agreement(FOUR, 0, 1).value == 1 / 4


def test_mcnemar_is_twice_the_binomial_tail_and_spans_have_the_bootstrap() -> None:
    for first, second, p in (
        (1, 6, 2 * (1 + 7) / 2**7),  # 2 P(X <= 1) of seven tosses
        (0, 5, 2 / 2**5),
        (6, 1, 2 * (1 + 7) / 2**7),
        (2, 2, 1.0),
        (0, 0, 1.0),
    ):
        said = rows(*["E EN"] * first, *["E NE"] * second, "N NN", "C EE", "- EN")
        found = significance(said, 0, 1)
        assert found.n == first + second + 2
        assert (found.first_higher, found.second_higher) == (first, second)
        assert found.p == pytest.approx(p)
    none = significance(rows("- EN", "- NN"), 0, 1)
    assert none.n == 0 and math.isnan(none.p)
    assert significance(FIVE, 0, 1).name == "mcnemar"
    test = significance(FOUR, 0, 1)
    assert test.name == "bootstrap"
    assert (test.n, test.first_higher, test.second_higher) == (3, 1, 1)
    assert test.difference == pytest.approx((1 / 3 - 1) / 3)


def test_a_test_is_said_in_words() -> None:
    for texts, said in (
        (["E EN"] * 8, "p = 0.008; chance alone would seldom make them differ so much."),
        (["E EN", "E NE"], "p = 1.000; these pairs do not tell the two apart."),
        (["E EN"] * 12, "p < 0.001; chance"),
        (["E EE", "N CC"], "a and b are right on the same of the 2 pairs"),
        (["- EN"], "a and b cannot be tested: there are no gold labels."),
    ):
        assert said in in_words(significance(rows(*texts), 0, 1), "a", "b")
    for differences, said in (
        ([], "a and b cannot be tested: there are no right answers to compare with."),
        ([0.0] * 3, "a and b have the same F1 on each of the 3 questions: no test."),
        ([0.5] * 20, "The F1 of a is 50.0 points above that of b (95 % interval 50.0 to 50.0)"),
        ([-0.5] * 20, "The F1 of b is 50.0 points above that of a (95 % interval 50.0 to 50.0)"),
        ([0.5] * 20, "higher on 20 of 20 questions, lower on 0."),
        ([0.5] * 20, "10,000 resamples: p < 0.001; chance alone would seldom"),
        ([0.5, -0.5] * 9, "; these questions do not tell the two apart."),
        ([1.0, -1.0], "(95 % interval \N{MINUS SIGN}100.0 to 100.0)"),
    ):
        assert said in in_words(paired_bootstrap(differences), "a", "b", "question")


def test_a_model_of_two_labels_holds_all_to_two_classes() -> None:
    row = mixed("C", "N", "X")
    assert (row.gold, row.right(0), row.right(1)) == ("non-entailment", True, True)
    assert mixed("E", "E", "E").gold == "entailment"
    found = agreement([row, mixed("C", "C", "X"), mixed("C", "E", "X")], 0, 1)
    assert found.value == pytest.approx(2 / 3)
    cells = disagreement([row], 0, 1)
    assert list(cells) == [(a, b) for a in LABELS for b in TWO_WAY]
    assert cells["neutral", "non-entailment"] == Cell(1, 1, 0, 0, 0)
    models = (shared("bert"), tiny_classifier("distilbert", order=TWO_WAY))
    (chunk,) = compare(models, tiny_pairs(6), "fp32")
    shape = comparison_json(chunk.rows, ["three", "two"], "fp32")
    assert len(shape["pairs_of_models"][0]["matrix"]) == 6 == shape["accuracy"]["two"]["n"]
    assert [len(said.probabilities) for said in chunk.rows[0].predictions] == [3, 2]
    golds = ("neutral", "non-entailment", "contradiction")
    pairs = [replace(pair, gold=gold) for pair, gold in zip(tiny_pairs(3), golds, strict=True)]
    (chunk,) = compare(MODELS, pairs, "fp32")
    assert {(each.task, each.gold) for each in chunk.rows} == {(NLI_TWO_WAY, "non-entailment")}
    assert "so all are compared in two" in in_a_sentence(chunk.rows, ["one", "other"])
    (alone,) = compare(MODELS, pairs[:1], "fp32")
    assert alone.rows[0].task == NLI


MODELS = (shared("bert"), shared("distilbert"))
WALK = Pair("A man walks.", "He moves.", "neutral")


def test_each_model_says_what_it_says_alone_chunk_by_chunk() -> None:
    total = FIRST_ROWS + CHUNK_ROWS + 3
    pairs = (tiny_pairs(15) * (total // 15 + 1))[:total]
    chunks = list(compare(MODELS, pairs, "fp32"))
    assert [chunk.done for chunk in chunks] == [FIRST_ROWS, CHUNK_ROWS, total]
    assert {chunk.total for chunk in chunks} == {total}
    found = [row for chunk in chunks for row in chunk.rows]
    assert [row.example for row in found] == list(pairs)
    for at, model in enumerate(MODELS):
        for row, one in zip(found, model.predict(pairs), strict=True):
            assert row.predictions[at].label == one.label
            assert row.predictions[at].probabilities == pytest.approx(one.probabilities, abs=1e-5)


def test_what_cannot_be_compared_has_its_reason() -> None:
    (chunk,) = compare(MODELS, [Pair("", "He moves."), WALK, Pair("the man walks " * 100, "He.")])
    assert [row.error for row in chunk.rows] == ["the premise is empty", "", ""]
    assert [len(row.predictions) for row in chunk.rows] == [0, 2, 2]
    assert [row.cut for row in chunk.rows[1:]] == [(False, False), (True, True)]
    for models, sentence in (
        ([], "choose two models or more to compare"),
        (MODELS[:1], "choose two models or more to compare; chosen: tiny-bert"),
        ([MODELS[0]] * 2, "the model 'tiny-bert' is named twice; choose different models"),
    ):
        with pytest.raises(ComparisonError) as refused:
            compare(models, tiny_pairs(2))
        assert str(refused.value) == sentence


def table(lines: Sequence[Sequence[str]], *names: str) -> Table:
    return Table(pd.DataFrame(list(lines), columns=list(names), dtype=object), "csv")


def test_a_table_is_read_with_the_reason_of_every_bad_row(tmp_path: Path) -> None:
    lines = [("A.", "B.", "e"), ("A.", " ", "e"), ("A.", "B.", "-"), ("A.", "B.", "")]
    given = table(lines, "premise", "hypothesis", "label")
    found = read(given, pair_columns("premise", "hypothesis", "label"), NLI)
    disagreed = "no gold label: the annotators did not agree ('-')"
    assert [row.error for row in found] == ["", "the hypothesis is empty", disagreed, ""]
    assert [row.gold for row in found] == ["entailment", None, None, None]
    (tmp_path / "a.csv").write_text("premise,hypothesis\nA man walks.\n")
    (row,) = read(read_table(tmp_path / "a.csv"), pair_columns("premise", "hypothesis"), NLI)
    assert row.error == "the row has 1 fields, the header 2"
    given = table([("A.", "B.", "constituent")], "premise", "hypothesis", "heuristic")
    (row,) = read(given, pair_columns("premise", "hypothesis"), NLI)
    assert isinstance(row.example, TemplatePair) and row.example.heuristic == "constituent"
    with pytest.raises(FileError, match=r"^no column 'text' in your file; it has: premise$"):
        read(table([("A.",)], "premise"), pair_columns("premise", "text"), NLI)


def test_kept_rows_come_back_as_they_were(tmp_path: Path) -> None:
    bad = Row(5, NLI, error="the premise is empty")
    keep([*FIVE, mixed("C", "N", "X"), bad], tmp_path / "rows")
    found = kept(tmp_path / "rows")
    assert [row.example.id for row in found if row.example] == ["0", "1", "2", "3", "4", ""]
    assert [row.predictions for row in found[:5]] == [row.predictions for row in FIVE]
    assert [row.gold for row in found] == [*(row.gold for row in FIVE), "non-entailment", None]
    assert found[-1] == bad
    keep(FOUR, tmp_path / "rows")
    found = kept(tmp_path / "rows")
    assert [each.predictions for each in found] == [each.predictions for each in FOUR]
    assert [each.f1(1) for each in found] == [each.f1(1) for each in FOUR]


def test_the_scored_file_has_every_models_columns_behind_the_inputs() -> None:
    lines = [("A man walks.", "He moves.", "e", "mine"), ("", "He moves.", "e", "too")]
    given = table(lines, "premise", "hypothesis", "label", "error")
    unread = read(given, pair_columns("premise", "hypothesis", "label"), NLI)
    scored = [row for chunk in compare_rows(MODELS, unread, "fp32") for row in chunk.rows]
    frame = compared_frame(given, scored, ["bert", "distilbert"])
    ours = ["prediction", "confidence", *(f"p_{label}" for label in LABELS), "right", "cut"]
    assert list(frame.columns) == [
        *("premise", "hypothesis", "label", "error", "error.2"),
        *(f"{name}.{column}" for name in ("bert", "distilbert") for column in ours),
    ]
    assert list(frame["error"]) == ["mine", "too"]
    assert list(frame["error.2"]) == ["", "the premise is empty"]
    said = MODELS[0].predict([Pair("A man walks.", "He moves.")])[0]
    assert frame["bert.prediction"][0] == said.label
    assert frame["bert.right"][0] == (said.label == "entailment")
    frame = compared_frame(given, scored, ["one/model", "two/model"])  # named in full
    assert {"one/model.prediction", "two/model.prediction"} <= set(frame.columns)
    spans = Table(pd.DataFrame({"question": ["What lay there?"] * 4}, dtype=object), "csv")
    frame = compared_frame(spans, FOUR, ["a", "b"])
    columns = ["prediction", "confidence", "start", "end", "right", "cut", "f1"]
    assert list(frame.columns) == [
        *("question", "error"),
        *(f"{name}.{column}" for name in ("a", "b") for column in columns),
    ]
    assert list(frame["b.f1"]) == [0.666667, 1.0, 1.0, None]
    assert list(frame["a.end"]) == [11, 7, 6, 4]


def test_the_sentence_says_who_is_better_and_where_all_are_weak() -> None:
    wrong = [asked(0, "1956", "Rome", "Rome", question="Why?")] * FEWEST
    right = [asked(0, "blue boats", "blue boats", "blue boats")] * FEWEST
    for compared, said in (
        (
            [asked(0, "blue boats", "Thirty", "blue boats")] * 6,
            "two is better than one (F1 100.0 against 0.0 %, p < 0.001).",
        ),
        (FOUR, "two and one cannot be told apart (F1 88.9 and 66.7 %, p = "),
        (
            [asked(0, "1956", "1956", "1956")],
            "one and two are equally good on each question, F1 100.0 %.",
        ),
        (
            [*wrong, *right],
            f" Both are weaker where the question asks why (0 and 0 % of {FEWEST}).",
        ),
        ([FOUR[3]], "one and two say the same of 100 % of 1 questions."),
        ([FOUR[3]], "no right answers to compare with, so nothing can be called right."),
    ):
        assert said in in_a_sentence(compared, ["one", "two"])


def test_the_summary_is_json_with_the_promised_keys() -> None:
    shape = comparison_json(FIVE, ["a", "b"], "fp32")
    assert (shape["rows"], shape["scored"], shape["with_gold"]) == (5, 5, 4)
    assert shape["accuracy"]["a"]["value"] == 3 / 4
    (couple,) = shape["pairs_of_models"]
    assert couple["mcnemar"]["only_first_right"] == 2
    assert sum(cell["n"] for cell in couple["matrix"]) == 5
    spans = comparison_json(FOUR, ["a", "b"], "fp32")
    assert spans["f1"]["a"]["value"] == pytest.approx(2 / 3)
    assert (spans["em"]["b"]["n"], spans["f1"]["b"]["cut"]) == (3, 0)
    (couple,) = spans["pairs_of_models"]
    assert couple["bootstrap"]["second_higher"] == 1
    assert couple["differing"] == dict(
        n=3, both_right=1, only_first_right=1, only_second_right=1, neither_right=0
    )
    assert {"accuracy", "mcnemar", "matrix"}.isdisjoint({*spans, *couple, *spans["slices"][0]})
    three = comparison_json(rows("E ENC"), ["a", "b", "c"], "fp32")
    couples = [(one["first"], one["second"]) for one in three["pairs_of_models"]]
    assert couples == [("a", "b"), ("a", "c"), ("b", "c")]
    unjudged = comparison_json(rows("- EN"), ["a", "b"], "fp32")
    assert unjudged["accuracy"]["a"]["value"] is None and unjudged["slices"] == []
    assert unjudged["pairs_of_models"][0]["mcnemar"]["p"] is None
    none = comparison_json([FOUR[3]], ["a", "b"], "fp32")
    assert none["f1"]["a"]["value"] is None and none["slices"] == []
    assert none["pairs_of_models"][0]["bootstrap"]["p"] is None
    for each in (shape, spans, three, unjudged, none):
        assert json.loads(json.dumps(each, allow_nan=False)) == each


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Two tiny classifiers and two tiny readers on disk, each two of equal weights."""
    home = tmp_path_factory.mktemp("models")
    return {
        kind: [str(build(home / kind / name)) for name in ("first", "second")]
        for kind, build in (("labels", tiny_bert), ("spans", tiny_reader))
    }


def test_one_example_has_each_models_answer(folders: dict[str, list[str]]) -> None:
    shape = example_comparison_json(WALK, MODELS, "fp32")
    assert [one["model"] for one in shape["models"]] == ["tiny-bert", "tiny-distilbert"]
    for one in shape["models"]:
        assert sum(one["probabilities"].values()) == pytest.approx(1)
        assert one["right"] == (one["label"] == "neutral")
    question = Question("What lay there?", PASSAGE, "boats")
    shape = example_comparison_json(question, list(map(load_reader, folders["spans"])), "fp32")
    for one in shape["models"]:
        assert PASSAGE[one["start"] : one["end"]] == one["label"]
        assert one["f1"] == reading.f1(one["label"], "boats")


def test_the_command_compares_on_a_file_or_one_pair(
    folders: dict[str, list[str]], tmp_path: Path
) -> None:
    given, out, summary = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "s.json"

    def run(kind: str, *words: str) -> str:
        chosen = [word for folder in folders[kind] for word in ("--model", folder)]
        ended = CliRunner().invoke(app, ["compare", *words, *chosen])
        assert ended.exit_code == 0, ended.output
        return ended.stdout

    given.write_text("premise,hypothesis,label\nA man walks.,He moves.,n\n,He moves.,n\n")
    run("labels", str(given), "--out", str(out), "--summary", str(summary))
    shape = json.loads(summary.read_text())
    assert (shape["models"], shape["rows"], shape["errors"]) == (folders["labels"], 2, 1)
    assert shape["pairs_of_models"][0]["agreement"]["value"] == 1.0
    assert "first.prediction" in read_table(out).frame.columns
    said = run("labels", "--premise", "A man walks.", "--hypothesis", "He moves.", "--json")
    assert [one["model"] for one in json.loads(said)["models"]] == folders["labels"]
    given.write_text(f"question,context,answers\nWhat lay there?,{PASSAGE},boats\n")
    said = run("spans", str(given), "--out", str(out))
    assert said.count("exact match ") == 2 and "question word: what " in said
    assert "have the same F1 on each of the 1 questions: no test." in said
    assert "first.f1" in read_table(out).frame.columns


def test_the_command_ends_with_a_sentence() -> None:
    two = ("--model", "a", "--model", "b")
    for words, sentence in (
        (["--model", "minilm"], "choose two models or more to compare; chosen: minilm"),
        (["--model", "minilm", "--model", "minilm"], "the model 'minilm' is named twice"),
        (["--model", "minilm", "--model", "nosuch"], "give a file, or --premise and --hypo"),
        (["in.csv", *two, "--premise", "x"], "give a file, or --premise"),
        (["nosuch.csv", *two], "nosuch.csv cannot be opened"),
        ([*two, "--precision", "fp8"], "'fp8' is not one of auto"),
    ):
        ended = CliRunner().invoke(app, ["compare", *words])
        assert ended.exit_code == 2 and ended.stderr.startswith("error: "), words
        assert sentence in ended.stderr, words
