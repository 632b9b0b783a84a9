"""A task that is made up here and nowhere else: two texts, and an answer that is a span.

Its model is a stub without logits: it is probed and a file is scored all the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
import pytest

from probe.analysis.batch import score
from probe.analysis.comparison import agreement, compare, disagreement
from probe.analysis.summary import summarise
from probe.analysis.transformed import examine
from probe.data.rows import guess, of_frame
from probe.errors import ExampleError, Unavailable
from probe.models.classifier import Precision, Prediction
from probe.reports.comparison import comparison_json
from probe.reports.json import examination_json
from probe.reports.scored import summary_json
from probe.tasks.label_rules import KEEP
from probe.tasks.nli import Pair
from probe.tasks.task import TASKS, Example, Label, Task, register
from probe.transforms import REGISTRY, Options
from probe.transforms.registry import Tools, ready, transform
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

    def predict(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> list[Prediction]:
        """Weigh the last word and the first."""
        return [self._answer(READING.texts(example)) for example in examples]

    def _answer(self, texts: dict[str, str]) -> Prediction:
        words = texts["passage"].strip(" .").split()
        sure = texts["question"].lower().startswith(self.asks)
        answers, weights = (words[-1], words[0]), ((0.8, 0.2) if sure else (0.3, 0.6))
        best = answers[0] if sure else answers[1]
        return Prediction(best, weights, answers)

    def too_long(self, example: Example) -> bool:
        """It reads anything."""
        return False


WHERE = Question("Tim was born in Oulu.", "Where was Tim born?", "oulu", "q1")


def add_sentence(text: str, tools: Tools) -> str | None:
    """Put a sentence that answers nothing behind the passage."""
    return f"{text} Nobody ever went to Chicago."


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    """Make the task and a transform of its passage known for a test."""
    register(READING)
    transform(
        "add_sentence",
        "Add a distractor",
        "Put a sentence that answers nothing behind the passage.",
        family="stress",
        rule=KEEP,
        reads="passage",
        edits="passage",
        source="made up",
        applies="a passage",
    )(add_sentence)
    yield
    del TASKS[READING.name], REGISTRY["add_sentence"]


def test_word_salad_edits_the_question_and_a_distractor_the_passage() -> None:
    examination = examine(LastWord(), WHERE, ["reverse", "add_sentence"])
    salad, distracted = examination.transformed
    assert salad.result.example == Question(WHERE.passage, "born tim was where ?", None, "q1")
    assert distracted.result.example.question == WHERE.question
    assert distracted.result.example.passage.endswith("went to Chicago.")
    assert set(salad.result.edits) == {"passage", "question"}
    assert (salad.prediction.label, salad.agrees) == ("Tim", False)
    assert (distracted.prediction.label, distracted.result.gold) == ("Chicago", "oulu")
    assert (distracted.agrees, distracted.right) == (False, False)


def test_importance_is_absent() -> None:
    examination = examine(LastWord(), WHERE)
    shape = examination_json(examination, "fp32")
    assert examination.importance is None and shape["importance"] is None
    assert shape["original"]["probabilities"] == {"Oulu": 0.8, "Tim": 0.2}
    assert (shape["original"]["label"], shape["original"]["confidence"]) == ("Oulu", 0.8)


def test_transforms_of_other_tasks_are_not_offered() -> None:
    offered = ready(READING)
    assert {"sort", "negation", "add_sentence"} <= set(offered)
    assert not set(offered) & {"copysort", "length_mismatch", "neghyp", "pbsmt", "numerical"}
    with pytest.raises(Unavailable, match=r"^neghyp is not for the task made_up_reading"):
        examine(LastWord(), WHERE, ["neghyp"])
    for name in ("drop", "sort+replace"):  # they ask which tokens matter
        with pytest.raises(Unavailable, match=r"cannot run here: the model 'last-word' does not"):
            examine(LastWord(), WHERE, [name])
    with pytest.raises(ExampleError, match=r"^Questions about a passage asks for a passage"):
        examine(LastWord(), Pair("A.", "B."))


ROWS = of_frame(
    pd.DataFrame(
        [
            ("Tim was born in Oulu.", "Where was Tim born?", "Oulu"),
            ("Ann lives in Turku", "where is she?", "turku."),
            ("Ann lives in Turku", "Who is she?", "nobody"),
            ("", "Who?", "x"),
        ],
        columns=["context", "question", "answer"],
        dtype=object,
    ),
    "csv",
)


def test_a_file_is_scored_and_summed_up() -> None:
    model, names = LastWord(), ["reverse", "add_sentence"]
    columns = guess(list(ROWS.frame.columns), READING)
    rows = [row for chunk in score(ROWS, columns, model, names) for row in chunk.rows]
    assert [row.right for row in rows] == [True, True, False, None]
    assert rows[-1].error == "the passage is empty"
    frame = scored_frame(ROWS, rows, names, model)
    assert list(frame.columns[3:6]) == ["prediction", "confidence", "error"]
    assert list(frame["add_sentence.prediction"])[:3] == ["Chicago", "Chicago", "Ann"]
    assert frame["reverse.passage"].iloc[0] == "Tim was born in Oulu."
    made = made_frame(rows, names, model)
    assert list(made.columns[4:7]) == ["passage", "question", "gold"]
    shape = summary_json(summarise(rows, names, READING), model, "fp32", 0, Options())
    assert (shape["accuracy"], shape["accuracy_n"], shape["predicted"]) == (2 / 3, 3, {})
    assert shape["transforms"]["add_sentence"]["agreement"] == 1 / 3
    assert shape["transforms"]["add_sentence"]["accuracy"] == 0.0


def test_two_such_models_are_compared() -> None:
    models = (LastWord(), LastWord("first-word", "who"))
    (chunk,) = compare(models, [WHERE, Question("Ann sat.", "Who sat?", "Ann", "q2")])
    rows = chunk.rows
    assert agreement(rows, 0, 1).value == 0.0
    assert set(disagreement(rows, 0, 1)) == {("Oulu", "Tim"), ("Ann", "sat")}
    shape = comparison_json(rows, [model.name for model in models], "fp32")
    assert [each["value"] for each in shape["accuracy"].values()] == [1.0, 0.0]
    assert shape["slices"] == []
