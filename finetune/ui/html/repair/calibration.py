"""What a calibration shows: reliability before and after, and that broken texts stay."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from statistics import fmean

import pandas as pd
from markupsafe import Markup

from finetune.trials.calibration import (
    BASE,
    LESS,
    METHODS,
    WORDS,
    Method,
    Outcome,
    Point,
    outcomes,
    plan_from,
    points_of,
)
from finetune.ui.html.repair.words import (
    brief,
    model_title,
    of_paper,
    percent_cell,
    points,
    repeats,
    share_map,
    stem,
    switched,
    table_beside,
)
from probe.pictures import svg
from probe.pictures.heat_map import Head, HeatMap
from probe.pictures.reliability import Diagram, bins_frame, diagram, diagrams_svg
from probe.pictures.svg import FILE, svg_file
from probe.published import PublishedTable
from probe.runs.run import StoredRun
from probe.statistics import MEASURES, first_bin, mean_error, pooled
from probe.tasks.task import task_named
from probe.terms import Term
from probe.ui.html.elements import NOTHING, heads, join, table, term, twin
from probe.ui.html.picture import picture

COLUMN_WIDTH, BAR_WIDTH, ROW_HEIGHT, WORDS_HEIGHT = 150, 120, 46, 17
LEGEND = "Bar: the figure; line: where it was before."


@dataclass(frozen=True)
class Column:
    """A measure: its title, with its definition in `head`, and whether shares stand in percent."""

    title: str
    percent: bool
    digits: int
    head: Markup = NOTHING

    def words(self, value: float | None) -> str:
        """Write a value, a dash where there is none."""
        if value is None:
            return "–"
        return f"{100 * value if self.percent else value:.{self.digits}f}"


@dataclass(frozen=True)
class BeforeAfter:
    """A row for each method, the model as it was first; None is what was not measured."""

    columns: Sequence[Column]
    rows: Sequence[tuple[str, Sequence[float | None]]]

    @cached_property
    def scales(self) -> list[float]:
        """The end of each column's scale: all of a hundred, or its largest value."""
        return [self._most(at) for at in range(len(self.columns))]

    def _most(self, at: int) -> float:
        if self.columns[at].percent:
            return 1.0
        return max((values[at] or 0.0 for _, values in self.rows), default=0.0) or 1.0

    def place(self, at: int, value: float) -> float:
        """Return where a value of a column stands on its scale, from 0 to 1."""
        return min(1.0, max(0.0, value / self.scales[at]))

    def before(self, at: int) -> float | None:
        """Return what a column was before, None where it was not measured."""
        return self.rows[0][1][at] if self.rows else None


def before_after(drawn: BeforeAfter, label: str) -> Markup:
    """Draw it as a table; `label` says what is in it."""
    head = heads(["", *(column.head or column.title for column in drawn.columns)])
    body = join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            title, join(_cell(drawn, at, value) for at, value in enumerate(values))
        )
        for title, values in drawn.rows
    )
    return table(label, head, body, kind="figures", frame="scroll")


def _cell(drawn: BeforeAfter, at: int, value: float | None) -> Markup:
    words = drawn.columns[at].words(value)
    if value is None:
        return Markup('<td class="num">{}</td>').format(words)
    was = drawn.before(at)
    mark = NOTHING if was is None else Markup("--was:{:.1f}%;").format(100 * drawn.place(at, was))
    return Markup('<td class="num">{}<i class="gauge" style="{}--is:{:.1f}%"></i></td>').format(
        words, mark, 100 * drawn.place(at, value)
    )


def before_after_svg(drawn: BeforeAfter, title: str) -> Markup:
    """Draw it as a file of its own."""
    left = svg.width_of([name for name, _ in drawn.rows]) + 40
    wrapped = [_wrapped(column.title) for column in drawn.columns]
    top = 52 + WORDS_HEIGHT * max(map(len, wrapped), default=0)
    width = max(left + COLUMN_WIDTH * len(drawn.columns) + 16, svg.width_of([title]) + 32)
    parts = [svg.text(16, 26, title)]
    for at, lines in enumerate(wrapped):
        parts += [
            svg.text(left + COLUMN_WIDTH * at, 52 + WORDS_HEIGHT * number, line, fill=svg.FILE.soft)
            for number, line in enumerate(lines)
        ]
    for number, (name, values) in enumerate(drawn.rows):
        base = top + ROW_HEIGHT * number
        parts.append(svg.text(16, base + 14, name))
        for at, value in enumerate(values):
            parts += _svg_cell(drawn, at, value, left + COLUMN_WIDTH * at, base)
    bottom = top + ROW_HEIGHT * len(drawn.rows)
    parts.append(svg.text(16, bottom + 10, LEGEND, fill=svg.FILE.soft))
    return svg.drawing(width, bottom + 28, title, parts)


def _svg_cell(
    drawn: BeforeAfter, at: int, value: float | None, left: float, top: float
) -> Iterator[Markup]:
    yield svg.text(left, top + 14, drawn.columns[at].words(value))
    if value is None:
        return
    yield svg.box(left, top + 20, BAR_WIDTH, 8, svg.FILE.track)
    yield svg.box(left, top + 20, BAR_WIDTH * drawn.place(at, value), 8, FILE.accent)
    if (was := drawn.before(at)) is not None:
        yield svg.box(left + BAR_WIDTH * drawn.place(at, was) - 1, top + 17, 2, 14, svg.FILE.ink)


def _wrapped(title: str) -> list[str]:
    """Break a title into lines that fit its column."""
    lines = [""]
    for word in title.split():
        longer = f"{lines[-1]} {word}".strip()
        if svg.width_of([longer]) <= COLUMN_WIDTH - 10 or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


FIGURES: Mapping[str, Term] = {
    "ece": WORDS["calibration-error"],
    "brier": WORDS["brier-score"],
    "log_loss": WORDS["log-loss"],
    "accuracy": replace(MEASURES["accuracy"], title="Accuracy, %"),
    "agreement": replace(MEASURES["agreement"], title="Answers that stay on broken texts, %"),
}
"""The columns of the table before and after, with their definitions."""
BEFORE_AND_AFTER = "Before and after"
IN_PERCENT = ("accuracy", "agreement")
BINNING = (
    "15 bins; an answer that is exactly 1.0 sure falls into the last. Lower is better in the first "
    "three columns; an error that chance alone gives is no fault. The last says what calibration "
    "does not cure."
)


def sentence(run: StoredRun) -> str:
    """Say how far confidence is off before and after, and that broken texts are not found so."""
    before, after = _before_and_after(run)
    stay = f"{100 * after.agreement:.0f} %, {100 * before.agreement:.0f} % before"
    cured = before.agreement - after.agreement > LESS
    return (
        f"After {_named(after)}, the confidence of {model_title(run)} is off by "
        f"{points(after.ece)} points ({after.error.beside}); it was off by "
        f"{points(before.ece)} ({before.error.beside}). "
        + (f"On broken texts fewer answers stay: {stay}." if cured else _no_cure(stay))
    )


def _no_cure(stay: str) -> str:
    return f"That is no cure for broken texts, on which its answers stay: {stay}."


def _named(outcome: Outcome) -> str:
    if outcome.method == "temperature":
        return f"temperature {outcome.temperature:.1f}"
    return METHODS[outcome.method].title.lower()


def _before_and_after(run: StoredRun) -> tuple[Outcome, Outcome]:
    """Return the model as it was, and the first method at its largest size, of a judged run."""
    measured = outcomes(points_of(run))
    first = plan_from(run.plan).methods[0]
    of_first = [outcome for outcome in measured if outcome.method == first]
    before = next(outcome for outcome in measured if outcome.method == BASE.method)
    return before, max(of_first, key=lambda outcome: outcome.size)


def pictures(run: StoredRun) -> Markup:
    """Show the diagrams of the model as it was and after the first method, and all figures."""
    drawn = {method: _diagram(run, method, same) for method, same in _largest(run).items()}
    first = plan_from(run.plan).methods[0]
    in_sight = [drawn.pop(name) for name in (BASE.method, first) if name in drawn]
    others = Markup('<div class="halves">{}</div>').format(join(drawn.values()))
    return join(
        [
            Markup('<div class="halves">{}</div>').format(join(in_sight)) if in_sight else NOTHING,
            figures(run),
            twin("the diagrams of the other methods", others) if drawn else NOTHING,
            twin("by kind of broken text", agreements(run)),
        ]
    )


def _largest(run: StoredRun) -> dict[Method, list[Point]]:
    """Return by method the points of its largest size that is measured, its repeats."""
    ordered = sorted(points_of(run), key=lambda point: point.cell.method)
    groups = {
        method: list(same) for method, same in groupby(ordered, lambda point: point.cell.method)
    }
    return {
        method: [point for point in groups[method] if point.cell.size == _size(groups[method])]
        for method in METHODS
        if method in groups
    }


def _size(same: Sequence[Point]) -> int:
    return max(point.cell.size for point in same)


def _diagram(run: StoredRun, method: Method, same: Sequence[Point]) -> Markup:
    """Show a method's diagram with how far its confidence is off, as a badge."""
    bins = pooled([point.calibration.bins for point in same])
    labels = len(plan_from(run.plan).labels or task_named(plan_from(run.plan).task).labels)
    error = mean_error([point.calibration for point in same])
    title = _title(method, same)
    words = f"off by {points(error.found.value)} points ({error.beside})"
    drawn = Diagram(bins, first_bin(bins, labels), (), method == BASE.method)
    together = f" {len(same)} repeats together." if len(same) > 1 else ""
    return picture(
        title,
        diagram(drawn, f"{title}: how often answers are right by how sure the model is, {words}"),
        bins_frame(bins),
        svg_file(diagrams_svg([drawn], f"{title}: {words}")),
        stem=stem(run, f"reliability-{method}"),
        sentence=f"Dashed: as often right as sure; narrow: how sure on average.{together}",
        beside=Markup('<span class="badge {}">{}</span>').format(
            "keep" if error.is_fault else "good" if error.is_small else "plain", words
        ),
    )


def _title(method: Method, same: Sequence[Point]) -> str:
    if method == BASE.method:
        return METHODS[method].title
    if method == "temperature":
        return f"After temperature {fmean(point.temperature for point in same):.1f}"
    return f"After {METHODS[method].title.lower()}"


def figures(run: StoredRun) -> Markup:
    """Show what each method comes to, with a choice of the published figures."""
    mine, table = ours(run), table_beside(run, "calibration")
    return mine if table is None else switched(run, mine, theirs(run, table), table)


def ours(run: StoredRun) -> Markup:
    """Show a line for each method of a run, the model as it was first."""
    drawn = BeforeAfter(
        [
            Column(
                words.title,
                name in IN_PERCENT,
                1 if name in IN_PERCENT else 3,
                term(words.title, words.summary),
            )
            for name, words in FIGURES.items()
        ],
        [
            (_line_title(outcome), [getattr(outcome, name) for name in FIGURES])
            for outcome in outcomes(points_of(run))
        ],
    )
    n = max((point.calibration.n for point in points_of(run)), default=0)
    return _picture(
        drawn,
        "before and after",
        figures_frame(run),
        stem(run, "calibration"),
        f"{n:,} whole texts. {LEGEND} {BINNING}",
    )


def _picture(
    drawn: BeforeAfter, label: str, frame: pd.DataFrame, name: str, sentence: str
) -> Markup:
    return picture(
        BEFORE_AND_AFTER,
        before_after(drawn, label),
        frame,
        svg_file(before_after_svg(drawn, BEFORE_AND_AFTER)),
        stem=name,
        sentence=sentence,
    )


def theirs(run: StoredRun, measured: PublishedTable) -> Markup:
    """Show the published figures: the error, accuracy, and what stays by family of changes."""
    stays = table_beside(run, "calibrated_agreement")
    parts = [(measured, name, FIGURES[name].title) for name in measured.columns]
    if stays is not None:
        parts += [
            (stays, name, f"{name.capitalize()} changes: answers that stay, %")
            for name in stays.columns
        ]
    drawn = BeforeAfter(
        [Column(title, name != "ece", 2 if name == "ece" else 1) for _, name, title in parts],
        [
            (METHODS[method].title, [source.value(method, name) for source, name, _ in parts])
            for method in METHODS
            if method in measured.rows
        ],
    )
    frame = pd.DataFrame(
        [(title, *values) for title, values in drawn.rows],
        columns=["method", *(name for _, name, _ in parts)],
    )
    told = " ".join(of_paper(one) for one in (measured, stays) if one is not None)
    return _picture(
        drawn, "published before and after", frame, "calibration-published", f"{LEGEND} {told}"
    )


def _line_title(outcome: Outcome) -> str:
    title = METHODS[outcome.method].title
    return f"{title}, {outcome.size:,} examples" if outcome.size else title


def figures_frame(run: StoredRun) -> pd.DataFrame:
    """Return a line for each method and size, means over its repeats; shares are from 0 to 1."""
    names = ("method", "size", "seeds", *FIGURES, "confidence", "temperature")
    return pd.DataFrame(
        [
            {
                **{name: _rounded(getattr(outcome, name)) for name in names},
                "ece_low": _rounded(outcome.error.found.low),
                "ece_high": _rounded(outcome.error.found.high),
                "ece_by_chance": _rounded(outcome.error.chance.value),
            }
            for outcome in outcomes(points_of(run))
        ]
    )


def _rounded(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value


def agreements(run: StoredRun) -> Markup:
    """Show how many answers stay, by method and kind of broken text, as a heat map."""
    measured = _largest(run)
    names = list(dict.fromkeys(name for same in measured.values() for name in same[0].salad))
    shares = {
        (method, name): fmean(point.salad[name].agree / point.salad[name].n for point in same)
        for method, same in measured.items()
        for name in names
    }
    heat = HeatMap(
        [Head(METHODS[method].title) for method in measured],
        [Head(brief(name)) for name in names],
        [[percent_cell(shares[method, name]) for name in names] for method in measured],
    )
    title = "Answers that stay on broken texts"
    frame = pd.DataFrame(
        [
            (METHODS[method].title, name, round(share, 4))
            for (method, name), share in shares.items()
        ],
        columns=["method", "broken text", "share"],
    )
    n = max(len(same) for same in measured.values()) if measured else 1
    return share_map(
        title,
        heat,
        frame,
        stem=stem(run, "stay"),
        sentence=f"Of a copy the expected answer is the default label of the task. {repeats(n)}.",
    )
