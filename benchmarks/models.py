"""Size, load time and speed of the bundled classifiers, or of the models that are named.

    python -m benchmarks.models [NAME ...] [--n 600]

One thread, the precision that "auto" gives, the bundled test examples of the task of a model, one
model after the other; the ratio is against the first model of the task. A model at an address has
its server's threads and precision; what it has answered before is kept in NLI_CLINIC_HOME, so name
an empty one.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

import time
from typing import Annotated

import torch
import typer

from probe.models.library import load, load_any, models_on_disk
from probe.models.served import Served
from probe.tasks.examples import bundled_examples


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Models; the bundled if none.")] = None,
    n: int = 600,
) -> None:
    """Print one line a model."""
    torch.set_num_threads(1)
    load("minilm")  # imports and shared files are loaded before the clock starts
    references: dict[str, float] = {}
    here = models_on_disk()
    bundled = [
        name
        for name, entry in here.items()
        if entry.source == "bundled" and entry.task and not entry.task.has_spans
    ]
    for name in names or bundled:
        start = time.perf_counter()
        model = load_any(name)
        loaded = time.perf_counter() - start
        examples = bundled_examples(model.task, "test")[:n]
        warm = bundled_examples(model.task, "dev")[:32]  # of which a server keeps the answers
        model.predict(warm[: max(1, min(32, n // 8))], "auto")
        start = time.perf_counter()
        model.predict(examples, "auto")
        speed = len(examples) / (time.perf_counter() - start)
        reference = references.setdefault(model.task.name, speed)
        size, entry = "at an address", here.get(name)
        if not isinstance(model, Served):
            weights = [*model.model.parameters()]
            count = entry.parameters if entry else sum(weight.numel() for weight in weights)
            total = entry.size if entry else sum(weight.nbytes for weight in weights)
            size = f"{count / 1e6:6.1f} M weights {total / 1e6:6.1f} MB"
        print(
            f"{name:12} {size}  loaded in {loaded:5.2f} s  {speed:6.2f} examples/s of "
            f"{len(examples)}  {speed / reference:5.2f} x",
            flush=True,
        )


if __name__ == "__main__":
    typer.run(main)
