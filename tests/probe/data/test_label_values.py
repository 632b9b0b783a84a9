"""What the values of a column of gold labels mean."""

from dataclasses import replace
from pathlib import Path

import pytest

from probe.data.label_values import (
    MAX_VALUES,
    LabelValue,
    LabelValues,
    in_words,
    label_values,
    read_label_values,
)
from probe.data.rows import Columns, guess, read_rows
from probe.data.tables import Table, read_table
from probe.errors import FileError, LabelError
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT


@pytest.fixture
def reviews(tmp_path: Path) -> Table:
    """Reviews with a label of each kind, one of them written in two ways."""
    path = tmp_path / "reviews.csv"
    labels = ("Pos", "pos", "1", "0", "-", "", "five stars")
    path.write_text("text,label\n" + "".join(f"Fine.,{label}\n" for label in labels))
    return read_table(path)


COLUMNS = Columns({"text": "text"}, "label")


def test_every_value_has_its_rows_its_label_and_why(reviews: Table) -> None:
    assert label_values(reviews, COLUMNS, SENTIMENT).values == (
        LabelValue("Pos", 2, "positive", "name"),
        LabelValue("1", 1, "positive", "number"),
        LabelValue("0", 1, "negative", "number"),
        LabelValue("-", 1, None, "disputed"),
        LabelValue("", 1, None, "no gold"),
        LabelValue("five stars", 1, None, "unknown"),
    )


def test_rows_are_read_by_what_a_person_says_of_their_values(reviews: Table) -> None:
    said = {"1": "negative", "five stars": "pos", "-": ""}
    values = read_label_values(SENTIMENT, said, reviews, COLUMNS)
    columns = replace(COLUMNS, values=values)
    golds = [row.example.gold for row in read_rows(reviews, columns, SENTIMENT)]
    assert golds == ["positive", "positive", "negative", "negative", None, None, "positive"]
    assert label_values(reviews, columns, SENTIMENT).of("chosen") == (
        LabelValue("1", 1, "negative", "chosen"),
        LabelValue("-", 1, None, "chosen"),
        LabelValue("five stars", 1, "positive", "chosen"),
    )


def test_an_unknown_value_is_the_error_of_its_row(reviews: Table) -> None:
    *_, last = read_rows(reviews, COLUMNS, SENTIMENT)
    assert last.example is None
    assert last.error == "unknown gold label 'five stars'; use positive or negative"


def test_whole_numbers_with_a_fraction_are_one_value(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("question1,question2,label\nA?,B?,1.0\nA?,B?,1\n")
    table = read_table(path)
    columns = guess(list(table.frame.columns), PARAPHRASE_IDENTIFICATION)
    read = label_values(table, columns, PARAPHRASE_IDENTIFICATION).values
    assert read == (LabelValue("1.0", 2, "paraphrase", "number"),)


def test_a_column_of_many_values_is_told_in_part(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    rows = "".join(f"A.,B.,word {number}\n" for number in range(MAX_VALUES + 5))
    path.write_text("premise,hypothesis,label\n" + rows)
    table = read_table(path)
    read = label_values(table, guess(list(table.frame.columns), NLI), NLI)
    assert (len(read.values), read.others) == (MAX_VALUES, 5)


def test_a_cell_that_is_no_text_is_left_to_its_row(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"text": "Fine.", "label": ["pos"]}\n{"text": "Fine.", "label": "pos"}\n')
    assert label_values(read_table(path), COLUMNS, SENTIMENT).values == (
        LabelValue("pos", 1, "positive", "name"),
    )


def test_without_a_gold_column_there_is_nothing_to_read(reviews: Table) -> None:
    assert label_values(reviews, Columns({"text": "text"}), SENTIMENT) == LabelValues()


def test_what_is_said_of_a_value_that_no_row_has_is_refused(reviews: Table) -> None:
    with pytest.raises(FileError, match=r"^no row has 'five' in its column 'label'$"):
        read_label_values(SENTIMENT, {"five": "positive"}, reviews, COLUMNS)


def test_a_label_that_the_task_has_not_is_refused(reviews: Table) -> None:
    with pytest.raises(LabelError, match="unknown gold label 'neutral'"):
        read_label_values(SENTIMENT, {"1": "neutral"}, reviews, COLUMNS)


def test_numbers_and_unknown_values_are_told_in_words(reviews: Table) -> None:
    assert in_words(label_values(reviews, COLUMNS, SENTIMENT)) == (
        "gold labels are read: 1 as positive (1), 0 as negative (1); "
        "not read as a label, so not scored: 'five stars' (1)"
    )
