"""Models side by side: rows, accuracies, disagreement, McNemar's test, files, the command."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from probe.analysis.batch import CHUNK_ROWS, FIRST_ROWS
from probe.analysis.comparison import (
    Cell,
    Row,
    accuracy,
    agreement,
    compare,
    compare_rows,
    disagreement,
    group_accuracies,
    in_words,
    mcnemar,
    members,
    read,
)
from probe.cli.main import app
from probe.data.source import Table, read_table
from probe.errors import ComparisonError, FileError
from probe.models.classifier import Prediction
from probe.reports.comparison import (
    compared_frame,
    comparison_json,
    example_comparison_json,
    in_a_sentence,
    keep,
    kept,
)
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, TWO_WAY, Pair
from probe.tasks.task import Label
from probe.templates import TemplatePair
from tests.support.files.pair_files import pair_columns
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs
from tests.support.models.tiny_models import shared, tiny_classifier

LETTERS: dict[str, Label] = {
    "E": "entailment",
    "N": "neutral",
    "C": "contradiction",
    "X": "non-entailment",
}
Z = 1.959963984540054


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


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Wilson's interval from its formula."""
    share, square = hits / n, Z * Z / n
    middle = (share + square / 2) / (1 + square)
    half = Z * math.sqrt(share * (1 - share) / n + square / n / 4) / (1 + square)
    return middle - half, middle + half


def test_accuracy_counts_pairs_with_gold_labels_only() -> None:
    assert [(accuracy(FIVE, at).n, accuracy(FIVE, at).value) for at in (0, 1)] == [
        (4, 3 / 4),  # right on E, N and, in two classes, on X
        (4, 2 / 4),  # right on N and C
    ]


def test_accuracy_has_wilsons_interval() -> None:
    found = accuracy(FIVE, 0)
    assert (found.low, found.high) == pytest.approx(wilson(3, 4))


def test_entailed_pairs_and_others_are_apart_and_in_two_classes() -> None:
    entailed, others = group_accuracies(rows("E EN", "E NE", "N CC", "C NE"), 0).values()
    assert (entailed.n, entailed.value) == (2, 1 / 2)
    assert (others.n, others.value) == (2, 1.0)  # neutral for contradiction is not entailment too


def test_agreement_asks_for_no_gold_label() -> None:
    found = agreement(FIVE, 0, 1)
    assert (found.n, found.value) == (5, 2 / 5)


def test_disagreement_counts_every_cell_and_who_is_right() -> None:
    found = disagreement(FIVE, 0, 1)
    assert len(found) == 9
    assert found["entailment", "neutral"] == Cell(1, 0, 1, 0, 0)
    assert found["neutral", "neutral"] == Cell(1, 1, 0, 0, 0)
    assert found["entailment", "contradiction"] == Cell(1, 0, 0, 1, 0)
    assert found["neutral", "entailment"] == Cell(1, 0, 1, 0, 0)
    assert found["contradiction", "contradiction"] == Cell(1, 0, 0, 0, 0)  # no gold label
    assert sum(cell.n for cell in found.values()) == 5


def test_a_cell_has_its_own_rows() -> None:
    assert [row.number for row in members(FIVE, 0, 1, ("entailment", "contradiction"))] == [2]
    assert members(FIVE, 0, 1, ("nonsense", "neutral")) == []


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (1, 6, 2 * (1 + 7) / 2**7),  # 2 P(X <= 1) of seven tosses
        (0, 5, 2 / 2**5),
        (6, 1, 2 * (1 + 7) / 2**7),
        (2, 2, 1.0),
        (0, 0, 1.0),
    ],
)
def test_mcnemar_is_twice_the_binomial_tail(first: int, second: int, p: float) -> None:
    found = mcnemar(rows(*["E EN"] * first, *["E NE"] * second, "N NN", "C EE", "- EN"), 0, 1)
    assert (found.n, found.only_first, found.only_second) == (first + second + 2, first, second)
    assert found.p == pytest.approx(p)


def test_mcnemar_without_gold_labels_is_not_defined() -> None:
    found = mcnemar(rows("- EN", "- NN"), 0, 1)
    assert found.n == 0
    assert math.isnan(found.p)
    assert in_words(found, "a", "b") == "a and b cannot be tested: there are no gold labels."


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["E EN"] * 8, "p = 0.008; chance alone would seldom make them differ so much."),
        (["E EN", "E NE"], "p = 1.000; these pairs do not tell the two apart."),
        (["E EN"] * 12, "p < 0.001; chance"),
        (["E EE", "N CC"], "a and b are right on the same of the 2 pairs"),
    ],
)
def test_a_test_is_said_in_words(texts: Sequence[str], said: str) -> None:
    assert said in in_words(mcnemar(rows(*texts), 0, 1), "a", "b")


def mixed(gold: str, first: str, second: str) -> Row:
    """A row of a model of three labels and one of two."""
    pair = Pair("A.", "B.", LETTERS[gold])
    return Row(0, NLI_TWO_WAY, pair, (three(first), two(second)), "", (False, False))


def test_a_model_of_two_labels_holds_all_to_two_classes() -> None:
    row = mixed("C", "N", "X")
    assert row.gold == "non-entailment"
    assert (row.right(0), row.right(1)) == (True, True)
    assert mixed("E", "E", "E").gold == "entailment"


def test_a_model_of_two_labels_agrees_in_two_classes() -> None:
    found = agreement([mixed("C", "N", "X"), mixed("C", "C", "X"), mixed("C", "E", "X")], 0, 1)
    assert found.value == pytest.approx(2 / 3)


def test_the_matrix_of_a_model_of_two_labels_has_two_columns() -> None:
    found = disagreement([mixed("C", "N", "X")], 0, 1)
    assert list(found) == [(a, b) for a in LABELS for b in TWO_WAY]
    assert found["neutral", "non-entailment"] == Cell(1, 1, 0, 0, 0)


def test_a_real_model_of_two_labels_is_compared_too() -> None:
    models = (shared("bert"), tiny_classifier("distilbert", order=TWO_WAY))
    (chunk,) = compare(models, tiny_pairs(6), "fp32")
    shape = comparison_json(chunk.rows, ["three", "two"], "fp32")
    assert len(shape["pairs_of_models"][0]["matrix"]) == 6
    assert shape["accuracy"]["two"]["n"] == 6
    assert [len(said.probabilities) for said in chunk.rows[0].predictions] == [3, 2]


MODELS = (shared("bert"), shared("distilbert"))


def test_each_model_says_what_it_says_alone() -> None:
    pairs = tiny_pairs(FIRST_ROWS + 9)
    found = [row for chunk in compare(MODELS, pairs, "fp32") for row in chunk.rows]
    assert [row.example for row in found] == list(pairs)
    for at, model in enumerate(MODELS):
        alone = model.predict(pairs)
        assert [row.predictions[at].label for row in found] == [one.label for one in alone]
        for row, one in zip(found, alone, strict=True):
            assert row.predictions[at].probabilities == pytest.approx(one.probabilities, abs=1e-5)


def test_gold_labels_of_two_classes_and_of_three_are_compared_in_two_and_that_is_said() -> None:
    first, second, third = tiny_pairs(3)
    golds = {first: "neutral", second: "non-entailment", third: "contradiction"}
    (chunk,) = compare(MODELS, [replace(pair, gold=gold) for pair, gold in golds.items()], "fp32")
    assert {row.task for row in chunk.rows} == {NLI_TWO_WAY}
    assert {row.gold for row in chunk.rows} == {"non-entailment"}
    assert "so all are compared in two" in in_a_sentence(chunk.rows, ["one", "other"])
    (alone,) = compare(MODELS, [replace(first, gold="neutral")], "fp32")
    assert alone.rows[0].task == NLI


def test_chunks_say_how_far_the_work_is() -> None:
    total = FIRST_ROWS + CHUNK_ROWS + 3
    chunks = list(compare(MODELS, tiny_pairs(15) * (total // 15 + 1), "fp32"))
    assert [chunk.done for chunk in chunks][:2] == [FIRST_ROWS, CHUNK_ROWS]
    assert chunks[-1].done == chunks[-1].total == sum(len(chunk.rows) for chunk in chunks)


def test_a_pair_without_text_has_its_reason_and_the_rest_its_answers() -> None:
    (chunk,) = compare(MODELS, [Pair("", "He moves."), Pair("A man walks.", "He moves.")])
    assert [row.error for row in chunk.rows] == ["the premise is empty", ""]
    assert [len(row.predictions) for row in chunk.rows] == [0, 2]


def test_a_cut_pair_says_for_which_model() -> None:
    (chunk,) = compare(MODELS, [Pair("the man walks " * 100, "He moves.")])
    assert chunk.rows[0].cut == (True, True)


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        ([], "choose two models or more to compare"),
        (MODELS[:1], "choose two models or more to compare; chosen: tiny-bert"),
        ([MODELS[0], MODELS[0]], "the model 'tiny-bert' is named twice; choose different models"),
    ],
)
def test_fewer_than_two_models_are_refused_at_once(models: Any, sentence: str) -> None:
    with pytest.raises(ComparisonError) as refused:
        compare(models, tiny_pairs(2))
    assert str(refused.value) == sentence


def table(lines: Sequence[Sequence[str]], *names: str) -> Table:
    return Table(pd.DataFrame(list(lines), columns=list(names), dtype=object), "csv")


def test_a_table_is_read_with_the_reason_of_every_bad_row() -> None:
    given = table(
        [("A.", "B.", "e"), ("A.", " ", "e"), ("A.", "B.", "-"), ("A.", "B.", "")],
        "premise",
        "hypothesis",
        "label",
    )
    found = read(given, pair_columns("premise", "hypothesis", "label"), NLI)
    assert [row.error for row in found] == [
        "",
        "the hypothesis is empty",
        "no gold label: the annotators did not agree ('-')",
        "",
    ]
    assert [row.gold for row in found] == ["entailment", None, None, None]


def test_a_row_that_does_not_fit_the_header_has_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("premise,hypothesis\nA man walks.\n")
    (row,) = read(read_table(path), pair_columns("premise", "hypothesis"), NLI)
    assert row.error == "the row has 1 fields, the header 2"


def test_a_tables_rows_keep_the_heuristic_they_were_made_for() -> None:
    given = table([("A.", "B.", "constituent")], "premise", "hypothesis", "heuristic")
    (row,) = read(given, pair_columns("premise", "hypothesis"), NLI)
    assert isinstance(row.example, TemplatePair)
    assert row.example.heuristic == "constituent"


def test_a_missing_column_is_named() -> None:
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


def scored() -> tuple[Table, list[Row]]:
    given = table(
        [("A man walks.", "He moves.", "e", "mine"), ("", "He moves.", "e", "too")],
        "premise",
        "hypothesis",
        "label",
        "error",
    )
    unread = read(given, pair_columns("premise", "hypothesis", "label"), NLI)
    return given, [row for chunk in compare_rows(MODELS, unread, "fp32") for row in chunk.rows]


def test_the_scored_file_has_every_models_columns_behind_the_inputs() -> None:
    frame = compared_frame(*scored(), ["bert", "distilbert"])
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


def test_models_of_one_folder_name_are_named_in_full() -> None:
    frame = compared_frame(*scored(), ["one/model", "two/model"])
    assert {"one/model.prediction", "two/model.prediction"} <= set(frame.columns)


def test_the_summary_is_json_with_the_promised_keys() -> None:
    shape = comparison_json(FIVE, ["a", "b"], "fp32")
    assert (shape["rows"], shape["scored"], shape["with_gold"]) == (5, 5, 4)
    assert shape["accuracy"]["a"]["value"] == 3 / 4
    (couple,) = shape["pairs_of_models"]
    assert couple["mcnemar"]["only_first_right"] == 2
    assert sum(cell["n"] for cell in couple["matrix"]) == 5
    assert json.loads(json.dumps(shape, allow_nan=False)) == shape


def test_three_models_are_compared_two_by_two() -> None:
    shape = comparison_json(rows("E ENC"), ["a", "b", "c"], "fp32")
    couples = [(one["first"], one["second"]) for one in shape["pairs_of_models"]]
    assert couples == [("a", "b"), ("a", "c"), ("b", "c")]


def test_what_is_not_defined_is_null() -> None:
    shape = comparison_json(rows("- EN"), ["a", "b"], "fp32")
    assert shape["accuracy"]["a"]["value"] is None
    assert shape["pairs_of_models"][0]["mcnemar"]["p"] is None
    assert shape["slices"] == []


def test_one_pair_has_each_models_probabilities() -> None:
    shape = example_comparison_json(Pair("A man walks.", "He moves.", "neutral"), MODELS, "fp32")
    assert [one["model"] for one in shape["models"]] == ["tiny-bert", "tiny-distilbert"]
    for one in shape["models"]:
        assert sum(one["probabilities"].values()) == pytest.approx(1)
        assert one["right"] == (one["label"] == "neutral")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two tiny models on disk, of equal weights."""
    home = tmp_path_factory.mktemp("models")
    return [str(tiny_bert(home / name)) for name in ("first", "second")]


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["compare", *words])


def of(folders: Sequence[str]) -> list[str]:
    return [word for folder in folders for word in ("--model", folder)]


def test_the_command_writes_the_scored_file_and_the_summary(
    folders: list[str], tmp_path: Path
) -> None:
    given, out, summary = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "s.json"
    given.write_text("premise,hypothesis,label\nA man walks.,He moves.,n\n,He moves.,n\n")
    ended = run(str(given), *of(folders), "--out", str(out), "--summary", str(summary))
    assert ended.exit_code == 0, ended.output
    shape = json.loads(summary.read_text())
    assert (shape["models"], shape["rows"], shape["errors"]) == (folders, 2, 1)
    assert shape["pairs_of_models"][0]["agreement"]["value"] == 1.0
    assert "first.prediction" in read_table(out).frame.columns


def test_the_command_compares_on_one_pair(folders: list[str]) -> None:
    pair = ["--premise", "A man walks.", "--hypothesis", "He moves."]
    ended = run(*pair, *of(folders), "--json")
    assert ended.exit_code == 0, ended.output
    assert [one["model"] for one in json.loads(ended.stdout)["models"]] == folders


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "minilm"], "choose two models or more to compare; chosen: minilm"),
        (["--model", "minilm", "--model", "minilm"], "the model 'minilm' is named twice"),
        (["--model", "minilm", "--model", "nosuch"], "give a file, or --premise and --hypo"),
        (["in.csv", "--model", "a", "--model", "b", "--premise", "x"], "give a file, or --premise"),
        (["nosuch.csv", "--model", "a", "--model", "b"], "nosuch.csv cannot be opened"),
        (["--model", "a", "--model", "b", "--precision", "fp8"], "'fp8' is not one of auto"),
    ],
)
def test_the_command_ends_with_a_sentence(words: list[str], sentence: str) -> None:
    ended = run(*words)
    assert ended.exit_code == 2
    assert ended.stderr.startswith("error: ")
    assert sentence in ended.stderr
