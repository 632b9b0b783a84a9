"""What one request may hold, checked before any work: texts, transforms, links of a chain."""

from collections.abc import Sequence

from probe.data.rows import require_text
from probe.limits import check, visitor_bounds
from probe.tasks.task import Example, Task

MAX_SHOWN = 60
"""Characters of a chain that a refusal quotes."""


def check_example(task: Task, example: Example) -> None:
    """Refuse an example without text or with too much of it. Raises ExampleError, LimitError."""
    require_text(task, example, visitor_bounds())


def check_transforms(names: Sequence[str]) -> None:
    """Refuse too many transforms, and a chain of too many. Raises LimitError."""
    check("max_transforms", len(names))
    for name in names:
        shown = name if len(name) <= MAX_SHOWN else f"{name[:MAX_SHOWN]} …"
        check("max_chain", name.count("+") + 1, shown)
