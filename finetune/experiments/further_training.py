"""A few more epochs for a model that is trained already: how repairs change it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from finetune.experiments.refusal import refuse
from finetune.experiments.training_limits import MAX_EPOCHS, choice_problems, rate_problems
from finetune.training.recipes import Mode
from probe.models.classifier import Precision
from probe.stopping import Stop, never

if TYPE_CHECKING:
    from finetune.experiments.inoculation.datasets import Examples
    from finetune.training.losses import Loss
    from finetune.training.prepared.tensor_cache import Prepared


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
    from finetune.training.loop import BestEpoch, Schedule, Trainer, train_epochs, trainable
    from finetune.training.optimisers import make_optimiser
    from finetune.training.prepared.encoded import score

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
