"""What the values of a column of gold labels mean."""

from collections.abc import Mapping, Sequence

import pytest

from probe.data.reading import (
    MAX_VALUES,
    LabelValue,
    LabelValues,
    ValueCounts,
    in_words,
    read_values,
    said_of_values,
)
from probe.errors import FileError, LabelError
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Label, Task
from tests.support.cases import check_each


def counted(*cells: object) -> ValueCounts:
    """Return the counts of a column's cells."""
    counts = ValueCounts()
    for cell in cells:
        counts.add(cell)
    return counts


def values_of(
    task: Task,
    cells: Sequence[object],
    said: Mapping[str, Label | None] = {},
    columns: Sequence[str] = (),
    classes: Mapping[str, str] = {},
) -> LabelValues:
    """Return what the cells of a column are read as."""
    return read_values(task, counted(*cells), columns, classes, said)


def test_every_value_has_its_rows_its_label_and_why() -> None:
    read = values_of(SENTIMENT, ["Pos", "pos", "bad", "-", "", "five stars"])
    assert read.values == (
        LabelValue("Pos", 2, "positive", "name"),
        LabelValue("bad", 1, "negative", "name"),
        LabelValue("-", 1, None, "disputed"),
        LabelValue("", 1, None, "no gold"),
        LabelValue("five stars", 1, None, "unknown"),
    )


E, N, C, NON = "entailment", "neutral", "contradiction", "non-entailment"
READ: list[tuple[Task, Sequence[str], Sequence[Label | None], str]] = [
    (NLI, ["0", "1", "2"], [None, None, None], ""),
    (NLI, ["0", "1"], [None, None], ""),
    (NLI, ["-1", "0", "1"], [None, None, None], ""),
    (NLI, ["yes", "no"], [E, NON], ""),
    (NLI, ["yes", "no", "unknown"], [E, C, N], ""),
    (NLI, ["TRUE", "FALSE"], [E, NON], ""),
    (NLI, ["Entailment", "None"], [E, NON], ""),
    (NLI, ["Entailment", "Neutral", "Contradiction", "None"], [E, N, C, None], ""),
    (NLI, ["entails", "neutral"], [E, NON], ""),
    (NLI, ["entailment", "neutral"], [E, N], ""),
    (NLI, ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], [E, C, N], ""),
    (NLI, ["0", "1"], [E, NON], "premise heuristic subcase template"),
    (NLI, ["0", "1", "2"], [E, N, C], "promptID pairID premise"),
    (PARAPHRASE_IDENTIFICATION, ["0", "1"], ["non-paraphrase", "paraphrase"], ""),
    (PARAPHRASE_IDENTIFICATION, ["1"], ["paraphrase"], ""),
    (PARAPHRASE_IDENTIFICATION, ["0", "1", "2"], [None, None, None], ""),
    (SENTIMENT, ["0", "1"], ["negative", "positive"], ""),
    (SENTIMENT, ["1"], [None], ""),
    (SENTIMENT, ["-1", "0", "1"], [None, None, None], ""),
    (SENTIMENT, ["0", "2", "4"], ["negative", None, "positive"], ""),
    (SENTIMENT, ["1", "2"], ["negative", "positive"], "title content"),
    (SENTIMENT, ["1", "2"], [None, None], "text"),
    (SENTIMENT, ["1", "2", "3", "4", "5"], [None] * 5, "title content"),
]


def test_values_are_read_by_their_file_and_never_guessed() -> None:
    def check(case: tuple[Task, Sequence[str], Sequence[Label | None], str]) -> None:
        task, cells, labels, columns = case
        read = values_of(task, cells, columns=columns.split())
        assert {value.value: value.label for value in read.values} == dict(
            zip(cells, labels, strict=True)
        )
        unread = set(cells) if not any(labels) else set()
        assert {value.value for value in read.of("unknown")} == unread

    check_each({f"{task.name} {cells} {columns}": (task, cells, labels, columns)
          for task, cells, labels, columns in READ}, check)  # fmt: skip


def test_the_names_that_a_file_gives_to_its_numbers_come_before_known_forms() -> None:
    names = {"0": "not_equivalent", "1": "equivalent"}
    read = values_of(PARAPHRASE_IDENTIFICATION, ["0", "1.0"], classes=names)
    assert [(each.label, each.reading) for each in read.values] == [
        ("non-paraphrase", "class"),
        ("paraphrase", "class"),
    ]


SAID: list[tuple[Task, Sequence[str], Mapping[str, Label | None], Sequence[Label | None]]] = [
    (NLI, ["0", "1"], {"1": E}, [None, E]),
    (SENTIMENT, ["0", "1"], {"1": "negative"}, [None, "negative"]),
    (SENTIMENT, ["good", "bad"], {"good": "negative"}, ["negative", None]),
    (SENTIMENT, ["0", "1"], {"1": "positive"}, ["negative", "positive"]),
    (NLI, ["Entailment", "None"], {"none": None}, [E, None]),
]


def test_what_is_said_of_a_value_leaves_no_other_with_its_meaning_by_default() -> None:
    for task, cells, said, labels in SAID:
        read = values_of(task, cells, said)
        assert [each.label for each in read.values] == labels, cells
        others = [each for each in read.values if each.label is None and each.word not in said]
        assert all(each.reading == "unknown" for each in others), cells


def test_minus_one_is_no_label_only_where_that_is_certain() -> None:
    found = {
        cells: values_of(NLI, cells.split(",")).values[0].reading
        for cells in ("-1,-1", "-1,", "-1,0,1,2", "-1,neutral", "-1,0,1")
    }
    assert found == {
        "-1,-1": "no gold", "-1,": "no gold", "-1,0,1,2": "disputed", "-1,neutral": "disputed",
        "-1,0,1": "unknown",
    }  # fmt: skip


def test_a_column_of_many_values_is_told_in_part() -> None:
    read = values_of(NLI, [f"word {number}" for number in range(MAX_VALUES + 5)])
    assert (len(read.values), read.others) == (MAX_VALUES, 5)


def test_a_cell_that_is_no_text_is_left_to_its_row() -> None:
    assert values_of(SENTIMENT, [["pos"], "pos"]).values == (
        LabelValue("pos", 1, "positive", "name"),
    )


def test_what_a_person_says_names_values_and_labels_that_are_there() -> None:
    column = counted("1", "five stars", "-")
    said = {"1.0": "negative", "Five Stars": "pos", "-": "none"}
    assert said_of_values(SENTIMENT, said, column, "label") == {
        "1": "negative", "five-stars": "positive", "-": None,
    }  # fmt: skip
    with pytest.raises(FileError, match=r"^no row has 'five' in its column 'label'$"):
        said_of_values(SENTIMENT, {"five": "positive"}, column, "label")
    with pytest.raises(LabelError, match="unknown gold label 'neutral'"):
        said_of_values(SENTIMENT, {"1": "neutral"}, column, "label")


def test_what_a_spelling_alone_does_not_tell_is_said() -> None:
    assert in_words(values_of(SENTIMENT, ["1", "1", "0", ""])) == (
        "gold labels are read: 1 as positive (2), 0 as negative (1), as in GLUE and IMDb"
    )
    assert in_words(values_of(NLI, ["Entailment", "neutral", "contradiction", ""])) == ""
    assert in_words(values_of(NLI, ["yes", "Maybe", "no", "no"])) == (
        "gold labels are read: no as contradiction (2), yes as entailment (1), Maybe as neutral (1)"
    )
