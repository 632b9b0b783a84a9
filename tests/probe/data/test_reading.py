"""How a file of examples is read: its names, columns and labels, or the question that is open."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.names import check_names, listed, shown, stem_of
from probe.data.reading import (
    MAX_VALUES,
    LabelValue,
    LabelValues,
    ValueCounts,
    in_words,
    labelled,
    read_values,
    reading_of,
    stream_examples,
)
from probe.data.rows import Source, guess, of_frame, read_rows
from probe.data.source import read_table
from probe.errors import DisputedLabel, ExampleError, FileError, FileQuestion, LabelError, UserError
from probe.limits import Bounds
from probe.tasks.nli import NLI, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Label, Task
from tests.support.cases import each
from tests.support.files.pair_files import pair_columns, write


def test_names_that_cannot_be_used_are_refused_and_many_and_long_ones_listed_in_part() -> None:
    wrong = {
        "x.csv has two columns called 'a'; rename one": ["a", "b", "a"],
        "x.csv has 2 columns without a name; name them or leave them out": ["a", "", ""],
        "x.csv: the name of column 2 holds half of a character": ["a", "b\ud800"],
    }
    for sentence, names in wrong.items():
        with pytest.raises(FileError, match=f"^{sentence}"):
            check_names(names, "x.csv")
    assert (listed([]), listed(["a", "b"])) == ("none", "a, b")
    assert listed(["a" * 1000] * 1000) == ", ".join(["a" * 40 + "…"] * 20) + " and 980 more"
    assert shown("a" * 1000) == repr("a" * 40 + "…")


STEMS = {
    "pairs.csv": "pairs", "pairs.v2.csv.gz": "pairs", ".csv": "file", "  .csv": "file",
    'a"b:c|d?.csv': "a_b_c_d_", "a\n\x00b.csv": "a__b", "a\udce9.csv": "a_",
    "x" * 400 + ".csv": "x" * 120, "é" * 400 + ".csv": "é" * 60,
    "x" + "é" * 400 + ".csv": "x" + "é" * 59,
}  # fmt: skip


def test_results_are_named_after_a_file_as_every_system_can() -> None:
    assert {name: stem_of(Path(name)) for name in STEMS} == STEMS


GUESSED: list[tuple[list[str], tuple[str, ...]]] = [
    (["premise", "hypothesis"], ("premise", "hypothesis")),
    (["id", " Premise ", "HYPOTHESIS", "Label"], (" Premise ", "HYPOTHESIS", "Label")),
    (["sentence1", "sentence2", "gold_label"], ("sentence1", "sentence2", "gold_label")),
    (["text_a", "text_b", "answer"], ("text_a", "text_b", "answer")),
    (["label", "gold_label", "s1", "s2"], ("s1", "s2", "gold_label")),
    (["sentence1", "premise", "claim"], ("premise", "claim")),
]


def test_columns_are_guessed_by_their_names_or_named() -> None:
    for names, columns in GUESSED:
        assert guess(names, NLI) == pair_columns(*columns), names
    lacking = r"^no columns 'premise' and 'hypothesis' in your file; it has: text, label$"
    with pytest.raises(FileError, match=lacking):
        guess(["text", "label"], NLI)
    with pytest.raises(FileError, match=r"^no column 'c' in your file; it has: a, b$"):
        pair_columns("a", "b", "c").check(["a", "b"])


def test_a_row_is_an_example_named_by_its_number_or_says_why_not() -> None:
    frame = pd.DataFrame({"premise": ["A.", None], "hypothesis": "bbbb", "gold": ["e", "-"]})
    columns, table = pair_columns("premise", "hypothesis", "gold"), of_frame(frame)
    good, wrong = read_rows(table, columns, NLI)
    assert (good.example, good.error) == (Pair("A.", "bbbb", "entailment", "0"), "")
    assert wrong.example is None
    assert [type(problem) for problem in wrong.problems] == [DisputedLabel, ExampleError]
    assert wrong.error == "no gold label: the annotators did not agree ('-')"
    assert next(read_rows(replace(table, bounds=Bounds(max_text=4)), columns, NLI)).example
    (long, _) = read_rows(replace(table, bounds=Bounds(max_text=3)), columns, NLI)
    assert long.error.startswith("the hypothesis has 4 characters, and at most 3 are read here")


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
    read = values_of(SENTIMENT, ["Pos", ["pos"], "pos", "bad", "-", "", "five stars"])
    assert read.values == (
        LabelValue("Pos", 2, "positive", "name"),  # a list is left to its row
        LabelValue("bad", 1, "negative", "name"),
        LabelValue("-", 1, None, "disputed"),
        LabelValue("", 1, None, "no gold"),
        LabelValue("five stars", 1, None, "unknown"),
    )
    read = values_of(NLI, [f"word {number}" for number in range(MAX_VALUES + 5)])
    assert (len(read.values), read.others) == (MAX_VALUES, 5)
    named = {"0": "not_equivalent", "1": "equivalent"}  # what a file says comes before known forms
    read = values_of(PARAPHRASE_IDENTIFICATION, ["0", "1.0"], classes=named)
    assert [(value.label, value.reading) for value in read.values] == [
        ("non-paraphrase", "class"),
        ("paraphrase", "class"),
    ]
    minus_one = {
        "-1,-1": "no gold", "-1,": "no gold", "-1,0,1,2": "disputed", "-1,neutral": "disputed",
        "-1,0,1": "unknown",
    }  # fmt: skip
    for cells, reading in minus_one.items():
        assert values_of(NLI, cells.split(",")).values[0].reading == reading, cells


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


@each("task, cells, labels, columns", READ)
def test_values_are_read_by_their_file_and_never_guessed(
    task: Task, cells: Sequence[str], labels: Sequence[Label | None], columns: str
) -> None:
    read = values_of(task, cells, columns=columns.split())
    assert {value.value: value.label for value in read.values} == dict(
        zip(cells, labels, strict=True)
    )
    unread = set(cells) if not any(labels) else set()
    assert {value.value for value in read.of("unknown")} == unread


SAID: list[tuple[Task, Sequence[str], Mapping[str, Label | None], Sequence[Label | None]]] = [
    (NLI, ["0", "1"], {"1": E}, [None, E]),
    (SENTIMENT, ["0", "1"], {"1": "negative"}, [None, "negative"]),
    (SENTIMENT, ["0", "2", "4"], {"4": "negative"}, [None, None, "negative"]),
    (SENTIMENT, ["good", "bad"], {"good": "negative"}, ["negative", None]),
    (SENTIMENT, ["0", "1"], {"1": "positive"}, ["negative", "positive"]),
    (NLI, ["Entailment", "None"], {"none": None}, [E, None]),
]


@each("task, cells, said, labels", SAID)
def test_what_is_said_of_a_value_leaves_no_other_with_its_meaning_by_default(
    task: Task,
    cells: Sequence[str],
    said: Mapping[str, Label | None],
    labels: Sequence[Label | None],
) -> None:
    read = values_of(task, cells, said)
    assert [value.label for value in read.values] == labels
    others = [value for value in read.values if value.label is None and value.word not in said]
    assert all(value.reading == "unknown" for value in others)


def test_what_a_person_says_names_values_and_labels_that_are_there(tmp_path: Path) -> None:
    table = table_of(tmp_path, "text,label\nGood.,1\nGood.,five stars\nBad.,-\n")

    def reading(values: Mapping[str, str]) -> Mapping[str, Label | None]:
        return reading_of(*table, SENTIMENT, FileOptions(values=values)).settled.values

    said = {"1.0": "negative", "Five Stars": "pos", "-": "none"}
    assert reading(said) == {"1": "negative", "five-stars": "positive", "-": None}
    with pytest.raises(FileError, match=r"^no row has 'five' in its column 'label'$"):
        reading({"five": "positive"})
    with pytest.raises(LabelError, match="unknown gold label 'neutral'"):
        reading({"1": "neutral"})


def test_what_a_spelling_alone_does_not_tell_is_said() -> None:
    assert in_words(values_of(SENTIMENT, ["1", "1", "0", ""])) == (
        "gold labels are read: 1 as positive (2), 0 as negative (1), as in GLUE and IMDb"
    )
    assert in_words(values_of(NLI, ["Entailment", "neutral", "contradiction", ""])) == ""
    assert in_words(values_of(NLI, ["yes", "Maybe", "no", "no"])) == (
        "gold labels are read: no as contradiction (2), yes as entailment (1), Maybe as neutral (1)"
    )


def table_of(folder: Path, text: str) -> tuple[Source, Path]:
    """Return a CSV file as a table, and its place."""
    path = folder / "mine.csv"
    path.write_text(text)
    return read_table(path), path


GOLDS: list[tuple[Task, str, str | None]] = [
    (NLI, "premise,hypothesis,label\nA.,B.,e\n", "label"),
    (NLI, "premise,hypothesis,gold_label,label\nA.,B.,,e\nA.,C.,,n\n", "label"),
    (NLI, "premise,hypothesis,label,label_text\nA.,B.,0,entailment\nA.,C.,1,neutral\n",
     "label_text"),
    (NLI, "sentence_A,sentence_B,entailment_judgment,score\nA.,B.,NEUTRAL,3.1\n",
     "entailment_judgment"),
    (NLI, "premise,hypothesis,answer\nA.,B.,because of it\nA.,C.,so it is\n", None),
    (NLI, "premise,hypothesis,answer\nA.,B.,yes\nA.,C.,no\n", "answer"),
    (NLI, ",premise,hypothesis\n0,A.,B.\n1,A.,C.\n", None),
    (SENTIMENT, "review,sentiment\nGood.,positive\n", "sentiment"),
    (PARAPHRASE_IDENTIFICATION, "Quality,#1 ID,#2 ID,#1 String,#2 String\n1,7,8,A.,B.\n",
     "Quality"),
    (READING, "context,question,answers\nA b.,What?,b\n", "answers"),
    # answers that are all empty are hidden, unless the file says that there are none
    (READING, "context,question,answers\nA b.,What?,[]\nA b.,Who?,[]\n", None),
    (READING, "context,question,answers\nA b.,What?,[]\nA b.,Who?,b\n", "answers"),
    (READING, "context,question,answers,is_impossible\nA b.,What?,[],true\n", "answers"),
]  # fmt: skip


@each("task, text, gold", GOLDS)
def test_a_column_of_gold_labels_is_found_by_its_name_and_what_it_holds(
    task: Task, text: str, gold: str | None, tmp_path: Path
) -> None:
    reading = reading_of(*table_of(tmp_path, text), task)
    assert reading.settled.gold == gold
    if gold is None:  # never scored without one in silence
        assert "gold label" in reading.words or "answer" in reading.words


NAMED = FileOptions(columns={"premise": "sentence", "hypothesis": "question"})
QUESTIONS: list[tuple[Task, str, FileOptions, str, str]] = [
    (NLI, "premise,hypothesis,label\nA.,B.,0\n", AS_THE_FILE_TELLS, "--label-value 0=LABEL", ""),
    (
        NLI, "sentence1,sentence2,label\nA.,B.,0\nA.,C.,1\n", AS_THE_FILE_TELLS,
        "--label-value 1=LABEL", "paraphrase",
    ),
    (NLI, "question1,question2,is_duplicate\nA?,B?,1\n", AS_THE_FILE_TELLS,
     "--column premise=NAME", "paraphrase"),
    (NLI, "text,label\nGood.,pos\n", AS_THE_FILE_TELLS, "--column premise=NAME", "sentiment"),
    (PARAPHRASE_IDENTIFICATION, "sentence1,sentence2,label\nA.,B.,neutral\n", AS_THE_FILE_TELLS,
     "--gold NAME", "nli"),
    (NLI, "premise,hypothesis,votes\nA.,B.,yes\nA.,C.,no\nB.,C.,no\n", AS_THE_FILE_TELLS,
     "--gold votes", ""),
    (NLI, "premise,hypothesis,gold,label\nA.,B.,e,n\n", AS_THE_FILE_TELLS, "--gold label", ""),
    (NLI, "sentence,question,label\nA.,B.,0\n", NAMED, "--label-value 0=LABEL", ""),
    (NLI, "premise,hypothesis,label\n" + "".join(f"A.,B.,word {n}\n" for n in range(30)),
     AS_THE_FILE_TELLS, "--gold none", ""),
    (NLI, "premise,hypothesis,label\nA, b.,B.,neutral\nA.,B.,e\nA.,B.,2\n", AS_THE_FILE_TELLS,
     "--label-value 2=LABEL (LABEL is entailment, neutral", ""),
]  # fmt: skip


@each("task, text, options, option, fitting", QUESTIONS)
def test_what_a_file_does_not_tell_is_asked_with_the_option_that_settles_it(
    task: Task, text: str, options: FileOptions, option: str, fitting: str, tmp_path: Path
) -> None:
    reading = reading_of(*table_of(tmp_path, text), task, options)
    with pytest.raises(FileQuestion) as asked:
        _ = reading.settled
    assert option in " ".join(asked.value.options)
    assert option in str(asked.value)
    assert [other.name for other in reading.others] == ([fitting] if fitting else [])


WRONG = {
    "no column 'c' in your file; it has: premise, hypothesis, label": FileOptions(gold="c"),
    "no column 'c' in your file; it has: ": FileOptions(columns={"premise": "c"}),
    "the task nli has no text 'text'; it has: ": FileOptions(columns={"text": "premise"}),
    "the column 'label' is used tw": FileOptions(columns={"premise": "label"}, gold="label"),
    "no row has '7' in its column 'label'": FileOptions(values={"7": "neutral"}),
    "labels are given to values, but no ": FileOptions(values={"e": "neutral"}, gold="none"),
}


def test_what_a_person_says_of_a_file_has_to_be_there_and_settles_it(tmp_path: Path) -> None:
    table, path = table_of(tmp_path, "premise,hypothesis,label\nA.,B.,e\n")
    for sentence, options in WRONG.items():
        with pytest.raises(UserError, match=f"^{sentence}"):
            reading_of(table, path, NLI, options)
    table, path = table_of(tmp_path, "sentence,question,label\nA.,B.,entailment\n")
    assert reading_of(table, path, NLI, NAMED).settled.gold == "label"
    table, path = table_of(tmp_path, "premise,hypothesis,label\nA.,B.,0\n")
    none = reading_of(table, path, NLI, FileOptions(gold="none")).settled
    assert none == pair_columns("premise", "hypothesis")
    path = write(tmp_path / "a.jsonl", [{"premise": "A.", "hypothesis": "B.", "label": ["e"]}])
    with pytest.raises(FileQuestion, match="'label' holds lists or objects"):
        _ = reading_of(read_table(path), path, NLI).settled


ROWS: list[dict[str, object]] = [
    {"premise": "A.", "hypothesis": "B.", "label": "e"},
    {"premise": "A.", "hypothesis": " ", "label": "n"},
    {"premise": "A.", "hypothesis": "B.", "label": "-"},
    {"premise": "A.", "hypothesis": "B.", "label": None},
    {"premise": "A.", "hypothesis": "C.", "label": "contradiction"},
]
UNKNOWN: Mapping[str, object] = {"premise": "A.", "hypothesis": "B.", "label": "perhaps"}


def test_of_a_labelled_file_only_whole_rows_with_a_label_count(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", ROWS)
    read = labelled(path, NLI)
    wanted = [Pair("A.", "B.", "entailment", "0"), Pair("A.", "C.", "contradiction", "4")]
    assert (read.examples, read.others) == (wanted, 3)
    assert list(stream_examples(path, NLI)) == wanted
    write(path, [*ROWS, dict(UNKNOWN)])
    for reads in (labelled, lambda *given: list(stream_examples(*given))):
        with pytest.raises(FileQuestion, match="holds 'perhaps'"):
            reads(path, NLI)
    said = FileOptions(values={"perhaps": "neutral"})
    assert labelled(path, NLI, said).examples[-1].gold == "neutral"
    stream = stream_examples(path, NLI, FileOptions(gold="none"), needs_gold=False)
    assert [(example.id, example.gold) for example in stream] == [
        (id_, None) for id_ in ("0", "2", "3", "4", "5")
    ]


def test_a_stream_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    whole = gzip.compress(b'{"premise": "", "hypothesis": ""}\n')
    path = tmp_path / "a.jsonl.gz"
    for raw, sentence in ((b"no gzip", ""), (whole[:-9], "it ends too early")):
        path.write_bytes(raw)
        with pytest.raises(FileError, match=f"^a.jsonl.gz cannot be opened: {sentence}"):
            list(stream_examples(path, NLI))
