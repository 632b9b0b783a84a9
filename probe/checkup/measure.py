"""Measure a model for its check-up, part by part."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from probe.analysis.attribution import Importance, attribute
from probe.analysis.comparison import Row
from probe.analysis.hans import in_heuristics, profile
from probe.analysis.slices import sliced
from probe.analysis.statistics import score
from probe.analysis.transformed import Transformed, explained, transform_all
from probe.calibration import calibration
from probe.checkup.figure import Figure, Group, figure_of
from probe.metrics import NOTHING, Estimate, mean_score, share
from probe.models.classifier import Precision, Prediction
from probe.models.library import AnyModel
from probe.tasks.label_rules import KEEP
from probe.tasks.nli import NLI
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


def parts_of(model: AnyModel) -> list[str]:
    """Return the names of the parts: plain, each transform that the task has here, HANS."""
    hans = ["hans"] if model.task.example is NLI.example else []
    return ["plain", *ready(model.task), *hans]


def measure(
    model: AnyModel, examples: Sequence[Any], asked: Asked
) -> Iterator[tuple[str, list[Figure]]]:
    """Yield each part's name and figures. All examples have a gold label.

    Raises Stopped between two batches.
    """
    predictions = model.predict(examples, asked.precision)
    answered = [
        Row(at, model.task, example, (said,))
        for at, (example, said) in enumerate(zip(examples, predictions, strict=True))
    ]
    plain = _plain(model, examples, predictions)
    slices = [
        figure_of(f"{each.group}: {each.name}", f"{each.group}: {each.name}", "slices", found)
        for each, members in sliced(answered).items()
        if (found := score(members, 0)).n >= SMALLEST_SLICE
    ]
    yield "plain", [*plain, *slices]
    drawn = _drawn(len(examples), asked)
    few, before = [examples[at] for at in drawn], [predictions[at] for at in drawn]
    scored = list[Importance]()
    for name in ready(model.task):
        if "model" in REGISTRY[name].needs and not scored:
            labels = explained(model.task, few, [each.answer for each in before])
            scored = list(attribute(model, few, labels))
        known = scored if "model" in REGISTRY[name].needs else []
        made = transform_all(
            model, few, before, [name], asked.seed, precision=asked.precision, scored=known
        )[name]
        yield name, _changed(REGISTRY[name], model, few, before, made)
    if model.task.example is NLI.example:
        yield "hans", list(_hans(model, asked))


def _drawn(count: int, asked: Asked) -> list[int]:
    """Return the places of the examples that are transformed, in their order."""
    rng = random.Random(f"{asked.seed}|checkup")
    return sorted(rng.sample(range(count), min(asked.n, count)))


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


def _changed(
    transform: Transform,
    model: AnyModel,
    examples: Sequence[Any],
    before: Sequence[Prediction],
    made: Sequence[Sequence[Transformed]],
) -> list[Figure]:
    """Return what a transform costs where it leaves a right answer, else which answers stay."""
    each = [one for several in made for one in several if one.result.changed]
    golden = [one for one in each if one.result.gold]
    if not each:
        return []
    name, title, task = transform.name, transform.title, model.task
    if not golden:
        stays = [one.agrees for one in each]
        return [figure_of(name, title, "salad", share(stays), stays, more_is_better=False)]
    scores = [task.score(one.prediction.label, one.result.gold or "") for one in golden]
    figures = [figure_of(name, title, "stress", mean_score(task, scores), scores)]
    if transform.rule is not KEEP:  # another answer is right than before
        return figures
    return figures + _same_before(transform, model, examples, before, made)


def _same_before(
    transform: Transform,
    model: AnyModel,
    examples: Sequence[Any],
    before: Sequence[Prediction],
    made: Sequence[Sequence[Transformed]],
) -> list[Figure]:
    """Return the score of the same examples before, one for each that was made of them."""
    group: Group = "stress"
    scores = [
        model.task.score(said.label, example.gold)
        for example, said, several in zip(examples, before, made, strict=True)
        for one in several
        if one.result.changed and one.result.gold
    ]
    name, title = f"{transform.name}.before", f"{transform.title}: before"
    return [figure_of(name, title, group, mean_score(model.task, scores), scores)]


def _hans(model: AnyModel, asked: Asked) -> Iterator[Figure]:
    for row in in_heuristics(profile(model, asked.per_subcase, asked.seed, asked.precision)):
        name = f"hans.{row.heuristic}.{row.gold}"
        title = f"{row.heuristic.replace('_', ' ').capitalize()}, {HANS_TITLES[row.gold]}"
        yield figure_of(name, title, "hans", row.estimate if row.n else NOTHING)
