"""How far the scoring of a file is, on the page and in the browser's own title."""

from dataclasses import dataclass
from typing import Any, Literal

from markupsafe import Markup

from probe.analysis.batch import CHUNK_ROWS, Chunk, chunk_end
from probe.text.duration import duration
from probe.ui.answers.answering import Answered
from probe.ui.html.elements import NOTHING, meter

State = Literal["waiting", "starting", "scoring", "finished", "stopped", "partial"]


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

    def after(
        self, step: Chunk[Any] | Answered, texts_each: int = 1, largest: int = CHUNK_ROWS
    ) -> "FileProgress":
        """Return how far it is after some rows, or within the next ones by the texts answered.

        So many texts are answered of each row, and so many rows at most together. The progress is
        then that after the rows that are done.
        """
        if isinstance(step, Chunk):
            state: State = "finished" if step.done == step.total else "scoring"
            return FileProgress(self.name, state, step.done, step.total, step.seconds)
        most = max(0, min(chunk_end(self.done, largest), self.total) - self.done - 1)
        done = self.done + min(step.texts // texts_each, most)
        seconds = self.seconds + step.seconds
        state = "scoring" if self.done else "starting"  # of a few texts the speed says little yet
        return FileProgress(self.name, state, done, self.total, seconds)


TITLES = {
    "waiting": "Waiting for its turn",
    "starting": "Loading the model and scoring the first rows",
    "scoring": "Scoring",
    "stopped": "Stopped",
    "partial": "So far",
}


def file_progress(state: FileProgress) -> Markup:
    """Show how far a file is; the page's title says the same in short, by `data-title`."""
    words, short = in_words(state), state.state.capitalize()
    going = state.state in ("starting", "scoring")
    bar = meter("rows scored", state.share) if going else NOTHING
    if state.state == "scoring":
        short = f"{100 * state.share:.0f} %"
    if state.state == "finished":
        return Markup('<div role="status" data-state="finished" data-title="{}"></div>').format(
            f"{short} · {state.name}"
        )
    return Markup(
        '<div class="card" role="status" data-state="{}" data-title="{}">'
        "<b>{}</b><p class='soft num'>{}</p>{}</div>"
    ).format(state.state, f"{short} · {state.name}", TITLES[state.state], words, bar)


def in_words(state: FileProgress) -> str:
    """Say its place in the line, its speed and the time left, or why it ended."""
    since = f", for {duration(state.seconds)}" if state.seconds >= 1 else ""
    if state.state == "waiting":
        files = "One file is" if state.ahead == 1 else f"{state.ahead} files are"
        return f"{files} scored before yours{since}. It begins by itself; Stop gives up its place."
    if state.state == "starting":
        so_far = f"{state.done:,} of " if state.done else ""
        rows = f"{so_far}{state.total:,} rows{since}"
        return f"{rows}; the speed and the time left are told after the first ones."
    if state.why:
        return state.why
    left = (state.total - state.done) / max(state.per_second, 1e-9)
    return (
        f"{state.done:,} of {state.total:,} rows, {per_second_words(state.per_second)}, "
        f"about {duration(left)} left"
    )


def per_second_words(rows: float) -> str:
    """Write a speed: below ten rows a second with two digits, so that a slow one is not 0."""
    return f"{rows:.2g} a second" if rows < 10 else f"{rows:,.0f} a second"
