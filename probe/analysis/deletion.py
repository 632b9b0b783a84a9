"""A test of attributions: take out what a method calls important and see how often the answer goes.

DeYoung et al. 2020 call it comprehensiveness. A method is no better than chance where words drawn
at random change as many answers.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from probe.analysis.batch import Chunk, in_chunks
from probe.analysis.importance.attribution import Importance, attribute
from probe.analysis.importance.methods import Method
from probe.models.library import AnyModel
from probe.tasks.task import Example
from probe.transforms.registry import Scored

RANDOM = "random"
"""The control: half of the tokens, drawn by chance."""
RANKINGS: tuple[str, ...] = (*get_args(Method), RANDOM)
"""The orders in which tokens are taken out, by name."""
PATH_STEPS = 10
"""Steps of integrated gradients; with twice as many it takes twice as long."""
CHUNK = 20
"""Examples between two reports."""


def without_top_half(scored: Sequence[Scored]) -> list[int]:
    """Return the ids that stay, in order, once the higher half is gone; a middle one stays."""
    ranked = sorted(range(len(scored)), key=lambda at: (-scored[at].score, at))
    gone = set(ranked[: len(scored) // 2])
    return [token.id for at, token in enumerate(scored) if at not in gone]


def deletion_test(
    classifier: AnyModel,
    examples: Sequence[Any],  # Any: of the task's own dataclass
    rankings: Sequence[str] = RANKINGS,
    seed: int = 0,
) -> Iterator[Chunk[Mapping[str, bool]]]:
    """Say of each example and ranking whether the answer changes without the higher half.

    Only the task's target text loses tokens. Raises AttributionError.
    """

    def answer(rows: Sequence[Any]) -> list[Mapping[str, bool]]:
        return _changed(classifier, rows, rankings, seed)

    yield from in_chunks(examples, len(examples), answer, CHUNK)


def _changed(
    classifier: AnyModel, examples: Sequence[Any], rankings: Sequence[str], seed: int
) -> list[Mapping[str, bool]]:
    task = classifier.task
    before = [answer.label for answer in classifier.predict(examples)]
    scores = _scores(classifier, examples, before, rankings, seed)
    shortened = [
        replace(example, **{task.target: classifier.decode(without_top_half(row))})
        for name in rankings
        for example, row in zip(examples, scores[name], strict=True)
    ]
    after = iter(classifier.predict(shortened))
    changed = {
        name: [not task.agrees(label, next(after).label) for label in before] for name in rankings
    }
    return [{name: changed[name][row] for name in rankings} for row in range(len(examples))]


def _scores(
    classifier: AnyModel,
    examples: Sequence[Example],
    labels: Sequence[str],
    rankings: Sequence[str],
    seed: int,
) -> dict[str, list[Sequence[Scored]]]:
    """Return the target's scored tokens of each example, by ranking."""
    target = classifier.task.target
    scores: dict[str, list[Sequence[Scored]]] = {}
    for method in get_args(Method):
        if method in rankings:
            read = attribute(classifier, examples, labels, method, steps=PATH_STEPS)
            scores[method] = [importance.tokens(target) for importance in read]
    if RANDOM in rankings:
        known = next(iter(scores.values()), None) or _tokens(classifier, examples, labels)
        scores[RANDOM] = [
            _by_chance(tokens, random.Random(f"{seed}|{RANDOM}|{example.id}"))
            for example, tokens in zip(examples, known, strict=True)
        ]
    return scores


def _tokens(
    classifier: AnyModel, examples: Sequence[Example], labels: Sequence[str]
) -> list[Sequence[Scored]]:
    read: list[Importance] = attribute(classifier, examples, labels)
    return [importance.tokens(classifier.task.target) for importance in read]


def _by_chance(tokens: Sequence[Scored], rng: random.Random) -> list[Scored]:
    return [replace(token, score=rng.random()) for token in tokens]
