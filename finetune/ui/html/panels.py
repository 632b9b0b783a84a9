"""The curves on the page: a card for each challenge with its outcome, and what takes them away."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd
from markupsafe import Markup

from finetune.report.files import curves as figure
from finetune.report.inoculation import (
    TONES,
    badge_of,
    by_panel,
    challenge_title,
    counter_titles,
    frames,
    line_names,
    measure_of,
    outcome_in,
    panels,
)
from finetune.trials.inoculation import InoculationRun, Selection
from probe.pictures.curves import (
    DASHES,
    MARKERS,
    Panel,
    PanelStyle,
    on_page,
)
from probe.pictures.svg import (
    svg_file,
)
from probe.ui.html.elements import NOTHING, join, sheet
from probe.ui.html.picture import take_away

ONE, SEVERAL, MANY = (560, 250), (380, 172), (280, 172)
"""Pixels of a panel that stands alone, of one among a few, and of one among more."""
A_FEW = 4
WHAT_IS_DRAWN = "{} by number of examples, on the original set and on"
TABLE_COLUMNS = ("challenge", "name", "examples", "set", "accuracy", "low", "high", "n", "lr")


@dataclass(frozen=True)
class _Drawing:
    """Runs to draw; two drawings are equal when nothing that is drawn changed."""

    change_mark: str
    selection: Selection
    opened: str
    runs: Sequence[InoculationRun] = field(compare=False)


def change_mark(runs: Sequence[InoculationRun]) -> str:
    """Return what changes when the curves, the table or a card would."""
    return "|".join(f"{run.id} {len(run.results)} {run.state} {bool(run.verdict)}" for run in runs)


def curves(runs: Sequence[InoculationRun], selection: Selection, opened: str = "") -> Markup:
    """Draw a panel for each challenge, the models overlaid, with a table that says the same."""
    return _drawn(_Drawing(change_mark(runs), selection, opened, runs))


@lru_cache(maxsize=32)
def _drawn(drawing: _Drawing) -> Markup:
    """Draw once what many browsers look at."""
    runs, selection = drawing.runs, drawing.selection
    runs_of = by_panel(runs)
    if not runs_of:
        return NOTHING
    kind, size = _look(len(runs_of))
    drawn, style = panels(runs, selection, size)
    names = line_names(runs)
    cards = join(
        _card(
            runs_of[name],
            _badges(runs_of[name], names, selection),
            on_page(panel, style, _words(runs_of[name])),
            drawing.opened,
        )
        for name, panel in drawn.items()
    )
    return Markup(
        '<section class="picture" aria-label="Curves"><div class="panels {}">{}</div>'
        '<div class="legend"><span>{}</span><span class="take">{}</span></div>'
        '<div class="as-table" hidden>{}</div></section>'
    ).format(kind, cards, _legend(drawn, style, measure_of(runs)), *_taken(runs, selection))


def _words(runs: Sequence[InoculationRun]) -> str:
    """Name a panel to who cannot see it."""
    return f"{WHAT_IS_DRAWN.format(measure_of(runs))} {challenge_title(runs[0])}"


def _card(runs: Sequence[InoculationRun], badges: Markup, drawn: Markup, opened: str) -> Markup:
    kind = " opened" if opened in {run.id for run in runs} else ""
    return Markup(
        '<article class="card panel{}"><div class="strip"><h3>{}</h3>{}</div>{}</article>'
    ).format(kind, challenge_title(runs[0]), badges, drawn)


def _look(count: int) -> tuple[str, tuple[int, int]]:
    """Return the class and the pixels of so many panels."""
    if count == 1:
        return "single", ONE
    return ("several", SEVERAL) if count <= A_FEW else ("many", MANY)


def _badges(runs: Sequence[InoculationRun], names: dict[str, str], selection: Selection) -> Markup:
    """Name the outcome of each run; a press opens the run in words."""
    button = Markup(
        '<button type="button" class="badge {}" data-cell="{}" aria-label="{}">{}</button>'
    )
    several = len(runs) > 1
    buttons = join(
        button.format(
            TONES[outcome],
            run.id,
            f"{named}: {challenge_title(run)} on {names[run.id]}, in words",
            f"{names[run.id]}: {named}" if several else named,
        )
        for run in runs
        if run.verdict
        for outcome, named in [(outcome_in(run, selection), badge_of(run.verdict[selection]))]
    )
    return Markup('<span class="badges">{}</span>').format(buttons)


def _legend(drawn: Mapping[str, Panel], style: PanelStyle, measure: str) -> Markup:
    """Say what colours, markers and dashes mean."""
    return Markup(
        '{}<span class="key"><i class="stroke"></i> {} on the challenge, with its 95 % '
        'interval</span><span class="key"><i class="stroke dashed"></i> {} on the original '
        'set</span>{}<span class="key">across: examples shown</span>'
    ).format(
        NOTHING if len(style.names) == 1 else line_keys(style),
        measure,
        measure,
        join(_counter_key(*each) for each in counter_titles(drawn.values()).items()),
    )


def _counter_key(name: str, title: str) -> Markup:
    return Markup(
        '<span class="key"><svg width="26" height="12" aria-hidden="true"><line x2="26" y1="6" '
        'y2="6" stroke="var(--soft)" stroke-width="2.2" stroke-dasharray="{}"/></svg> {}</span>'
    ).format(DASHES[name], title)


def line_keys(style: PanelStyle) -> Markup:
    """Name what colours and markers stand for."""
    return join(
        Markup('<span class="key">{} {}</span>').format(_glyph(colour, shape), name)
        for name, colour, shape in style.looks("var(--accent)")
    )


def _glyph(colour: str, shape: str) -> Markup:
    corners = " ".join(f"{6 + 4 * x:.1f},{6 + 4 * y:.1f}" for x, y in MARKERS[shape])
    return Markup(
        '<svg class="glyph" viewBox="0 0 12 12" aria-hidden="true"><polygon points="{}" fill="{}"/>'
        "</svg>"
    ).format(corners, colour)


def _taken(runs: Sequence[InoculationRun], selection: Selection) -> tuple[Markup, Markup]:
    """Return the links that take the curves away, and their table."""
    rows = pd.concat(
        [frame.assign(challenge=name) for name, frame in frames(runs, selection).items()]
    )[list(TABLE_COLUMNS)]
    rows = rows.round(2).rename(columns={"accuracy": measure_of(runs)})
    links = take_away(rows, svg_file(figure(runs, selection)), "inoculation-curves")
    return links, sheet(rows, "points of the curves")
