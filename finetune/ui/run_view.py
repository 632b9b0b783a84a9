"""What the Inoculate tab shows of a run: sample pairs, its cells, its outcome."""

import shlex
from collections.abc import Sequence
from html import escape

from finetune.plan import Plan
from finetune.runs import OPEN, CellState, Run
from finetune.sets import challenged
from probe.pairs import bundled_pairs
from probe.ui.choices import alert
from probe.ui.compare_results import link_to_compare
from probe.ui.marks import diff, link_to_model, meter
from probe.words import edits

SAMPLES = 5
CARE = (
    "An outcome speaks of this challenge set and this model. That a gap closes shows that the "
    "model can fit such examples, not that it has learnt the phenomenon: other wordings may "
    "still fool it."
)
NO_RUN = '<p class="fine">No run yet. Choose a patient and a pathogen, then start.</p>'


def samples(challenge: str) -> str:
    """Show a few pairs of a challenge, their edits marked; those it leaves alone are left out."""
    pool = bundled_pairs("pool")
    before = {pair.id: pair for pair in pool[:: len(pool) // SAMPLES][:SAMPLES]}
    made = [(before[new.id], new) for new in challenged(challenge, list(before.values()))]
    shown = "".join(
        f"<li>{diff(edits(old.premise, new.premise))} ▸ "
        f"{diff(edits(old.hypothesis, new.hypothesis))} "
        f'<span class="label {new.gold}">{new.gold}</span></li>'
        for old, new in made
    )
    return (
        f'<p class="fine">{len(made)} pairs of this challenge</p><ul class="samples">{shown}</ul>'
    )


def progress(run: Run) -> str:
    """Show the state of a run and of each of its cells."""
    ready = len(run.points)
    words = "cancelling" if run.cancelling and run.state in OPEN else run.state
    trouble = alert(run.error) if run.error else ""
    rows = "".join(_cell(state) for state in run.cells)
    return (
        f"{meter('cells finished', ready / len(run.cells))}"
        f'<p class="fine">{words}: {ready} of {len(run.cells)} cells. '
        f"{escape(run.plan.challenge)} on {escape(run.plan.model)}, run {run.id}. "
        f"It goes on when this page is closed.</p>{trouble}"
        '<div class="sheet" tabindex="0" role="region" aria-label="cells"><table><thead><tr>'
        "<th>examples</th><th>rate</th><th>seed</th><th>state</th><th>original</th>"
        f"<th>challenge</th><th>seconds</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(state: CellState) -> str:
    """Show one cell: its accuracies once it is done, its epoch while it runs."""
    cell, point = state.cell, state.point
    said: str = state.state
    if state.epoch and not point:
        said = f"epoch {state.epoch.epoch}, original dev {100 * state.epoch.dev:.1f} %"
    cells: Sequence[object] = (
        cell.size or "0, as it was",
        f"{cell.lr:g}" if cell.size else "",
        cell.seed if cell.size else "",
        state.error or said,
        f"{100 * point.original:.1f} %" if point else "",
        f"{100 * point.challenge:.1f} %" if point else "",
        f"{point.seconds:.0f}" if point else "",
    )
    return "<tr>" + "".join(f"<td>{escape(str(one))}</td>" for one in cells) + "</tr>"


def outcome(run: Run) -> str:
    """Show the outcome in plain words with its figures, warnings, and what to do next."""
    verdict = run.verdict
    if not verdict:
        return ""
    found = verdict["oracle_lr"]
    figures = "".join(
        f"<li>{words}: {_interval(found[name])}</li>"
        for name, words in (
            ("gap", "gap before inoculation, in points"),
            ("closed", "share of the gap closed, in percent"),
            ("drop", "lost on the original test, in points"),
        )
    )
    warnings = "".join(f"<li>{escape(one)}</li>" for one in verdict["warnings"])
    kept = (
        f'<p><a href="{escape(link_to_model(run.kept))}">Probe the inoculated model</a> '
        f"({escape(run.kept)}); the other tabs offer it too. "
        f'<a href="{escape(link_to_compare([run.plan.model, run.kept]))}">'
        f"Compare it with {escape(run.plan.model)}</a>.</p>"
        if run.kept
        else ""
    )
    return (
        f'<div class="card outcome"><h2>{escape(verdict["name"])}</h2>'
        f"<p>{escape(verdict['explanation'])}</p><ul>{figures}</ul>"
        f'<p class="fine">At {found["size"]} examples, with 95 % intervals from 1,000 paired '
        f"resamples.</p><p>{CARE}</p>"
        + (f"<p><b>Warnings</b></p><ul>{warnings}</ul>" if warnings else "")
        + f"{kept}<p>Repeat on the command line:</p><pre>{escape(command(run.plan))}</pre></div>"
    )


def _interval(value: dict[str, float | None]) -> str:
    middle, low, high = value["value"], value["low"], value["high"]
    if middle is None or low is None or high is None:
        return "not defined"
    return f"<b>{100 * middle:.1f}</b> ({100 * low:.1f} to {100 * high:.1f}), n = {value['n']}"


def command(plan: Plan) -> str:
    """Return the command that repeats a run on the bundled pairs."""
    lists = {
        name: ",".join(str(one) for one in getattr(plan, name))
        for name in ("sizes", "lrs", "seeds")
    }
    parts = [
        "python",
        "-m",
        "finetune",
        "inoculate",
        "--model",
        plan.model,
        "--challenge",
        plan.challenge,
    ]
    for name, text in lists.items():
        parts += [f"--{name}", text]
    return shlex.join([*parts, "--out", f"inoculated/{plan.challenge}"])
