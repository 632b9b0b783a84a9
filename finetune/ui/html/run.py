"""What the Inoculate tab shows of one run: its cells as they fill in, its outcome in words."""

from markupsafe import Markup

from finetune.experiments.inoculation.outcomes import OUTCOMES
from finetune.experiments.inoculation.plan import BASE
from finetune.experiments.inoculation.run import InoculationCell, InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.command import command
from finetune.report.sweep import model_name, run_label
from finetune.report.text import CAUTION, details, summary
from finetune.ui.links import link_to_run
from probe.runs.gallery import OWNER
from probe.ui.html.elements import NOTHING, each, heads, join, link, note, table
from probe.ui.html.run import SYMBOLS, progress_of
from probe.ui.links import link_to_compare, link_to_model

LEGEND = (
    "✓ challenge accuracy, below it original accuracy, in percent, and seconds; ▶ under way, "
    "· waits, ✕ failed, – cancelled."
)
ITEM, PARAGRAPH = Markup("<li>{}</li>"), Markup("<p>{}</p>")


def progress(run: InoculationRun) -> Markup:
    """Show how far a run is, and its cells as a grid."""
    return progress_of(run, name_of(run), grid(run))


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
    rows = [_row("0, as it was", _cell(cells[BASE.size, BASE.lr, BASE.seed], len(columns)))]
    for size in sorted({cell.key.size for cell in run.cells} - {0}):
        rows.append(_row(str(size), join(_cell(cells[size, lr, seed]) for lr, seed in columns)))
    head = heads(["examples ↓ rate →", *names])
    return table("cells", head, join(rows), kind="cells") + note(LEGEND)


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


def outcome(run: InoculationRun, selection: Selection = "oracle_lr") -> Markup:
    """Show the outcome in plain words with its figures, warnings, and what to do next."""
    verdict = run.verdict
    if not verdict:
        return NOTHING
    result = verdict[selection]
    sentences = [summary(result), OUTCOMES[result["outcome"]].summary]
    return Markup(
        '<div class="card outcome">{}<h2>{}</h2>{}{}<p>{}</p>{}<p>{}</p>'
        "<p>Repeat on the command line:</p><pre>{}</pre></div>"
    ).format(
        note(name_of(run)),
        result["name"],
        each(PARAGRAPH, sentences),
        join(map(note, details(verdict, selection))),
        CAUTION,
        _warnings(verdict["warnings"]),
        _next(run),
        command(run),
    )


def _warnings(sentences: list[str]) -> Markup:
    if not sentences:
        return NOTHING
    return Markup("<p><b>Warnings</b></p><ul>{}</ul>").format(each(ITEM, sentences))


def _next(run: InoculationRun) -> Markup:
    """Link to the inoculated model, and to a run of the gallery."""
    links = list[Markup]()
    if run.owner == OWNER:
        links.append(link(link_to_run([run.id]), "Link to this run"))
    if run.kept:
        models = [run.plan.model, run.kept]
        links += [
            Markup("{} ({}; the other tabs offer it too)").format(
                link(link_to_model(run.kept), "Probe the inoculated model"), run.kept
            ),
            link(link_to_compare(models), f"Compare it with {model_name(run)}"),
        ]
    elif run.owner == OWNER:
        links.append(Markup("its model is not kept; run the command to have it"))
    return join(links, Markup(" · "))
