"""What a cell reports and what it comes to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from finetune.experiments.inoculation.plan import Cell


@dataclass(frozen=True)
class Epoch:
    """How a cell gets on: mean loss of the epoch, score on original dev, the rate it used."""

    cell: Cell
    epoch: int
    loss: float
    dev: float
    lr: float
    examples_per_second: float


@dataclass(frozen=True)
class Point:
    """What a cell came to: mean scores 0 to 1, and for each test row how right the model was.

    A score is the F1 of a span, 0 or 1 for a label. `best_epoch` is the epoch whose weights were
    tested, `dev` its mean score on original dev, `control` that on the control set, None where
    there is none, `counter_tests` the scores of each counter-test's rows by its name. `dose` is the
    sum of the scores of the examples that were trained on, by the weights of the last epoch
    trained, which need not be the one tested: of labels how many are right. It is None of the model
    as it was, and of points from before it was recorded.
    """

    cell: Cell
    original: float
    challenge: float
    dev: float
    epochs: int
    best_epoch: int
    seconds: float
    precision: str
    original_right: tuple[float, ...]
    challenge_right: tuple[float, ...]
    control: float | None = None
    counter_tests: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    dose: float | None = None
    diverged: bool = False
