"""Rows per second of each transform, beside the classification of the rows it makes.

    python -m benchmarks.transforms [FILE] [--n 300]

One thread; each transform is applied alone to the same pairs (the bundled test pairs without a
file). "made" times the making of the new pairs, importance included where a transform ranks
tokens; "scored" adds their classification. The ratio is against scoring the untouched pairs.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.training.data import read_pairs
from probe.analysis.transformed import ImportanceReader
from probe.models.library import load
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.transforms import Options, apply
from probe.transforms.registry import ready


def seconds(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(
    file: Annotated[Path | None, typer.Argument()] = None, model: str = "minilm", n: int = 300
) -> None:
    """Print one line a transform."""
    torch.set_num_threads(1)
    pairs = (read_pairs(file) if file else bundled_examples(NLI, "test"))[:n]
    classifier, options = load(model), Options()
    labels = [prediction.label for prediction in classifier.predict(pairs, "auto")]
    untouched_seconds = seconds(lambda: classifier.predict(pairs, "auto"))
    print(
        f"{'untouched':18} {'':>10} {len(pairs) / untouched_seconds:8.0f} scored/s   1.00 x",
        flush=True,
    )
    for name in ready(NLI):
        reader = ImportanceReader(classifier, options)
        apply(name, pairs[:2], NLI, 0, options, reader, labels)  # loads what is loaded lazily
        start = time.perf_counter()
        results = apply(name, pairs, NLI, 0, options, ImportanceReader(classifier, options), labels)
        transform_seconds = time.perf_counter() - start
        new_pairs = [result.example for row in results for result in row]
        total_seconds = transform_seconds + seconds(lambda: classifier.predict(new_pairs, "auto"))  # noqa: B023  # runs at once
        print(
            f"{name:18} {len(pairs) / transform_seconds:8.0f} made/s "
            f"{len(pairs) / total_seconds:8.0f} scored/s "
            f"{untouched_seconds / total_seconds:6.2f} x",
            flush=True,
        )


if __name__ == "__main__":
    typer.run(main)
