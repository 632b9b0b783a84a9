"""Points of an inoculation with known numbers of correct predictions, and runs of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from finetune.trials.inoculation import judge, verdict_json
from finetune.trials.inoculation_plan import BASE, KIND, Cell, InoculationRun, Plan, Point, cells
from probe.runs.run import Run, RunCell, State


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
) -> InoculationRun:
    """Return a run of these points; other cells are queued.

    It has a verdict if any size was trained.
    """
    sizes = tuple(sorted({point.cell.size for point in points} - {0})) or (10, 50)
    plan, computed = Plan(model, challenge, sizes, lrs, (0,)), {p.cell: p for p in points}
    trained = [point for point in points if point.cell != BASE]
    verdict = {}
    if BASE in computed and trained:
        verdict = verdict_json(judge(plan, computed[BASE], trained, paired=True))
    facts = {"id": run_id, "owner": owner, "verdict": verdict}
    return stored_run(KIND, plan, cells(plan), computed, state, **facts)


def stored_run(
    kind: str,
    plan: Any,  # Any: each kind has plans, cells and points of its own
    keys: Sequence[Any],
    results: Mapping[Any, Any],
    state: State,
    key: Callable[[Any], Any] = lambda cell: cell,
    **fields: object,
) -> Run[Any, Any, Any, Any]:
    """Return a run of a minute; cells without a result are queued. `key` is how one is stored."""
    run: Run[Any, Any, Any, Any] = Run(
        id=kind,
        kind=kind,
        owner="somebody",
        plan=plan,
        state=state,
        cancelling=False,
        error="",
        created=1000.0,
        started=1000.0,
        finished=1060.0 if state == "done" else 0.0,
        verdict={},
        environment={"torch": "2.8"},
        kept="",
        cells=tuple(
            RunCell(
                number, key(cell), "done" if cell in results else "queued", None, results.get(cell)
            )
            for number, cell in enumerate(keys)
        ),
        artefacts={"model": "ab12"},
    )
    return replace(run, **fields)  # type: ignore[arg-type]  # of a run
