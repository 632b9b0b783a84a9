"""A few more epochs for a model that is trained already: how repairs change it."""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, get_args

from finetune.training.recipes import Mode
from probe.data.names import STEM_BYTES, cut
from probe.errors import ExperimentError
from probe.models.classifier import Precision
from probe.stopping import Stop, never

if TYPE_CHECKING:
    from finetune.training.frozen_layers import Prepared
    from finetune.training.losses import Loss
    from finetune.trials.datasets import Examples


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


def refuse(problems: Mapping[str, object]) -> None:
    """Raise ExperimentError with the first sentence that is true, where there is one."""
    for sentence, is_true in problems.items():
        if is_true:
            raise ExperimentError(sentence)


@dataclass(frozen=True)
class Training:
    """How to train further: the weights of the last epoch count.

    `mode` fast trains the upper layers alone. `batch` None takes the size of the model's own
    training. Three epochs are the paper's (Gupta et al. 2021, appendix D).
    """

    lr: float
    mode: Mode = "fast"
    epochs: int = 3
    batch: int | None = None
    max_tokens: int = 128
    precision: Precision = "auto"


@dataclass(frozen=True)
class Epoch:
    """How a cell gets on: mean loss of the epoch, accuracy on clean dev, examples a second."""

    epoch: int
    loss: float
    dev: float
    examples_per_second: float


def check_training(training: Training) -> None:
    """Refuse a training that cannot run. Raises ExperimentError with a sentence."""
    problems = {
        **rate_problems([training.lr], "the"),
        f"epochs must be from 1 to {MAX_EPOCHS}": not 1 <= training.epochs <= MAX_EPOCHS,
        "batch must be 1 or more": training.batch is not None and training.batch < 1,
        **choice_problems(training.mode, training.precision),
    }
    refuse(problems)


def train_further(
    ready: "Prepared",
    training: Training,
    examples: "Examples",
    dev: "Examples",
    loss: "Loss",
    seed: int,
    stop: Stop = never,
) -> Iterator[Epoch]:
    """Train in place and yield each epoch. Raises Cancelled."""
    from finetune.training.encoded import score
    from finetune.training.loop import (
        BestEpoch,
        Schedule,
        Trainer,
        make_optimiser,
        train_epochs,
        trainable,
    )

    data = ready.encoded(examples, min(training.max_tokens, ready.whole.max_tokens), stop)
    clean = ready.encoded(dev, ready.whole.max_tokens, stop)
    recipe = ready.whole.architecture.recipe
    optimiser = make_optimiser(recipe, trainable(ready.trained), training.lr)
    trainer = Trainer(ready.trained, recipe, optimiser, ready.precision, loss)
    schedule = Schedule(
        range(1, training.epochs + 1),
        training.batch or recipe.batch,
        seed,
        lambda _, __: training.lr,
        patience=training.epochs,
    )
    measure = partial(score, ready.trained, clean, ready.precision, stop)
    for row in train_epochs(trainer, data, measure, schedule, BestEpoch(), stop):
        yield Epoch(row.epoch, row.loss, row.dev, row.pairs_per_second)


def new_model_name(model: str, *words: str) -> str:
    """Return a new name for what a run makes of a model; it leads to no run."""
    names = (cut(name, STEM_BYTES // 2) for name in (Path(model).name, *words))
    return re.sub(r"[^\w.-]+", "-", "-".join((*names, secrets.token_hex(4))))
