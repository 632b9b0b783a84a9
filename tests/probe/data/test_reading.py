"""How a file of examples is read: its columns, its labels, or the question that is open."""

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.reading import labelled, reading_of, stream_examples
from probe.data.rows import Source
from probe.data.source import read_table
from probe.errors import FileError, FileQuestion, UserError
from probe.tasks.nli import NLI, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from tests.support.cases import check_each
from tests.support.files.pair_files import pair_columns, write


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


def test_a_column_of_gold_labels_is_found_by_its_name_and_what_it_holds(tmp_path: Path) -> None:
    def check(case: tuple[Task, str, str | None]) -> None:
        task, text, gold = case
        reading = reading_of(*table_of(tmp_path, text), task)
        assert reading.settled.gold == gold
        if gold is None:  # never scored without one in silence
            assert "gold label" in reading.words or "answer" in reading.words

    check_each({f"{case[0].name} {case[1]}": case for case in GOLDS}, check)


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
    (NLI, "context,question,answers\nA b.,What?,b\n", AS_THE_FILE_TELLS,
     "--column hypothesis=NAME", "reading"),
    (PARAPHRASE_IDENTIFICATION, "sentence1,sentence2,label\nA.,B.,neutral\n", AS_THE_FILE_TELLS,
     "--gold NAME", "nli"),
    (NLI, "premise,hypothesis,votes\nA.,B.,yes\nA.,C.,no\nB.,C.,no\n", AS_THE_FILE_TELLS,
     "--gold votes", ""),
    (SENTIMENT, "text,stars\nGood.,5\nBad.,1\n", AS_THE_FILE_TELLS, "--gold none", ""),
    (NLI, "premise,hypothesis,gold,label\nA.,B.,e,n\n", AS_THE_FILE_TELLS, "--gold label", ""),
    (NLI, "sentence,question,label\nA.,B.,0\n", NAMED, "--label-value 0=LABEL", ""),
    (NLI, "premise,hypothesis,label\n" + "".join(f"A.,B.,word {n}\n" for n in range(30)),
     AS_THE_FILE_TELLS, "--gold none", ""),
    (NLI, "premise,hypothesis,label\nA, b.,B.,neutral\nA.,B.,e\nA.,B.,2\n", AS_THE_FILE_TELLS,
     "--label-value 2=LABEL (LABEL is entailment, neutral", ""),
]  # fmt: skip


def test_what_a_file_does_not_tell_is_asked_with_the_option_that_settles_it(
    tmp_path: Path,
) -> None:
    def check(case: tuple[Task, str, FileOptions, str, str]) -> None:
        task, text, options, option, fitting = case
        reading = reading_of(*table_of(tmp_path, text), task, options)
        with pytest.raises(FileQuestion) as asked:
            _ = reading.settled
        assert option in " ".join(asked.value.options)
        assert option in str(asked.value)
        assert [other.name for other in reading.others] == ([fitting] if fitting else [])

    check_each({f"{case[0].name} {case[1]}": case for case in QUESTIONS}, check)


def test_lists_and_objects_are_no_labels(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"premise": "A.", "hypothesis": "B.", "label": ["e", "n"]}]
    path = write(tmp_path / "a.jsonl", rows)
    with pytest.raises(FileQuestion, match="'label' holds lists or objects"):
        _ = reading_of(read_table(path), path, NLI).settled


def test_naming_both_texts_keeps_the_gold_label(tmp_path: Path) -> None:
    table, path = table_of(tmp_path, "sentence,question,label\nA.,B.,entailment\n")
    assert reading_of(table, path, NLI, NAMED).settled.gold == "label"


def test_without_gold_labels_where_a_person_says_so(tmp_path: Path) -> None:
    table, path = table_of(tmp_path, "premise,hypothesis,label\nA.,B.,0\n")
    assert reading_of(table, path, NLI, FileOptions(gold="none")).settled == pair_columns(
        "premise", "hypothesis"
    )


WRONG = {
    "no column 'c' in your file; it has: premise, hypothesis, label": FileOptions(gold="c"),
    "no column 'c' in your file; it has: ": FileOptions(columns={"premise": "c"}),
    "the task nli has no text 'text'; it has: ": FileOptions(columns={"text": "premise"}),
    "the column 'label' is used tw": FileOptions(columns={"premise": "label"}, gold="label"),
    "no row has '7' in its column 'label'": FileOptions(values={"7": "neutral"}),
    "labels are given to values, but no ": FileOptions(values={"e": "neutral"}, gold="none"),
}


def test_what_a_person_says_of_a_file_has_to_be_there(tmp_path: Path) -> None:
    table, path = table_of(tmp_path, "premise,hypothesis,label\nA.,B.,e\n")
    for sentence, options in WRONG.items():
        with pytest.raises(UserError, match=f"^{sentence}"):
            reading_of(table, path, NLI, options)


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


def test_an_unknown_label_is_asked_about_wherever_examples_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [*ROWS, dict(UNKNOWN)])
    for read in (labelled, lambda *given: list(stream_examples(*given))):
        with pytest.raises(FileQuestion, match="holds 'perhaps'"):
            read(path, NLI)
    said = FileOptions(values={"perhaps": "neutral"})
    assert labelled(path, NLI, said).examples[-1].gold == "neutral"


def test_without_labels_the_rows_of_any_label_are_streamed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [*ROWS, dict(UNKNOWN)])
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
