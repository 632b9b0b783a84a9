"""What a cell reports and what it comes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from finetune.experiments.generalisation.plan import Cell
from probe.tasks.task import Label


class Hits(NamedTuple):
    """How many of n predictions are right."""

    right: int
    n: int


Scores = Mapping[Label, Hits]
"""What is right of a set, by gold label."""


@dataclass(frozen=True)
class Epoch:
    """How a cell gets on: mean loss of the epoch, accuracy on its dev set, the rate it used."""

    cell: Cell
    epoch: int
    loss: float
    dev: float
    lr: float
    examples_per_second: float


@dataclass(frozen=True)
class Point:
    """What a cell came to on the original set and on each condition's test set.

    `best_epoch` is the epoch whose weights were tested, `dev` its accuracy on held-out pairs of
    the condition that was trained on, 0 for the model as it was. Where the training `diverged` it
    ended there, with the weights of the best epoch before.
    """

    cell: Cell
    original: Scores
    tests: Mapping[str, Scores]
    dev: float
    epochs: int
    best_epoch: int
    seconds: float
    precision: str
    diverged: bool = False


def total(scores: Scores) -> Hits:
    """Return what is right of a whole set."""
    return Hits(
        sum(hits.right for hits in scores.values()), sum(hits.n for hits in scores.values())
    )


def share_right(scores: Scores) -> float:
    """Return the accuracy on a whole set, from 0 to 1."""
    hits = total(scores)
    return hits.right / hits.n
