"""A task's sanity examples tell whether a model's outputs are named as they should be.

Many models of the hub call their outputs LABEL_0 to LABEL_2, some name them in a wrong order, and
nothing but their answers shows it. The examples only warn: no label is moved without being asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from probe.models.classifier import Classifier
from probe.tasks.task import Label, Task

CLEAR = 3
"""How many more examples another order has to get right; two swapped labels cost up to four."""
MAY_MISS = 1
"""How many examples an order may get wrong and still be believed."""


@dataclass(frozen=True)
class LabelCheck:
    """How many sanity examples are right with the order that was given, and with the best one.

    `best` is `order` where no other is better.
    """

    right: int
    of: int
    order: tuple[Label, ...]
    best_order: tuple[Label, ...]
    best: int

    @property
    def suggestion(self) -> tuple[Label, ...] | None:
        """The best order, if it gets enough right to be believed."""
        return self.best_order if self.best >= self.of - MAY_MISS else None

    @property
    def other(self) -> tuple[Label, ...] | None:
        """Another order that is clearly better, if there is one."""
        return self.suggestion if self.best - self.right >= CLEAR else None

    @property
    def warning(self) -> str:
        """Says that the labels seem to be in another order, empty where they do not."""
        if self.other is None:
            return ""
        return (
            f"with this order the model gets {self.right} of {self.of} plain pairs right; with "
            f"{', '.join(self.other)} {self.best} of {self.of} - are the labels named wrongly?"
        )

    @property
    def doubt(self) -> str:
        """Says that no order of the labels makes sense of the answers, empty where one does."""
        if self.other or self.right > self.of // 2:
            return ""
        return (
            f"the model gets only {self.right} of {self.of} plain pairs right, and no other order "
            "of its labels is clearly better - is it trained for inference?"
        )


def check_labels(classifier: Classifier) -> LabelCheck | None:
    """Score the task's sanity examples with every order of the model's outputs.

    None where the task has none.
    """
    task, given = classifier.task, classifier.order
    if not task.sanity_examples:
        return None
    predictions = classifier.predict(task.sanity_examples)
    outputs = [given.index(prediction.label) for prediction in predictions]

    def right(order: tuple[Label, ...]) -> int:
        return _right(task, outputs, order)

    best = max(permutations(given), key=lambda order: (right(order), order == given))
    return LabelCheck(right(given), len(outputs), given, best, right(best))


def _right(task: Task, outputs: Sequence[int], order: Sequence[Label]) -> int:
    """Count the sanity examples whose largest output has the right label in this order."""
    golds = (example.gold for example in task.sanity_examples)
    return sum(
        task.matches(order[output], gold)
        for output, gold in zip(outputs, golds, strict=True)
        if gold  # each has one; it tells the type checker so
    )
