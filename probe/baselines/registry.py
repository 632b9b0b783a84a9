"""The registry of baselines: functions that label pairs, and their facts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from probe.errors import UnknownBaseline
from probe.tasks.nli import Pair
from probe.tasks.task import Label, Task

Labeller = Callable[[Sequence[Pair]], list[Label]]
"""Returns one label for each pair, in their order."""


@dataclass(frozen=True)
class Baseline:
    """A rule and its facts. Calling it with pairs returns a label for each, in their order."""

    name: str
    title: str
    summary: str
    function: Labeller
    source: str

    def __call__(self, pairs: Sequence[Pair]) -> list[Label]:
        """Label the pairs."""
        return self.function(pairs)


BASELINES: dict[str, Baseline] = {}


def baselines_for(task: Task) -> tuple[str, ...]:
    """Return the names of the rules that speak of a task: all of ours are about NLI pairs."""
    return tuple(BASELINES) if task.example is Pair else ()


def register(name: str, title: str, summary: str, *, source: str) -> Callable[[Labeller], Labeller]:
    """Register the decorated function under `name` with its facts."""

    def register(function: Labeller) -> Labeller:
        BASELINES[name] = Baseline(name, title, summary, function, source)
        return function

    return register


def baseline(name: str) -> Baseline:
    """Return a registered baseline. Raises UnknownBaseline."""
    if name not in BASELINES:
        raise UnknownBaseline(f"there is no rule {name!r}; there are: {', '.join(BASELINES)}")
    return BASELINES[name]
