"""What the Inoculate tab shows of several runs: how far they are, and their outcomes."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from finetune.report.inoculation import (
    SELECTION_TITLES,
    badge_of,
    challenge_title,
    interval,
    line_names,
    model_title,
    overview,
    run_label,
    status,
)
from finetune.trials.inoculation import InoculationRun, Selection
from finetune.ui.html.run import is_under_way, progress
from probe.runs.gallery import OWNER
from probe.runs.run import OPEN
from probe.tasks.task import Task
from probe.ui.html.earlier_weights import earlier_weights
from probe.ui.html.elements import (
    NOTHING,
    each,
    join,
    note,
    sorting_heads,
    table,
    twin,
)
from probe.ui.html.run import GOES_ON, state_in_words

FIRST_THE_BASE = "First the model as it was is tested on the challenge and on the original set."
WHAT_WILL_STAND_HERE = (
    "Here will stand how {} grows with the number of examples, how much of the gap closes, "
    "and what that means. Choose what the model fails on, and press Start."
)


def sentence(runs: Sequence[InoculationRun], selection: Selection) -> Markup:
    """Say how far the runs are, or what they came to."""
    under_way = [run for run in runs if is_under_way(run)]
    words = " ".join(filter(None, (status(under_way), overview(runs, selection))))
    ready_made = [(run.plan.model, run.artefacts["model"]) for run in runs if run.owner == OWNER]
    said = Markup('<p class="say">{}</p>').format(words) if words else NOTHING
    return said + earlier_weights(ready_made)


def told(runs: Sequence[InoculationRun], selection: Selection) -> Markup:
    """Return what is told of the runs in the browser's title, and at their end."""
    state = "running" if any(run.state in OPEN for run in runs) else "finished"
    words = status([run for run in runs if is_under_way(run)]) or overview(runs, selection)
    return Markup('<span data-state="{}" data-title="{}"></span>').format(state, words)


def nothing_yet(runs: Sequence[InoculationRun], task: Task) -> Markup:
    """Say what will stand here and how to get it, where there is no curve."""
    if any(run.state in OPEN for run in runs):
        head, words = "The curve begins with the first training", FIRST_THE_BASE
    elif runs:
        head, words = "No training ended", "Take the run up again, or start another."
    else:
        head, words = (
            f"No finished run of {task.choice.lower()} here yet",
            WHAT_WILL_STAND_HERE.format(task.measure),
        )
    return Markup(
        '<div class="card empty"><svg viewBox="0 0 380 90" aria-hidden="true">'
        '<polyline class="goal" points="14,22 366,22"/>'
        '<polyline class="rise" points="14,76 102,52 190,38 278,30 366,26"/></svg>'
        "<h3>{}</h3><p>{}</p></div>"
    ).format(head, words)


def progress_of_all(runs: Sequence[InoculationRun]) -> Markup:
    """Show how far runs are that are under way or ended early; the cells of those at work."""
    shown = [run for run in runs if is_under_way(run)]
    if not shown:
        return NOTHING
    lines = join(progress(run, len(shown) == 1 or run.state == "running") for run in shown)
    return lines + (note(GOES_ON) if any(run.state in OPEN for run in shown) else NOTHING)


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


def list_title(run: InoculationRun) -> str:
    """Name a run in a list of one's own."""
    state = state_in_words(run).lower()
    return f"{challenge_title(run)} · {model_title(run)} · {state} · {run_label(run)}"
