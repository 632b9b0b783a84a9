"""What to run: a plan, the cells it falls into, and what it must not ask for."""

from collections.abc import Mapping
from dataclasses import dataclass

from finetune.experiments.refusal import refuse
from finetune.experiments.training_limits import sweep_problems
from finetune.training.recipes import Mode
from probe.models.classifier import Precision
from probe.tasks.nli import NLI
from probe.tasks.task import Label

MAX_SIZE, MAX_TESTS = 100_000, 10_000
"""The largest training set that Rozen et al. report, and pairs of a condition to test on."""
RATE_SHARES = (0.3, 1.0)
"""Of the rate that a model is usually tuned with, the shares that are tried."""


@dataclass(frozen=True)
class Thresholds:
    """From which loss of accuracy, as a share, a model counts as having learnt the data set."""

    loss: float = 0.10


THRESHOLDS = Thresholds()


@dataclass(frozen=True)
class Plan:
    """What to run: which conditions are trained on (rows) and tested on (columns).

    `phenomenon` is a kind of templates, or only a name where a file's column gives the conditions
    (`vary` is then "file"). `tests` pairs of each condition are tested on, `dev` of the condition
    that is trained on choose epoch and learning rate: they come from templates, or texts, that are
    trained on. Each seed splits and draws anew. `thresholds` only name the outcome, no cell
    depends on them. Rozen et al. train all weights (`mode` full) and give neither batch nor epochs.
    """

    model: str
    phenomenon: str
    vary: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    lrs: tuple[float, ...]
    seeds: tuple[int, ...]
    mode: Mode = "fast"
    tests: int = 400
    dev: int = 200
    batch: int | None = None
    max_epochs: int = 10
    patience: int = 3
    max_tokens: int = 128
    precision: Precision = "auto"
    thresholds: Thresholds = THRESHOLDS
    task: str = NLI.name
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One fine-tuning on a condition; of size 0 is the model as it was, tested on a seed's sets."""

    train: str
    size: int
    lr: float
    seed: int


def usual_rates(rate: float) -> tuple[float, ...]:
    """Return the rates to choose among, for the one that a model is usually tuned with."""
    return tuple(float(f"{share * rate:.3g}") for share in RATE_SHARES)


def cells(plan: Plan) -> tuple[Cell, ...]:
    """Return the cells of a plan, the model as it was first, then by size."""
    seeds = tuple(dict.fromkeys(plan.seeds))
    trained = [
        Cell(row, size, lr, seed)
        for size in sorted(set(plan.sizes))
        for seed in seeds
        for row in plan.rows
        for lr in dict.fromkeys(plan.lrs)
    ]
    return (*(base_cell(seed) for seed in seeds), *trained)


def base_cell(seed: int) -> Cell:
    """Return the cell of the model as it was, on a seed's test sets."""
    return Cell("", 0, 0.0, seed)


def check(plan: Plan) -> None:
    """Refuse a plan that cannot run. Raises ExperimentError with a sentence."""
    refuse(_problems(plan))


def _problems(plan: Plan) -> Mapping[str, bool]:
    return {
        f"each size must be a whole number from 1 to {MAX_SIZE:,}": not all(
            1 <= size <= MAX_SIZE for size in plan.sizes
        ),
        **sweep_problems(plan),
        f"test pairs of a condition must be from 1 to {MAX_TESTS:,}": not (
            1 <= plan.tests <= MAX_TESTS
        ),
        "the loss from which it learnt the set must be above 0 and at most 1, or 100 points": not (
            0 < plan.thresholds.loss <= 1
        ),
        "give at least two conditions to train on": len(plan.rows) < 2,
    }
