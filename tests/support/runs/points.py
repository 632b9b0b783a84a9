"""Points of an inoculation with known numbers of correct predictions, and runs of them."""

from collections.abc import Sequence
from typing import Any

from finetune.training.recipes import Mode
from finetune.trials.inoculation import (
    BASE,
    TRIALS,
    Cell,
    InoculationRun,
    Plan,
    Point,
    inoculation_run,
    judge,
    verdict_json,
)
from probe.runs.run import State
from tests.support.runs.stored import stored


def make_point(
    original: int, challenge: int, n: int = 100, cell: Cell = BASE, dev: float = 0.8
) -> Point:
    """Return a point with these numbers of correct rows of n, first; its dose is learnt."""
    return Point(
        cell,
        original / n,
        challenge / n,
        dev,
        epochs=3,
        best_epoch=2,
        seconds=1.5,
        precision="fp32",
        original_right=tuple(row < original for row in range(n)),
        challenge_right=tuple(row < challenge for row in range(n)),
        dose=cell.size if cell.size else None,
    )


def make_run(
    points: Sequence[Point],
    model: str = "minilm",
    challenge: str = "negation",
    run_id: str = "run1",
    owner: str = "somebody",
    state: State = "done",
    lrs: tuple[float, ...] = (2e-5,),
    mode: Mode = "full",
) -> InoculationRun:
    """Return a run of these points; other cells are queued.

    It has a verdict if any size was trained.
    """
    sizes = tuple(sorted({point.cell.size for point in points} - {0})) or (10, 50)
    plan = Plan(model, challenge, sizes, lrs, (0,), mode)
    computed = {p.cell: p for p in points}
    trained = [point for point in points if point.cell != BASE]
    verdict: Any = {}
    if BASE in computed and trained:
        verdict = verdict_json(judge(plan, computed[BASE], trained, paired=True))
    facts: Any = {"id": run_id, "owner": owner, "verdict": verdict, "state": state}
    facts["finished"] = 1060.0 if state == "done" else 0.0
    return inoculation_run(stored(TRIALS, plan, points, **facts))
