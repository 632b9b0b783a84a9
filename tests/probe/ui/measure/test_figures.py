"""What a file's figures mean in words."""

from collections.abc import Mapping

import pytest

from probe.analysis.summary import ORIGINAL, Measured, Summary
from probe.statistics import FEWEST, NOTHING, Estimate
from probe.tasks.nli import LABELS, NLI
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from probe.ui.measure.figures import sentence


def measured(
    agreement: float | None = None, confidence: float = 0.9, accuracy: float = 0.8, n: int = 100
) -> Measured:
    """Return measures over n rows, give or take 0.01; without agreement nothing is transformed."""
    values = {"agreement": agreement, "confidence": confidence, "accuracy": accuracy}
    return Measured(
        {
            name: NOTHING if value is None else Estimate(value, value - 0.01, value + 0.01, n)
            for name, value in values.items()
        }
    )


def said(
    transforms: Mapping[str, Measured],
    by_label: Mapping[str, Mapping[str, Measured]] = {},
    task: Task = NLI,
) -> str:
    """Return the sentence of a hundred rows."""
    labels = dict.fromkeys(task.labels or LABELS, 0)
    groups = {label: {ORIGINAL: measured(), **group} for label, group in by_label.items()}
    return sentence(Summary(100, 100, 0, 0, measured(), transforms, groups, labels), task)


def test_word_order_is_told_as_such_with_where_it_is_noticed_least() -> None:
    groups = {"entailment": {"sort": measured(0.93)}, "neutral": {"sort": measured(0.78)}}
    assert said({"sort": measured(0.81, 0.9)}, groups) == (
        "Four answers in five stay when the words of the hypothesis are put out of order. "
        "The model notices it least where the right answer is entailment. "
        "The model is as sure as before: 0.90, was 0.90."
    )


def test_destroyed_texts_make_no_sense_in_the_task_s_own_words() -> None:
    words = said({"drop": measured(0.52, 0.7)}, task=SENTIMENT)
    assert words.startswith("Half of the answers stay although the text makes no sense any more.")
    assert words.endswith("The model is less sure than before: 0.70, was 0.90.")


@pytest.mark.parametrize(
    ("kept", "after", "words"),
    [
        (0.0, 0.9, "No answer stays where the text makes no sense any more. "),
        (0.02, 0.9, "Hardly any answer stays where the text makes no sense any more. "),
        (0.99, 0.9, "Nearly every answer stays although the text makes no sense any more. "),
        (1.0, 0.97, "Every answer stays although the text makes no sense any more. "),
    ],
)
def test_the_ends_of_the_scale_have_words_of_their_own(
    kept: float, after: float, words: str
) -> None:
    how = "surer than" if after > 0.92 else "as sure as"
    told = said({"drop": measured(kept, after)}, task=SENTIMENT)
    assert told == f"{words}The model is {how} before: {after:.2f}, was 0.90."


def test_of_two_labels_that_are_alike_none_is_named() -> None:
    groups = {
        "entailment": {"sort": measured(0.93)},
        "neutral": {"sort": measured(0.92)},
        "contradiction": {"sort": measured(0.5)},
    }
    assert "notices it least" not in said({"sort": measured(0.81, 0.9)}, groups)


def test_small_groups_are_not_ranked() -> None:
    for n, named in ((FEWEST, True), (FEWEST - 1, False)):
        groups = {
            "entailment": {"sort": measured(0.93, n=n)},
            "neutral": {"sort": measured(0.5)},
        }
        assert ("notices it least" in said({"sort": measured(0.81)}, groups)) is named


def test_it_is_said_how_sure_a_model_is_as_far_as_the_texts_tell() -> None:
    found = measured(0.5, 0.86)
    assert "The model is a little less sure than before: 0.86" in said({"drop": found})
    for n, told in ((9, "changed 9 texts, too few to tell."), (600, "may be from -0.")):
        wide = Measured({**found.estimates, "confidence": Estimate(0.86, 0.7, 1.0, n)})
        words = said({"drop": wide})
        assert "not clear whether the model is less sure now: 0.86" in words and told in words


def test_changes_that_keep_the_meaning_are_not_called_nonsense() -> None:
    assert said({"spelling": measured(0.9, accuracy=0.75)}) == (
        "Nine answers in ten stay after these changes. After them 75 % are right."
    )


def test_without_changes_the_accuracy_is_told() -> None:
    assert said({}) == "The model answers 80 % of the pairs right."


def test_a_file_of_which_no_row_is_scored_says_where_to_look() -> None:
    empty = Summary(3, 0, 3, 0, measured(), {}, {}, {"entailment": 0})
    assert "each says why" in sentence(empty, NLI)
