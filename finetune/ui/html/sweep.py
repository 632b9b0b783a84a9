"""What the Inoculate tab shows of several runs: their curves, their progress, their outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape

from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.curves import SHAPES, Look, svg
from finetune.report.sweep import frames, line_names, model_name, panels, where
from finetune.report.text import CHOSEN, interval, short
from finetune.ui.html.run import progress, state_of, took
from probe.runs.gallery import OWNER
from probe.runs.run import OPEN
from probe.ui.html.elements import meter, sheet
from probe.ui.widgets import alert

NOTHING = (
    '<p class="fine">Nothing chosen to look at. Start a run on the left, or tick models and '
    "challenges of the gallery.</p>"
)
ONE, SEVERAL = (400, 260), (330, 230)
GLYPHS = dict(zip(SHAPES, "●■▲◆✚▼", strict=True))
TABLE = ("examples", "set", "name", "accuracy", "low", "high", "n", "lr", "seeds")


@dataclass(frozen=True)
class _Drawing:
    """Runs to draw; two drawings are equal when nothing that is drawn changed."""

    mark: str
    selection: Selection
    runs: Sequence[InoculationRun] = field(compare=False)


def mark(runs: Sequence[InoculationRun]) -> str:
    """Return what changes when the curves, the table or a card would."""
    return "|".join(f"{run.id} {len(run.results)} {run.state} {bool(run.verdict)}" for run in runs)


def curves(runs: Sequence[InoculationRun], selection: Selection) -> str:
    """Draw a panel for each challenge, the models overlaid, with a table that says the same."""
    return _drawn(_Drawing(mark(runs), selection, runs))


@lru_cache(maxsize=32)
def _drawn(drawing: _Drawing) -> str:
    """Draw once what many browsers look at; the whole gallery takes a second or two."""
    runs, selection = drawing.runs, drawing.selection
    found = frames(runs, selection)
    if not found:
        return ""
    charts, look = panels(runs, selection, ONE if len(found) == 1 else SEVERAL)
    drawn = "".join(
        f'<figure class="panel"><figcaption>{escape(name)}</figcaption>'
        f"{_image(svg(chart, look), name)}</figure>"
        for name, chart in charts.items()
    )
    tables = "".join(
        f"<h4>{escape(name)}</h4>{sheet(frame[list(TABLE)].round(2), f'points of {name}')}"
        for name, frame in found.items()
    )
    kind = "single" if len(found) == 1 else "several"
    return (
        f'{_legend(look)}<div class="panels {kind}">{drawn}</div>'
        f'<details class="twin"><summary>as table</summary>{tables}</details>'
    )


def _image(drawn: str, name: str) -> str:
    """Name a drawing for those who do not see it; the table below says what it shows."""
    words = f"accuracy on {name} and on the original test by number of examples"
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(words)}" ', 1)


def _legend(look: Look) -> str:
    """Say what colours, markers and dashes mean."""
    models = "".join(
        f'<span><span aria-hidden="true" style="color:{colour}">{GLYPHS[shape]}</span> '
        f"{escape(name)}</span>"
        for name, colour, shape in zip(look.names, look.colours, look.shapes, strict=True)
    )
    return (
        f'<p class="legend">{models}<span><i class="stroke"></i> challenge</span>'
        '<span><i class="stroke dashed"></i> original</span>'
        '<span class="fine">bars: 95 % intervals</span></p>'
    )


def going(runs: Sequence[InoculationRun]) -> str:
    """Show how far runs are: one with its cells; several in a line each, and the one at work."""
    shown = [run for run in runs if run.owner != OWNER]
    if len(shown) == 1:
        return progress(shown[0])
    if not any(run.state != "done" for run in shown):
        return ""
    working = next((run for run in shown if run.state == "running"), None)
    return _lines(shown) + (progress(working) if working else "")


def _lines(runs: Sequence[InoculationRun]) -> str:
    rows = "".join(
        f"<tr><td>{escape(model_name(run))}</td><td>{escape(run.plan.challenge)}</td>"
        f"<td>{meter(f'cells of run {run.id}', len(run.results) / len(run.cells))}</td>"
        f'<td class="number">{len(run.results)} of {len(run.cells)}</td><td>{state_of(run)}</td>'
        f"<td>{took(run)}</td><td>{escape(run.error)}</td></tr>"
        for run in runs
    )
    heads = ("model", "challenge", "", "cells", "state", "time", "")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        '<div class="sheet" tabindex="0" role="region" aria-label="runs"><table class="lines">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def compared(runs: Sequence[InoculationRun], opened: str, selection: Selection) -> str:
    """Show the outcomes of several runs in a table; each is a button that opens its card."""
    told = [run for run in runs if run.verdict]
    if len(told) < 2:
        return ""
    names = line_names(runs)
    heads = (
        *("challenge", "model", "mode", "outcome, as published", "outcome, dev rate"),
        *("gap", "closed, %", "drop", "n", "warnings"),
    )
    head = "".join(
        f'<th scope="col"><button type="button" onclick="sortSheet(this)">{name}</button></th>'
        for name in heads
    )
    body = "".join(_compared(run, names[run.id], run.id == opened, selection) for run in told)
    return (
        '<h2 class="title small">Outcomes</h2><div class="sheet" tabindex="0" role="region" '
        f'aria-label="outcomes"><table class="outcomes"><thead><tr>{head}</tr></thead>'
        f'<tbody>{body}</tbody></table></div><p class="fine">At the largest size, in points, with '
        "95 % intervals; gap, share closed and drop at the rate chosen above. Press an outcome to "
        "read it in words.</p>"
    )


def _compared(run: InoculationRun, name: str, opened: bool, selection: Selection) -> str:
    found, (oracle, dev) = run.verdict[selection], (run.verdict[by] for by in CHOSEN)
    figures = "".join(f"<td>{_figure(found[it])}</td>" for it in ("gap", "closed", "drop"))
    label = f"outcome of {run.plan.challenge} on {name}"
    return (
        f"<tr{' class=opened' if opened else ''}><td>{escape(run.plan.challenge)}</td>"
        f"<td>{escape(name)}</td><td>{escape(run.plan.mode)}</td>"
        f'<td><button type="button" data-cell="{escape(run.id)}" aria-label="{escape(label)}">'
        f'<span class="number">{escape(short(oracle["name"]))}</span></button></td>'
        f"<td>{escape(short(dev['name']))}</td>{figures}<td>{found['gap']['n']}</td>"
        f"<td>{len(run.verdict['warnings'])}</td></tr>"
    )


def _figure(value: Mapping[str, float | None]) -> str:
    """Show a share in percent, its interval below it."""
    middle, _, rest = interval(value).partition(" (")
    return f'{middle}<span class="split">{rest.rstrip(")")}</span>'


def troubles(runs: Sequence[InoculationRun]) -> str:
    """Show what went wrong with ended runs, each sentence once."""
    said = dict.fromkeys(run.error for run in runs if run.error and run.state not in OPEN)
    return "".join(alert(sentence) for sentence in said)


def words_of(run: InoculationRun) -> str:
    """Name a run in a list of one's own."""
    return f"{run.plan.challenge} · {model_name(run)} · {state_of(run)} · {where(run)}"
