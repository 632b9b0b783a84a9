"""Measure a model for its check-up, part by part."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from probe.analysis.attribution import Importance, attribute
from probe.analysis.comparison import Row
from probe.analysis.hans import in_heuristics, profile
from probe.analysis.slices import sliced
from probe.analysis.statistics import score
from probe.analysis.transformed import Transformed, explained, transform_all
from probe.calibration import calibration
from probe.checkup.figure import Figure, figure_of
from probe.metrics import NOTHING, Estimate, mean_score, share
from probe.models.classifier import Precision, Prediction
from probe.models.library import AnyModel
from probe.tasks.label_rules import KEEP
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.transforms import REGISTRY
from probe.transforms.availability import ready
from probe.transforms.registry import Transform

SMALLEST_SLICE = 20
"""Examples that a slice needs, for its interval to say anything."""
HANS_TITLES = {"entailment": "entailed", "non-entailment": "not entailed"}


@dataclass(frozen=True)
class Asked:
    """What is asked of a check-up.

    `n` examples drawn by the seed are transformed, and `per_subcase` pairs made of each of HANS's
    sub-cases.
    """

    n: int = 200
    per_subcase: int = 20
    seed: int = 0
    precision: Precision = "auto"


def parts_of(task: Task) -> list[str]:
    """Return the names of the parts: plain, each transform that the task has here, HANS."""
    hans = ["hans"] if task.example is NLI.example else []
    return ["plain", *ready(task), *hans]


class Subject:
    """A model on examples that all have a gold label; what parts share is computed once.

    Whatever computes raises Stopped between two batches.
    """

    def __init__(self, model: AnyModel, examples: Sequence[Any], asked: Asked) -> None:
        """Compute nothing yet."""
        self.model, self.examples, self.asked = model, examples, asked
        rng = random.Random(f"{asked.seed}|checkup")
        count = len(examples)
        self._drawn = sorted(rng.sample(range(count), min(asked.n, count)))
        self.few = [examples[at] for at in self._drawn]

    @cached_property
    def predictions(self) -> list[Prediction]:
        """The answers to all examples."""
        return list(self.model.predict(self.examples, self.asked.precision))

    @property
    def before(self) -> list[Prediction]:
        """The answers to the few that are transformed."""
        return [self.predictions[at] for at in self._drawn]

    @cached_property
    def importance(self) -> list[Importance]:
        """Which tokens of these few matter."""
        answers = [each.answer for each in self.before]
        return attribute(self.model, self.few, explained(self.model.task, self.few, answers))


def measure_part(subject: Subject, part: str) -> list[Figure]:
    """Return the figures of a part, by its name as of `parts_of`."""
    if part == "plain":
        return [*_plain(subject.model, subject.examples, subject.predictions), *_slices(subject)]
    if part == "hans":
        return list(_hans(subject.model, subject.asked))
    return _changed(REGISTRY[part], subject)


def _slices(subject: Subject) -> Iterator[Figure]:
    task = subject.model.task
    answered = [
        Row(at, task, example, (answer,))
        for at, (example, answer) in enumerate(
            zip(subject.examples, subject.predictions, strict=True)
        )
    ]
    for each, members in sliced(answered).items():
        found = score(members, 0)
        if found.n >= SMALLEST_SLICE:
            name = f"{each.group}: {each.name}"
            yield figure_of(name, name, "slices", found)


def _plain(
    model: AnyModel, examples: Sequence[Any], predictions: Sequence[Prediction]
) -> Iterator[Figure]:
    """Yield the score, and of labels how far confidence is from it."""
    task = model.task
    scores = [
        task.score(each.label, example.gold)
        for each, example in zip(predictions, examples, strict=True)
    ]
    found = mean_score(task, scores)
    yield figure_of(task.measure.lower(), task.measure.capitalize(), "plain", found, scores)
    if task.has_spans:
        return
    labels = predictions[0].labels
    measured = calibration(
        np.array([each.probabilities for each in predictions], dtype=np.float64),
        np.array([[task.matches(label, each.gold) for label in labels] for each in examples]),
    )
    error = Estimate(measured.ece, float("nan"), float("nan"), measured.n)
    yield figure_of("ece", "Calibration error", "plain", error, more_is_better=False)


def _changed(transform: Transform, subject: Subject) -> list[Figure]:
    """Return what a transform costs where it leaves a right answer, else which answers stay."""
    made = _made(transform, subject)
    each = [one for several in made for one in several if one.result.changed]
    golden = [one for one in each if one.result.gold]
    if not each:
        return []
    name, title, task = transform.name, transform.title, subject.model.task
    if not golden:
        stays = [one.agrees for one in each]
        return [figure_of(name, title, "salad", share(stays), stays, more_is_better=False)]
    scores = [task.score(one.prediction.label, one.result.gold or "") for one in golden]
    figures = [figure_of(name, title, "stress", mean_score(task, scores), scores)]
    if transform.rule is not KEEP:  # another answer is right than before
        return figures
    return [*figures, _same_before(transform, subject, made)]


def _made(transform: Transform, subject: Subject) -> list[tuple[Transformed, ...]]:
    """Return what a transform makes of each of the few, classified."""
    asked, name = subject.asked, transform.name
    known = subject.importance if "model" in transform.needs else []
    return transform_all(
        subject.model,
        subject.few,
        subject.before,
        [name],
        asked.seed,
        precision=asked.precision,
        scored=known,
    )[name]


def _same_before(
    transform: Transform, subject: Subject, made: Sequence[Sequence[Transformed]]
) -> Figure:
    """Return the score of the same examples before, one for each that was made of them."""
    task = subject.model.task
    scores = [
        task.score(answer.label, example.gold)
        for example, answer, several in zip(subject.few, subject.before, made, strict=True)
        for one in several
        if one.result.changed and one.result.gold
    ]
    name, title = f"{transform.name}.before", f"{transform.title}: before"
    return figure_of(name, title, "stress", mean_score(task, scores), scores)


def _hans(model: AnyModel, asked: Asked) -> Iterator[Figure]:
    for row in in_heuristics(profile(model, asked.per_subcase, asked.seed, asked.precision)):
        name = f"hans.{row.heuristic}.{row.gold}"
        title = f"{row.heuristic.replace('_', ' ').capitalize()}, {HANS_TITLES[row.gold]}"
        yield figure_of(name, title, "hans", row.estimate if row.n else NOTHING)
