"""Finished generalisations as figures, frames and text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from finetune.report.inoculation import counted, epoch_text
from finetune.trials.generalisation import (
    Epoch,
    GeneralisationRun,
    Plan,
    Point,
    at_largest,
    by_label,
    chosen,
    described,
    loss_between,
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
from probe.published import published
from probe.runs.run import Json
from probe.statistics import Estimate, interval
from probe.tasks.nli import NLI
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


LABEL_WORDS = "Accuracy by gold label on the kind that was trained on, in percent (figure 1)."


def figure(run: GeneralisationRun) -> Markup:
    """Draw the heat map over the curves, by label last. Raises RunError where nothing is done."""
    panels, style = curves(run.plan, run.results)
    if not panels:
        raise RunError("no cell is finished yet, so there is nothing to draw")
    n = counted(n for _, panel in panels for n in panel.frame["n"])
    drawings = [of_panels(panels, style, (*WORDS, f"{n}."))]
    if grid := run.verdict.get("grid"):
        drawings.insert(0, heat_svg(heat(grid, run.plan), TITLE))
    if (by_gold := label_curves(run.plan, run.results))[0]:
        drawings.append(of_panels(*by_gold, (LABEL_WORDS,)))
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


def label_curves(plan: Plan, points: Sequence[Point]) -> tuple[list[tuple[str, Panel]], PanelStyle]:
    """Return a panel for each condition with a curve for each gold label on it (figure 1)."""
    known = described(plan.rows, plan.vary)
    frames = {row: label_frame(plan, points, row, row) for row in plan.rows}
    panels = [
        (PANEL_TITLE.format(known[row].title), Panel(frame, plan.sizes))
        for row, frame in frames.items()
        if len(frame)
    ]
    style = style_for(pd.concat(frames.values()))
    size = PANEL_SIZE if len(panels) > 1 else ALONE
    return panels, PanelStyle(style.names, style.low, style.high, size)


def label_frame(plan: Plan, points: Sequence[Point], row: str, column: str) -> pd.DataFrame:
    """Return a line for each size and gold label on a column, of a model trained on a row."""
    return _frame(
        (label, "challenge", size, found)
        for size, own in _by_size(points, row)
        for label, found in by_label(own, column).items()
    )


def _by_size(points: Sequence[Point], row: str) -> list[tuple[int, Sequence[Point]]]:
    """Return the repeats of a row by size, smallest first; size 0 is the model as it was."""
    sizes = {size: own for (name, size), own in chosen(points).items() if name == row}
    if start := untrained(points):
        sizes[0] = start
    return sorted(sizes.items())


def _frame(measured: Iterable[tuple[str, str, int, Estimate]]) -> pd.DataFrame:
    """Return accuracies in percent of named sets at a size, each said in words."""
    lines = []
    for name, which, size, found in measured:
        value, low, high = (100 * share for share in (found.value, found.low, found.high))
        words = f"{value:.1f} % ({low:.1f} to {high:.1f}), n {found.n}"
        label = f"{name}, {size} examples: {words}"
        lines.append((name, which, size, value, low, high, found.n, label))
    return pd.DataFrame(lines, columns=COLUMNS)


COLUMNS = ["name", "set", "examples", "accuracy", "low", "high", "n", "label"]


def curve_frame(plan: Plan, points: Sequence[Point], row: str) -> pd.DataFrame:
    """Return a line for each size and tested set, in percent, of a model trained on a row.

    Size 0 is the model as it was.
    """
    known = described(plan.columns, plan.vary)
    sets = [(known[name].title, name) for name in plan.columns]
    measured = list[tuple[str, str, int, Estimate]]()
    for size, own in _by_size(points, row):
        measured.append((ORIGINAL, "original", size, on_original(own)))
        measured += [(title, "challenge", size, on_condition(own, name)) for title, name in sets]
    return _frame(measured)


class Claim(NamedTuple):
    """What the paper says of such a run, what this one has, and whether that shows here."""

    says: str
    here: str
    shows: str


SHOWS, SHOWS_NOT, UNDECIDED = "shows", "does not show", "not decided: the interval holds both"


def claims(run: GeneralisationRun) -> list[Claim]:
    """Return the paper's claims that a judged run of templates can test, none for others.

    The paper's figures are those of its text, ours of the largest size.
    """
    plan, grid = run.plan, run.verdict.get("grid")
    table, found = published("after_training", NLI.name), list[Claim]()
    if not grid or plan.task != NLI.name or table is None:
        return []
    known, at = described(plan.columns, plan.vary), at_largest(plan, chosen(run.results))
    after = f"after {grid['size']:,} examples"

    def add(says: str, row: str, estimate: Estimate, about: str, at_least: bool = False) -> None:
        limit = table.value(row, "share") if row else plan.thresholds.loss
        assert limit is not None, row
        low, high = estimate.low >= limit, estimate.high <= limit
        shows = SHOWS if (low if at_least else high) else SHOWS_NOT if low or high else UNDECIDED
        here = f"{about} {after}: {100 * estimate.value:.1f} ({interval(estimate)})"
        found.append(Claim(says.format(f"{100 * limit:g}"), here, shows))

    if grid["lost"]:
        rows = dict(zip(grid["rows"], grid["lost"], strict=True))
        worst = max(rows, key=lambda name: rows[name]["value"])
        lost, about = Estimate(**rows[worst]), f"points lost, trained on {known[worst].phrase},"
        if plan.phenomenon == "dative":
            row = "original lost after 4,000 datives"
        else:
            row = "original lost after numbers, at most"
        if plan.phenomenon in ("dative", "numerical"):
            add("The original set loses at most {} points.", row, lost, about)
    if (plan.phenomenon, plan.vary) == ("dative", "complexity") and "all" in at:
        right = on_condition(at["all"], "all", label="contradiction")
        says, row = "{} % of the contradictions are right.", "dative contradictions right"
        add(says, row, right, "% of them right, trained on all,", at_least=True)
    losses = run.verdict["losses"]
    if (plan.phenomenon, plan.vary) == ("numerical", "range") and losses:
        away = min((each["away"] for each in losses), key=lambda each: each["value"])
        says, row = "Of another range less than {} % are right.", "numbers of another range after"
        add(says, f"{row} 20,000, less than", Estimate(**away), "% right of the worst range")
    if (plan.phenomenon, plan.vary) == ("numerical", "complexity") and losses:
        largest = max(losses, key=lambda each: each["loss"]["value"])["loss"]
        says, row = "On another syntax at most {} points are lost.", "lost on other syntax after"
        add(says, f"{row} 3,000 numbers", Estimate(**largest), "the largest loss in points,")
    if plan.vary == "complexity" and "simple" in run.verdict["learnt"] and len(at) > 1:
        behind = {
            name: loss_between(at["simple"], own, "simple")
            for name, own in at.items()
            if name != "simple"
        }
        hardest = max(behind, key=lambda name: behind[name].value)
        says = "Simple sentences are easy whatever was trained on: at most {} points, our line, "
        about = f"points behind, trained on {known[hardest].phrase},"
        add(f"{says}behind training on them.", "", behind[hardest], about)
    return found


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
            for label, hits in scores.items():
                counts |= {f"right {label}": hits.right, f"n {label}": hits.n}
            accuracy = {"test": tested, "accuracy": share_right(scores)}
            yield {**about, **asdict(point.cell), **accuracy, **counts, **facts}
