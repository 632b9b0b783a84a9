"""On a GPU: the answers of the processor, how much quicker than others there, and its memory.

    python -m benchmarks.gpu [--model minilm] [--rows 2000] [--trained 100]

Rows are the bundled pairs. Answers and scores of words are compared with those of the processor in
fp32; speed is by the clock, in turn with transformers' pipeline and Trainer on the same device.
Where there is no GPU that is said, and the same comparisons are made on the processor, small, with
answers in bf16: they show that this command works, and nothing of a GPU. The exit code is 1 where
answers are others.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle, islice
from statistics import median

import torch
import typer
from transformers import pipeline

from benchmarks.inoculate import run_ours, smaller
from benchmarks.trainer import with_trainer
from finetune.trials.challenges import bundled_sets
from finetune.trials.inoculation import Plan, Point, cells
from finetune.trials.trial import fresh
from probe.analysis.importance import METHODS, Method, attribute
from probe.models.classifier import Classifier, Precision
from probe.models.hardware import gpus, has_gpu
from probe.models.library import find, load
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI, Pair

MOST, MOST_BF16 = 2e-3, 5e-2
"""The largest difference of probabilities that counts as none, in fp32 and in bf16."""
ROUNDS, SMALL, EXPLAINED = 3, 48, 32
CHALLENGE, SPLITS = "negation", ("test", "dev", "pool")


def seconds(work: Callable[[], object]) -> float:
    """Return how long work takes by the clock, until the device is done with it."""
    if has_gpu():
        torch.cuda.synchronize()
    began = time.perf_counter()
    work()
    if has_gpu():
        torch.cuda.synchronize()
    return time.perf_counter() - began


def in_turn(*works: Callable[[], object]) -> list[float]:
    """Return the medians of several works' seconds, each round in turn behind a first one."""
    rounds = [[seconds(work) for work in works] for _ in range(ROUNDS + 1)][1:]
    return [median(column) for column in zip(*rounds, strict=True)]


def answers_differ(here: Classifier, there: Classifier, pairs: Sequence[Pair]) -> bool:
    """Compare probabilities and labels in each precision; say whether they are others."""
    wrong = False
    exact = here.probabilities(pairs, "fp32")
    precisions: tuple[Precision, ...] = ("fp32", "bf16") if has_gpu() else ("bf16",)
    for precision in precisions:
        found = there.probabilities(pairs, precision)
        apart = float(abs(found - exact).max())
        others = int((found.argmax(1) != exact.argmax(1)).sum())
        most = MOST if precision == "fp32" else MOST_BF16
        # near a tie bf16 may take another label
        failed = apart > most or (precision == "fp32" and others > 0)
        wrong |= failed
        print(
            f"answers in {precision}: at most {apart:.1e} apart ({most:.0e} allowed), {others} of "
            f"{len(pairs)} labels are others{': FAILED' if failed else ''}"
        )
    return wrong


def importance_differs(here: Classifier, there: Classifier, pairs: Sequence[Pair]) -> bool:
    """Compare the scores of words by every method, and say how long they take."""
    labels, wrong = [pair.gold or "" for pair in pairs], False

    def scores(model: Classifier, method: Method) -> torch.Tensor:
        found = attribute(model, pairs, labels, method, most_steps=20)
        return torch.tensor(
            [token.score for each in found for field in NLI.fields for token in each.tokens(field)]
        )

    for method in METHODS:
        taken = seconds(lambda: scores(there, method))  # noqa: B023  # runs at once
        exact, found = scores(here, method), scores(there, method)
        apart = float((found - exact).abs().max() / exact.abs().max())
        wrong |= apart > MOST
        print(
            f"importance by {method}: at most {apart:.1e} of the largest score apart"
            f"{': FAILED' if apart > MOST else ''}; {len(pairs) / taken:.0f} rows a second"
        )
    return wrong


def inoculations(model: Classifier, trained: int, tests: int, epochs: int) -> None:
    """Time an inoculation in full and fast mode beside Trainer's."""
    sets = smaller(bundled_sets(CHALLENGE), tests)
    plan = replace(Plan(model.name, CHALLENGE, (trained,), (5e-5,), (0,)), max_epochs=epochs)
    fast = replace(plan, mode="fast", lrs=(1e-3,))
    found: dict[str, Point] = {}

    def run(name: str, by: Callable[..., Point], asked: Plan) -> Callable[[], object]:
        def work() -> None:
            found[name] = by(asked, sets, cells(asked)[-1], fresh(model))

        return work

    trainer, full, quick = in_turn(
        run("Trainer", with_trainer("longest"), plan), run("full", run_ours, plan),
        run("fast", run_ours, fast),
    )  # fmt: skip
    for name, taken in (("Trainer", trainer), ("full", full), ("fast", quick)):
        point = found[name]
        print(
            f"inoculation, {name}: {taken:.2f} s, {trainer / taken:.1f} x Trainer; original "
            f"{point.original:.1%}, challenge {point.challenge:.1%}"
        )


def main(model: str = "minilm", rows: int = 2000, trained: int = 100) -> None:
    """Print what is compared; exit with 1 where answers are others than the processor's."""
    there, small = load(model), not has_gpu()
    here = replace(there, model=fresh(there).model.to("cpu"))
    count, explained = (SMALL, 4) if small else (rows, EXPLAINED)
    bundled = [pair for split in SPLITS for pair in bundled_examples(NLI, split)]
    pairs = list(islice(cycle(bundled), count))
    if small:
        print("There is no GPU here: small comparisons on the processor, in bf16 beside fp32.")
    print(f"{model} on {', '.join(gpus()) or 'the processor'}, torch {torch.__version__}")
    wrong = answers_differ(here, there, pairs)
    wrong |= importance_differs(here, there, pairs[:explained])
    inputs = [{"text": pair.premise, "text_pair": pair.hypothesis} for pair in pairs]
    precision: Precision = "fp32" if small else "auto"
    dtype = torch.float32 if small or not torch.cuda.is_bf16_supported() else torch.bfloat16
    pipe = pipeline("text-classification", model=str(find(model)), device=there.device, dtype=dtype)
    theirs, ours = in_turn(
        lambda: pipe(inputs, batch_size=32), lambda: there.predict(pairs, precision)
    )
    print(
        f"scoring in {str(dtype).removeprefix('torch.')}: {count / ours:.0f} rows a second, "
        f"{theirs / ours:.2f} x the pipeline at 32"
    )
    inoculations(there, *((8, 8, 1) if small else (trained, 200, 10)))
    if small:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"most memory of the process: {most:.0f} MiB")
    else:
        print(f"most memory of the GPU: {torch.cuda.max_memory_allocated() / 2**20:.0f} MiB")
    raise typer.Exit(int(wrong))


if __name__ == "__main__":
    typer.run(main)
