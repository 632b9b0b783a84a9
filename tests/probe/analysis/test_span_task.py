"""A stub of a reader without logits: it is probed, scored and compared all the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest

from probe.analysis.batch import score
from probe.analysis.comparison import agreement, compare, disagreement
from probe.analysis.comparison_report import comparison_json
from probe.analysis.summary import summarise, summary_json
from probe.analysis.transformed import examination_json, examine
from probe.data.rows import guess, of_frame
from probe.errors import ExampleError, Unavailable
from probe.models.classifier import Precision, Prediction
from probe.tasks.nli import Pair
from probe.tasks.reading import READING, Question
from probe.tasks.task import Example, Task
from probe.transforms import Options
from tests.support.files.scored_frames import made_frame, scored_frame


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
            if each.passage == "?":
                raise ExampleError("no word can be read")
            first, *_, last = each.passage.strip(" .").split()
            sure = each.question.lower().startswith(self.asks)
            weights = (0.8, 0.2) if sure else (0.3, 0.6)
            answers.append(Prediction(last if sure else first, weights, (last, first)))
        return answers

    def too_long(self, example: Example) -> bool:
        """It reads anything."""
        return False


TIM = "Tim was born in Oulu."
WHERE = Question("Where was Tim born?", TIM, "oulu", "q1")
ROWS = [
    (TIM, "Where was Tim born?", "Oulu"),
    ("Ann lives in Turku", "where is she?", "Turku"),
    ("Ann lives in Turku", "Who is she?", "Turku"),
    ("", "Who?", "x"),
    ("?", "Who?", None),
]
NAMES = ["reverse", "addsent"]


def test_word_salad_edits_the_question_and_a_distractor_the_passage() -> None:
    examination = examine(LastWord(), WHERE, NAMES)
    salad, distracted = examination.transformed
    assert salad.result.example == Question("born tim was where ?", TIM, None, "q1")
    assert distracted.result.example.question == WHERE.question
    assert distracted.result.example.passage.startswith(f"{TIM} ")
    assert set(salad.result.edits) == {"passage", "question"}
    assert (salad.prediction.label, salad.agrees) == ("Tim", False)
    assert distracted.result.gold == "oulu"
    assert (distracted.agrees, distracted.right) == (False, False)
    shape = examination_json(examination, "fp32")
    assert examination.importance is None and shape["importance"] is None
    assert shape["original"]["probabilities"] == {"Oulu": 0.8, "Tim": 0.2}
    asks = r"cannot run here: the model 'last-word' does not"  # which tokens matter
    for example, name, error, words in (
        (WHERE, "neghyp", Unavailable, r"^neghyp is not for the task reading"),
        (WHERE, "drop", Unavailable, asks),
        (WHERE, "sort+replace", Unavailable, asks),
        (Pair("A.", "B."), "sort", ExampleError, r" asks for a question"),
    ):
        with pytest.raises(error, match=words):
            examine(LastWord(), example, [name])


def test_a_file_is_scored_and_summed_up_and_two_such_models_are_compared() -> None:
    model, columns = LastWord(), ["context", "question", "answers"]
    table = of_frame(pd.DataFrame(ROWS, columns=columns, dtype=object), "csv")
    scored = score(table, guess(columns, READING), model, NAMES)
    rows = [row for chunk in scored for row in chunk.rows]
    assert [row.right for row in rows] == [True, True, False, None, None]
    assert [row.error for row in rows[3:]] == ["the passage is empty", "no word can be read"]
    frame = scored_frame(table, rows, NAMES, model)
    ours = ["prediction", "confidence", "start", "end", "em", "f1", "error"]
    assert list(frame.columns[3:10]) == ours
    assert frame["reverse.passage"].iloc[0] == TIM
    assert frame["f1"].tolist() == [1.0, 1.0, 0.0, None, None]
    assert {"passage", "question", "gold"} <= {*made_frame(rows, NAMES, model).columns}
    shape = summary_json(summarise(rows, NAMES, READING), model, "fp32", 0, Options())
    assert (shape["em"], shape["em_n"], shape["predicted"]) == (2 / 3, 3, {})
    models = (LastWord(), LastWord("first-word", "who"))
    examples = [WHERE, Question("Who sat?", "Ann sat.", "Ann", "q2"), Question("Who?", "?")]
    (chunk,) = compare(models, examples)
    assert [row.error for row in chunk.rows] == ["", "", "no word can be read"]
    assert agreement(chunk.rows, 0, 1).value == 0.0
    assert set(disagreement(chunk.rows, 0, 1)) == {("Oulu", "Tim"), ("Ann", "sat")}
    shape = comparison_json(chunk.rows, [model.name for model in models], "fp32")
    assert [each["value"] for each in shape["f1"].values()] == [1.0, 0.0]
