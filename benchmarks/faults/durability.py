"""Runs that survive kill -9 of their worker, of the app, of a cluster's worker; and cancelling.

Run it by `python -m benchmarks.faults.durability`; it takes some minutes and prints what happened.
Each run's points must equal those of an undisturbed run, in accuracies and in every test row.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

import logging
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import psutil
import typer
from distributed import Client

from benchmarks.page.app_process import APP, process
from finetune.training.recipes import Mode
from finetune.trials.challenges import bundled_sets
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import InoculationRun, Plan, Point, inoculation_run, run_request
from finetune.trials.planning import register_experiments
from probe.runs.engine import Engine
from probe.runs.run import ended, environment
from probe.runs.store import Store


def log(message: str) -> None:
    """Print a line with the time."""
    print(f"{time.strftime('%H:%M:%S')}  {message}", flush=True)


def until(store: Store, run_id: str, condition: Callable[[InoculationRun], bool]) -> InoculationRun:
    """Wait until a run fulfils a condition, and return it."""
    while not condition(run := inoculation_run(store.get(run_id))):
        time.sleep(0.05)
    return run


def training(cells: int) -> Callable[[InoculationRun], bool]:
    """Return the condition that this many cells are in mid-training."""
    return lambda run: sum(c.state == "running" and bool(c.progress) for c in run.cells) >= cells


def without_seconds(points: Sequence[Point]) -> list[Point]:
    """Return points without the time they took."""
    return [replace(point, seconds=0.0) for point in points]


def report(run: InoculationRun, before: InoculationRun, expected: Sequence[Point]) -> None:
    """Print the state and the points of a run that something was killed in."""
    reused = sum(point in run.results for point in before.results)
    equal = "equal" if without_seconds(run.results) == without_seconds(expected) else "NOT EQUAL"
    log(
        f"  {run.state}: {len(run.results)} points for {len(run.cells)} cells; {reused} of "
        f"{len(before.results)} from before the kill were not computed again; {equal} to the "
        "undisturbed run"
    )


def workers(engine: Engine) -> list[int]:
    """Return the process ids of an engine's workers."""
    if (client := engine.cluster.connect()) is None:
        raise RuntimeError("the engine's cluster does not answer")
    client.wait_for_workers(1)
    return [int(pid) for pid in client.run(os.getpid).values()]


def undisturbed(store: Store, engine: Engine, plan: Plan, sets: Sets) -> tuple[Point, ...]:
    """Compute a run without disturbance and return its points."""
    start = time.monotonic()
    run_id = store.create("benchmark", run_request(plan, sets, environment())).id
    engine.submit(run_id)
    run = until(store, run_id, ended)
    log(f"undisturbed: {run.state}, {len(run.results)} points, {time.monotonic() - start:.0f} s")
    return run.results


def killed_worker(
    store: Store, engine: Engine, plan: Plan, sets: Sets, expected: Sequence[Point]
) -> None:
    """Kill the worker while it trains."""
    run_id = store.create("benchmark", run_request(plan, sets, environment())).id
    engine.submit(run_id)
    before = until(store, run_id, training(1))
    (pid,) = workers(engine)
    os.kill(pid, signal.SIGKILL)
    log(f"the worker killed with -9 in mid-training, {len(before.results)} points stored")
    report(until(store, run_id, ended), before, expected)


def cancelled(store: Store, engine: Engine, plan: Plan, sets: Sets, hung: bool) -> None:
    """Measure how long a cancel takes, of a worker that listens or of one that hangs."""
    run_id = store.create("benchmark", run_request(plan, sets, environment())).id
    engine.submit(run_id)
    until(store, run_id, training(1))
    pids = workers(engine)
    if hung:
        os.kill(pids[0], signal.SIGSTOP)
    start = time.monotonic()
    engine.cancel(run_id)
    until(store, run_id, ended)
    subject = "a worker that hangs" if hung else "in mid-training"
    log(f"cancelled {subject}: {time.monotonic() - start:.1f} s")
    if hung:
        psutil.wait_procs([psutil.Process(pids[0])] if psutil.pid_exists(pids[0]) else [])
        log(f"  the hung process was gone after {time.monotonic() - start:.1f} s")


def killed_app(store: Store, plan: Plan, sets: Sets, expected: Sequence[Point]) -> None:
    """Kill a process that owns store and engine, and start it again."""
    run_id = store.create("benchmark", run_request(plan, sets, environment())).id
    with process(*APP, quiet=True) as app:
        before = until(store, run_id, training(1))
        children = app.children(recursive=True)
        app.kill()
        log(f"the app killed with -9 in mid-training, {len(before.results)} points stored")
        _, alive = psutil.wait_procs(children, timeout=30)
        log(f"  {len(alive)} of its {len(children)} processes live on; the app is started again")
    with process(*APP, quiet=True):
        report(until(store, run_id, ended), before, expected)


def killed_node(store: Store, plan: Plan, sets: Sets, expected: Sequence[Point]) -> None:
    """Kill one of two workers of a cluster on loopback."""
    with ExitStack() as stack:
        file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "scheduler.json"
        scheduler = "--scheduler-file", str(file), "--no-dashboard"
        address = "--host", "127.0.0.1", "--port", "0"
        stack.enter_context(
            process("-m", "distributed.cli.dask_scheduler", *scheduler, *address, quiet=True)
        )
        node = "-m", "distributed.cli.dask_worker", *scheduler, "--nthreads", "1", "--no-nanny"
        nodes = [stack.enter_context(process(*node, quiet=True)) for _ in range(2)]
        with Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(2)
            engine = Engine(store, client.scheduler.address)
            run_id = store.create("benchmark", run_request(plan, sets, environment())).id
            engine.submit(run_id)
            before = until(store, run_id, training(2))
            nodes[0].kill()
            log(f"one of two busy workers of a cluster killed, {len(before.results)} points stored")
            report(until(store, run_id, ended), before, expected)
            engine.close()


def main(
    model: str = "minilm",
    mode: str = "fast",
    sizes: str = "25,50,100",
    dev: Annotated[int, typer.Option(help="Pairs of the dev set and of the test sets.")] = 120,
) -> None:
    """Disturb runs in each way and print whether their points are equal."""
    register_experiments()
    logging.disable(logging.ERROR)  # dask reports each death at length
    all_sets = bundled_sets("negation")
    sets = replace(
        all_sets,
        original_dev=all_sets.original_dev[:dev],
        original_test=all_sets.original_test[:dev],
        challenge_test=all_sets.challenge_test[:dev],
        control=(),
    )
    plan_mode: Mode = "full" if mode == "full" else "fast"
    counts = tuple(int(size) for size in sizes.split(","))
    plan = Plan(model, "negation", counts, (1e-4,), (0,), plan_mode, max_epochs=6)
    log(f"{plan}; {dev} dev and test pairs; {environment()}")
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(NLI_CLINIC_HOME=home, NLI_CLINIC_WORKERS="1", OMP_NUM_THREADS="1")
        store = Store()
        engine = Engine(store)
        expected = undisturbed(store, engine, plan, sets)
        killed_worker(store, engine, plan, sets, expected)
        for hung in (False, True):
            cancelled(store, engine, replace(plan, max_epochs=1000, patience=1000), sets, hung)
        engine.close()
        killed_app(store, plan, sets, expected)
        killed_node(store, plan, sets, expected)


if __name__ == "__main__":
    typer.run(main)
