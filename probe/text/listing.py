"""Several names in a sentence."""

from collections.abc import Sequence


def listing(names: Sequence[str]) -> str:
    """Return names with commas between them and "and" before the last.

    Raises ValueError where there is none.
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
