"""Size, load time and speed of the bundled models.

    python -m benchmarks.models [--n 600]

One thread, the precision that "auto" gives, the bundled test pairs, one model after the other; the
ratio is against the first of them.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

import time

import torch
import typer

from probe.models.library import entries, load
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI


def main(n: int = 600) -> None:
    """Print one line a model."""
    torch.set_num_threads(1)
    pairs, reference = bundled_examples(NLI, "test")[:n], 0.0
    load("minilm")  # imports and shared files are loaded before the clock starts
    for entry in entries():
        if entry.source != "bundled":
            continue
        start = time.perf_counter()
        classifier = load(entry.name)
        loaded = time.perf_counter() - start
        classifier.predict(pairs[:32], "auto")
        start = time.perf_counter()
        classifier.predict(pairs, "auto")
        speed = len(pairs) / (time.perf_counter() - start)
        reference = reference or speed
        print(
            f"{entry.name:12} {entry.parameters / 1e6:6.1f} M weights {entry.size / 1e6:6.1f} MB  "
            f"loaded in {loaded:5.2f} s  {speed:6.0f} pairs/s  {speed / reference:5.2f} x",
            flush=True,
        )


if __name__ == "__main__":
    typer.run(main)
