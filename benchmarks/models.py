"""Size, load time and speed of the bundled classifiers.

    python -m benchmarks.models [--n 600]

One thread, the precision that "auto" gives, the bundled test examples of the task of a model, one
model after the other; the ratio is against the first model of the task.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

import time

import torch
import typer

from probe.models.library import entries, load
from probe.tasks.examples import bundled_examples


def main(n: int = 600) -> None:
    """Print one line a model."""
    torch.set_num_threads(1)
    load("minilm")  # imports and shared files are loaded before the clock starts
    references: dict[str, float] = {}
    for entry in entries():
        if entry.source != "bundled" or entry.task is None or entry.task.has_spans:
            continue
        examples = bundled_examples(entry.task, "test")[:n]
        start = time.perf_counter()
        classifier = load(entry.name)
        loaded = time.perf_counter() - start
        classifier.predict(examples[:32], "auto")
        start = time.perf_counter()
        classifier.predict(examples, "auto")
        speed = len(examples) / (time.perf_counter() - start)
        reference = references.setdefault(entry.task.name, speed)
        print(
            f"{entry.name:12} {entry.parameters / 1e6:6.1f} M weights {entry.size / 1e6:6.1f} MB  "
            f"loaded in {loaded:5.2f} s  {speed:6.0f} examples/s  {speed / reference:5.2f} x",
            flush=True,
        )


if __name__ == "__main__":
    typer.run(main)
