"""What Train shows of inoculations: curves, how much of each gap closes, one run in words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd
from markupsafe import Markup

from finetune.report.command_line import command
from finetune.report.files import curves as figure
from finetune.report.inoculation import (
    CAUTION,
    MEANINGS,
    SELECTION_TITLES,
    TONES,
    badge_of,
    by_panel,
    challenge_title,
    counted,
    counter_lines,
    counter_titles,
    details,
    frames,
    interval,
    line_names,
    meaning,
    measure_of,
    missing_texts,
    model_name,
    model_title,
    outcome_in,
    overview,
    panels,
    run_label,
    summary,
    task_of,
)
from finetune.trials.inoculation import InoculationRun, Selection
from probe.pictures.curves import DASHES, MARKERS, Panel, PanelStyle, on_page
from probe.pictures.forest import Forest, ForestRow, forest_frame, forest_plot, forest_svg
from probe.pictures.svg import PAGE, svg_file
from probe.runs.gallery import OWNER
from probe.statistics import NOTHING as NOT_MEASURED
from probe.statistics import Estimate
from probe.ui.html.elements import (
    NOTHING,
    each,
    join,
    link,
    note,
    sheet,
    sorting_heads,
    table,
    twin,
    unbroken,
)
from probe.ui.html.picture import picture, take_away
from probe.ui.links import link_to_measure, link_to_model, link_to_run

TITLE = "How much of the gap closes"
CLOSED = (
    "At the largest number of examples, with 95 % intervals, {}. The gap is what the model "
    "loses from the original set to the challenge."
)
ONE, SEVERAL, MANY = ("single", (560, 250)), ("several", (380, 172)), ("many", (280, 172))
"""The class and the pixels of a panel that stands alone, of one among a few, of one among more."""
A_FEW = 4
WHAT_IS_DRAWN = "{} by number of examples, on the original set and on {}"
TABLE_COLUMNS = (
    "challenge",
    "code",
    "name",
    "examples",
    "set",
    "accuracy",
    "low",
    "high",
    "n",
    "lr",
)
FIGURES = (
    *("challenge", "model", "mode", "outcome, as published", "outcome, dev rate"),
    *("gap", "closed, %", "drop", "n", "warnings"),
)
ABOUT_FIGURES = (
    "At the largest size, in points, with 95 % intervals; gap, share closed and drop at the rate "
    "chosen. Press an outcome to read it in words."
)
ITEM, PARAGRAPH, CELL = Markup("<li>{}</li>"), Markup("<p>{}</p>"), Markup("<td>{}</td>")
REPEAT = Markup("<p>Repeat on the command line:</p><pre>{}</pre>")
TAKE_HOME = Markup("<p>Take the model home, as {}:</p><pre>{}</pre>")
BADGE = Markup('<button type="button" class="{}" data-cell="{}" aria-label="{}">{}</button>')
BY = Markup('<label><input type="radio" name="by" data-by="{}"{}> {}</label>')


def commands(repeat: str, kept: str) -> Markup:
    """Give the command that repeats a run, and first that of its model; `kept` is "" for none."""
    home = TAKE_HOME.format(kept, f"python -m probe models export {kept} FOLDER")
    return twin("repeat on the command line", (home if kept else NOTHING) + REPEAT.format(repeat))


def gap_plot(runs: Sequence[InoculationRun], selection: Selection) -> Markup:
    """Show the share closed of each judged run, at its largest size."""
    names, rows = line_names(runs), list[ForestRow]()
    several = len(set(names.values())) > 1
    for run in runs:
        if run.verdict:
            result, outcome = run.verdict[selection], outcome_in(run, selection)
            value, low, high = (result["closed"][end] for end in ("value", "low", "high"))
            share = NOT_MEASURED
            if outcome != "0" and None not in (value, low, high):
                share = Estimate(value, low, high, int(result["closed"]["n"] or 0))
            title = challenge_title(run) + (f", {names[run.id]}" if several else "")
            words = " · ".join([MEANINGS[outcome], *result["marks"]])
            rows.append(ForestRow(title, share, run.plan.challenge, words))
    if not rows:
        return NOTHING
    forest = Forest(rows, low_title="none of it", high_title="all of it")
    n = counted(run.verdict[selection]["gap"]["n"] for run in runs if run.verdict)
    return picture(
        TITLE,
        forest_plot(forest, TITLE),
        forest_frame(forest),
        forest_svg(forest, TITLE),
        stem="gap-closed",
        sentence=unbroken(CLOSED.format(n)),
    )


@dataclass(frozen=True)
class _Drawing:
    """Runs to draw; two drawings are equal when nothing that is drawn changed."""

    mark: tuple[object, ...]
    selection: Selection
    opened: str
    runs: Sequence[InoculationRun] = field(compare=False)


def curves(runs: Sequence[InoculationRun], selection: Selection, opened: str = "") -> Markup:
    """Draw a panel for each challenge, the models overlaid, with a table that says the same."""
    mark = tuple((run.id, len(run.results), run.state, bool(run.verdict)) for run in runs)
    return _drawn(_Drawing(mark, selection, opened, runs))


@lru_cache(maxsize=32)
def _drawn(drawing: _Drawing) -> Markup:
    """Draw once what many browsers look at."""
    runs, selection = drawing.runs, drawing.selection
    runs_of, names, measure = by_panel(runs), line_names(runs), measure_of(runs)
    if not runs_of:
        return NOTHING
    kind, size = ONE if len(runs_of) == 1 else SEVERAL if len(runs_of) <= A_FEW else MANY
    drawn, style = panels(runs, selection, size)
    cards = [
        Markup(
            '<article class="card panel{}"><div class="strip"><h3>{}</h3>'
            '<span class="badges">{}</span></div>{}</article>'
        ).format(
            " opened" if drawing.opened in {run.id for run in own} else "",
            title,
            join(_badges(own, names, selection)),
            on_page(panel, style, WHAT_IS_DRAWN.format(measure_of(own), title)),
        )
        for (name, panel) in drawn.items()
        for own in [runs_of[name]]
        for title in [challenge_title(own[0])]
    ]
    rows = pd.concat(
        [
            frame.assign(challenge=challenge_title(runs_of[code][0]), code=code)
            for code, frame in frames(runs, selection).items()
        ]
    )[list(TABLE_COLUMNS)]
    rows = rows.round(2).rename(columns={"accuracy": measure})
    return Markup(
        '<section class="picture" aria-label="Curves"><div class="panels {}">{}</div>'
        '<div class="legend"><span>{}</span><span class="take">{}</span></div>'
        '<div class="as-table" hidden>{}</div></section>'
    ).format(
        kind,
        join(cards),
        _legend(drawn.values(), style, measure),
        take_away(rows, svg_file(figure(runs, selection)), "inoculation-curves"),
        sheet(rows, "points of the curves"),
    )


def _badges(
    runs: Sequence[InoculationRun], names: Mapping[str, str], selection: Selection
) -> Iterable[Markup]:
    """Name the outcome of each run; a press opens the run in words."""
    for run in runs:
        if run.verdict:
            named = badge_of(run.verdict[selection])
            yield BADGE.format(
                f"badge {TONES[outcome_in(run, selection)]}",
                run.id,
                f"{named}: {challenge_title(run)} on {names[run.id]}, in words",
                f"{names[run.id]}: {named}" if len(runs) > 1 else named,
            )


def _legend(drawn: Iterable[Panel], style: PanelStyle, measure: str) -> Markup:
    """Say what colours, markers and dashes mean."""
    dashed = Markup(
        '<span class="key"><svg width="26" height="12" aria-hidden="true"><line x2="26" y1="6" '
        'y2="6" stroke="var(--soft)" stroke-width="2.2" stroke-dasharray="{}"/></svg> {}</span>'
    )
    return Markup(
        '{}<span class="key"><i class="stroke"></i> {} on the challenge, with its 95 % '
        'interval</span><span class="key"><i class="stroke dashed"></i> {} on the original '
        'set</span>{}<span class="key">across: examples shown</span>'
    ).format(
        NOTHING if len(style.names) == 1 else line_keys(style),
        measure,
        measure,
        join(dashed.format(DASHES[name], title) for name, title in counter_titles(drawn).items()),
    )


def line_keys(style: PanelStyle) -> Markup:
    """Name what colours and markers stand for."""
    return join(
        Markup(
            '<span class="key"><svg class="glyph" viewBox="0 0 12 12" aria-hidden="true">'
            '<polygon points="{}" fill="{}"/></svg> {}</span>'
        ).format(
            " ".join(f"{6 + 4 * x:.1f},{6 + 4 * y:.1f}" for x, y in MARKERS[shape]), colour, name
        )
        for name, colour, shape in style.looks(PAGE)
    )


def outcome(
    run: InoculationRun, selection: Selection = "oracle_lr", tells: Markup = NOTHING
) -> Markup:
    """Show the outcome in plain words with its figures, warnings, and what to do next.

    `tells` starts the run that would tell what this one does not.
    """
    verdict = run.verdict
    if not verdict:
        return NOTHING
    result, listed = verdict[selection], Markup("<h3>{}</h3><ul>{}</ul>")
    both = details(verdict, selection)[0] if len({*run.plan.lrs}) > 1 else ""
    said = filter(None, [meaning(result), summary(result), missing_texts(result), both])
    instead, warnings = (
        each(ITEM, lines) for lines in (counter_lines(verdict), verdict["warnings"])
    )
    return Markup(
        '<article class="card outcome"><div class="strip"><span class="soft tiny">{} · {} '
        '<code>{}</code> · {}</span><span class="grow"></span><span class="badge {}">{}</span>'
        '</div><h2>{}</h2><div class="thirds"><div><h3>What this means</h3>{}{}{}</div><div>'
        "<h3>What it does not mean</h3><p>{}</p>{}</div><div><h3>What next</h3>{}</div></div>"
        "{}{}</article>"
    ).format(
        model_title(run),
        challenge_title(run),
        f"{run.plan.challenge} on {model_name(run)}",
        "ready-made" if run.owner == OWNER else run_label(run),
        TONES[outcome_in(run, selection)],
        badge_of(result),
        result["headline"],
        each(PARAGRAPH, said),
        tells,
        listed.format("What it may have learnt instead", instead) if instead else NOTHING,
        CAUTION,
        listed.format("Warnings", warnings) if warnings else NOTHING,
        each(PARAGRAPH, _next(run)),
        twin("how the figures came about", each(PARAGRAPH, details(verdict, selection))),
        commands(command(run), run.kept),
    )


def _next(run: InoculationRun) -> Iterable[Markup]:
    """Link to the inoculated model, to the same skill elsewhere, and to a run of the gallery."""
    task = task_of(run)
    if run.kept:
        both = [run.plan.model, run.kept]
        yield link(link_to_model(run.kept, task), "Probe the inoculated model")
        yield link(link_to_measure("compare", task, both), f"Compare it with {model_title(run)}")
    if run.owner == OWNER:
        yield link(link_to_run([run.id], task=run.plan.task), "Link to this run")
        if not run.kept:
            yield Markup("Its model is not kept; run the command to have it.")


def outcomes_table(runs: Sequence[InoculationRun], opened: str, selection: Selection) -> Markup:
    """Show the outcomes of several runs in a table; each is a button that opens its card."""
    concluded = [run for run in runs if run.verdict]
    if len(concluded) < 2:
        return NOTHING
    names, lines = line_names(runs), list[Markup]()
    for run in concluded:
        result, (oracle, dev) = run.verdict[selection], (run.verdict[by] for by in SELECTION_TITLES)
        named = Markup('<span class="number">{}</span>').format(badge_of(oracle))
        label = f"outcome of {challenge_title(run)} on {names[run.id]}"
        cells: list[object] = [
            Markup("{} <code>{}</code>").format(challenge_title(run), run.plan.challenge),
            *(names[run.id], run.plan.mode, BADGE.format("", run.id, label, named), badge_of(dev)),
        ]
        for measured in ("gap", "closed", "drop"):  # in percent, its interval below it
            middle, _, rest = interval(result[measured]).partition(" (")
            split = Markup('{}<span class="split">{}</span>')
            cells.append(split.format(middle, rest.rstrip(")")))
        cells += [result["gap"]["n"], len(run.verdict["warnings"])]
        kind = Markup(' class="opened"') if run.id == opened else NOTHING
        lines.append(Markup("<tr{}>{}</tr>").format(kind, each(CELL, cells)))
    drawn = table("outcomes", sorting_heads(FIGURES), join(lines), kind="outcomes")
    return twin("all figures as a table", drawn + note(ABOUT_FIGURES))


def results(
    runs: Sequence[InoculationRun],
    selection: Selection = "oracle_lr",
    opened: str = "",
    offer: Callable[[InoculationRun], Markup] = lambda run: NOTHING,
) -> Markup:
    """Show what runs came to: the sentence, the curves, what closed, one run in words.

    That is the `opened` one, else the first that is judged; `offer` starts what would tell more.
    Another learning rate can be chosen of those that were tried.
    """
    judged = {run.id: run for run in runs if run.verdict}
    shown = judged.get(opened) or next(iter(judged.values()), None)
    name, rated = shown.id if shown else "", any(any(run.plan.lrs) for run in runs)
    rates = join(
        BY.format(by, Markup(" checked") if by == selection else NOTHING, words)
        for by, words in SELECTION_TITLES.items()
    )
    listed = Markup('<div role="radiogroup" aria-label="learning rate">{}</div>').format(rates)
    return Markup(
        '<div class="inoculated"><p class="say">{}</p><div id="curve">{}</div>'
        '<div id="compared">{}</div><div id="outcome">{}</div>{}</div>'
    ).format(
        overview(runs, selection)
        or "The first training is under way: what it comes to stands here.",
        curves(runs, selection, name),
        gap_plot(runs, selection) + outcomes_table(runs, name, selection),
        outcome(shown, selection, offer(shown)) if shown else NOTHING,
        twin("by another learning rate of each size", listed) if shown and rated else NOTHING,
    )
