"""What the papers report, as far as lessons show it: assets/paper_figures.json."""

import json
from functools import cache

from probe.settings import ASSETS
from probe.ui.lessons.lesson import Figure


@cache
def published(name: str) -> Figure:
    """Return a published share with its source, and with n where it is told."""
    path = ASSETS / "paper_figures.json"
    row = json.loads(path.read_text(encoding="utf-8"))[name]
    n = f", n = {row['n']:,}" if "n" in row else ""
    return Figure(row["who"], row["share"], row["source"] + n)
