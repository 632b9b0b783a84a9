"""Six very plain pairs that tell whether a model's outputs are named as they should be.

Many models of the hub call their outputs LABEL_0 to LABEL_2, some name them in a wrong order, and
nothing but their answers shows it. The pairs only warn: no label is moved without being asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from probe.models.classifier import Classifier
from probe.tasks.examples import Pair
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, NEUTRAL, Gold, matches

PAIRS = (
    Pair("A woman in a blue coat is riding a horse.", "A woman is riding a horse.", ENTAILMENT),
    Pair("Two boys are eating apples in the kitchen.", "Two boys are eating fruit.", ENTAILMENT),
    Pair("A man is waiting at the station.", "The man is waiting for his sister.", NEUTRAL),
    Pair("A girl is reading a book.", "The book was a present from her teacher.", NEUTRAL),
    Pair("The shop is open today.", "The shop is closed today.", CONTRADICTION),
    Pair("A dog is asleep on the sofa.", "The dog is running across a field.", CONTRADICTION),
)
CLEAR = 3
"""How many more pairs another order has to get right; two swapped labels cost up to four."""
ENOUGH = len(PAIRS) - 1
"""How many an order has to get right to be believed."""


@dataclass(frozen=True)
class LabelCheck:
    """How many of the pairs are right with the order that was given, and with the best one.

    `best` is `order` where no other is better.
    """

    right: int
    of: int
    order: tuple[Gold, ...]
    best_order: tuple[Gold, ...]
    best: int

    @property
    def suggestion(self) -> tuple[Gold, ...] | None:
        """The best order, if it gets enough right to be believed."""
        return self.best_order if self.best >= ENOUGH else None

    @property
    def other(self) -> tuple[Gold, ...] | None:
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


def check_labels(classifier: Classifier) -> LabelCheck:
    """Score the canaries with every order of the model's outputs."""
    said = [prediction.label for prediction in classifier.predict(PAIRS)]
    outputs = [classifier.order.index(label) for label in said]
    given, right = classifier.order, _right(outputs, classifier.order)
    best = max(permutations(given), key=lambda order: (_right(outputs, order), order == given))
    return LabelCheck(right, len(PAIRS), given, best, _right(outputs, best))


def _right(outputs: Sequence[int], order: Sequence[Gold]) -> int:
    """Count the pairs whose largest output has the right label in this order."""
    golds = (pair.gold for pair in PAIRS)
    return sum(
        matches(order[output], gold)
        for output, gold in zip(outputs, golds, strict=True)
        if gold  # each has one; it tells the type checker so
    )
