"""What the Inoculate tab shows of one run: how far it is, its cells, its outcome in words."""

from collections.abc import Sequence

from markupsafe import Markup

from finetune.report.command_line import command
from finetune.report.inoculation import (
    CAUTION,
    TONES,
    badge_of,
    challenge_title,
    counter_lines,
    details,
    meaning,
    measure_of,
    missing_texts,
    model_name,
    model_title,
    outcome_in,
    run_label,
    seconds_left,
    summary,
    task_of,
)
from finetune.training.recipes import mode_words
from finetune.trials.inoculation import BASE, InoculationCell, InoculationRun, Selection
from finetune.ui.html.commands import commands
from probe.runs.gallery import OWNER
from probe.runs.run import OPEN
from probe.text.duration import duration_words
from probe.ui.html.elements import (
    NOTHING,
    each,
    heads,
    join,
    link,
    note,
    table,
    twin,
)
from probe.ui.html.run import SYMBOLS, took, under_way
from probe.ui.links import link_to_measure, link_to_model, link_to_run

LEGEND = (
    "✓ {0} on the challenge, below it {0} on the original set, in percent, and seconds; "
    "▶ under way, · waits, ✕ failed, – cancelled."
)
ITEM, PARAGRAPH = Markup("<li>{}</li>"), Markup("<p>{}</p>")


def name_of(run: InoculationRun) -> str:
    """Name a run by its challenge, its model and what tells it from others of these."""
    return f"{run.plan.challenge} on {model_name(run)}, {run_label(run)}"


def title_of(run: InoculationRun) -> str:
    """Name a run in plain words."""
    return f"{challenge_title(run)} on {model_title(run)}, {mode_words(run.plan.mode)}"


def progress(run: InoculationRun, detailed: bool = True) -> Markup:
    """Show how far a run is: a bar, the trainings done, the time left; its cells folded away."""
    cells = twin("each training", grid(run)) if detailed else NOTHING
    return under_way(run, title_of(run), how_far(run), cells)


def how_far(run: InoculationRun) -> str:
    """Say how many trainings are done, how long it took and about how long it still takes."""
    trained = [cell for cell in run.cells if cell.key != BASE]
    done = sum(cell.result is not None for cell in trained)
    left = seconds_left(run) if run.state == "running" else None
    parts = [
        f"{done} of {len(trained)} trainings",
        took(run),
        f"{duration_words(left)} left" if left is not None else "",
    ]
    return " · ".join(part for part in parts if part)


def grid(run: InoculationRun) -> Markup:
    """Show the cells: a row for each size, a column for each rate and seed."""
    lrs, seeds = dict.fromkeys(run.plan.lrs), dict.fromkeys(run.plan.seeds)
    columns = [(lr, seed) for lr in lrs for seed in seeds]
    several = len(seeds) > 1
    names = [f"{lr:g}{f', seed {seed}' if several else ''}" for lr, seed in columns]
    cells = {(cell.key.size, cell.key.lr, cell.key.seed): cell for cell in run.cells}
    rows = [_row("0, as it was", _cell(cells[BASE.size, BASE.lr, BASE.seed], len(columns)))]
    for size in sorted({cell.key.size for cell in run.cells} - {0}):
        rows.append(_row(str(size), join(_cell(cells[size, lr, seed]) for lr, seed in columns)))
    head = heads(["examples ↓ rate →", *names])
    return table("cells", head, join(rows), kind="cells") + note(LEGEND.format(measure_of([run])))


def _row(name: str, cells: Markup) -> Markup:
    return Markup('<tr><th scope="row">{}</th>{}</tr>').format(name, cells)


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


def is_under_way(run: InoculationRun) -> bool:
    """Whether somebody's run is open, or ended before its outcome."""
    return run.owner != OWNER and (run.state in OPEN or run.state != "done")
