"""A test of attributions: take out what a method calls important and see how often the answer goes.

DeYoung et al. 2020 call it comprehensiveness, and the other way round, by what is put back into
empty texts, sufficiency; Petsiuk et al. 2018 draw both as curves, deletion and insertion. A method
is no better than chance where tokens drawn at random change as many answers.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from probe.analysis.batch import Chunk, in_chunks
from probe.analysis.importance import METHODS, MOST_STEPS, PAPER, Importance, Method, attribute
from probe.models.library import AnyModel
from probe.transforms.options import Sign
from probe.transforms.registry import Scored

CHUNK = 20
"""Examples between two reports."""


@dataclass(frozen=True)
class Ranking:
    """An order in which tokens are taken out: a method's by a sign, without one a draw by chance.

    Chance is the control; `draw` tells several of it apart.
    """

    method: Method | None
    sign: Sign = "support"
    draw: int = 0


RANDOM = Ranking(None)
SIGNS: Mapping[Sign, int | None] = {"support": 1, "gupta": -1, "abs": None}
"""What a score that speaks for the answer is multiplied by; None is its size."""


@dataclass(frozen=True)
class Cut:
    """Tokens, the highest first, taken out of the texts, or put back into empty ones.

    `amount` is their number, below 1 a share of them, rounded down.
    """

    way: Literal["deletion", "insertion"]
    amount: float

    def kept(self, scored: Sequence[Scored]) -> list[bool]:
        """Return which tokens are left; of equal ones the first counts as the higher."""
        ranked = sorted(range(len(scored)), key=lambda at: (-scored[at].score, at))
        count = int(self.amount if self.amount >= 1 else self.amount * len(scored))
        highest = set(ranked[:count])
        return [(at in highest) == (self.way == "insertion") for at in range(len(scored))]


HALF = Cut("deletion", 0.5)


def rankings() -> Iterator[Ranking]:
    """Yield the order of every method by every sign that it has."""
    for name, method in METHODS.items():
        signs: Sequence[Sign] = tuple(SIGNS) if method.signed else ("abs",)
        yield from (Ranking(name, sign) for sign in signs)


def deletion_test(
    classifier: AnyModel,
    examples: Sequence[Any],  # Any: of the task's own dataclass
    orders: Sequence[Ranking],
    cuts: Sequence[Cut] = (HALF,),
    fields: Sequence[str] = (),
    seed: int = 0,
    most_steps: int = MOST_STEPS,
) -> Iterator[Chunk[Mapping[tuple[Ranking, Cut], bool]]]:
    """Say of each example, ranking and cut whether the answer is another one than of whole texts.

    Only these fields lose tokens, the task's target where none is named, ranked together.
    `most_steps` are those of integrated gradients. Raises AttributionError.
    """
    cut_fields = tuple(fields) or (classifier.task.target,)

    def answer(rows: Sequence[Any]) -> list[Mapping[tuple[Ranking, Cut], bool]]:
        before = [answer.label for answer in classifier.predict(rows)]
        read = {
            name: attribute(classifier, rows, before, name, most_steps=most_steps)
            for name in dict.fromkeys(order.method or PAPER for order in orders)
        }
        keys = [(order, cut) for order in orders for cut in cuts]
        shortened = [
            _shortened(example, importance, order, cut, cut_fields, seed)
            for order, cut in keys
            for example, importance in zip(rows, read[order.method or PAPER], strict=True)
        ]
        after = iter(classifier.predict(shortened))
        changed: list[dict[tuple[Ranking, Cut], bool]] = [{} for _ in rows]
        for key in keys:
            for row, label in zip(changed, before, strict=True):
                row[key] = not classifier.task.agrees(label, next(after).label)
        return list(changed)

    yield from in_chunks(examples, len(examples), answer, CHUNK)


def _shortened(
    example: Any,  # Any: of the task's own dataclass
    importance: Importance,
    order: Ranking,
    cut: Cut,
    fields: Sequence[str],
    seed: int,
) -> Any:
    """Return an example with what is left of some fields' tokens, ranked together."""
    rng, ranked = random.Random(f"{seed}|random|{example.id}|{order.draw}"), []
    named = [(field, token) for field in fields for token in importance.tokens(field)]
    for _, token in named:
        factor, score = SIGNS[order.sign], token.score
        signed = abs(score) if factor is None else factor * score
        ranked.append(replace(token, score=signed if order.method else rng.random()))
    left: dict[str, list[int]] = {field: [] for field in fields}
    for (field, token), kept in zip(named, cut.kept(ranked), strict=True):
        left[field] += [token.id] * kept
    return replace(example, **{field: importance.decode(ids) for field, ids in left.items()})
