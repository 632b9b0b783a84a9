"""The project does not grow unnoticed: what benchmarks/size.py counts, against tests/size.toml."""

import sys
from typing import Any

from benchmarks.size import checkout, figures, largest
from tests.support.checkout import text
from tests.support.pages.built import built

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LIMITS: dict[str, int] = tomllib.loads(text("tests/size.toml"))
ROOM = 1.02
"""With more than that under a limit, the commit that won it lowers the limit."""


def test_nothing_is_larger_than_its_limit_or_far_below_it() -> None:
    config: Any = built().get_config_file()
    page = {f"page: {name}": number for name, number in largest(config).items()}
    measured = figures(checkout()) | page
    assert LIMITS.keys() == measured.keys()
    wrong = {
        name: f"{measured[name]}, limit {limit}"
        for name, limit in LIMITS.items()
        if not measured[name] <= limit <= max(measured[name] * ROOM, measured[name] + 20)
    }
    assert not wrong
