"""How a training is set, and what its settings may be, as tables of what may be wrong."""

from collections.abc import Iterable, Sequence
from typing import Protocol, get_args

from finetune.training.recipes import Mode
from probe.models.classifier import Precision

MAX_SEED, MAX_RATE, MAX_EPOCHS = 2**31 - 1, 10.0, 1000
"""The largest seed that each library takes; beyond a rate or epochs of these nothing is learnt."""


class HowToTrain(Protocol):
    """What of a plan says how fast a training is."""

    @property
    def mode(self) -> Mode:
        """Which weights are trained."""

    @property
    def batch(self) -> int | None:
        """Examples of a batch, None for as many as in the model's own training."""

    @property
    def max_tokens(self) -> int:
        """Where training examples are cut."""

    @property
    def precision(self) -> Precision:
        """The precision of all computing."""


class SweepPlan(HowToTrain, Protocol):
    """A plan that trains on several sizes, at several rates, by several seeds."""

    @property
    def sizes(self) -> Sequence[int]:
        """How many examples each training has."""

    @property
    def lrs(self) -> Sequence[float]:
        """The learning rates."""

    @property
    def seeds(self) -> Sequence[int]:
        """By which examples are drawn and trained on."""

    @property
    def max_epochs(self) -> int:
        """Epochs of a training at most."""

    @property
    def patience(self) -> int:
        """Epochs without a gain after which it ends."""


def sweep_problems(plan: SweepPlan) -> dict[str, bool]:
    """Return what may be wrong with a plan's trainings, but for how large its sizes may be."""
    return {
        "give at least one size, one learning rate and one seed": not (
            plan.sizes and plan.lrs and plan.seeds
        ),
        **rate_problems(plan.lrs),
        **seed_problems(plan.seeds),
        f"epochs must be at most {MAX_EPOCHS}": plan.max_epochs > MAX_EPOCHS,
        "batch, epochs and patience must be 1 or more": min(
            1 if plan.batch is None else plan.batch, plan.max_epochs, plan.patience
        )
        < 1,
        **choice_problems(plan.mode, plan.precision),
    }


def rate_problems(rates: Sequence[float], each: str = "each") -> dict[str, bool]:
    """Return what may be wrong with learning rates; `each` begins what is said of them."""
    return {
        f"{each} learning rate must be above 0 and at most {MAX_RATE:g}": not all(
            0 < rate <= MAX_RATE for rate in rates
        )
    }


def seed_problems(seeds: Sequence[int]) -> dict[str, bool]:
    """Return what may be wrong with seeds."""
    return {
        f"each seed must be a whole number from 0 to {MAX_SEED}": not all(
            0 <= seed <= MAX_SEED for seed in seeds
        )
    }


def choice_problems(mode: str, precision: str) -> dict[str, bool]:
    """Return what may be wrong with the names of a mode and a precision."""
    modes, precisions = get_args(Mode), get_args(Precision)
    return {
        f"mode must be one of {', '.join(modes)}": mode not in modes,
        f"precision must be one of {', '.join(precisions)}": precision not in precisions,
    }


def diverged_words(trainings: Iterable[tuple[float, bool]]) -> str:
    """Say at which rates a training diverged, by the rate and whether it did, "" where none did."""
    rates = sorted({rate for rate, diverged in trainings if diverged})
    if not rates:
        return ""
    return (
        f"Training diverged with learning rate {', '.join(f'{rate:g}' for rate in rates)}: the "
        "loss became no number. Such a rate is chosen only where every one did so; lower ones may "
        "learn."
    )
