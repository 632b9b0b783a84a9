"""What one visitor of the page may ask for: the limits of the settings, each with its sentence.

The page and its endpoints ask here; the command line, whose user owns the machine, does not.
"""

from dataclasses import dataclass, fields

from probe.errors import LimitError
from probe.settings import settings, variable

SENTENCES = {
    "max_unpacked_mb": "the file is larger than {limit:,} megabytes once it is unpacked",
    "max_rows": "the file has more than {limit:,} rows",
    "max_columns": "the file has more than {limit:,} columns",
    "max_cell": (
        "a cell of the file has more than {limit:,} characters, or a row twenty times as many"
    ),
    "max_text": "the {what} has {count:,} characters, and at most {limit:,} are read here",
    "max_transforms": "{count:,} transforms and chains at once are more than {limit:,}",
    "max_chain": "the chain {what} joins {count:,} transforms, more than {limit:,}",
    "answer_seconds": "this took longer than {limit:,} seconds; ask for less at once",
    "file_minutes": "this took longer than {limit:,} minutes; give it fewer rows or transforms",
    "max_waiting": "{count:,} requests of yours are waiting already; let some of them end first",
    "max_cells": (
        "a run of {count:,} cells is more than {limit:,}; choose fewer sizes, rates or seeds"
    ),
    "max_open_runs": (
        "{count:,} of your runs would be going at once, more than {limit:,}; wait, cancel some or "
        "choose less"
    ),
    "max_runs_a_day": "{count:,} runs in 24 hours would be more than {limit:,}; come back tomorrow",
    "max_all_open_runs": (
        "{count:,} runs of all visitors would be going at once, more than {limit:,}; try again "
        "when some have ended"
    ),
    "max_kept_models": (
        "{count:,} models of yours would be kept, more than {limit:,}; delete some in Mine"
    ),
    "max_stored_mb": (
        "your files and models would take {count:,} megabytes, more than {limit:,}; delete some in "
        "Mine"
    ),
}
"""By the setting: what is said to who passes it."""


def check(name: str, count: float, what: str = "") -> None:
    """Refuse a count that passes a limit. Raises LimitError; the limit itself is allowed."""
    _check(settings(), name, count, what)


def message(name: str, count: float = 0, what: str = "", limit: int | None = None) -> str:
    """Return the sentence for who passes a limit, with the setting that raises it."""
    passed = getattr(settings(), name) if limit is None else limit
    sentence = SENTENCES[name].format(limit=passed, count=count, what=what)
    return f"{sentence} (this app's {variable(name)})"


def _check(bounds: object, name: str, count: float, what: str) -> None:
    limit = getattr(bounds, name)
    if limit is not None and count > limit:
        raise LimitError(message(name, count, what, limit))


@dataclass(frozen=True)
class Bounds:
    """The most that is read of a file and of an example's text; None, the default, is no bound."""

    max_unpacked_mb: int | None = None
    max_rows: int | None = None
    max_columns: int | None = None
    max_cell: int | None = None
    max_text: int | None = None

    def check(self, name: str, count: float, what: str = "") -> None:
        """Refuse a count that passes a bound. Raises LimitError; the bound itself is allowed."""
        _check(self, name, count, what)


UNBOUNDED = Bounds()
"""What the command line reads."""


def visitor_bounds() -> Bounds:
    """Return the bounds of the settings, for what comes by the page or over HTTP."""
    values = settings()
    return Bounds(**{field.name: getattr(values, field.name) for field in fields(Bounds)})
