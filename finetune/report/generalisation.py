"""Finished generalisations as figures, frames and text."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from finetune.report.inoculation import counted, epoch_text
from finetune.trials.generalisation import (
    Epoch,
    GeneralisationRun,
    Plan,
    Point,
    chosen,
    described,
    on_condition,
    on_original,
    share_right,
    total,
    untrained,
)
from probe.errors import RunError
from probe.pictures.curves import ALONE, PANEL_SIZE, Panel, PanelStyle, of_panels, style_for
from probe.pictures.heat_map import MOST, Cell, Head, HeatMap, heat_svg
from probe.pictures.svg import stacked
from probe.runs.run import Json
from probe.tasks.task import task_named

ORIGINAL = "Original set"
TITLE = "Accuracy in percent: rows trained on, columns tested"
PANEL_TITLE = "Trained on: {}"
CORNER = "trained ↓ tested →"
WORDS = (
    "Solid: accuracy on each condition in percent, with its 95 % interval, under what was "
    "trained on.",
    "Dashed: accuracy on the original set. Across: training examples.",
)


def figure(run: GeneralisationRun) -> Markup:
    """Draw the heat map over the curves. Raises RunError where nothing is finished."""
    panels, style = curves(run.plan, run.results)
    if not panels:
        raise RunError("no cell is finished yet, so there is nothing to draw")
    n = counted(n for _, panel in panels for n in panel.frame["n"])
    drawings = [of_panels(panels, style, (*WORDS, f"{n}."))]
    if grid := run.verdict.get("grid"):
        drawings.insert(0, heat_svg(heat(grid, run.plan), TITLE))
    return stacked(drawings, "Accuracy on each condition, by what was trained on")


def heat(grid: Json, plan: Plan) -> HeatMap:
    """Return the final accuracies in percent; the ground begins at the share of a blind guess.

    The key of a cell is the title of the panel with its curve.
    """
    known = described((*plan.rows, *plan.columns), plan.vary)
    labels = task_named(plan.task).labels
    floor = 1 / len(labels) if labels else 0.0
    cells = [
        [
            Cell(
                f"{100 * value:.0f}",
                MOST * max(0.0, (value - floor) / (1 - floor)),
                PANEL_TITLE.format(known[row].title),
                f"{100 * value:.1f} % ({100 * low:.1f} to {100 * high:.1f}), n {n}",
                n=n,
            )
            for value, low, high, n in zip(*line, strict=True)
        ]
        for row, *line in zip(
            *(grid[name] for name in ("rows", "accuracy", "low", "high", "n")), strict=True
        )
    ]
    rows, columns = ([Head(known[name].title) for name in grid[it]] for it in ("rows", "columns"))
    return HeatMap(rows, columns, cells, CORNER)


def curves(plan: Plan, points: Sequence[Point]) -> tuple[list[tuple[str, Panel]], PanelStyle]:
    """Return a panel for each condition that was trained on, under its title, and their look."""
    frames = {row: curve_frame(plan, points, row) for row in plan.rows}
    known = described((*plan.rows, *plan.columns), plan.vary)
    style = style_for(pd.concat(frames.values()))
    names = (*(known[column].title for column in plan.columns), ORIGINAL)
    panels = [
        (PANEL_TITLE.format(known[row].title), Panel(frame, plan.sizes))
        for row, frame in frames.items()
        if len(frame)
    ]
    size = PANEL_SIZE if len(panels) > 1 else ALONE
    return panels, PanelStyle(names, style.low, style.high, size)


def original_curves(plan: Plan, points: Sequence[Point]) -> tuple[Panel, PanelStyle]:
    """Return the accuracy on the original set, a line for each condition that was trained on."""
    known = described(plan.rows, plan.vary)
    frames = [
        own[own["set"] == "original"].assign(
            name=known[row].title,
            label="trained on " + known[row].title + own["label"].str.removeprefix(ORIGINAL),
        )
        for row in plan.rows
        for own in [curve_frame(plan, points, row)]
    ]
    frame = pd.concat(frames)
    return Panel(frame, plan.sizes), style_for(frame)


COLUMNS = ["name", "set", "examples", "accuracy", "low", "high", "n", "label"]


def curve_frame(plan: Plan, points: Sequence[Point], row: str) -> pd.DataFrame:
    """Return a line for each size and tested set, in percent, of a model trained on a row.

    Size 0 is the model as it was.
    """
    known = described(plan.columns, plan.vary)
    sizes = {size: own for (name, size), own in chosen(points).items() if name == row}
    if start := untrained(points):
        sizes[0] = start
    lines = []
    for size, own in sorted(sizes.items()):
        measured = [(ORIGINAL, "original", on_original(own))]
        for column in plan.columns:
            measured.append((known[column].title, "challenge", on_condition(own, column)))
        for name, which, found in measured:
            value, low, high = (100 * share for share in (found.value, found.low, found.high))
            words = f"{value:.1f} % ({low:.1f} to {high:.1f}), n {found.n}"
            label = f"{name}, {size} examples: {words}"
            lines.append((name, which, size, value, low, high, found.n, label))
    return pd.DataFrame(lines, columns=COLUMNS)


ORIGINAL_COLUMN = "original"
"""The original set among the sets that are tested."""


def row_text(row: Epoch | Point) -> str:
    """Return a cell in words, and how far it is or what it came to."""
    key = row.cell
    trained = f"{key.train:<9} size {key.size:<5}" if key.size else f"{'untrained':<9} size 0    "
    cell = f"{trained} lr {key.lr:g}  seed {key.seed}"
    if isinstance(row, Epoch):
        return f"{cell}  {epoch_text(row)}"
    tests = "  ".join(f"{name} {share_right(scores):.4f}" for name, scores in row.tests.items())
    return (
        f"{cell}  original {share_right(row.original):.4f}  {tests}  "
        f"best epoch {row.best_epoch} of {row.epochs}  {row.seconds:.1f} s"
    )


def point_rows(run: GeneralisationRun) -> Iterator[Json]:
    """Yield a row for each finished cell and tested set; accuracies are from 0 to 1."""
    plan, names = run.plan, ("dev", "epochs", "best_epoch", "seconds", "precision")
    about = {"run": run.id, "model": Path(plan.model).name}
    about |= {name: getattr(plan, name) for name in ("phenomenon", "vary", "mode")}
    for point in run.results:
        facts = {name: getattr(point, name) for name in names}
        for tested, scores in {ORIGINAL_COLUMN: point.original, **point.tests}.items():
            counts = {"right": total(scores).right, "n": total(scores).n}
            accuracy = {"test": tested, "accuracy": share_right(scores)}
            yield {**about, **asdict(point.cell), **accuracy, **counts, **facts}
