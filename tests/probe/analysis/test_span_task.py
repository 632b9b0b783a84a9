"""A task that is made up here and nowhere else: two texts, and an answer that is a span.

Its model is a stub without logits: it is probed and a file is scored all the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest

from probe.analysis.batch import score
from probe.analysis.comparison import agreement, compare, disagreement
from probe.analysis.summary import summarise, summary_json
from probe.analysis.transformed import examination_json, examine
from probe.data.rows import guess
from probe.data.source import Table
from probe.errors import ExampleError, Unavailable
from probe.models.classifier import Precision, Prediction
from probe.reports.comparison import comparison_json
from probe.tasks.label_rules import KEEP
from probe.tasks.nli import Pair
from probe.tasks.task import TASKS, Example, Label, Task, register
from probe.transforms import REGISTRY, Options
from probe.transforms.registry import ready, transform
from tests.support.files.scored_frames import made_frame, scored_frame


@dataclass(frozen=True)
class Question:
    """A question about a passage; the gold answer is a stretch of the passage."""

    passage: str
    question: str
    gold: Label | None = None
    id: str = ""


def same_words(predicted: Label, gold: Label) -> bool:
    """Whether two answers have the same words, case and marks aside."""
    return predicted.lower().strip(" .") == gold.lower().strip(" .")


READING = Task(
    "made_up_reading",
    "Questions about a passage",
    Question,
    ("passage", "question"),
    "question",
    columns={"passage": ("passage", "context"), "question": ("question",)},
    matches=same_words,
    agrees=same_words,
)


@dataclass(frozen=True)
class LastWord:
    """Answers with the last word of the passage, surely where the question asks with its word."""

    name: str = "last-word"
    asks: str = "where"
    revision: str | None = None
    task: Task = READING

    def predict(self, examples: Sequence[Any], precision: Precision = "fp32") -> list[Prediction]:
        """Weigh the last word and the first."""
        answers = []
        for each in examples:
            first, *_, last = each.passage.strip(" .").split()
            sure = each.question.lower().startswith(self.asks)
            weights = (0.8, 0.2) if sure else (0.3, 0.6)
            answers.append(Prediction(last if sure else first, weights, (last, first)))
        return answers

    def too_long(self, example: Example) -> bool:
        """It reads anything."""
        return False


WHERE = Question("Tim was born in Oulu.", "Where was Tim born?", "oulu", "q1")
ADD = ["reverse", "add_sentence"]


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    """Make the task and a transform of its passage known for a test."""
    register(READING)
    told = "Put a sentence that answers nothing behind the passage."
    facts = {"family": "stress", "rule": KEEP, "source": "made up", "applies": "a passage"}
    transform("add_sentence", "Add a distractor", told, reads="passage", edits="passage", **facts)(  # type: ignore[arg-type]
        lambda text, tools: f"{text} Nobody ever went to Chicago."
    )
    yield
    del TASKS[READING.name], REGISTRY["add_sentence"]


def test_word_salad_edits_the_question_and_a_distractor_the_passage() -> None:
    examination = examine(LastWord(), WHERE, ADD)
    salad, distracted = examination.transformed
    assert salad.result.example == Question(WHERE.passage, "born tim was where ?", None, "q1")
    assert distracted.result.example.question == WHERE.question
    assert distracted.result.example.passage.endswith("went to Chicago.")
    assert set(salad.result.edits) == {"passage", "question"}
    assert (salad.prediction.label, salad.agrees) == ("Tim", False)
    assert (distracted.prediction.label, distracted.result.gold) == ("Chicago", "oulu")
    assert (distracted.agrees, distracted.right) == (False, False)
    shape = examination_json(examination, "fp32")
    assert examination.importance is None and shape["importance"] is None
    assert shape["original"]["probabilities"] == {"Oulu": 0.8, "Tim": 0.2}
    assert (shape["original"]["label"], shape["original"]["confidence"]) == ("Oulu", 0.8)


def test_transforms_of_other_tasks_are_not_offered() -> None:
    offered = {*ready(READING)}
    assert {"sort", "negation", "add_sentence"} <= offered
    assert offered.isdisjoint({"copysort", "length_mismatch", "neghyp", "pbsmt", "numerical"})
    for example, name, error, words in (
        (WHERE, "neghyp", Unavailable, r"^neghyp is not for the task made_up_reading"),
        # they ask which tokens matter
        (WHERE, "drop", Unavailable, r"cannot run here: the model 'last-word' does not"),
        (WHERE, "sort+replace", Unavailable, r"cannot run here: the model 'last-word' does not"),
        (Pair("A.", "B."), "sort", ExampleError, r"^Questions about a passage asks for a passage"),
    ):
        with pytest.raises(error, match=words):
            examine(LastWord(), example, [name])


ROWS = [
    ("Tim was born in Oulu.", "Where was Tim born?", "Oulu"),
    ("Ann lives in Turku", "where is she?", "turku."),
    ("Ann lives in Turku", "Who is she?", "nobody"),
    ("", "Who?", "x"),
]


def test_a_file_is_scored_and_summed_up_and_two_such_models_are_compared() -> None:
    model, columns = LastWord(), ["context", "question", "answer"]
    table = Table(pd.DataFrame(ROWS, columns=columns, dtype=object), "csv")
    scored = score(table, guess(columns, READING), model, ADD)
    rows = [row for chunk in scored for row in chunk.rows]
    assert [row.right for row in rows] == [True, True, False, None]
    assert rows[-1].error == "the passage is empty"
    frame = scored_frame(table, rows, ADD, model)
    assert list(frame.columns[3:6]) == ["prediction", "confidence", "error"]
    assert list(frame["add_sentence.prediction"])[:3] == ["Chicago", "Chicago", "Ann"]
    assert frame["reverse.passage"].iloc[0] == "Tim was born in Oulu."
    made = made_frame(rows, ADD, model)
    assert list(made.columns[4:7]) == ["passage", "question", "gold"]
    shape = summary_json(summarise(rows, ADD, READING), model, "fp32", 0, Options())
    assert (shape["accuracy"], shape["accuracy_n"], shape["predicted"]) == (2 / 3, 3, {})
    added = shape["transforms"]["add_sentence"]
    assert (added["agreement"], added["accuracy"]) == (1 / 3, 0.0)
    models = (LastWord(), LastWord("first-word", "who"))
    (chunk,) = compare(models, [WHERE, Question("Ann sat.", "Who sat?", "Ann", "q2")])
    assert agreement(chunk.rows, 0, 1).value == 0.0
    assert set(disagreement(chunk.rows, 0, 1)) == {("Oulu", "Tim"), ("Ann", "sat")}
    shape = comparison_json(chunk.rows, [model.name for model in models], "fp32")
    assert [each["value"] for each in shape["accuracy"].values()] == [1.0, 0.0]
    assert shape["slices"] == []
