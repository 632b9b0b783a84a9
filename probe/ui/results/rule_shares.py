"""How often the rule baselines, which read no premise or next to nothing, are right on a file."""

from collections.abc import Iterable
from typing import Any

from probe.baselines import baseline, baselines_for
from probe.statistics import Estimate, Share
from probe.tasks.nli import matches
from probe.tasks.task import Task


class RuleShares:
    """How often each rule baseline is right on the rows with a gold label."""

    def __init__(self, task: Task) -> None:
        self._shares = {name: Share() for name in baselines_for(task)}

    def add(self, examples: Iterable[Any]) -> None:  # Any: of the task's dataclass
        """Count more examples; None stands for a row that was not scored."""
        golden = [example for example in examples if example and example.gold]
        for name, share in self._shares.items():
            for label, example in zip(baseline(name)(golden), golden, strict=True):
                share.add(matches(label, example.gold))

    def estimates(self) -> dict[str, Estimate]:
        """Return what each rule reaches, nothing where no row has a gold label."""
        return {name: share.estimate() for name, share in self._shares.items() if share.n}
