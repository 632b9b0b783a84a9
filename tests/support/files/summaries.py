"""What scored rows come to, of which a test has all at once."""

from collections.abc import Iterable, Sequence

from probe.analysis.batch import Row
from probe.analysis.summary import Summary, Totals
from probe.tasks.task import Task


def summarise(rows: Iterable[Row], names: Sequence[str], task: Task) -> Summary:
    """Measure scored rows of a task and these transforms."""
    totals = Totals(task, names)
    totals.add(rows)
    return totals.summary()
