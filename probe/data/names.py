"""The names of a table's columns: which are refused, and how they stand in a sentence."""

import re
from collections import Counter
from collections.abc import Sequence

from probe.errors import FileError

HALF = re.compile("[\ud800-\udfff]")
"""A lone surrogate: half of a character, which no encoding holds."""
LISTED, SHOWN = 20, 40
"""Names in one sentence, and characters of one name."""


def check_names(names: Sequence[str], file: str) -> None:
    """Refuse names that occur twice or hold half of a character. Raises FileError."""
    name, count = next(iter(Counter(names).most_common(1)), ("", 0))
    if count > 1 and not name:
        raise FileError(f"{file} has {count} columns without a name; name them or leave them out")
    if count > 1:
        raise FileError(f"{file} has two columns called {shown(name)}; rename one")
    half = next((number for number, name in enumerate(names, 1) if HALF.search(name)), None)
    if half:
        raise FileError(
            f"{file}: the name of column {half} holds half of a character, a lone surrogate"
        )


def shown(name: str) -> str:
    """Return a name in quotes, its end cut where it is long."""
    return repr(name if len(name) <= SHOWN else name[:SHOWN] + "…")


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence, the first ones of many."""
    cut = [name if len(name) <= SHOWN else name[:SHOWN] + "…" for name in names[:LISTED]]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(cut) + more
