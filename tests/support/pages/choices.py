"""What a visitor has chosen in Measure, in the order of the choice's components."""

from collections.abc import Sequence
from typing import Any

from probe.ui.measure.choice import BUNDLED
from probe.ui.measure.texts import column_count


def chosen(
    models: Sequence[str],
    source: str = BUNDLED,
    path: str | None = None,
    columns: Sequence[str | None] = (),
    texts: Sequence[str] = ("", ""),
    meanings: str = "",
    **how: Any,  # Any: precision, long, seed
) -> list[Any]:
    """Return the values of the choice beside the visitor's token and the task."""
    said = {"precision": "auto", "long": "cut", "seed": 0, **how}
    of_file = [path, *(columns or [None] * column_count()), meanings]
    return [list(models), source, said["precision"], said["long"], said["seed"], *texts, *of_file]
