"""What the Inoculate tab shows of several runs: their curves, their progress, their outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from markupsafe import Markup

from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.curves import MODEL_SHAPES, PanelStyle, svg
from finetune.report.drawing import as_markup
from finetune.report.sweep import frames, line_names, model_name, panels, run_label
from finetune.report.text import SELECTION_TITLES, interval, short
from finetune.ui.html.run import progress
from probe.runs.gallery import OWNER
from probe.runs.run import OPEN
from probe.ui.html.elements import (
    NOTHING,
    alert,
    each,
    heads,
    join,
    meter,
    note,
    sheet,
    sorting_heads,
    table,
    twin,
)
from probe.ui.html.run import state_of, took

NOTHING_CHOSEN = note(
    "Nothing chosen to look at. Start a run on the left, or tick models and challenges of the "
    "gallery."
)
ONE, SEVERAL = (400, 260), (330, 230)
GLYPHS = dict(zip(MODEL_SHAPES, "●■▲◆✚▼", strict=True))
TABLE_COLUMNS = ("examples", "set", "name", "accuracy", "low", "high", "n", "lr", "seeds")


@dataclass(frozen=True)
class _Drawing:
    """Runs to draw; two drawings are equal when nothing that is drawn changed."""

    change_mark: str
    selection: Selection
    runs: Sequence[InoculationRun] = field(compare=False)


def change_mark(runs: Sequence[InoculationRun]) -> str:
    """Return what changes when the curves, the table or a card would."""
    return "|".join(f"{run.id} {len(run.results)} {run.state} {bool(run.verdict)}" for run in runs)


def curves(runs: Sequence[InoculationRun], selection: Selection) -> Markup:
    """Draw a panel for each challenge, the models overlaid, with a table that says the same."""
    return _drawn(_Drawing(change_mark(runs), selection, runs))


@lru_cache(maxsize=32)
def _drawn(drawing: _Drawing) -> Markup:
    """Draw once what many browsers look at; the whole gallery takes a second or two."""
    runs, selection = drawing.runs, drawing.selection
    points = frames(runs, selection)
    if not points:
        return NOTHING
    kind, size = ("single", ONE) if len(points) == 1 else ("several", SEVERAL)
    charts, look = panels(runs, selection, size)
    pictures = join(_panel(name, as_markup(svg(chart, look))) for name, chart in charts.items())
    tables = join(
        Markup("<h4>{}</h4>{}").format(
            name, sheet(frame[list(TABLE_COLUMNS)].round(2), f"points of {name}")
        )
        for name, frame in points.items()
    )
    return Markup('{}<div class="panels {}">{}</div>{}').format(
        _legend(look), kind, pictures, twin("as table", tables)
    )


def _panel(name: str, drawn: Markup) -> Markup:
    """Name a drawing, also for those who do not see it; the table below says what it shows."""
    words = f"accuracy on {name} and on the original test by number of examples"
    labelled = Markup('<svg role="img" aria-label="{}" ').format(words)
    return Markup('<figure class="panel"><figcaption>{}</figcaption>{}</figure>').format(
        name, drawn.replace(Markup("<svg "), labelled, 1)
    )


def _legend(look: PanelStyle) -> Markup:
    """Say what colours, markers and dashes mean."""
    models = join(
        Markup('<span><span aria-hidden="true" style="color:{}">{}</span> {}</span>').format(
            colour, GLYPHS[shape], name
        )
        for name, colour, shape in zip(look.names, look.colours, look.shapes, strict=True)
    )
    return Markup(
        '<p class="legend">{}<span><i class="stroke"></i> challenge</span>'
        '<span><i class="stroke dashed"></i> original</span>'
        '<span class="fine">bars: 95 % intervals</span></p>'
    ).format(models)


def progress_of_all(runs: Sequence[InoculationRun]) -> Markup:
    """Show how far runs are: one with its cells; several in a line each, and the one at work."""
    shown = [run for run in runs if run.owner != OWNER]
    if len(shown) == 1:
        return progress(shown[0])
    if not any(run.state != "done" for run in shown):
        return NOTHING
    working = next((run for run in shown if run.state == "running"), None)
    return _lines(shown) + (progress(working) if working else NOTHING)


def _lines(runs: Sequence[InoculationRun]) -> Markup:
    head = heads(("model", "challenge", "", "cells", "state", "time", ""))
    return table("runs", head, join(map(_line, runs)), kind="lines")


def _line(run: InoculationRun) -> Markup:
    done, cells = len(run.results), len(run.cells)
    return Markup(
        '<tr><td>{}</td><td>{}</td><td>{}</td><td class="number">{} of {}</td><td>{}</td>'
        "<td>{}</td><td>{}</td></tr>"
    ).format(
        model_name(run),
        run.plan.challenge,
        meter(f"cells of run {run.id}", done / cells),
        done,
        cells,
        state_of(run),
        took(run),
        run.error,
    )


def outcomes_table(runs: Sequence[InoculationRun], opened: str, selection: Selection) -> Markup:
    """Show the outcomes of several runs in a table; each is a button that opens its card."""
    concluded = [run for run in runs if run.verdict]
    if len(concluded) < 2:
        return NOTHING
    names = line_names(runs)
    head = sorting_heads(
        (
            *("challenge", "model", "mode", "outcome, as published", "outcome, dev rate"),
            *("gap", "closed, %", "drop", "n", "warnings"),
        )
    )
    body = join(_outcome_row(run, names[run.id], run.id == opened, selection) for run in concluded)
    return Markup('<h2 class="title small">Outcomes</h2>{}{}').format(
        table("outcomes", head, body, kind="outcomes"),
        note(
            "At the largest size, in points, with 95 % intervals; gap, share closed and drop at "
            "the rate chosen above. Press an outcome to read it in words."
        ),
    )


def _outcome_row(run: InoculationRun, name: str, opened: bool, selection: Selection) -> Markup:
    result, (oracle, dev) = run.verdict[selection], (run.verdict[by] for by in SELECTION_TITLES)
    cells = [
        run.plan.challenge,
        name,
        run.plan.mode,
        _outcome_button(run, name, short(oracle["name"])),
        short(dev["name"]),
        *(_figure(result[measure]) for measure in ("gap", "closed", "drop")),
        result["gap"]["n"],
        len(run.verdict["warnings"]),
    ]
    return Markup("<tr{}>{}</tr>").format(
        Markup(' class="opened"') if opened else NOTHING, each(Markup("<td>{}</td>"), cells)
    )


def _outcome_button(run: InoculationRun, name: str, outcome: str) -> Markup:
    return Markup(
        '<button type="button" data-cell="{}" aria-label="{}">'
        '<span class="number">{}</span></button>'
    ).format(run.id, f"outcome of {run.plan.challenge} on {name}", outcome)


def _figure(value: Mapping[str, float | None]) -> Markup:
    """Show a share in percent, its interval below it."""
    middle, _, rest = interval(value).partition(" (")
    return Markup('{}<span class="split">{}</span>').format(middle, rest.rstrip(")"))


def error_alerts(runs: Sequence[InoculationRun]) -> Markup:
    """Show what went wrong with ended runs, each sentence once."""
    sentences = dict.fromkeys(run.error for run in runs if run.error and run.state not in OPEN)
    return join(map(alert, sentences))


def list_title(run: InoculationRun) -> str:
    """Name a run in a list of one's own."""
    return f"{run.plan.challenge} · {model_name(run)} · {state_of(run)} · {run_label(run)}"
