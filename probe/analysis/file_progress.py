"""How far the scoring of a file is: all that a page needs to show it, whoever computes it."""

from dataclasses import dataclass
from typing import Any, Literal

from probe.analysis.batch import Chunk

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
