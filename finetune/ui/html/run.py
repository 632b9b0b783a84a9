"""What the Inoculate tab shows of one run: its cells as they fill in, its outcome in words."""

import time
from collections.abc import Mapping
from html import escape

from finetune.experiments.inoculation.outcomes import EXPLANATIONS
from finetune.experiments.inoculation.plan import BASE
from finetune.experiments.inoculation.run import InoculationCell, InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.command import command
from finetune.report.sweep import model_name, where
from finetune.report.text import CARE, details, summary
from finetune.ui.links import link_to_run
from probe.runs.gallery import OWNER
from probe.runs.run import OPEN, AnyRun, State
from probe.ui.html.compare import link_to_compare
from probe.ui.html.elements import link_to_model, meter
from probe.ui.widgets import alert

SYMBOLS: Mapping[State, str] = {
    "queued": "·",
    "running": "▶",
    "done": "✓",
    "cancelled": "–",
    "failed": "✕",
}


def state_of(run: AnyRun) -> str:
    """Return a run's state in a word."""
    return "cancelling" if run.cancelling and run.state in OPEN else run.state


def took(run: AnyRun) -> str:
    """Say how long a run has worked."""
    if not run.started:
        return ""
    return f"{(run.finished or time.time()) - run.started:.0f} s"


def progress(run: InoculationRun) -> str:
    """Show how far a run is, and its cells as a grid."""
    ready = len(run.results)
    trouble = alert(run.error) if run.error else ""
    going = "It goes on when this page is closed." if run.state in OPEN else ""
    return (
        f"{meter('cells finished', ready / len(run.cells))}"
        f'<p class="fine">{state_of(run)}: {ready} of {len(run.cells)} cells, {took(run)}. '
        f"{escape(run.plan.challenge)} on {escape(model_name(run))}, {escape(where(run))}. "
        f"{going}</p>{trouble}{grid(run)}"
    )


def grid(run: InoculationRun) -> str:
    """Show the cells: a row for each size, a column for each rate and seed."""
    lrs, seeds = dict.fromkeys(run.plan.lrs), dict.fromkeys(run.plan.seeds)
    columns = [(lr, seed) for lr in lrs for seed in seeds]
    cells = {(cell.key.size, cell.key.lr, cell.key.seed): cell for cell in run.cells}
    heads = "".join(
        f'<th scope="col">{lr:g}{f", seed {seed}" if len(seeds) > 1 else ""}</th>'
        for lr, seed in columns
    )
    base = cells[BASE.size, BASE.lr, BASE.seed]
    rows = "".join(
        f'<tr><th scope="row">{size}</th>'
        + "".join(_cell(cells[size, lr, seed]) for lr, seed in columns)
        + "</tr>"
        for size in sorted({cell.key.size for cell in run.cells} - {0})
    )
    return (
        '<div class="sheet" tabindex="0" role="region" aria-label="cells"><table class="cells">'
        f'<thead><tr><th scope="col">examples ↓ rate →</th>{heads}</tr></thead><tbody>'
        f'<tr><th scope="row">0, as it was</th>{_cell(base, len(columns))}</tr>{rows}</tbody>'
        '</table></div><p class="fine">✓ challenge accuracy, below it original accuracy, in '
        "percent, and seconds; ▶ under way, · waits, ✕ failed, – cancelled.</p>"
    )


def _cell(cell: InoculationCell, width: int = 1) -> str:
    """Show one cell: its accuracies once it is done, its epoch while it runs."""
    point, epoch = cell.result, cell.progress
    head: str = cell.state
    under = cell.error
    if point:
        head = f"{100 * point.challenge:.1f}"
        under = f"{100 * point.original:.1f} · {point.seconds:.0f} s"
    elif epoch and cell.state == "running":
        head, under = f"epoch {epoch.epoch}", f"dev {100 * epoch.dev:.1f}"
    elif cell.key == BASE and cell.state == "running":
        head, under = "testing", "the model as it was, on all test pairs"
    span = f' colspan="{width}"' if width > 1 else ""
    return (
        f'<td class="cell {cell.state}"{span}><span aria-hidden="true">{SYMBOLS[cell.state]}'
        f'</span> <b class="number">{escape(head)}</b><span class="split">{escape(under)}</span>'
        "</td>"
    )


def outcome(run: InoculationRun, selection: Selection = "oracle_lr") -> str:
    """Show the outcome in plain words with its figures, warnings, and what to do next."""
    verdict = run.verdict
    if not verdict:
        return ""
    found = verdict[selection]
    fine = "".join(f'<p class="fine">{escape(one)}</p>' for one in details(verdict, selection))
    warnings = "".join(f"<li>{escape(one)}</li>" for one in verdict["warnings"])
    return (
        f'<div class="card outcome"><p class="fine">{escape(run.plan.challenge)} on '
        f"{escape(model_name(run))}, {escape(where(run))}</p><h2>{escape(found['name'])}</h2>"
        f"<p>{escape(summary(found))}</p><p>{escape(EXPLANATIONS[found['outcome']])}</p>"
        f"{fine}<p>{CARE}</p>"
        + (f"<p><b>Warnings</b></p><ul>{warnings}</ul>" if warnings else "")
        + f"{_next(run)}<p>Repeat on the command line:</p><pre>{escape(command(run))}</pre>"
        "</div>"
    )


def _next(run: InoculationRun) -> str:
    """Link to the inoculated model and to this run."""
    links = [f'<a href="{escape(link_to_run([run.id]))}">Link to this run</a>']
    if run.kept:
        links += [
            f'<a href="{escape(link_to_model(run.kept))}">Probe the inoculated model</a> '
            f"({escape(run.kept)}; the other tabs offer it too)",
            f'<a href="{escape(link_to_compare([run.plan.model, run.kept]))}">Compare it with '
            f"{escape(model_name(run))}</a>",
        ]
    elif run.owner == OWNER:
        links.append("its model is not kept; run the command to have it")
    return f"<p>{' · '.join(links)}</p>"
