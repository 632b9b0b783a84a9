"""A row of a file as it is read: its cells, and in a text file what is written of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from probe.limits import Bounds


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a file, numbered from 0; `broken` says why it does not fit the header.

    `written` is a JSON object's text on one line, and `fields` are those of CSV or TSV as they are
    written: where a file has none, or none that could stand in another one, they are empty.
    """

    number: int
    cells: Mapping[str, Any] = field(default_factory=dict)  # Any: whatever a file may hold
    written: str = ""
    fields: Sequence[str] = ()
    broken: str = ""


NO_RECORD = Record(0)
REPEATED = "the row repeats the names of the columns"
MOST_PATHS = 200
"""Names of nested fields that are listed."""


def cell(cells: Mapping[str, Any], name: str) -> Any:  # Any: whatever a file may hold
    """Return what a row has by a column's name, else by a path such as `example.premise`.

    None where it has neither.
    """
    if name in cells:
        return cells[name]
    parts = name.split(".")
    for count in range(1, len(parts)):
        inner = cells.get(".".join(parts[:count]))
        if isinstance(inner, Mapping):
            found = cell(inner, ".".join(parts[count:]))
            if found is not None:
                return found
    return None


def paths(cells: Mapping[str, Any], prefix: str = "") -> Iterator[str]:  # Any: as above
    """Yield the paths of the fields that stand within objects of a row."""
    for name, value in cells.items():
        if isinstance(value, Mapping):
            yield from paths(value, f"{prefix}{name}.")
        elif prefix:
            yield f"{prefix}{name}"


class Tabular(Protocol):
    """Rows with named columns, in memory or still in a file."""

    @property
    def bounds(self) -> Bounds:
        """Within what the rows are read."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns, and behind them the paths of nested fields."""

    def __len__(self) -> int:
        """Return how many rows there are."""

    def records(self, start: int = 0) -> Iterator[Record]:
        """Yield the rows from the one of this number on."""


class ReadFile(Tabular, Protocol):
    """The rows of a file, which may have been read in one of several ways."""

    @property
    def classes(self) -> Mapping[str, Sequence[str]]:
        """The names that a file itself gives to the whole numbers of a column, by its name."""

    @property
    def words(self) -> str:
        """How it is read where there is another way, "" where that needs no saying."""
