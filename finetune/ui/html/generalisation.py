"""What the Generalise tab shows of a run: the verdict in words, the heat map, the original set."""

from collections.abc import Mapping

import pandas as pd
from markupsafe import Markup

from finetune.experiments.generalisation.conditions import described
from finetune.experiments.generalisation.grid import chosen, on_original, untrained
from finetune.experiments.generalisation.run import GeneralisationRun
from finetune.experiments.generalisation.verdict import Outcome
from finetune.experiments.inoculation.outcomes import badge
from finetune.experiments.inoculation.run import InoculationRun
from finetune.report.drawing import svg_file
from finetune.report.generalisation import points_frame
from finetune.report.generalisation_figure import TITLE, curve_frame, curves, figure, heat
from finetune.report.overview import TONES as INOCULATION_TONES
from finetune.report.panel import svg
from finetune.ui.links import link_to_run
from probe.runs.run import Json
from probe.ui.html.elements import NOTHING, alert, each, join, link, note, sheet, twin
from probe.ui.html.picture import picture
from probe.ui.html.pictures.heat_map import heat_map, heat_svg

TONES: Mapping[Outcome, str] = {
    "data_set": "bad",
    "phenomenon": "good",
    "not_learnt": "plain",
    "undecided": "keep",
}
"""The look of each outcome's badge."""
ARGUMENT = (
    "Rozen et al.'s point: closing a gap on one set does not show that the phenomenon was learnt."
)
PARAGRAPH, ITEM = Markup('<p class="say">{}</p>'), Markup("<li>{}</li>")


def verdict(run: GeneralisationRun) -> Markup:
    """Show the outcome as a badge with its rule, and the sentence."""
    judged = run.verdict
    points = 100 * run.plan.thresholds.loss
    return Markup(
        '<div class="strip"><span class="badge {}">{}</span><span class="soft tiny">rule: away '
        "from what it saw it loses {:g} points or more, for certain</span></div>{}{}"
    ).format(
        TONES[judged["outcome"]],
        judged["name"].lower(),
        points,
        PARAGRAPH.format(judged["explanation"]),
        _warnings(judged["warnings"]),
    )


def _warnings(sentences: list[str]) -> Markup:
    if not sentences:
        return NOTHING
    return twin("what to beware of", Markup("<ul>{}</ul>").format(each(ITEM, sentences)))


def accuracies(run: GeneralisationRun) -> Markup:
    """Show the final accuracies as a heat map with its table twin."""
    drawn = heat(run.verdict["grid"], run.plan)
    size, seeds = run.verdict["grid"]["size"], len(set(run.plan.seeds))
    return picture(
        "Accuracy by kind of example",
        heat_map(drawn, "accuracy in percent by what was trained on and what is tested"),
        grid_frame(run.verdict["grid"]),
        str(svg_file(heat_svg(drawn, TITLE))),
        stem=f"generalisation-{run.plan.phenomenon}-{run.plan.vary}",
        sentence=f"Mean of {seeds} repeats after {size:,} examples, in percent.",
    )


def grid_frame(grid: Json) -> pd.DataFrame:
    """Return a line for each cell of the grid: accuracy and interval in percent, n."""
    return pd.DataFrame(
        {
            "trained on": row,
            "tested on": column,
            "accuracy": round(100 * grid["accuracy"][down][across], 1),
            "low": round(100 * grid["low"][down][across], 1),
            "high": round(100 * grid["high"][down][across], 1),
            "n": grid["n"][down][across],
        }
        for down, row in enumerate(grid["rows"])
        for across, column in enumerate(grid["columns"])
    )


def all_curves(run: GeneralisationRun) -> Markup:
    """Show a panel of curves for each condition that was trained on, nothing before the first."""
    panels, style = curves(run.plan, run.results)
    if not panels:
        return NOTHING
    drawn = join(
        Markup('<section class="panel"><h4>{}</h4>{}</section>').format(
            title, svg(panel, style, f"{title}: accuracy by number of examples")
        )
        for title, panel in panels
    )
    frame = pd.concat(
        [curve_frame(run.plan, run.results, row).assign(trained=row) for row in run.plan.rows]
    ).drop(columns="label")
    return picture(
        "Accuracy by number of examples",
        Markup('<div class="panels">{}</div>').format(drawn),
        frame.round(1),
        svg_file(figure(run)),
        stem=f"generalisation-curves-{run.plan.phenomenon}-{run.plan.vary}",
        sentence="Dashed: the original set.",
    )


def original_frame(run: GeneralisationRun) -> pd.DataFrame:
    """Return the accuracy on the original set by what was trained on and size, in percent."""
    known = described(run.plan.rows, run.plan.vary)
    start = untrained(run.results)
    lines = [("as it was", 0, on_original(start))] if start else []
    lines += [
        (known[row].title, size, on_original(points))
        for (row, size), points in sorted(chosen(run.results).items(), key=lambda item: item[0])
    ]
    return pd.DataFrame(
        [(name, size, round(100 * found.value, 1), found.n) for name, size, found in lines],
        columns=["trained on", "examples", "accuracy", "n"],
    )


def before(run: GeneralisationRun) -> Markup:
    """Show the table before training (Table 3 of the paper), folded away."""
    rows = [
        {"set": name, **{label: round(100 * told["value"], 1) for label, told in labels.items()}}
        for name, labels in run.verdict["before"].items()
    ]
    return twin(
        "accuracy before training, by label",
        sheet(pd.DataFrame(rows), "accuracy in percent before training"),
    )


def beside(inoculation: InoculationRun | None) -> Markup:
    """Show what an inoculation on the same phenomenon came to, and the paper's argument."""
    if inoculation is None:
        return NOTHING
    judged = inoculation.verdict
    return Markup(
        '<section class="card"><div class="strip"><b>Inoculation on the same phenomenon</b>'
        '<span class="badge {}">{}</span>{}</div><p>{}</p>{}</section>'
    ).format(
        INOCULATION_TONES[judged["outcome"]],
        badge(judged["outcome"]),
        link(link_to_run([inoculation.id], task=inoculation.plan.task), "Open that run"),
        judged["explanation"],
        note(ARGUMENT),
    )


def results(run: GeneralisationRun, inoculation: InoculationRun | None = None) -> Markup:
    """Show all that a run came to so far; what went wrong stands first."""
    problem = alert(run.error) if run.error else NOTHING
    if not run.verdict:
        return problem + all_curves(run)
    return join(
        [
            problem,
            verdict(run),
            accuracies(run),
            all_curves(run),
            twin("the original set", sheet(original_frame(run), "the original set")),
            before(run),
            beside(inoculation),
            twin("every point", sheet(points_frame(run), "every point")),
        ]
    )
