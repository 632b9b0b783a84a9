"""Labelled rows: which column is which, and why a row is no example."""

import gzip
from pathlib import Path

import pytest

from probe.data.rows import (
    Columns,
    choose,
    guess,
    labelled,
    read_row,
    stream_examples,
    stream_labelled,
)
from probe.errors import DisputedLabel, ExampleError, FileError, LabelError, LimitError
from probe.limits import Bounds
from probe.tasks.nli import NLI, Pair
from tests.support.files.pair_files import pair_columns, write


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (["premise", "hypothesis"], pair_columns("premise", "hypothesis")),
        (
            ["id", " Premise ", "HYPOTHESIS", "Label"],
            pair_columns(" Premise ", "HYPOTHESIS", "Label"),
        ),
        (
            ["sentence1", "sentence2", "gold_label"],
            pair_columns("sentence1", "sentence2", "gold_label"),
        ),
        (["text_a", "text_b", "answer"], pair_columns("text_a", "text_b", "answer")),
        (["label", "gold_label", "s1", "s2"], pair_columns("s1", "s2", "gold_label")),
        (["sentence1", "premise", "claim"], pair_columns("premise", "claim")),
    ],
)
def test_columns_are_guessed_by_their_names(names: list[str], columns: Columns) -> None:
    assert guess(names, NLI) == columns


def test_columns_that_cannot_be_guessed_are_named() -> None:
    with pytest.raises(
        FileError,
        match=r"^no columns 'premise' and 'hypothesis' in your file; it has: text, label$",
    ):
        guess(["text", "label"], NLI)


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(FileError, match=r"^no column 'c' in your file; it has: a, b$"):
        pair_columns("a", "b", "c").check(["a", "b"])


def test_named_columns_win_and_the_others_are_guessed() -> None:
    names = ["premise", "hypothesis", "other", "label"]
    assert choose(names, NLI, {"premise": "other", "hypothesis": ""}) == pair_columns(
        "other", "hypothesis", "label"
    )
    assert choose(names, NLI, {"premise": "other", "hypothesis": "premise"}) == pair_columns(
        "other", "premise"
    )


def test_a_row_is_an_example_named_by_its_number() -> None:
    row = read_row(NLI, 7, {"premise": "A.", "hypothesis": "B."}, "e")
    assert (row.example, row.error) == (Pair("A.", "B.", "entailment", "7"), "")


def test_a_row_with_two_problems_says_the_label_first() -> None:
    row = read_row(NLI, 0, {"premise": None, "hypothesis": "B."}, "-")
    assert row.example is None
    assert [type(problem) for problem in row.problems] == [DisputedLabel, ExampleError]
    assert row.error == "no gold label: the annotators did not agree ('-')"


def test_a_text_longer_than_is_read_is_the_error_of_its_row() -> None:
    bounds = Bounds(max_text=4)
    rows = [read_row(NLI, 0, {"premise": "A.", "hypothesis": "b" * n}, "e", bounds) for n in (4, 5)]
    assert rows[0].example == Pair("A.", "bbbb", "entailment", "0")
    assert rows[1].example is None
    assert [type(problem) for problem in rows[1].problems] == [LimitError]
    assert rows[1].error.startswith("the hypothesis has 5 characters, and at most 4 are read here")


ROWS = [
    {"premise": "A.", "hypothesis": "B.", "label": "e"},
    {"premise": "A.", "hypothesis": " ", "label": "perhaps"},
    {"premise": "A.", "hypothesis": "B.", "label": "-"},
    {"premise": "A.", "hypothesis": "B.", "label": None},
    {"premise": "A.", "hypothesis": "C.", "label": 2},
]


def test_of_a_labelled_file_only_whole_rows_with_a_label_count(tmp_path: Path) -> None:
    examples, others = labelled(write(tmp_path / "a.jsonl", ROWS), NLI)
    assert examples == [Pair("A.", "B.", "entailment", "0"), Pair("A.", "C.", "contradiction", "4")]
    assert others == 3


def test_an_unknown_label_of_a_whole_row_is_refused(tmp_path: Path) -> None:
    rows = [*ROWS, {"premise": "A.", "hypothesis": "B.", "label": "perhaps"}]
    with pytest.raises(LabelError, match=r"^unknown gold label 'perhaps'; use entailment, neutral"):
        labelled(write(tmp_path / "a.jsonl", rows), NLI)


def test_a_stream_leaves_unknown_labels_out(tmp_path: Path) -> None:
    rows = [*ROWS, {"premise": "A.", "hypothesis": "B.", "label": "perhaps"}]
    stream = stream_labelled(write(tmp_path / "a.jsonl", rows), NLI)
    assert [example.id for example in stream] == ["0", "4"]


def test_a_stream_of_examples_has_those_without_a_label_too(tmp_path: Path) -> None:
    rows = [*ROWS, {"premise": "A.", "hypothesis": "B."}]
    stream = list(stream_examples(write(tmp_path / "a.jsonl", rows), NLI))
    assert [(example.id, example.gold) for example in stream] == [
        ("0", "entailment"),
        ("3", None),
        ("4", "contradiction"),
        ("5", None),
    ]


def test_a_stream_without_labels_has_the_rows_of_any_label(tmp_path: Path) -> None:
    rows = [*ROWS, {"premise": "A.", "hypothesis": "B.", "label": "perhaps"}]
    stream = stream_examples(write(tmp_path / "a.jsonl", rows), NLI, read_gold=False)
    assert [(example.id, example.gold) for example in stream][-1] == ("5", None)


@pytest.mark.parametrize(
    ("name", "raw", "sentence"),
    [
        ("a.jsonl", b"premise,hypothesis\n", "a.jsonl is not JSON lines: "),
        ("a.jsonl", b"\xff\xfe", "a.jsonl is empty"),
        ("a.jsonl.gz", b"no gzip", "a.jsonl.gz cannot be opened: "),
        (
            "a.jsonl.gz",
            gzip.compress(b'{"premise": "", "hypothesis": ""}\n')[:-9],
            "a.jsonl.gz cannot be opened: it ends too early",
        ),
    ],
    ids=["no JSON", "nothing but a mark", "no gzip", "cut off"],
)
def test_a_stream_that_cannot_be_read_is_one_sentence(
    name: str, raw: bytes, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(FileError, match=f"^{sentence}"):
        list(stream_labelled(tmp_path / name, NLI))
