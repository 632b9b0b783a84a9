"""Pairs per second of batch scoring against the pipeline of transformers.

    python -m benchmarks.throughput [FILE] [--n 600] [--threads 1] [--rounds 2]

The same pairs, weights and threads, in turn: those of a file, or the bundled test pairs, again and
again where more are asked for. One thread is timed by the processor's clock, which others disturb
least, several by the clock on the wall; the best of the rounds counts.
Beside it stands which share of the machine's own matrix products the model reaches, padding not
counted, and how many labels differ between bf16 and fp32 on all bundled pairs.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # before torch is imported

import csv
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated

import torch
import typer
from torch.nn.functional import linear
from transformers import pipeline
from typer.testing import CliRunner

from probe.cli.main import app
from probe.data.rows import guess, read_rows
from probe.data.source import open_source
from probe.models.classifier import Classifier, fast_bf16
from probe.models.library import find, load
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI, Pair

PRODUCTS, ROWS = 5, 2048  # that are multiplied at a time to find the limit
SPLITS = ("dev", "test", "pool")


def seconds(work: Callable[[], object]) -> float:
    """Return the processor's seconds of some work with one thread, those that pass with several."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    start = clock()
    work()
    return clock() - start


def operations(classifier: Classifier, pairs: Sequence[Pair]) -> int:
    """Return the operations of an encoder's matrix products for these pairs.

    Those of the last layer are not counted: it computes the first token alone.
    """
    config = classifier.model.config
    width, inner = config.hidden_size, config.intermediate_size
    layer = sum(
        2 * n * (4 * width * width + 2 * width * inner) + 4 * n * n * width
        for n in classifier.token_rows(pairs).lengths
    )
    return int((config.num_hidden_layers - 1) * layer)


def limit(classifier: Classifier, dtype: torch.dtype) -> float:
    """Return the operations a second of a plain matrix product of the model's size."""
    config = classifier.model.config
    rows = torch.randn(ROWS, config.hidden_size).to(dtype)
    weights = torch.randn(config.intermediate_size, config.hidden_size).to(dtype)
    work = 2 * PRODUCTS * rows.numel() * len(weights)
    with torch.inference_mode():
        return max(
            work / seconds(lambda: [linear(rows, weights) for _ in range(PRODUCTS)])
            for _ in range(20)
        )


def command(pairs: Sequence[Pair], folder: Path) -> Callable[[], object]:
    """Return what scores a file of the pairs by the command line, in this process."""
    path = folder / "pairs.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["premise", "hypothesis", "label"])
        writer.writerows([pair.premise, pair.hypothesis, pair.gold] for pair in pairs)
    asked = ["batch", str(path), "--out", str(folder / "scored.csv")]

    def run() -> None:
        result = CliRunner().invoke(app, asked)
        assert result.exit_code == 0, result.output

    return run


def pairs_of(file: Path | None, n: int) -> list[Pair]:
    """Return so many pairs of a file, or of the bundled ones."""
    if file is None:
        return list(islice(cycle(bundled_examples(NLI, "test")), n))
    table = open_source(file)
    rows = read_rows(table, guess(table.names, NLI), NLI)
    return list(islice(cycle([row.example for row in rows if row.example]), n))


def main(
    file: Annotated[Path | None, typer.Argument()] = None,
    n: int = 600,
    threads: int = 1,
    rounds: int = 2,
) -> None:
    """Print the speed of each, its ratio to the pipeline, and the share of the limit."""
    torch.set_num_threads(threads)
    classifier, pairs = load("minilm"), pairs_of(file, n)
    inputs = [{"text": pair.premise, "text_pair": pair.hypothesis} for pair in pairs]
    pipe = pipeline("text-classification", model=find("minilm"), device="cpu", dtype=torch.float32)
    fast, types = fast_bf16(), {"ours, fp32": torch.float32, "ours, bf16": torch.bfloat16}
    with tempfile.TemporaryDirectory() as folder:
        scorers: dict[str, Callable[[], object]] = {
            "pipeline, default": lambda: pipe(inputs),
            "pipeline, batch_size=32": lambda: pipe(inputs, batch_size=32),
            "ours, fp32": lambda: classifier.predict(pairs, "fp32"),
            **({"ours, bf16": lambda: classifier.predict(pairs, "bf16")} if fast else {}),
            "the whole batch command": command(pairs, Path(folder)),
        }
        classifier.predict(pairs[:32], "auto")  # makes the copy
        took = [{name: seconds(work) for name, work in scorers.items()} for _ in range(rounds)]
    best = {name: min(one[name] for one in took) for name in scorers}
    total = operations(classifier, pairs)
    for name, each in best.items():
        line = f"{name:26} {n / each:7.1f} pairs/s"
        line += f"   {best['pipeline, batch_size=32'] / each:.2f} x the pipeline at 32 a batch"
        if name in types:
            most = limit(classifier, types[name])
            line += f"   {total / each / 1e9:.0f} of {most / 1e9:.0f} GFLOP/s,"
            line += f" {total / each / most:.0%}"
        print(line)
    clock = "the processor" if threads == 1 else "the clock on the wall"
    print(f"threads: {threads}, {n} pairs, seconds of {clock}")
    if fast:
        print(changed_labels(classifier))


def changed_labels(classifier: Classifier) -> str:
    """Return how many labels of all bundled pairs bf16 changes, and what that does to accuracy."""
    pairs = [pair for split in SPLITS for pair in bundled_examples(NLI, split)]
    exact, rough = (classifier.predict(pairs, precision) for precision in ("fp32", "bf16"))
    changed = sum(a.label != b.label for a, b in zip(exact, rough, strict=True))
    right = [
        sum(answer.label == pair.gold for answer, pair in zip(answers, pairs, strict=True))
        for answers in (exact, rough)
    ]
    return (
        f"bf16 changes {changed} of {len(pairs)} labels; right are {right[0]} in fp32, "
        f"{right[1]} in bf16"
    )


if __name__ == "__main__":
    typer.run(main)
