"""Finished generalisations beside the published ones: Rozen et al. 2019, table 3, and the grid."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from finetune.report.command_line import command_line
from finetune.report.repairs import (
    NONE,
    MarkdownTable,
    in_percent,
    with_interval,
)
from finetune.trials.generalisation import (
    at_largest,
    by_label,
    chosen,
    labelled,
    on_condition,
    on_original,
    untrained,
)
from finetune.trials.generalisation import estimate as of_all
from finetune.trials.generalisation_plan import (
    Epoch,
    GeneralisationRun,
    Plan,
    Point,
    described,
    generalisation_runs,
    share_right,
    total,
)
from finetune.trials.inoculation_plan import InoculationRun
from probe.errors import RunError, writing
from probe.pictures.curves import (
    ALONE,
    PANEL_SIZE,
    Panel,
    PanelStyle,
    of_panels,
    style_for,
)
from probe.pictures.heat_map import MOST, Cell, Head, HeatMap, heat_svg
from probe.pictures.svg import (
    stacked,
    svg_file,
)
from probe.published import published
from probe.runs.run import Json, StoredRun
from probe.statistics import Estimate
from probe.tasks.nli import NLI
from probe.tasks.task import task_named

ALL = "all"
VARIED = {"lexical": "words", "range": "range of numbers"}
"""What is called otherwise than by its name in a plan."""


def generalisation_tables(runs: Iterable[StoredRun]) -> Iterator[MarkdownTable]:
    """Yield for each generalisation of NLI the accuracies before training and the final grid."""
    for run in generalisation_runs(runs):
        if run.plan.task == NLI.name:
            yield before_table(run)
            yield grid_table(run)


def _model(run: GeneralisationRun) -> str:
    return Path(run.plan.model).name


def _varied(run: GeneralisationRun) -> str:
    return VARIED.get(run.plan.vary, run.plan.vary)


def before_table(run: GeneralisationRun) -> MarkdownTable:
    """Return the accuracy before any training by condition and gold label, table 3."""
    paper = published(f"before_{run.plan.phenomenon}", NLI.name) if _has_paper(run) else None
    points = untrained(run.results)
    conditions: dict[str, dict[str, Estimate]] = {
        name: {**by_label(points, name), ALL: on_condition(points, name)}
        for name in run.plan.columns
    }
    every = [point.tests[name] for point in points for name in run.plan.columns]
    conditions[ALL] = {**labelled(every), ALL: of_all(every)}
    labels = [label for label in NLI.labels if label in conditions[ALL]]
    return MarkdownTable(
        f"Table 3: `{_model(run)}` before training, {run.plan.phenomenon} by {_varied(run)}.",
        (
            *(_varied(run), "n", *labels, ALL),
            *(f"paper: {label}" for label in (*labels, ALL) if paper),
        ),
        [
            [
                name,
                f"{own[ALL].n:,}",
                *(with_interval(own[label]) if label in own else NONE for label in (*labels, ALL)),
                *(in_percent(paper.value(name, label)) for label in (*labels, ALL) if paper),
            ]
            for name, own in conditions.items()
        ],
        {_model(run): run.artefacts["model"]},
    )


def _has_paper(run: GeneralisationRun) -> bool:
    return run.plan.vary == "complexity" and run.plan.phenomenon in ("dative", "numerical")


def grid_table(run: GeneralisationRun) -> MarkdownTable:
    """Return the accuracy by what was trained on and tested, and that on the original set."""
    points = at_largest(run.plan, chosen(run.results))
    rows: list[tuple[str, Sequence[Point]]] = [("nothing", untrained(run.results))]
    rows += points.items()
    return MarkdownTable(
        f"`{_model(run)}` after {max(run.plan.sizes):,} {run.plan.phenomenon} examples of the "
        f"row's {_varied(run)}.",
        ("trained on", "n", *run.plan.columns, "n original", "original"),
        [
            [
                name,
                f"{on_condition(own, run.plan.columns[0]).n:,}",
                *(with_interval(on_condition(own, column)) for column in run.plan.columns),
                f"{on_original(own).n:,}",
                with_interval(on_original(own)),
            ]
            for name, own in rows
        ],
        {_model(run): run.artefacts["model"]},
    )


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
    drawings = [of_panels(panels, style, WORDS)]
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
            )
            for value, low, high, n in zip(*line, strict=True)
        ]
        for row, *line in zip(
            *(grid[name] for name in ("rows", "accuracy", "low", "high", "n")), strict=True
        )
    ]
    rows, columns = (
        [Head(known[name].title) for name in grid[which]] for which in ("rows", "columns")
    )
    return HeatMap(rows, columns, cells, CORNER)


def curves(plan: Plan, points: Sequence[Point]) -> tuple[list[tuple[str, Panel]], PanelStyle]:
    """Return a panel for each condition that was trained on, under its title, and their look."""
    frames = {row: curve_frame(plan, points, row) for row in plan.rows}
    drawn = {row: frame for row, frame in frames.items() if len(frame)}
    every = pd.concat(frames.values())
    style = style_for(every)
    known = described((*plan.rows, *plan.columns), plan.vary)
    names = (*(known[column].title for column in plan.columns), ORIGINAL)
    size = PANEL_SIZE if len(drawn) > 1 else ALONE
    panels = [
        (PANEL_TITLE.format(known[row].title), Panel(frame, plan.sizes))
        for row, frame in drawn.items()
    ]
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


def curve_frame(plan: Plan, points: Sequence[Point], row: str) -> pd.DataFrame:
    """Return a line for each size and tested set, in percent, of a model trained on a row.

    Size 0 is the model as it was.
    """
    known = described(plan.columns, plan.vary)
    sizes = {size: own for (name, size), own in chosen(points).items() if name == row}
    if start := untrained(points):
        sizes[0] = start
    lines = []
    for size in sorted(sizes):
        own = sizes[size]
        lines.append(_line(ORIGINAL, "original", size, on_original(own)))
        for column in plan.columns:
            estimate = on_condition(own, column)
            lines.append(_line(known[column].title, "challenge", size, estimate))
    return pd.DataFrame(lines, columns=COLUMNS)


COLUMNS = ["name", "set", "examples", "accuracy", "low", "high", "n", "label"]


def _line(name: str, which: str, size: int, estimate: Estimate) -> tuple[object, ...]:
    value, low, high = (100 * share for share in (estimate.value, estimate.low, estimate.high))
    label = f"{name}, {size} examples: {value:.1f} % ({low:.1f} to {high:.1f}), n {estimate.n}"
    return name, which, size, value, low, high, estimate.n, label


ORIGINAL_COLUMN = "original"
"""The original set among the sets that are tested."""


def row_text(row: Epoch | Point) -> str:
    """Return a cell in words, and how far it is or what it came to."""
    key = row.cell
    trained = f"{key.train:<9} size {key.size:<5}" if key.size else f"{'untrained':<9} size 0    "
    cell = f"{trained} lr {key.lr:g}  seed {key.seed}"
    if isinstance(row, Epoch):
        return (
            f"{cell}  epoch {row.epoch}  loss {row.loss:.4f}  dev {row.dev:.4f}  "
            f"{row.examples_per_second:.1f} examples/s"
        )
    tests = "  ".join(f"{name} {share_right(scores):.4f}" for name, scores in row.tests.items())
    return (
        f"{cell}  original {share_right(row.original):.4f}  {tests}  "
        f"best epoch {row.best_epoch} of {row.epochs}  {row.seconds:.1f} s"
    )


def points_frame(run: GeneralisationRun) -> pd.DataFrame:
    """Return a row for each finished cell and tested set; accuracies are from 0 to 1."""
    plan = run.plan
    about = {
        "run": run.id,
        "model": Path(plan.model).name,
        "phenomenon": plan.phenomenon,
        "vary": plan.vary,
        "mode": plan.mode,
    }
    names = ("dev", "epochs", "best_epoch", "seconds", "precision")
    return pd.DataFrame(
        {
            **about,
            **asdict(point.cell),
            "test": tested,
            "accuracy": share_right(scores),
            "right": total(scores).right,
            "n": total(scores).n,
            **{name: getattr(point, name) for name in names},
        }
        for point in run.results
        for tested, scores in {ORIGINAL_COLUMN: point.original, **point.tests}.items()
    )


def write_points(run: GeneralisationRun, folder: Path) -> Path:
    """Write points.csv and return its place. Raises FileError."""
    path = folder / "points.csv"
    with writing(path):
        points_frame(run).to_csv(path, index=False, lineterminator="\n")
    return path


def write_summary(
    run: GeneralisationRun, folder: Path, inoculation: InoculationRun | None = None
) -> Json:
    """Write summary.json and figure.svg of a judged run, and return the summary.

    `before` is the table before training, by set and gold label, `inoculation` what an inoculation
    on the same phenomenon came to, null where there is none. Raises FileError.
    """
    verdict = {name: value for name, value in run.verdict.items() if name not in APART}
    summary = {
        "grid": run.verdict["grid"],
        "verdict": verdict,
        "before": run.verdict["before"],
        "inoculation": None if inoculation is None else _told(inoculation),
        "plan": asdict(run.plan),
        "artefacts": run.artefacts,
        "environment": run.environment,
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    with writing(folder):
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
    write_figure(run, folder)
    return summary


def write_figure(run: GeneralisationRun, folder: Path) -> Path:
    """Write figure.svg and return its place. Raises FileError, RunError where nothing is there."""
    path = folder / "figure.svg"
    with writing(path):
        path.write_text(svg_file(figure(run)) + "\n", encoding="utf-8")
    return path


def _told(run: InoculationRun) -> Json:
    """Return what an inoculation came to at its largest size."""
    names = ("outcome", "name", "headline", "explanation", "gap", "closed", "drop")
    about = {"run": run.id, "challenge": run.plan.challenge, "size": max(run.plan.sizes)}
    return about | {name: run.verdict[name] for name in names}


APART = ("grid", "before")
"""What a summary says beside the verdict."""


def generalise_command(run: GeneralisationRun) -> str:
    """Return the command that repeats a generalisation."""
    plan = run.plan
    out = f"generalised/{Path(plan.model).name}-{plan.phenomenon}-{plan.vary}"
    return command_line("generalise", plan, run.artefacts, out)
