"""What Train shows of a generalisation: the verdict in words, the heat map, the curves."""

from collections.abc import Mapping, Sequence

import pandas as pd
from markupsafe import Markup

from finetune.report.command_line import command
from finetune.report.generalisation import (
    LABEL_WORDS,
    ORIGINAL,
    TITLE,
    claims,
    curve_frame,
    curves,
    figure,
    heat,
    label_curves,
    label_frame,
    original_curves,
)
from finetune.report.inoculation import TONES as INOCULATION_TONES
from finetune.report.inoculation import badge_of as inoculation_badge
from finetune.trials.generalisation import (
    FEW,
    OUTCOMES,
    GeneralisationRun,
    Outcome,
    described,
    in_figures,
    serving_all,
    sources_of,
    worst_in,
)
from finetune.trials.inoculation import InoculationRun
from finetune.ui.html.inoculation import commands, line_keys
from probe.pictures.curves import Panel, PanelStyle, of_panels, on_page
from probe.pictures.heat_map import heat_map, heat_svg
from probe.runs.run import Json
from probe.tasks.task import task_named
from probe.ui.html.elements import NOTHING, alert, each, join, link, note, sheet, twin
from probe.ui.html.picture import picture
from probe.ui.links import link_to_run

TONES: Mapping[Outcome, str] = {
    "data_set": "bad",
    "phenomenon": "good",
    "not_learnt": "plain",
    "undecided": "keep",
}
"""The look of each outcome's badge."""
BADGES: Mapping[Outcome, str] = {
    "data_set": "learnt the set, not the skill",
    "phenomenon": "learnt the skill",
    "not_learnt": "not learnt",
    "undecided": "undecided",
}
"""What each outcome's badge says to somebody who has not read the paper."""
ARGUMENT = (
    "Rozen et al.'s point: doing well on examples like those that were trained on does not show "
    "that the skill was learnt."
)
LEGEND = Markup('<div class="legend">{}</div>')
FOLDED = Markup('<details class="twin all-curves"><summary>all curves</summary>{}</details>')
PARAGRAPH, ITEM = Markup('<p class="say">{}</p>'), Markup("<li>{}</li>")


RULE = Markup(
    '<label class="soft tiny rule">rule: it learnt the set if, away from what it saw, it loses '
    '<input type="number" data-rule="{}" value="{:g}" min="0.1" max="100" step="any" '
    'aria-label="Loss in points from which on it learnt the set; judges this run anew"> points or '
    "more, with an interval above 0</label>"
)
"""How a run is judged; a number that is typed judges it anew."""


def verdict(run: GeneralisationRun, anew: GeneralisationRun | None = None) -> Markup:
    """Show the outcome as a badge with its rule, and the sentence; `anew` is by another rule.

    What was lost meanwhile on the original set is said where it is much.
    """
    shown, stored = anew or run, NOTHING
    judged, loss = shown.verdict, shown.plan.thresholds.loss
    notes = [OUTCOMES[judged["outcome"]].summary] if judged["worst"] else []
    if forgot(judged, loss):
        before, after = judged["before"]["original"]["all"], judged["grid"]["original"]
        ends = dict.fromkeys(f"{100 * value:.0f}" for value in (min(after), max(after)))
        notes.append(
            f"Meanwhile it forgot: of the original set it had {100 * before['value']:.0f} % right "
            f"before and {' to '.join(ends)} % after."
        )
    if anew and anew.plan != run.plan:
        stored = note(
            f"Judged anew, without training. Stored with the run: "
            f"{BADGES[run.verdict['outcome']]}, by {100 * run.plan.thresholds.loss:g} points."
        )
    return Markup('<div class="strip"><span class="badge {}">{}</span>{}</div>{}{}{}').format(
        *badge_of(judged, loss),
        RULE.format(run.id, 100 * loss),
        stored,
        PARAGRAPH.format(in_words(shown)),
        note(" ".join(notes)) if notes else NOTHING,
    )


def forgot(verdict: Json, loss: float) -> bool:
    """Whether a judged run lost as much on the original set as tells the set from the skill."""
    return any(lost["value"] >= loss and lost["low"] > 0 for lost in verdict["grid"]["lost"])


def badge_of(verdict: Json, loss: float) -> tuple[str, str]:
    """Return the class and the words of an outcome's badge, with what changes its meaning."""
    outcome: Outcome = verdict["outcome"]
    if "templates" not in verdict["grid"]:  # of an older run in a list, where no results are
        return TONES["undecided"], "judged anew when opened"
    if not forgot(verdict, loss):
        return TONES[outcome], BADGES[outcome]
    tone = "keep" if outcome == "phenomenon" else TONES[outcome]
    return tone, f"{BADGES[outcome]}; original lost"


def in_words(run: GeneralisationRun) -> str:
    """Say what a judged run came to: the largest loss, and which kinds serve all of them."""
    judged, plan = run.verdict, run.plan
    figures = in_figures(plan, worst_in(judged)) or OUTCOMES[judged["outcome"]].summary
    serving = serving_all(judged)
    if not 0 < len(serving) < len(plan.rows):
        return figures
    known = described(plan.rows, plan.vary)
    phrases = " or on ".join(known[row].phrase for row in serving)
    return f"{figures} Training on {phrases} serves every kind."


def accuracies(run: GeneralisationRun) -> Markup:
    """Show the final accuracies as a heat map with its table twin."""
    grid = run.verdict["grid"]
    drawn = heat(grid, run.plan)
    repeats, known = len(set(run.plan.seeds)), min(map(min, grid["templates"]))
    of = f"Mean of {repeats} repeats" if repeats > 1 else "One repeat"
    over = f"repeats and at least {known} {sources_of(run.plan)} of a kind" if known else "repeats"
    over += ", so few that they are wide" if min(repeats, known or repeats) < FEW else ""
    return picture(
        "Accuracy by kind of example",
        heat_map(drawn, "accuracy in percent by what was trained on and what is tested"),
        grid_frame(run),
        heat_svg(drawn, TITLE),
        stem=f"generalisation-{run.plan.phenomenon}-{run.plan.vary}",
        sentence=f"{of}; {grid['size']:,} examples; in percent. Intervals are over {over}. A press "
        "on a figure shows its curve.",
    )


def grid_frame(run: GeneralisationRun) -> pd.DataFrame:
    """Return a line for each cell of the grid: accuracy and interval in percent, n."""
    grid: Json = run.verdict["grid"]
    known = described((*run.plan.rows, *run.plan.columns), run.plan.vary)
    return pd.DataFrame(
        {
            "trained on": known[row].title,
            "tested on": known[column].title,
            **{
                name: round(100 * grid[name][down][across], 1)
                for name in ("accuracy", "low", "high")
            },
            "n": grid["n"][down][across],
            "repeats": len(grid["repeats"][down][across]),
            sources_of(run.plan): grid["templates"][down][across] or "not known",
        }
        for down, row in enumerate(grid["rows"])
        for across, column in enumerate(grid["columns"])
    )


def original(run: GeneralisationRun) -> Markup:
    """Show the accuracy on the original set by number of examples, a line for each training."""
    panel, style = original_curves(run.plan, run.results)
    shown = panel.frame[["name", "examples", "accuracy", "low", "high", "n"]]
    drawn = on_page(panel, style, "accuracy on the original set by number of examples")
    return picture(
        "Meanwhile, on the original set",
        drawn + LEGEND.format(line_keys(style)),
        shown.rename(columns={"name": "trained on"}).round(1),
        of_panels([(ORIGINAL, panel)], style, ORIGINAL_WORDS),
        stem=f"generalisation-original-{run.plan.phenomenon}-{run.plan.vary}",
    )


ORIGINAL_WORDS = (
    "Accuracy on the original set in percent, by what was trained on. Across: training examples.",
)


def _side_by_side(
    panels: Sequence[tuple[str, Panel]], style: PanelStyle, words: str, opens: bool = False
) -> Markup:
    """Draw panels by their titles, over what their lines are; a press on a figure may open one."""
    section = Markup('<section class="panel"{}><h4>{}</h4>{}</section>').format
    opened = Markup(' data-title="{}"').format
    drawn = join(
        section(opened(name) if opens else NOTHING, name, on_page(each, style, f"{name}: {words}"))
        for name, each in panels
    )
    keys = LEGEND.format(line_keys(style))
    return Markup('<div class="panels several">{}</div>{}').format(drawn, keys)


def all_curves(run: GeneralisationRun) -> Markup:
    """Show a panel of curves for each condition that was trained on, nothing before the first."""
    panels, style = curves(run.plan, run.results)
    if not panels:
        return NOTHING
    frame = pd.concat(
        [curve_frame(run.plan, run.results, row).assign(trained=row) for row in run.plan.rows]
    ).drop(columns="label")
    return picture(
        "Accuracy by number of examples",
        _side_by_side(panels, style, "accuracy by number of examples", opens=True),
        frame.round(1),
        figure(run),
        stem=f"generalisation-curves-{run.plan.phenomenon}-{run.plan.vary}",
        sentence="A panel for each kind that was trained on, a line for each that is tested. "
        "Dashed: the original set.",
    )


def labels(run: GeneralisationRun) -> Markup:
    """Show curves by gold label on what was trained on (figure 1), nothing before the first."""
    panels, style = label_curves(run.plan, run.results)
    if not panels:
        return NOTHING
    frame = pd.concat(
        label_frame(run.plan, run.results, row, column).assign(trained=row, tested=column)
        for row in run.plan.rows
        for column in run.plan.columns
    )
    return picture(
        "Accuracy by right answer",
        _side_by_side(panels, style, "accuracy by gold label"),
        frame.drop(columns=["label", "set"]).round(1),
        of_panels(panels, style, (LABEL_WORDS,)),
        stem=f"generalisation-labels-{run.plan.phenomenon}-{run.plan.vary}",
        sentence="A line for each right answer, on examples of the kind that was trained on, as in "
        "figure 1 of the paper; the table has every kind.",
    )


def beside_paper(run: GeneralisationRun) -> Markup:
    """Show what the paper says of such a run beside what this one shows."""
    rows = [
        {"Rozen et al.": claim.says, "here": claim.here, "shows": claim.shows}
        for claim in claims(run)
    ]
    if not rows:
        return NOTHING
    return twin("beside the paper", sheet(pd.DataFrame(rows), "the paper's claims and this run"))


def before(run: GeneralisationRun) -> Markup:
    """Show the table before training (Table 3 of the paper), folded away."""
    known = described(run.plan.columns, run.plan.vary)
    task = task_named(run.plan.task)
    rows = [
        {
            "tested on": known[name].title if name in known else ORIGINAL,
            **{
                label: f"{100 * told[label]['value']:.1f}" if label in told else "–"
                for label in (*task.labels, "all")
            },
        }
        for name, told in run.verdict["before"].items()
    ]
    if not rows:
        return NOTHING
    return twin(
        "before any training, by label",
        sheet(pd.DataFrame(rows), "accuracy in percent before training"),
    )


def beside(inoculation: InoculationRun | None) -> Markup:
    """Show what an inoculation on the same phenomenon came to, and the paper's argument.

    What it won is on examples like those that it showed.
    """
    if inoculation is None:
        return NOTHING
    judged = inoculation.verdict["oracle_lr"]
    after, gain = judged["challenge"], judged["gain"]["value"]
    return Markup(
        '<section class="card"><div class="strip"><b>Inoculation on the same skill</b>'
        '<span class="badge {}">{}</span><span class="soft">{}</span>{}</div>{}</section>'
    ).format(
        INOCULATION_TONES[inoculation.verdict["outcome"]],
        inoculation_badge(judged),
        f"{judged['size']:,} examples take the accuracy on others of the same set from "
        f"{100 * (after - gain):.0f} to {100 * after:.0f} %.",
        link(link_to_run([inoculation.id], task=inoculation.plan.task), "open that run"),
        note(ARGUMENT),
    )


def results(
    run: GeneralisationRun,
    inoculation: InoculationRun | None = None,
    anew: GeneralisationRun | None = None,
) -> Markup:
    """Show all that a run came to so far; what went wrong stands first.

    `anew` is the run judged by another rule, whose verdict is shown instead.
    """
    parts = [alert(run.error) if run.error else NOTHING]
    if not run.verdict:
        parts.append(all_curves(run))
    else:
        warnings = each(ITEM, (anew or run).verdict["warnings"])
        beware = Markup("<ul>{}</ul>").format(warnings)
        parts += [
            verdict(run, anew),
            Markup('<div class="two wide">{}{}</div>').format(accuracies(run), original(run)),
            FOLDED.format(join((labels(run), all_curves(run)))),
            beside(inoculation),
            beside_paper(run),
            before(run),
            twin("what to beware of", beware) if warnings else NOTHING,
            commands(command(run), run.kept),
        ]
    return (
        Markup('<div class="generalised">{}</div>').format(join(parts)) if any(parts) else NOTHING
    )
