"""Tables of figures as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from probe.metrics import Estimate, interval

NONE = "–"


@dataclass(frozen=True)
class MarkdownTable:
    """A table: what it shows in a sentence, its columns and rows.

    `models` are those that it is about, by name, with the hashes that their runs began with.
    """

    says: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    models: Mapping[str, str]


def written(table: MarkdownTable) -> str:
    """Write the rows of a table, with its columns above them."""
    head, *rows = (f"| {' | '.join(row)} |\n" for row in (table.heads, *table.rows))
    return "".join((head, f"|{'---|' * len(table.heads)}\n", *rows))


def in_percent(value: float | None) -> str:
    """Write a share in per cent, a dash for none."""
    return NONE if value is None else f"{100 * value:.1f}"


def with_interval(estimate: Estimate) -> str:
    """Write a share in per cent with its interval, such as 81.5 (80.4–82.6)."""
    return f"{in_percent(estimate.value)} ({interval(estimate, '–')})" if estimate.n else NONE
