"""What a model reaches on the texts as they are, and rules that do not read beside it."""

from collections.abc import Iterator, Sequence

import numpy as np

from probe.analysis.comparison.rows import Row
from probe.analysis.comparison.slices import sliced
from probe.baselines import BASELINES
from probe.baselines.registry import baselines_for
from probe.calibration import Calibration, calibration, mean_error
from probe.checkup.figure import Figure, figure_of
from probe.checkup.measuring.part import Part
from probe.checkup.measuring.subject import Subject
from probe.metrics import FEWEST, mean, mean_score
from probe.tasks.task import Label, Task

HYPOTHESIS_ONLY = "hypothesis_only"


def unchanged(subject: Subject) -> Part:
    """Measure a model on all examples as they are, in the classes that their gold labels have.

    Where these are three, the score in two stands beside, for changes that leave two.
    """
    task, answers = subject.task, [each.label for each in subject.predictions]
    golds = task.in_common([example.gold for example in subject.examples])
    scores, merged = _scores(task, answers, golds), bool(task.merges(golds))
    sure = [each.confidence for each in subject.predictions]
    measured = None if task.has_spans else _calibration(subject, golds)
    name, title = task.measure.lower(), task.measure.capitalize()
    figures = [
        figure_of(name, title, "plain", mean_score(task, scores), scores, merged=merged),
        *(_in_fewer(task, answers, golds) if not merged else ()),
        *(_error(measured, merged) if measured else ()),
        *_rules(subject, golds),
        *_by_label(task, golds, scores),
        figure_of("confidence", "Texts as they are", "confidence", mean(sure), sure, None),
        *_slices(subject, scores),
    ]
    return Part(figures, bins=measured.bins if measured else ())


def _scores(task: Task, answers: Sequence[Label], golds: Sequence[Label | None]) -> list[float]:
    """Return how right each answer is."""
    return [task.score(answer, gold or "") for answer, gold in zip(answers, golds, strict=True)]


def _in_fewer(
    task: Task, answers: Sequence[Label], golds: Sequence[Label | None]
) -> Iterator[Figure]:
    """Yield the score where gold labels that a label of the task's files merges are merged."""
    if merging := task.merges(task.golds):
        scores = _scores(task, answers, task.in_common([*golds, merging])[:-1])
        name, found = merged_name(task), mean_score(task, scores)
        yield figure_of(name, task.measure.capitalize(), "plain", found, scores, merged=True)


def merged_name(task: Task) -> str:
    """Return the name of the score in two classes where right answers are in three."""
    return f"{task.measure.lower()}.merged"


def _calibration(subject: Subject, golds: Sequence[Label | None]) -> Calibration:
    labels = subject.predictions[0].labels
    return calibration(
        np.array([each.probabilities for each in subject.predictions], dtype=np.float64),
        np.array([subject.task.admissible(gold, labels) for gold in golds]),
    )


def _error(measured: Calibration, merged: bool) -> Iterator[Figure]:
    error = mean_error([measured])
    yield figure_of(
        "ece", "Calibration error", "plain", error.found, more_is_better=False, merged=merged
    )
    title = "Calibration error by chance alone, of perfectly calibrated answers"
    yield figure_of("ece_by_chance", title, "plain", error.chance, more_is_better=None)


def _rules(subject: Subject, golds: Sequence[Label | None]) -> Iterator[Figure]:
    """Yield what one label for all reaches, and of NLI the words of the hypothesis alone."""
    task = subject.task
    if task.has_spans:
        return
    always = [_scores(task, [label] * len(golds), golds) for label in task.labels]
    label, scores = max(zip(task.labels, always, strict=True), key=lambda each: sum(each[1]))
    title = f"Rule: always “{label}”"
    yield figure_of("majority", title, "plain", mean_score(task, scores), scores, None)
    if HYPOTHESIS_ONLY in baselines_for(task):
        scores = _scores(task, BASELINES[HYPOTHESIS_ONLY](subject.examples), golds)
        title = "Rule: the words of the hypothesis alone"
        yield figure_of(HYPOTHESIS_ONLY, title, "plain", mean_score(task, scores), scores, None)


def _by_label(
    task: Task, golds: Sequence[Label | None], scores: Sequence[float]
) -> Iterator[Figure]:
    if task.has_spans:
        return
    for gold in filter(golds.__contains__, task.golds or task.labels):
        own = [score for score, each in zip(scores, golds, strict=True) if each == gold]
        title = f"right answer: {gold}"
        yield figure_of(f"label.{gold}", title, "labels", mean_score(task, own), own)


def _slices(subject: Subject, scores: Sequence[float]) -> Iterator[Figure]:
    answered = [
        Row(at, subject.task, example, (answer,))
        for at, (example, answer) in enumerate(
            zip(subject.examples, subject.predictions, strict=True)
        )
    ]
    for each, members in sliced(answered).items():
        if len(members) >= FEWEST:
            name, own = f"{each.group}: {each.name}", [scores[row.number] for row in members]
            yield figure_of(name, name, "slices", mean_score(subject.task, own), own)
