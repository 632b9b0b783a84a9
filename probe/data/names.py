"""Names of columns and files: which are refused, how they stand in sentences and other names."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from probe.errors import FileError

HALF = re.compile("[\ud800-\udfff]")
"""A lone surrogate: half of a character, which no encoding holds."""
UNUSABLE = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|\ud800-\udfff]')
"""Characters that cannot be in the name of a file on every system."""
STEM_BYTES = 120
"""Bytes of the part of a name that results share; a name may have 255 of them."""
PREFIX = "hub:"
"""Begins the name of a hub's data set where that of a file may stand."""
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


def is_reference(text: str | Path) -> bool:
    """Whether a name of a file is that of a hub's data set."""
    return str(text).startswith(PREFIX)


def stem_of(path: Path) -> str:
    """Return the name of a file up to its first full stop, as other files can be named after it.

    Characters that some system does not take are replaced; the end of a long name is cut.
    """
    return cut(UNUSABLE.sub("_", path.name.split(".")[0]), STEM_BYTES).strip() or "file"


def cut(text: str, size: int) -> str:
    """Return as much of a text's beginning as so many bytes of UTF-8 hold."""
    return text.encode()[:size].decode(errors="ignore")


def cut_short(name: str) -> str:
    """Return a name, its end cut where it is long."""
    return name if len(name) <= SHOWN else name[:SHOWN] + "…"


def shown(name: str) -> str:
    """Return a name in quotes, its end cut where it is long."""
    return repr(cut_short(name))


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence, the first ones of many, "none" of none."""
    cut = list(map(cut_short, names[:LISTED]))
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(cut) + more or "none"
