"""What Train shows of inoculations: curves, how much of each gap closes, one run in words."""

from collections.abc import Callable, Mapping, Sequence
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
    outcome_in,
    overview,
    panels,
    run_label,
    summary,
    task_of,
)
from finetune.trials.inoculation import BASE, InoculationCell, InoculationRun, Selection
from probe.pictures.curves import DASHES, MARKERS, Panel, PanelStyle, on_page
from probe.pictures.forest import Forest, ForestRow, forest_frame, forest_plot, forest_svg
from probe.pictures.svg import svg_file
from probe.runs.gallery import OWNER
from probe.statistics import NOTHING as NOT_MEASURED
from probe.statistics import Estimate
from probe.ui.html.elements import (
    NOTHING,
    each,
    heads,
    join,
    link,
    note,
    sheet,
    sorting_heads,
    table,
    twin,
)
from probe.ui.html.picture import picture, take_away
from probe.ui.html.run import SYMBOLS
from probe.ui.links import link_to_measure, link_to_model, link_to_run

REPEAT = Markup("<p>Repeat on the command line:</p><pre>{}</pre>")
TAKE_HOME = Markup("<p>Take the model home, as {}:</p><pre>{}</pre>")


def commands(repeat: str, kept: str) -> Markup:
    """Give the command that repeats a run, and first that of its model; `kept` is "" for none."""
    home = TAKE_HOME.format(kept, f"python -m probe models export {kept} FOLDER")
    return (home if kept else NOTHING) + REPEAT.format(repeat)


def forest_picture(title: str, forest: Forest, *, stem: str, sentence: str) -> Markup:
    """Show a forest plot as a picture; what is given is as for a picture."""
    return picture(
        title,
        forest_plot(forest, title),
        forest_frame(forest),
        svg_file(forest_svg(forest, title)),
        stem=stem,
        sentence=sentence,
    )


TITLE = "How much of the gap closes"


def gap_plot(runs: Sequence[InoculationRun], selection: Selection) -> Markup:
    """Show the share closed of each judged run, at its largest size."""
    judged = [run for run in runs if run.verdict]
    if not judged:
        return NOTHING
    names = line_names(runs)
    several = len(set(names.values())) > 1
    rows = [_forest_row(run, names[run.id] if several else "", selection) for run in judged]
    forest = Forest(rows, low_title="none of it", high_title="all of it")
    return forest_picture(
        TITLE,
        forest,
        stem="gap-closed",
        sentence="At the largest number of examples, with 95 % intervals. The gap is what the "
        "model loses from the original set to the challenge.",
    )


def _forest_row(run: InoculationRun, name: str, selection: Selection) -> ForestRow:
    result, outcome = run.verdict[selection], outcome_in(run, selection)
    title = f"{challenge_title(run)}, {name}" if name else challenge_title(run)
    words = " · ".join([MEANINGS[outcome], *result["marks"]])
    if outcome == "0":
        return ForestRow(title, NOT_MEASURED, run.plan.challenge, words)
    return ForestRow(title, _estimate(result["closed"]), run.plan.challenge, words)


def _estimate(closed: Mapping[str, float | None]) -> Estimate:
    value, low, high = (closed[name] for name in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return NOT_MEASURED
    return Estimate(value, low, high, int(closed["n"] or 0))


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


LEGEND = (
    "✓ {0} on the challenge, below it {0} on the original set, in percent, and seconds; "
    "▶ under way, · waits, ✕ failed, – cancelled."
)
ITEM, PARAGRAPH = Markup("<li>{}</li>"), Markup("<p>{}</p>")


def name_of(run: InoculationRun) -> str:
    """Name a run by its challenge, its model and what tells it from others of these."""
    return f"{run.plan.challenge} on {model_name(run)}, {run_label(run)}"


def grid(run: InoculationRun) -> Markup:
    """Show the cells: a row for each size, a column for each rate and seed."""
    lrs, seeds = dict.fromkeys(run.plan.lrs), dict.fromkeys(run.plan.seeds)
    columns = [(lr, seed) for lr in lrs for seed in seeds]
    several = len(seeds) > 1
    names = [f"{lr:g}{f', seed {seed}' if several else ''}" for lr, seed in columns]
    cells = {(cell.key.size, cell.key.lr, cell.key.seed): cell for cell in run.cells}
    row = Markup('<tr><th scope="row">{}</th>{}</tr>').format
    rows = [row("0, as it was", _cell(cells[BASE.size, BASE.lr, BASE.seed], len(columns)))]
    for size in sorted({cell.key.size for cell in run.cells} - {0}):
        rows.append(row(str(size), join(_cell(cells[size, lr, seed]) for lr, seed in columns)))
    head = heads(["examples ↓ rate →", *names])
    return table("cells", head, join(rows), kind="cells") + note(LEGEND.format(measure_of([run])))


def _cell(cell: InoculationCell, width: int = 1) -> Markup:
    """Show one cell: its accuracies once it is done, its epoch while it runs."""
    head, under = _cell_words(cell)
    span = Markup(' colspan="{}"').format(width) if width > 1 else NOTHING
    return Markup(
        '<td class="cell {}"{}><span aria-hidden="true">{}</span> <b class="number">{}</b>'
        '<span class="split">{}</span></td>'
    ).format(cell.state, span, SYMBOLS[cell.state], head, under)


def _cell_words(cell: InoculationCell) -> tuple[str, str]:
    """Return what a cell says, and what it says below that."""
    point, epoch = cell.result, cell.progress
    if point:
        return (
            f"{100 * point.challenge:.1f}",
            f"{100 * point.original:.1f} · {point.seconds:.0f} s",
        )
    if epoch and cell.state == "running":
        return f"epoch {epoch.epoch}", f"dev {100 * epoch.dev:.1f}"
    if cell.key == BASE and cell.state == "running":
        return "testing", "the model as it was, on both test sets"
    return cell.state, cell.error


def outcome(
    run: InoculationRun, selection: Selection = "oracle_lr", tells: Markup = NOTHING
) -> Markup:
    """Show the outcome in plain words with its figures, warnings, and what to do next.

    `tells` starts the run that would tell what this one does not.
    """
    verdict = run.verdict
    if not verdict:
        return NOTHING
    result, named = verdict[selection], outcome_in(run, selection)
    own = NOTHING if run.owner == OWNER else twin("each training", grid(run))
    return Markup(
        '<article class="card outcome"><div class="strip"><span class="soft tiny">{}</span>'
        '<span class="grow"></span><span class="badge {}">{}</span></div><h2>{}</h2>'
        "<h3>What this means</h3>{}{}{}<h3>What it does not mean</h3><p>{}</p>{}{}{}{}{}</article>"
    ).format(
        f"{challenge_title(run)} ({name_of(run)})",
        TONES[named],
        badge_of(result),
        result["headline"],
        each(PARAGRAPH, filter(None, [meaning(result), summary(result), missing_texts(result)])),
        tells,
        _counter_tests(counter_lines(verdict)),
        CAUTION,
        _warnings(verdict["warnings"]),
        _next(run),
        twin("how the figures came about", each(PARAGRAPH, details(verdict, selection))),
        own,
        commands(command(run), run.kept),
    )


def _counter_tests(sentences: Sequence[str]) -> Markup:
    if not sentences:
        return NOTHING
    return Markup("<h3>What it may have learnt instead</h3><ul>{}</ul>").format(
        each(ITEM, sentences)
    )


def _warnings(sentences: Sequence[str]) -> Markup:
    if not sentences:
        return NOTHING
    return Markup("<h3>Warnings</h3><ul>{}</ul>").format(each(ITEM, sentences))


def _next(run: InoculationRun) -> Markup:
    """Link to the inoculated model, and to a run of the gallery."""
    links = list[Markup]()
    if run.kept:
        models = [run.plan.model, run.kept]
        links += [
            link(link_to_model(run.kept, task_of(run)), "Probe the inoculated model"),
            link(
                link_to_measure("compare", task_of(run), models),
                f"Compare it with {model_name(run)}",
            ),
        ]
    if run.owner == OWNER:
        links.append(link(link_to_run([run.id], task=run.plan.task), "Link to this run"))
        if not run.kept:
            links.append(Markup("its model is not kept; run the command to have it"))
    return Markup('<p class="onward">{}</p>').format(join(links, Markup(" · ")))


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
    return twin(
        "all figures as a table",
        table("outcomes", head, body, kind="outcomes")
        + note(
            "At the largest size, in points, with 95 % intervals; gap, share closed and drop at "
            "the rate chosen. Press an outcome to read it in words."
        ),
    )


def _outcome_row(run: InoculationRun, name: str, opened: bool, selection: Selection) -> Markup:
    result, (oracle, dev) = run.verdict[selection], (run.verdict[by] for by in SELECTION_TITLES)
    cells = [
        Markup("{} <code>{}</code>").format(challenge_title(run), run.plan.challenge),
        name,
        run.plan.mode,
        _outcome_button(run, name, badge_of(oracle)),
        badge_of(dev),
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


BY = Markup('<label><input type="radio" name="by" data-by="{}"{}> {}</label>')


def results(
    runs: Sequence[InoculationRun],
    selection: Selection = "oracle_lr",
    opened: str = "",
    offer: Callable[[InoculationRun], Markup] = lambda run: NOTHING,
) -> Markup:
    """Show what runs came to: the sentence, the curves, what closed, one run in words.

    That is the `opened` one, else the first that is judged; `offer` starts what would tell more.
    """
    judged = {run.id: run for run in runs if run.verdict}
    shown = judged.get(opened) or next(iter(judged.values()), None)
    name = shown.id if shown else ""
    words = overview(runs, selection)
    closed = gap_plot(runs, selection) + outcomes_table(runs, name, selection)
    return Markup(
        '<div class="inoculated"><p class="say">{}</p><div id="curve">{}</div>'
        '<div id="compared">{}</div><div id="outcome">{}</div>{}</div>'
    ).format(
        words or "The first training is under way: what it comes to stands here.",
        curves(runs, selection, name),
        closed,
        outcome(shown, selection, offer(shown)) if shown else NOTHING,
        _by(selection) if shown else NOTHING,
    )


def _by(selection: Selection) -> Markup:
    """Let another learning rate be chosen of those that were tried."""
    choices = join(
        BY.format(name, Markup(" checked") if name == selection else NOTHING, words)
        for name, words in SELECTION_TITLES.items()
    )
    listed = Markup('<div role="radiogroup" aria-label="learning rate">{}</div>').format(choices)
    return twin("by another learning rate of each size", listed)
