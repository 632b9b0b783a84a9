"""How far the scoring of a file is, on the page and in the browser's own title."""

from markupsafe import Markup

from probe.analysis.file_progress import FileProgress
from probe.reports.duration import duration
from probe.ui.html.elements import NOTHING, meter

TITLES = {
    "waiting": "Waiting for its turn",
    "loading": "Loading the model",
    "starting": "Scoring the first rows",
    "scoring": "Scoring",
    "stopped": "Stopped",
    "partial": "So far",
}


def file_progress(state: FileProgress) -> Markup:
    """Show how far a file is; the page's title says the same in short, by `data-title`."""
    words, short = in_words(state), in_short(state)
    going = state.state in ("starting", "scoring")
    bar = meter("rows scored", state.share) if going else NOTHING
    if state.state == "finished":
        return Markup('<div role="status" data-state="finished" data-title="{}"></div>').format(
            f"{short} · {state.name}"
        )
    return Markup(
        '<div class="card" role="status" data-state="{}" data-title="{}">'
        "<b>{}</b><p class='soft num'>{}</p>{}</div>"
    ).format(state.state, f"{short} · {state.name}", TITLES[state.state], words, bar)


def in_short(state: FileProgress) -> str:
    """Say in a word or two how far a file is."""
    if state.state == "scoring":
        return f"{100 * state.share:.0f} %"
    return state.state.capitalize()


def in_words(state: FileProgress) -> str:
    """Say its place in the line, its speed and the time left, or why it ended."""
    if state.state == "waiting":
        files = "One file is" if state.ahead == 1 else f"{state.ahead} files are"
        return f"{files} scored before yours. It begins by itself; Stop gives up its place."
    if state.state == "loading":
        return "The first rows follow in a moment."
    if state.state == "starting":
        return f"{state.total:,} rows; the speed and the time left are told after the first ones."
    if state.why:
        return state.why
    return (
        f"{state.done:,} of {state.total:,} rows, {per_second_words(state.per_second)}, "
        f"about {duration(state.left)} left"
    )


def per_second_words(rows: float) -> str:
    """Write a speed: below ten rows a second with two digits, so that a slow one is not 0."""
    return f"{rows:.2g} a second" if rows < 10 else f"{rows:,.0f} a second"
