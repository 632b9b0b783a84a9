"""How far the scoring of a file is, on the page and in the browser's own title."""

from dataclasses import dataclass
from typing import Any, Literal

from markupsafe import Markup

from probe.analysis.batch import Chunk
from probe.text.duration import duration
from probe.ui.html.elements import NOTHING, meter

State = Literal["waiting", "loading", "starting", "scoring", "finished", "stopped", "partial"]


@dataclass(frozen=True)
class FileProgress:
    """The state of a file that is scored; `seconds` are those since its first row was begun.

    `ahead` files are scored before it while it waits; `why` says what ended it early, or
    of a partial one, which goes on or can, what is done.
    """

    name: str
    state: State
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    ahead: int = 0
    why: str = ""

    @property
    def share(self) -> float:
        """The share of the rows that is scored."""
        return self.done / self.total if self.total else 0.0

    @property
    def per_second(self) -> float:
        """Rows per second so far."""
        return self.done / max(self.seconds, 1e-9)

    @property
    def left(self) -> float:
        """Seconds still to go at this speed."""
        return (self.total - self.done) / max(self.per_second, 1e-9)


def after_chunk(name: str, chunk: Chunk[Any]) -> FileProgress:
    """Return how far a file is after a chunk of its rows."""
    state: State = "finished" if chunk.done == chunk.total else "scoring"
    return FileProgress(name, state, chunk.done, chunk.total, chunk.seconds)


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
