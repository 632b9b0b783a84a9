"""The same cells with transformers' Trainer, in full mode and in fast mode, one after the other.

    python -m benchmarks.inoculate [--sizes 100] [--tests 200] [--challenges word_overlap,negation]
        [--epochs 10] [--no-padded]
    python -m benchmarks.inoculate lecture

Trainer is used as its documentation has a user do it (benchmarks/trainer.py), with the cells' own
batch, rates, epochs and patience: once with every pair padded to the longest input of the model,
once padded to the longest of a batch. Padding changes no result, so that the first, which takes
hours, is timed on a few pairs and its seconds are computed from the second's numbers of pairs;
with --whole it is run to its end. One thread. Seconds are those of the processor, so that other
load on the machine does not change the ratios; the clock's are in brackets. `lecture` times a sweep
by the clock, in the app's own processes.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

import logging
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import torch
import typer

from benchmarks.faults.durability import until
from benchmarks.trainer import Pace, pace, with_trainer
from finetune.training.recipes import Mode
from finetune.trials.base import numbers
from finetune.trials.challenges import UserFiles, bundled_sets, sets_of
from finetune.trials.datasets import Sets, bundled
from finetune.trials.inoculation import OUTCOMES, Cell, Plan, Point, cells, judge, run_request
from finetune.trials.planning import register_experiments
from finetune.trials.trial import fresh, run_cell
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.runs.engine import Engine
from probe.runs.run import ended, environment
from probe.runs.store import Store

app = typer.Typer(add_completion=False)
CHALLENGES = "word_overlap,negation,spelling,templates_numerical"
Run = Callable[[Plan, Sets, Cell, Classifier], Point]


@dataclass(frozen=True)
class Duration:
    """Seconds of the processor and of the clock."""

    cpu: float
    clock: float

    def __add__(self, other: "Duration") -> "Duration":
        return Duration(self.cpu + other.cpu, self.clock + other.clock)


def run_ours(plan: Plan, sets: Sets, cell: Cell, classifier: Classifier) -> Point:
    """Run a cell as the app does."""
    *_, point = run_cell(plan, sets, cell, classifier)
    assert isinstance(point, Point)  # the last row is one
    return point


def timed(plan: Plan, sets: Sets, classifier: Classifier, run: Run) -> tuple[Duration, list[Point]]:
    """Run all cells but the first, each in a copy of the model."""
    cpu_start, clock_start, points = time.process_time(), time.perf_counter(), []
    for cell in cells(plan)[1:]:
        points.append(run(plan, sets, cell, fresh(classifier)))
    return Duration(time.process_time() - cpu_start, time.perf_counter() - clock_start), points


def outcome(plan: Plan, base: Point, points: list[Point], sets: Sets) -> str:
    """Return the verdict on a system's cells, and its accuracies before and after."""
    available = len(sets.challenge_train)
    found = judge(plan, base, points, sets.paired, available, sets.majority).conclusion
    last = max(points, key=lambda point: (point.cell.size, point.challenge))
    name = OUTCOMES[found.outcome].name
    return (
        f"{name:22} original {100 * base.original:.1f} to {100 * last.original:.1f}, "
        f"challenge {100 * base.challenge:.1f} to {100 * last.challenge:.1f}"
    )


def padded_seconds(measured: Pace, points: list[Point], sets: Sets) -> float:
    """Return the seconds with padding to the longest input: the same pairs at its pace."""
    tests = len(sets.original_test) + len(sets.challenge_test)
    trained_pairs = sum(point.epochs * point.cell.size for point in points)
    predicted_pairs = sum(point.epochs * len(sets.original_dev) + tests for point in points)
    return measured.train * trained_pairs + measured.predict * predicted_pairs


def smaller(sets: Sets, tests: int) -> Sets:
    """Keep the first `tests` pairs to test on, and half as many to stop by."""
    return replace(
        sets,
        original_dev=sets.original_dev[: tests // 2],
        original_test=sets.original_test[:tests],
        challenge_test=sets.challenge_test[:tests],
        control=(),
    )


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    model: str = "minilm",
    challenges: str = CHALLENGES,
    numerical: Annotated[Path | None, typer.Option(help="A file for templates_numerical.")] = None,
    sizes: str = "100",
    lrs: Annotated[str, typer.Option(help="Of Trainer and full mode.")] = "5e-5",
    fast_lrs: Annotated[str, typer.Option(help="Of fast mode: fewer weights, larger.")] = "1e-3",
    tests: int = 200,
    epochs: Annotated[int, typer.Option(help="Of each cell at most.")] = 10,
    padded: Annotated[bool, typer.Option(help="Reckon the padded Trainer too.")] = True,
    whole: Annotated[bool, typer.Option(help="Run the padded Trainer to its end.")] = False,
) -> None:
    """Compare seconds and outcomes; prints a line for each challenge and system."""
    if context.invoked_subcommand:
        return
    torch.set_num_threads(1)
    classifier, total = load(model), dict[str, Duration]()
    measured = pace(classifier, bundled_sets("negation").challenge_train) if padded else None
    if measured:
        trained, read = measured.train, measured.predict
        print(f"Trainer, padded: {trained:.2f} s a pair trained, {read:.2f} s read")
    for challenge in challenges.split(","):
        from_file = numerical and challenge == "templates_numerical"
        all_sets = (
            sets_of("numerical", bundled(), UserFiles(challenge=numerical))
            if from_file
            else bundled_sets(challenge)
        )
        sets = smaller(all_sets, tests)
        plan = Plan(
            model, challenge, numbers("sizes", sizes, int), numbers("lrs", lrs, float), (0,)
        )
        plan = replace(plan, max_epochs=epochs)
        fast = replace(plan, mode="fast", lrs=numbers("fast lrs", fast_lrs, float))
        base = run_ours(plan, sets, cells(plan)[0], fresh(classifier))
        by_system = {"Trainer": timed(plan, sets, classifier, with_trainer("longest"))}
        by_system["full"] = timed(plan, sets, classifier, run_ours)
        by_system["fast"] = timed(fast, sets, classifier, run_ours)
        points = by_system["Trainer"][1]
        if whole:
            by_system["Trainer, padded"] = timed(plan, sets, classifier, with_trainer("max_length"))
        elif measured:
            seconds = padded_seconds(measured, points, sets)
            by_system["Trainer, padded"] = Duration(seconds, float("nan")), points
        for system, (duration, system_points) in by_system.items():
            total[system] = total.get(system, Duration(0, 0)) + duration
            print(
                f"{challenge:20} {system:16} {duration.cpu:7.1f} s ({duration.clock:.1f})  "
                f"{outcome(fast if system == 'fast' else plan, base, system_points, sets)}",
                flush=True,
            )
    for system, duration in total.items():
        ratios = ", ".join(
            f"{other.cpu / duration.cpu:.1f} x {name}"
            for name, other in total.items()
            if name.startswith("Trainer")
        )
        print(f"{system:16} {duration.cpu:7.1f} s, as quick as {ratios}")


@app.command()
def lecture(
    model: str = "minilm",
    challenges: str = CHALLENGES,
    sizes: str = "10,50,100,200,400",
    lrs: str = "4e-4,1e-3",
    mode: str = "fast",
    workers: Annotated[int, typer.Option(help="Processes that compute.")] = 1,
) -> None:
    """Time a sweep as a lecturer would plan it, in the app: 4 challenges, 5 sizes, 2 rates.

    The clock runs from before any process computes to the last outcome.
    """
    register_experiments()
    logging.getLogger("distributed").setLevel(logging.ERROR)
    plan_mode: Mode = mode  # type: ignore[assignment]  # typer has no Literal
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(NLI_CLINIC_HOME=home, NLI_CLINIC_WORKERS=str(workers))
        jobs = []
        for challenge in challenges.split(","):
            sets = bundled_sets(challenge)
            available = len(sets.challenge_train)
            plan_sizes = tuple(min(size, available) for size in numbers("sizes", sizes, int))
            rates = numbers("lrs", lrs, float)
            jobs.append((Plan(model, challenge, plan_sizes, rates, (0,), plan_mode), sets))
        store = Store()
        engine, start = Engine(store), time.time()
        ids = [store.create("benchmark", run_request(*job, environment())).id for job in jobs]
        for run_id in ids:
            engine.submit(run_id)
        for run in [until(store, run_id, ended) for run_id in ids]:
            seconds = (run.finished or time.time()) - start
            finding = run.verdict["oracle_lr"]["name"] if run.verdict else run.error
            print(f"{seconds:6.1f} s  {run.plan.challenge:20} {run.state}: {finding}")
        print(f"{sum(len(cells(plan)) for plan, _ in jobs)} cells, {workers} workers")
        engine.close()


if __name__ == "__main__":
    app()
