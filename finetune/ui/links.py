"""Permalinks of the Inoculate tab."""

from collections.abc import Sequence
from urllib.parse import urlencode


def link_to_run(ids: Sequence[str]) -> str:
    """Return a permalink that opens the Inoculate tab with these runs, if they may be seen."""
    return "?" + urlencode({"tab": "inoculate", "run": ",".join(ids)})
