"""A check of the label order of a model by its task's sanity examples.

Many models of the hub call their outputs LABEL_0 to LABEL_2, some name them in a wrong order, and
only their answers show it. The check only warns: the order is changed by the person alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from probe.errors import ModelError
from probe.models.classifier import Classifier
from probe.models.outputs import is_merged
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task

MIN_ADVANTAGE = 3  # examples that a better order gets right in addition; a swap costs up to four
MAX_WRONG = 1  # examples of an order that is suggested


@dataclass(frozen=True)
class LabelCheck:
    """The numbers of correct sanity examples, of n, with `order` and with the best order.

    `best_order` is `order` where no other is better.
    """

    correct: int
    n: int
    order: tuple[Label, ...]
    best_order: tuple[Label, ...]
    best_correct: int
    task: Task = NLI
    alone: bool = True
    """Whether no other order is as good as the best."""

    @property
    def suggestion(self) -> tuple[Label, ...] | None:
        """The best order, None if it gets too many wrong."""
        return self.best_order if self.best_correct >= self.n - MAX_WRONG else None

    @property
    def better_order(self) -> tuple[Label, ...] | None:
        """Another order that is clearly better, None if there is none."""
        return self.suggestion if self.best_correct - self.correct >= MIN_ADVANTAGE else None

    @property
    def warning(self) -> str:
        """A sentence that the labels seem to be in another order, "" where they do not."""
        if self.better_order is None:
            return ""
        return (
            f"with this order the model gets {self.correct} of {self.n} plain {self.task.unit}s "
            f"right; with {', '.join(self.better_order)} {self.best_correct} of {self.n} - are the "
            "labels named wrongly?"
        )

    @property
    def doubt(self) -> str:
        """A sentence that no order of the labels fits the answers, "" where one does."""
        if self.better_order or self.correct > self.n // 2:
            return ""
        return (
            f"the model gets only {self.correct} of {self.n} plain {self.task.unit}s right, and no "
            "other order of its labels is clearly better - is it trained for "
            f"{(self.task.choice or self.task.title).lower()}?"
        )


def guessed(classifier: Classifier, outputs: Sequence[str]) -> Classifier:
    """Return a classifier with the order that answers its sanity examples best, and say so.

    Raises ModelError where no order gets all but one of them right, or several get as many.
    """
    check = check_labels(classifier)
    task = classifier.task
    if check is None or check.suggestion is None or not check.alone:
        most = f"the best gets {check.best_correct} of {check.n}" if check else "there are none"
        raise ModelError(
            f"no order of the labels of {classifier.name!r} can be guessed from plain {task.unit}s "
            f"({most}); give the labels in their order"
        )
    read = ", ".join(
        f"{output} = {label}" for output, label in zip(outputs, check.best_order, strict=True)
    )
    note = (
        f"its outputs were guessed to be {read}: so it gets {check.best_correct} of {check.n} "
        f"plain {task.unit}s right"
    )
    return replace(classifier, order=check.best_order, notes=(*classifier.notes, note))


def check_labels(classifier: Classifier) -> LabelCheck | None:
    """Score the task's sanity examples with every order of the model's labels.

    Returns None where the task has none.
    """
    task, order = classifier.task, classifier.order
    if not task.sanity_examples:
        return None
    predictions = classifier.predict(task.sanity_examples)
    outputs = [order.index(prediction.answer) for prediction in predictions]

    def correct(candidate: tuple[Label, ...]) -> int:
        return _count_correct(task, outputs, candidate)

    orders = (
        [order] if is_merged(order) else permutations(order)
    )  # names that say so much are right
    best = max(orders, key=lambda candidate: (correct(candidate), candidate == order))
    equal = [each for each in permutations(order) if correct(each) == correct(best)]
    alone = is_merged(order) or len(equal) == 1
    return LabelCheck(correct(order), len(outputs), order, best, correct(best), task, alone)


def _count_correct(task: Task, outputs: Sequence[int], order: Sequence[Label]) -> int:
    """Count the sanity examples whose largest output has the right label in this order."""
    golds = (example.gold for example in task.sanity_examples)
    return sum(
        task.matches(order[output], gold)
        for output, gold in zip(outputs, golds, strict=True)
        if gold  # each has one; the condition is for the type checker
    )
