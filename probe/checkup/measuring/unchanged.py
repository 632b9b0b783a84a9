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
from probe.metrics import FEWEST, Estimate, mean, mean_score
from probe.tasks.task import Label

HYPOTHESIS_ONLY = "hypothesis_only"


def unchanged(subject: Subject) -> Part:
    """Measure a model on all examples as they are."""
    task = subject.task
    scores = _scores(subject, [each.label for each in subject.predictions])
    sure = [each.confidence for each in subject.predictions]
    measured = None if task.has_spans else _calibration(subject)
    figures = [
        figure_of(
            task.measure.lower(), task.measure.capitalize(), "plain", _mean(subject, scores), scores
        ),
        *(_error(measured) if measured else ()),
        *_rules(subject),
        *_by_label(subject, scores),
        figure_of("confidence", "Texts as they are", "confidence", mean(sure), sure, None),
        *_slices(subject, scores),
    ]
    return Part(figures, bins=measured.bins if measured else ())


def _scores(subject: Subject, answers: Sequence[Label]) -> list[float]:
    """Return how right each answer is."""
    return [
        subject.task.score(answer, example.gold)
        for answer, example in zip(answers, subject.examples, strict=True)
    ]


def _mean(subject: Subject, scores: Sequence[float]) -> Estimate:
    return mean_score(subject.task, scores)


def _calibration(subject: Subject) -> Calibration:
    labels = subject.predictions[0].labels
    matches = subject.task.matches
    return calibration(
        np.array([each.probabilities for each in subject.predictions], dtype=np.float64),
        np.array([[matches(label, each.gold) for label in labels] for each in subject.examples]),
    )


def _error(measured: Calibration) -> Iterator[Figure]:
    error = mean_error([measured])
    yield figure_of("ece", "Calibration error", "plain", error.found, more_is_better=False)
    title = "Calibration error by chance alone, of perfectly calibrated answers"
    yield figure_of("ece_by_chance", title, "plain", error.chance, more_is_better=None)


def _rules(subject: Subject) -> Iterator[Figure]:
    """Yield what one label for all reaches, and of NLI the words of the hypothesis alone."""
    task, examples = subject.task, subject.examples
    if task.has_spans:
        return
    always = [_scores(subject, [label] * len(examples)) for label in task.labels]
    label, scores = max(zip(task.labels, always, strict=True), key=lambda each: sum(each[1]))
    title = f"Rule: always “{label}”"
    yield figure_of("majority", title, "plain", _mean(subject, scores), scores, None)
    if HYPOTHESIS_ONLY in baselines_for(task):
        scores = _scores(subject, BASELINES[HYPOTHESIS_ONLY](examples))
        title = "Rule: the words of the hypothesis alone"
        yield figure_of(HYPOTHESIS_ONLY, title, "plain", _mean(subject, scores), scores, None)


def _by_label(subject: Subject, scores: Sequence[float]) -> Iterator[Figure]:
    if subject.task.has_spans:
        return
    golds = [example.gold for example in subject.examples]
    for gold in filter(golds.__contains__, subject.task.golds or subject.task.labels):
        own = [score for score, each in zip(scores, golds, strict=True) if each == gold]
        title = f"right answer: {gold}"
        yield figure_of(f"label.{gold}", title, "labels", _mean(subject, own), own)


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
            yield figure_of(name, name, "slices", _mean(subject, own), own)
