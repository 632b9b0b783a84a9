"""Pairs per second of batch scoring against the pipeline of transformers.

Run it by `python -m benchmarks.throughput`.

The same bundled test pairs, the same weights, the same number of threads, one after the other.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import time
from collections.abc import Callable

import torch
from transformers import pipeline

from probe.models.classifier import fast_bf16
from probe.models.library import find, load
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI

PAIRS = bundled_examples(NLI, "test")


def pairs_per_second(work: Callable[[], object]) -> float:
    """Return the higher of two measured speeds."""
    best = 0.0
    for _ in range(2):
        start = time.perf_counter()
        work()
        best = max(best, len(PAIRS) / (time.perf_counter() - start))
    return best


def main() -> None:
    """Print the speed of each and its ratio to the pipeline with its defaults."""
    classifier = load("minilm")
    inputs = [{"text": pair.premise, "text_pair": pair.hypothesis} for pair in PAIRS]
    pipe = pipeline("text-classification", model=find("minilm"), device="cpu", dtype=torch.float32)
    scorers: dict[str, Callable[[], object]] = {
        "pipeline, default": lambda: pipe(inputs),
        "pipeline, batch_size=32": lambda: pipe(inputs, batch_size=32),
        "ours, fp32": lambda: classifier.predict(PAIRS, "fp32"),
    }
    if fast_bf16():
        scorers["ours, bf16"] = lambda: classifier.predict(PAIRS, "bf16")
    baseline = 0.0
    for name, work in scorers.items():
        speed = pairs_per_second(work)
        baseline = baseline or speed
        print(f"{name:26} {speed:7.1f} pairs/s   {speed / baseline:.2f} x the pipeline's default")
    print(f"{torch.get_num_threads()} threads, {len(PAIRS)} pairs")


if __name__ == "__main__":
    main()
