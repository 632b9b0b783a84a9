"""Models side by side: rows, scores, where they differ, tests, files, the command."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from probe.analysis.batch import FIRST_ROWS
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
from probe.analysis.comparison_report import (
    compared_frame,
    comparison_json,
    example_comparison_json,
    in_a_sentence,
    keep,
    kept,
)
from probe.data.rows import Source, of_frame
from probe.data.source import read_table
from probe.errors import FileError
from probe.models.classifier import Prediction
from probe.models.library import load_any
from probe.models.reader import SpanPrediction
from probe.statistics import FEWEST, paired_bootstrap
from probe.tasks import reading
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, TWO_WAY, Pair
from probe.tasks.reading import READING, Question
from probe.tasks.task import Label
from probe.templates import TemplatePair
from tests.support.commands import refusal, run
from tests.support.files.pair_files import pair_columns
from tests.support.models.tiny_bert import tiny_pairs, tiny_reader
from tests.support.models.tiny_models import shared, tiny_classifier

E, N, C = LABELS
X: Label = "non-entailment"
LETTERS = {"E": E, "N": N, "C": C, "X": X, "-": None}
SHARED, APART = ("A dog saw the cat.", "The cat saw a dog."), ("A dog slept.", "Birds sing well.")


def row(
    number: int, text: str, pair: tuple[str, str] = SHARED, second: tuple[Label, ...] = LABELS
) -> Row:
    """A row from a gold label (- for none) and what each model says, such as "E EN".

    `second` are the labels of all models but the first.
    """
    gold, answers = text.split()
    several = []
    for at, letter in enumerate(answers):
        labels, label = second if at else LABELS, LETTERS[letter]
        shares = tuple(0.8 if each == label else 0.1 for each in labels)
        several.append(Prediction(label or "", shares, labels))
    task, no = NLI_TWO_WAY if second == TWO_WAY else NLI, (False,) * len(answers)
    return Row(number, task, Pair(*pair, LETTERS[gold], str(number)), tuple(several), "", no)


def rows(*texts: str, pair: tuple[str, str] = SHARED) -> list[Row]:
    return [row(number, text, pair) for number, text in enumerate(texts)]


FIVE = rows("E EN", "N NN", "C EC", "X NE", "- CC")


def mixed(*letters: str) -> Row:
    """A row of a model of three labels and one of two."""
    return row(0, "{} {}{}".format(*letters), second=TWO_WAY)


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
    said = {(E, N): (1, 0, 1, 0, 0), (N, N): (1, 1, 0, 0, 0), (E, C): (1, 0, 0, 1, 0)}
    said |= {(N, E): (1, 0, 1, 0, 0), (C, C): (1, 0, 0, 0, 0)}  # the last has no gold label
    assert {both: cell for both, cell in found.items() if cell.n} == {
        both: Cell(*counts) for both, counts in said.items()
    }
    assert [row.number for row in members(FIVE, 0, 1, (E, C))] == [2]
    assert members(FIVE, 0, 1, ("nonsense", N)) == []
    assert [each.number for each in differing(FOUR, 0, 1)] == [0, 1, 2]
    assert [each.number for each in differing(FOUR, 0, 1, agree=True)] == [3]
    assert outcomes(differing(FOUR, 0, 1), 0, 1) == Cell(3, 1, 1, 1, 0)
    assert agreement(FOUR, 0, 1).value == 1 / 4


def test_mcnemar_is_twice_the_binomial_tail_and_spans_have_the_bootstrap() -> None:
    tail = 2 * (1 + 7) / 2**7  # 2 P(X <= 1) of seven tosses
    for first, second, p in ((1, 6, tail), (0, 5, 2 / 2**5), (6, 1, tail), (2, 2, 1), (0, 0, 1)):
        several = rows(*["E EN"] * first, *["E NE"] * second, "N NN", "C EE", "- EN")
        found = significance(several, 0, 1)
        assert (found.first_higher, found.second_higher) == (first, second)
        assert (found.n, found.p) == (first + second + 2, pytest.approx(p))
    none = significance(rows("- EN", "- NN"), 0, 1)
    assert none.n == 0 and math.isnan(none.p)
    test = significance(FOUR, 0, 1)
    assert (significance(FIVE, 0, 1).name, test.name) == ("mcnemar", "bootstrap")
    assert (test.n, test.first_higher, test.second_higher) == (3, 1, 1)
    assert test.difference == pytest.approx((1 / 3 - 1) / 3)
    for test, unit, words in (  # type: ignore[assignment]  # what a test is made of
        (["E EN"] * 8, "pair", "p = 0.008; chance alone would seldom make them differ so much."),
        (["E EN", "E NE"], "pair", "p = 1.000; these pairs do not tell the two apart."),
        (["E EN"] * 12, "pair", "p < 0.001; chance"),
        (["E EE", "N CC"], "pair", "a and b are right on the same of the 2 pairs"),
        (["- EN"], "pair", "a and b cannot be tested: there are no right answers."),
        ([], "question", "cannot be tested: there are no right answers to compare with."),
        ([0.0] * 3, "question", "a and b have the same F1 on each of the 3 questions: no test."),
        ([0.5] * 20, "question", "a is 50.0 points above that of b (95 % interval 50.0 to 50.0)"),
        ([-0.5] * 20, "question", "b is 50.0 points above that of a (95 % interval 50.0 to 50.0)"),
        ([0.5] * 20, "question", "higher on 20 of 20 questions, lower on 0."),
        ([0.5] * 20, "question", "10,000 resamples: p < 0.001; chance alone would seldom"),
        ([0.5, -0.5] * 9, "question", "; these questions do not tell the two apart."),
        ([1.0, -1.0], "question", "(95 % interval \N{MINUS SIGN}100.0 to 100.0)"),
    ):
        pairs = unit == "pair"
        made = significance(rows(*test), 0, 1) if pairs else paired_bootstrap(test)  # type: ignore[misc,arg-type]  # texts, or differences
        assert words in in_words(made, "a", "b", unit)


def test_a_model_of_two_labels_holds_all_to_two_classes() -> None:
    neutral = mixed(*"CNX")
    assert (neutral.gold, neutral.right(0), neutral.right(1)) == ("non-entailment", True, True)
    found = agreement([neutral, mixed(*"CCX"), mixed(*"CEX")], 0, 1)
    assert found.value == pytest.approx(2 / 3)
    cells = disagreement([neutral], 0, 1)
    assert list(cells) == [(a, b) for a in LABELS for b in TWO_WAY]
    assert cells["neutral", "non-entailment"] == Cell(1, 1, 0, 0, 0)
    models = (shared("bert"), tiny_classifier("distilbert", order=TWO_WAY))
    (chunk,) = compare(models, tiny_pairs(6), "fp32")
    shape = comparison_json(chunk.rows, ["three", "two"], "fp32")
    assert len(shape["pairs_of_models"][0]["matrix"]) == 6 == shape["accuracy"]["two"]["n"]
    golds = ("neutral", "non-entailment", "contradiction")
    pairs = [replace(pair, gold=gold) for pair, gold in zip(tiny_pairs(3), golds, strict=True)]
    (chunk,) = compare(MODELS, pairs, "fp32")
    assert {(each.task, each.gold) for each in chunk.rows} == {(NLI_TWO_WAY, "non-entailment")}
    assert "so all are compared in two" in in_a_sentence(chunk.rows, ["one", "other"])
    (alone,) = compare(MODELS, pairs[:1], "fp32")
    assert alone.rows[0].task == NLI


MODELS = (shared("bert"), shared("distilbert"))
WALK = Pair("A man walks.", "He moves.", "neutral")
SIDES = ("premise", "hypothesis")


def test_each_model_says_what_it_says_alone_chunk_by_chunk() -> None:
    pairs = tiny_pairs(FIRST_ROWS + 3)
    chunks = list(compare(MODELS, pairs, "fp32"))
    assert [chunk.done for chunk in chunks] == [FIRST_ROWS, FIRST_ROWS + 3]
    found = [row for chunk in chunks for row in chunk.rows]
    assert [row.example for row in found] == list(pairs)
    for at, model in enumerate(MODELS):
        for row, one in zip(found, model.predict(pairs), strict=True):
            assert row.predictions[at].label == one.label
            assert row.predictions[at].probabilities == pytest.approx(one.probabilities, abs=1e-5)
    (chunk,) = compare(MODELS, [Pair("", "He moves."), WALK, Pair("the man walks " * 100, "He.")])
    assert [row.error for row in chunk.rows] == ["the premise is empty", "", ""]
    assert [row.cut for row in chunk.rows] == [(), (False, False), (True, True)]


def table(lines: Sequence[Sequence[str]], *names: str) -> Source:
    return of_frame(pd.DataFrame(list(lines), columns=list(names), dtype=object), "csv")


def test_a_table_is_read_with_the_reason_of_every_bad_row() -> None:
    lines = [("A.", "B.", "e"), ("A.", " ", "e"), ("A.", "B.", "-"), ("A.", "B.", "")]
    found = read(table(lines, *SIDES, "label"), pair_columns(*SIDES, "label"), NLI)
    disagreed = "no gold label: the annotators did not agree ('-')"
    assert [row.error for row in found] == ["", "the hypothesis is empty", disagreed, ""]
    assert [row.gold for row in found] == ["entailment", None, None, None]
    given = table([("A.", "B.", "constituent"), ("A.", "B.", "")], *SIDES, "heuristic")
    row, bare = read(given, pair_columns(*SIDES), NLI)
    assert isinstance(row.example, TemplatePair) and row.example.heuristic == "constituent"
    assert type(bare.example) is Pair
    with pytest.raises(FileError, match=r"^no column 'text' in your file; it has: premise$"):
        read(table([("A.",)], "premise"), pair_columns("premise", "text"), NLI)


def test_kept_rows_come_back_as_they_were(tmp_path: Path) -> None:
    template = Row(6, NLI, TemplatePair("A.", "B.", heuristic="constituent"))
    bad = Row(5, NLI, error="the premise is empty")
    for several in ([*FIVE, mixed(*"CNX"), template, bad], FOUR):
        keep(several, tmp_path / "rows")
        assert kept(tmp_path / "rows") == several


def test_the_scored_file_has_every_models_columns_behind_the_inputs() -> None:
    lines = [("A man walks.", "He moves.", "e", "mine"), ("", "He moves.", "e", "too")]
    given = table(lines, *SIDES, "label", "error")
    unread = read(given, pair_columns(*SIDES, "label"), NLI)
    scored = [row for chunk in compare_rows(MODELS, unread, "fp32") for row in chunk.rows]
    frame = compared_frame(given, scored, ["bert", "distilbert"])
    ours = ["prediction", "confidence", *(f"p_{label}" for label in LABELS), "right", "cut"]
    assert list(frame.columns) == [
        *(*SIDES, "label", "error", "error.2"),
        *(f"{name}.{column}" for name in ("bert", "distilbert") for column in ours),
    ]
    assert list(frame["error"]) == ["mine", "too"]
    assert list(frame["error.2"]) == ["", "the premise is empty"]
    answer = MODELS[0].predict([Pair("A man walks.", "He moves.")])[0].label
    assert (frame["bert.prediction"][0], frame["bert.right"][0]) == (answer, answer == E)
    frame = compared_frame(given, scored, ["one/model", "two/model"])  # named in full
    assert {"one/model.prediction", "two/model.prediction"} <= set(frame.columns)
    frame = compared_frame(table([("What lay there?",)] * 4, "question"), FOUR, ["a", "b"])
    columns = ["prediction", "confidence", "start", "end", "right", "cut", "f1"]
    assert list(frame.columns)[:9] == ["question", "error", *(f"a.{each}" for each in columns)]
    assert list(frame["b.f1"]) == [0.666667, 1.0, 1.0, None]
    assert list(frame["a.end"]) == [11, 7, 6, 4]


def test_the_sentence_says_who_is_better_and_where_all_are_weak() -> None:
    spans = [asked(0, "1956", "Rome", "Rome", question="Why?")] * FEWEST
    spans += [asked(0, "blue boats", "blue boats", "blue boats")] * FEWEST
    wrong, right = rows(*["N EE"] * FEWEST), rows(*["N NN"] * FEWEST, pair=APART)
    guess = "Both are right less often than a guess where every word of the hypothesis"
    for compared, words in (
        (
            [asked(0, "blue boats", "Thirty", "blue boats")] * 6,
            "two is better than one (F1 100.0 against 0.0 %, p < 0.001).",
        ),
        (FOUR, "two and one cannot be told apart (F1 88.9 and 66.7 %, p = "),
        ([asked(0, "1956", "1956", "1956")], "equally good on each question, F1 100.0 %."),
        (spans, f" Both are weaker where the question asks why (0 and 0 % of {FEWEST})."),
        ([FOUR[3]], "one and two say the same of 100 % of 1 questions."),
        ([FOUR[3]], "no right answers to compare with, so nothing can be called right."),
        (rows(*["N EN"] * 6), "two is better than one (100.0 against 0.0 % right, p = 0.031)"),
        (rows(*["N EN"] * 5), "cannot be told apart (100.0 and 0.0 % right, p = 0.062)"),  # 2 / 2⁵
        (rows(*["N NN"] * 3), "one and two are right on the same pairs, 100.0 %."),
        (wrong + right, guess),
        (wrong + right, f"(0 and 0 % of {FEWEST})"),
        (rows("- NN", "- NE"), "one and two say the same of 50 % of 2 pairs. There are no right"),
        ([Row(0, NLI, error="the premise is empty")], "No row could be compared."),
    ):
        assert words in in_a_sentence(compared, ["one", "two"]), words
    assert "guess" not in in_a_sentence(wrong[1:] + right, ["one", "two"])


def test_the_summary_is_json_with_the_promised_keys() -> None:
    shapes = [
        comparison_json(several, names, "fp32")
        for several, names in ((FIVE, "ab"), (FOUR, "ab"), (rows("E ENC"), "abc"))
    ]
    shape, spans, three = shapes
    assert (shape["rows"], shape["scored"], shape["with_gold"]) == (5, 5, 4)
    (couple,) = shape["pairs_of_models"]
    assert couple["mcnemar"]["only_first_right"] == 2
    assert sum(cell["n"] for cell in couple["matrix"]) == 5
    assert (spans["em"]["b"]["n"], spans["f1"]["b"]["cut"]) == (3, 0)
    (couple,) = spans["pairs_of_models"]
    assert couple["bootstrap"]["second_higher"] == 1
    assert [*couple["differing"].values()] == [3, 1, 1, 1, 0]
    assert {"accuracy", "mcnemar", "matrix"}.isdisjoint({*spans, *couple, *spans["slices"][0]})
    couples = [one["first"] + one["second"] for one in three["pairs_of_models"]]
    assert couples == ["ab", "ac", "bc"]
    for none, measure, test in (
        (rows("- EN"), "accuracy", "mcnemar"),
        ([FOUR[3]], "f1", "bootstrap"),
    ):
        shapes.append(comparison_json(none, "ab", "fp32"))
        assert shapes[-1][measure]["a"]["value"] is None and shapes[-1]["slices"] == []
        assert shapes[-1]["pairs_of_models"][0][test]["p"] is None
    for each in shapes:
        assert json.loads(json.dumps(each, allow_nan=False)) == each


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two tiny readers of equal weights."""
    home = tmp_path_factory.mktemp("models")
    return [str(tiny_reader(home / name)) for name in ("first", "second")]


def test_one_example_has_each_models_answer(readers: list[str]) -> None:
    question = Question("What lay there?", PASSAGE, "boats")
    for example, models in ((WALK, MODELS), (question, [load_any(each) for each in readers])):
        shape = example_comparison_json(example, models, "fp32")
        assert [one["model"] for one in shape["models"]] == [each.name for each in models]
        for one in shape["models"]:
            if example is question:
                assert PASSAGE[one["start"] : one["end"]] == one["label"]
                assert one["f1"] == reading.f1(one["label"], "boats")
            else:
                assert sum(one["probabilities"].values()) == pytest.approx(1)
                assert one["right"] == (one["label"] == "neutral")


def test_the_command_compares_a_file_or_one_pair_or_ends_with_a_sentence(
    readers: list[str], model: str, tmp_path: Path
) -> None:
    given, out, summary = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "s.json"
    two = ("--model", model, "--model", "da")
    given.write_text("premise,hypothesis,label\nA man walks.,He moves.,n\n,He moves.,n\n")
    told = run("compare", str(given), *two, "--out", str(out), "--summary", str(summary)).stdout
    why = "the first of the others is not, for this reason: the premise is empty"
    assert f"1 of 2 rows scored, 1 with gold; {why}" in told
    shape = json.loads(summary.read_text())
    assert (shape["models"], shape["rows"], shape["errors"]) == ([model, "da"], 2, 1)
    assert "da.prediction" in read_table(out).frame.columns
    pair = ("--premise", "A man walks.", "--hypothesis", "He moves.")
    told = run("compare", *pair, *two, "--json").stdout
    assert [one["model"] for one in json.loads(told)["models"]] == [model, "da"]
    given.write_text(f"question,context,answers\nWhat lay there?,{PASSAGE},boats\n")
    both = [word for folder in readers for word in ("--model", folder)]
    told = run("compare", str(given), *both, "--out", str(out)).stdout
    assert told.count("exact match ") == 2 and "question word: what " in told
    assert "have the same F1 on each of the 1 questions: no test." in told
    for words, sentence in (
        (["--model", "minilm"], "choose two models or more to compare; chosen: minilm"),
        (["--model", "minilm"] * 2, "the model 'minilm' is named twice; choose different models"),
        (two, "give a file, or --premise and --hypo"),
        (["nosuch.csv", *two], "nosuch.csv cannot be opened"),
        ([*two, "--precision", "fp8"], "'fp8' is not one of auto"),
    ):
        assert sentence in refusal("compare", *words), words
