"""What the papers report, as far as lessons show it."""

from functools import cache

from probe.published import published_shares
from probe.ui.lessons.lesson import Figure


@cache
def published(name: str) -> Figure:
    """Return a published share with its source, and with n where it is told."""
    known = published_shares()[name]
    n = f", n = {known.n:,}" if known.n is not None else ""
    return Figure(known.who, known.share, known.source + n)
