"""Losses: functions of logits and targets, (batch, labels) each, that return the mean of a batch.

Targets say which labels are admissible. A row that admits none has no gold label: a loss with a
second batch (entropy on other pairs) takes that batch as such rows.
"""

from collections.abc import Callable, Sequence

import torch

from probe.tasks.task import Example, Task

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def cross_entropy(
    logits: torch.Tensor,  # (batch, labels)
    targets: torch.Tensor,  # (batch, labels), true where admissible
) -> torch.Tensor:
    """Return minus the log of the probability of all admissible labels together, mean.

    Plain cross-entropy where one label is admissible; non-entailment admits two of three. Infinite
    where a row admits none.
    """
    admitted = logits.masked_fill(~targets, -torch.inf).logsumexp(1)
    return (logits.logsumexp(1) - admitted).mean()


def admissible(examples: Sequence[Example], task: Task) -> torch.Tensor:
    """Return which of the task's labels match the gold; none where there is no gold.

    # (examples, labels)
    """
    rows = {gold: task.admissible(gold) for gold in {example.gold for example in examples}}
    return torch.tensor([rows[example.gold] for example in examples])
