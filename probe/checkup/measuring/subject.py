"""The model that is checked up, on its examples."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from probe.analysis.importance.attribution import Importance
from probe.analysis.transformed import ImportanceReader
from probe.models.classifier import Precision, Prediction
from probe.models.library import AnyModel, that_reads
from probe.models.windows import Long
from probe.tasks.task import Task
from probe.transforms import Options


@dataclass(frozen=True)
class Asked:
    """What is asked of a check-up.

    `n` examples drawn by the seed are transformed, and `per_subcase` pairs made of each of HANS's
    sub-cases; `long` is as `probe.models.windows.LONG` has it.
    """

    n: int = 200
    per_subcase: int = 20
    seed: int = 0
    precision: Precision = "auto"
    long: Long = "cut"


class Subject:
    """A model on examples that all have a gold label; what parts share is computed once.

    Whatever computes raises Stopped between two batches.
    """

    def __init__(self, model: AnyModel, examples: Sequence[Any], asked: Asked) -> None:
        """Compute nothing yet."""
        self.model = that_reads(model, asked.long)
        self.examples, self.asked = examples, asked
        rng = random.Random(f"{asked.seed}|checkup")
        count = len(examples)
        self._drawn = sorted(rng.sample(range(count), min(asked.n, count)))
        self.few = [examples[at] for at in self._drawn]

    @property
    def task(self) -> Task:
        """The model's task."""
        return self.model.task

    @cached_property
    def predictions(self) -> list[Prediction]:
        """The answers to all examples."""
        return list(self.model.predict(self.examples, self.asked.precision))

    @property
    def before(self) -> list[Prediction]:
        """The answers to the few that are transformed."""
        return [self.predictions[at] for at in self._drawn]

    @cached_property
    def importance(self) -> list[Importance | str]:
        """Which tokens of these few matter, or why that is not known."""
        answers = [each.answer for each in self.before]
        known = dict(zip(self.few, answers, strict=True))
        return ImportanceReader(self.model, Options(), known)(self.few)
