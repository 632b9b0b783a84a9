"""Answers of files: each form is read as it is written, and none is read by a guess."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from probe.analysis.batch import score
from probe.data.file_options import FileOptions
from probe.data.reading import reading_of
from probe.data.source import read_table
from probe.errors import ExampleError, FileError, FileQuestion, UserError
from probe.models.prediction import Prediction
from probe.models.prediction_file import (
    AnswerFile,
    AnswerOptions,
    Predicted,
    as_probabilities,
    holds_answers,
    task_of_texts,
)
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL, NLI, NON_ENTAILMENT, Pair
from probe.tasks.task import Label
from tests.support.cases import check_each

PAIRS = [
    ("A cat sleeps.", "An animal sleeps.", ENTAILMENT, ENTAILMENT),
    ("A cat sleeps.", "A cat runs.", CONTRADICTION, CONTRADICTION),
    ("A dog barks.", "A dog is loud.", NEUTRAL, CONTRADICTION),
    ("A dog barks.", "A dog is silent.", CONTRADICTION, NEUTRAL),
    ("A dog barks.", "A dog makes noise.", ENTAILMENT, ENTAILMENT),
]
"""Premise, hypothesis, gold label and answer: three of five are right."""
IN_ORDER = {str(at): label for at, label in enumerate(LABELS)}
NUMBERS = FileOptions(values=IN_ORDER, one_file=False)


def logits(label: Label, least: float = -1.0) -> list[float]:
    return [2.0 if each == label else least for each in LABELS]


STARTER = [
    {
        "premise": premise, "hypothesis": hypothesis, "label": LABELS.index(gold),
        "predicted_scores": logits(answer), "predicted_label": LABELS.index(answer),
    }
    for premise, hypothesis, gold, answer in PAIRS
]  # fmt: skip
SAMPLES = [
    {
        "doc_id": at, "doc": {"premise": premise, "hypothesis": hypothesis, "label": 9},
        "target": str(LABELS.index(gold)), "filter": "none",
        "arguments": {
            f"gen_args_{number}": {"arg_0": "asked", "arg_1": f" {word}"}
            for number, word in enumerate(("True", "Neither", "False"))
        },
        "filtered_resps": [[str(each), "False"] for each in logits(answer, -7.0)],
    }
    for at, (premise, hypothesis, gold, answer) in enumerate(PAIRS)
]  # fmt: skip
PLAIN = [
    {"premise": premise, "hypothesis": hypothesis, "gold": gold, "said": answer, "prediction": ""}
    | {f"p_{label}": 0.8 if label == answer else 0.1 for label in LABELS}
    for premise, hypothesis, gold, answer in PAIRS
]
TEXTS = [
    {"pairID": f"x{at}", "premise": premise, "hypothesis": hypothesis, "label": gold}
    for at, (premise, hypothesis, gold, _) in enumerate(PAIRS)
]
SQUAD = [
    {
        "id": "a", "context": "Ada came at nine with Bo.", "question": "When did she come?",
        "answers": {"text": ["nine", "at nine"], "answer_start": [12, 9]}, "predicted_answer": said,
    }
    for said in ("At nine.", "Bo")
]  # fmt: skip


def table(rows: Sequence[Mapping[str, Any]], mark: str = ",") -> str:
    """Return rows as CSV without quotes, or as TSV."""
    lines = [list(rows[0]), *([str(cell) for cell in row.values()] for row in rows)]
    return "".join(mark.join(line) + "\n" for line in lines)


def lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def submission(numbers: Sequence[int], answers: Sequence[object] = ()) -> str:
    given = answers or [answer for *_, answer in PAIRS]
    rows = zip(numbers, given, strict=True)
    return table([{"index": at, "prediction": each} for at, each in rows], "\t")


HANS = "pairID,gold_label\n" + "".join(
    f"x{at},{ENTAILMENT if answer == ENTAILMENT else NON_ENTAILMENT}\n"
    for at, (*_, answer) in reversed(list(enumerate(PAIRS)))
)


def answered(
    folder: Path, answers: tuple[str, str], texts: tuple[str, str] | None = None,
    said: AnswerOptions = AnswerOptions(), options: FileOptions = FileOptions(),
) -> tuple[Predicted, list[bool | None]]:  # fmt: skip
    """Return what the answers of a file are read as, and which rows are right."""
    for name, content in filter(None, (answers, texts)):
        (folder / name).write_text(content)
    file = AnswerFile.open(folder / answers[0], said, name=answers[0])
    source = read_table(folder / texts[0]) if texts else file.table
    task = task_of_texts(source)
    asked = options if texts else file.asked(task, options)
    columns = reading_of(source, source.path, task, asked).settled
    given = file.on(source, columns, task, asked)
    (chunk,) = score(source, columns, given, precision="fp32")
    return given, [row.right for row in chunk.rows]


RIGHT = [True, True, False, False, True]
FORMS: dict[str, tuple[tuple[str, str], tuple[str, str] | None, AnswerOptions, FileOptions]] = {
    "the starter's": (("eval.jsonl", lines(STARTER)), None, AnswerOptions(), NUMBERS),
    "the starter's, by an order of its labels": (
        ("eval.jsonl", lines(STARTER)), None,
        AnswerOptions(orders={"eval.jsonl": ",".join(LABELS)}), FileOptions(),
    ),
    "samples": (("samples_a.jsonl", lines(SAMPLES)), None, AnswerOptions(), FileOptions()),
    "a table with names of one's own": (
        ("own.csv", table(PLAIN)), None, AnswerOptions(answer="said"), FileOptions(),
    ),
    "scores alone": (
        ("own.csv", table(PLAIN)), None,
        AnswerOptions("said", tuple(f"p_{label}" for label in LABELS)), FileOptions(),
    ),
    "GLUE": (
        ("MNLI-m.tsv", submission(range(5))), ("dev.jsonl", lines(STARTER)), AnswerOptions(),
        NUMBERS,
    ),
    "GLUE by number": (
        ("MNLI-m.tsv", submission(range(5), [LABELS[::-1].index(each[3]) for each in PAIRS])),
        ("dev.jsonl", lines(TEXTS)), AnswerOptions(orders={"MNLI-m.tsv": "c,n,e"}), FileOptions(),
    ),
    "another order of rows": (
        ("eval.jsonl", lines(STARTER[::-1])), ("dev.csv", table(TEXTS)), AnswerOptions(), NUMBERS,
    ),
}  # fmt: skip


def test_each_form_is_read_as_it_is(tmp_path: Path) -> None:
    def check(name: str) -> None:
        answers, texts, said, options = FORMS[name]
        given, right = answered(tmp_path, answers, texts, said, options)
        assert right == RIGHT
        assert [given.answers[at].label for at in range(5)] == [answer for *_, answer in PAIRS]
        sure = {round(each.confidence, 4) for each in given.answers.values() if each.probabilities}
        soft = [math.exp(2) / (math.exp(2) + 2 * math.exp(low)) for low in (-1.0, -7.0)]
        assert sure <= {round(share, 4) for share in (*soft, 0.8)}
        assert bool(sure) == (not name.startswith("GLUE")), given.words

    check_each({name: name for name in FORMS}, check)


def test_answers_to_hans_are_in_two_classes_by_pair(tmp_path: Path) -> None:
    given, right = answered(tmp_path, ("hans.txt", HANS), ("set.jsonl", lines(TEXTS)))
    assert given.task.labels == (ENTAILMENT, NON_ENTAILMENT)
    assert right == [True] * 5  # neutral and contradiction are one class


def test_spans_are_right_by_any_reference(tmp_path: Path) -> None:
    rows = [{**row, "id": str(at)} for at, row in enumerate(SQUAD)]
    assert answered(tmp_path, ("eval.jsonl", lines(rows)))[1] == [True, False]


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    texts = ("dev.jsonl", lines(TEXTS))
    fewer = submission([0, 1, 2, 7], [ENTAILMENT] * 4)
    given, right = answered(tmp_path, ("few.tsv", fewer), texts)
    assert right == [True, False, False, None, None]
    assert "1 of its answers fit no row, the first '7'" in given.words
    assert "2 rows of dev.jsonl have no answer" in given.words
    golds = [{**STARTER[0], "label": 1}, *STARTER[1:]]
    words = answered(tmp_path, ("golds.jsonl", lines(golds)), texts, options=NUMBERS)[0].words
    assert "1 rows have another gold label in it" in words
    halves = [{**row, "predicted_scores": [0.9, 0.3, 0.2]} for row in STARTER[::4]]
    given, _ = answered(tmp_path, ("half.jsonl", lines(halves)), texts, options=NUMBERS)
    assert "do not add up to 1" in given.words
    assert not any(each.probabilities for each in given.answers.values())


def test_scores_are_probabilities_percentages_or_logits_and_never_some_of_each() -> None:
    percentages = as_probabilities({0: [70, 20, 10], 1: [0, 100, 0]})[0]
    assert percentages == {0: (0.7, 0.2, 0.1), 1: (0.0, 1.0, 0.0)}
    assert as_probabilities({0: [0.0, 0.0], 1: [2.0, -1.0]})[0][0] == (0.5, 0.5)
    for scores, trouble in (
        ({0: [0.7, 0.3], 1: [2.0, -1.0]}, "in some rows and not in others"),
        ({0: [0.7, 0.3], 1: [2.0, -1.0, 0.5]}, "more of some rows than of others"),
    ):
        assert trouble in as_probabilities(scores)[1] and not as_probabilities(scores)[0]


Refused = tuple[str, Any, str, str]
DEV = ("dev.jsonl", lines(TEXTS))
OTHERS = [
    {**row, "label": 2 - LABELS.index(pair[2])} for row, pair in zip(STARTER, PAIRS, strict=True)
]
BARE = {"premise": PAIRS[0][0], "hypothesis": PAIRS[0][1]}
GUESSES: dict[str, Refused] = {
    "numbers": (lines(STARTER), None, "'label' holds", "--label-value 0=LABEL"),
    "numbers beside texts": (submission(range(5), range(5)), DEV, "nothing tells", "--labels a."),
    "other numbers": (lines(OTHERS), DEV, "other numbers", "--labels a."),
    "unknown words": (submission(range(5), ["so"] * 5), DEV, "'so' (5)", "--label-value so=LABEL"),
    "scores of another answer": (
        lines([{**row, "predicted_label": 0} for row in STARTER]), DEV, "in 3 rows",
        "--scores none",
    ),
    "scores in no order": (
        lines([{**BARE, "predicted_label": "e", "scores": [2, 1, 0]}]), DEV, "3 scores",
        "--labels a.",
    ),
    "no answers": (lines(TEXTS), DEV, "no column of answers", "--prediction NAME"),
    "several answers": (
        lines([{"x.prediction": "e", "y.prediction": "n"}]), DEV, "several", "--prediction x.pred",
    ),
    "indices from 1": (submission(range(1, 6)), DEV, "from 1 to 5", "count them so"),
    "another count": (lines([{"prediction": "e"}]), DEV, "1 answers", "5 rows"),
    "an index twice": (submission([0, 0, 1, 2, 3]), DEV, "2 rows of index", "'0'"),
    "several filters": (
        lines([*SAMPLES, {**SAMPLES[0], "filter": "strict"}]), DEV, "several filters", "keep",
    ),
}  # fmt: skip


def test_no_guess_is_made_in_silence(tmp_path: Path) -> None:
    def check(case: Refused) -> None:
        content, texts, told, settles = case
        name = "a.tsv" if content.startswith("index") else "a.jsonl"
        said = FileOptions() if texts is None else NUMBERS
        with pytest.raises(UserError) as refused:
            answered(tmp_path, (name, content), texts, options=said)
        assert told in str(refused.value)
        assert settles in str(refused.value)
        assert isinstance(refused.value, FileQuestion if settles.startswith("--") else FileError)

    check_each(GUESSES, check)


def test_files_of_answers_are_told_by_their_columns() -> None:
    for rows in (STARTER, SAMPLES, PLAIN, SQUAD):
        assert holds_answers(list(rows[0])), rows[0]
    assert holds_answers(["pairID", "gold_label"])
    assert holds_answers(["premise", "minilm.prediction"])
    assert not holds_answers(list(TEXTS[0]))


def test_a_row_without_an_answer_says_so_the_first_one_too() -> None:
    answer = Prediction(NEUTRAL, (), LABELS)
    for lacking in (0, 2):
        held = Predicted("a.csv", None, NLI, {at: answer for at in range(3) if at != lacking})
        asked = [Pair(*PAIRS[at][:2], id=str(at)) for at in range(3)]
        with pytest.raises(ExampleError, match=r"a\.csv has no answer to this row"):
            held.predict(asked)
