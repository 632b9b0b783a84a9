"""What fast mode finds beside full mode: the rows of `finetune.trials.inoculation`.

    python -m benchmarks.modes [--models minilm,da] [--size 100] [--tests 300]

The four stress sets of the bundled pairs, each mode with its own first learning rate; one thread,
one cell after the other, in the precision that "auto" gives.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

from collections.abc import Sequence

import torch
import typer

from benchmarks.inoculate import CHALLENGES, run_ours, smaller
from finetune.training.recipes import TRAINED, default_rate
from finetune.trials.challenges import bundled_sets
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, Verdict, cells, conclude
from finetune.trials.trial import fresh
from probe.models.classifier import Classifier
from probe.models.library import load


def found(plan: Plan, sets: Sets, classifier: Classifier) -> Verdict:
    """Return what a plan finds, each cell in a copy of the model."""
    points = [run_ours(plan, sets, cell, fresh(classifier)) for cell in cells(plan)]
    return conclude(plan, sets, points)


def row(names: Sequence[str], modes: Sequence[Verdict]) -> str:
    """Return a line of the table: names, then drop in points and outcome of each mode."""
    drops = [100 * mode.by_size[-1].drop.value for mode in modes]
    each = [f"{d:.1f}, {m.conclusion.outcome!r}" for d, m in zip(drops, modes, strict=True)]
    return ", ".join([*map(repr, names), *each])


def main(models: str = "minilm,da", size: int = 100, tests: int = 300) -> None:
    """Print a line for each model and challenge, full mode first."""
    torch.set_num_threads(1)
    for model in models.split(","):
        classifier = load(model)
        for challenge in CHALLENGES.split(","):
            sets = smaller(bundled_sets(challenge), tests)
            outcomes = []
            for mode in TRAINED:
                rate = default_rate(model, mode)
                plan = Plan(model, challenge, (size,), (rate,), (0,), mode)
                outcomes.append(found(plan, sets, classifier))
            print(row((model, challenge), outcomes), flush=True)


if __name__ == "__main__":
    typer.run(main)
