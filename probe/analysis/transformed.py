"""The whole look at pairs: what the model says, and what it says of each transformed pair."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from probe.analysis.attribution import BaselineToken, Importance, Method, attribute
from probe.baselines import BASELINES
from probe.errors import ExampleError
from probe.models.classifier import Classifier, Precision, Prediction
from probe.tasks.nli import Pair, matches
from probe.tasks.task import Label, Task
from probe.transforms import Options, Result, apply, default_of
from probe.transforms.availability import require_ready


@dataclass(frozen=True)
class Transformed:
    """A transformed pair and what the model says of it.

    `agrees`: the prediction is that of the original pair, or the transform's default label.
    `right`: the prediction matches the new gold label, None where that is undefined.
    """

    result: Result
    prediction: Prediction
    agrees: bool

    @property
    def right(self) -> bool | None:
        """Whether the prediction matches the new gold label."""
        gold = self.result.gold
        return matches(self.prediction.label, gold) if gold else None


@dataclass(frozen=True)
class Examination:
    """A pair, the prediction, the importance of its tokens, and its treated versions.

    `rules` is what the rule baselines say of the pair.
    """

    pair: Pair
    prediction: Prediction
    importance: Importance
    transformed: tuple[Transformed, ...]
    rules: Mapping[str, Label]


OF_ONE = tuple(name for name in BASELINES if name != "majority")  # which is that of a whole set


@dataclass
class Reader:
    """Scores pairs by gradient × input for the sub-word transforms, each pair once."""

    classifier: Classifier
    options: Options
    known: dict[Pair, Importance] = field(default_factory=dict)

    def __call__(self, pairs: Sequence[Pair]) -> list[Importance]:
        """Return the importance of the pairs for their explained labels."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.known]
        labels = explained(
            self.classifier.task, new, [p.label for p in self.classifier.predict(new)]
        )
        scores = attribute(self.classifier, new, labels, sign=self.options.sign)
        self.known |= dict(zip(new, scores, strict=True))
        return [self.known[pair] for pair in pairs]


def explained(task: Task, pairs: Sequence[Pair], predicted: Sequence[Label]) -> list[Label]:
    """Return the label each pair is explained for: gold (Gupta), else predicted (Feng)."""
    return [
        (task.nearest(pair.gold) if pair.gold else None) or label
        for pair, label in zip(pairs, predicted, strict=True)
    ]


def transform_all(
    classifier: Classifier,
    pairs: Sequence[Pair],
    predictions: Sequence[Prediction],
    names: Sequence[str],
    seed: int = 0,
    options: Options = Options(),
    precision: Precision = "fp32",
) -> dict[str, list[tuple[Transformed, ...]]]:
    """Apply each transform or chain to every pair and classify what comes out.

    A transform may make several pairs of one. Everything is classified together, in batches of
    like length. Raises UnknownTransform or Unavailable.
    """
    reader = Reader(classifier, options)
    labels = [prediction.label for prediction in predictions]
    results = {name: apply(name, pairs, seed, options, reader, labels) for name in names}
    new = [result.pair for rows in results.values() for row in rows for result in row]
    said = iter(classifier.predict(new, precision))
    return {
        name: [
            tuple(_transformed_text(result, before, next(said)) for result in row)
            for row, before in zip(rows, predictions, strict=True)
        ]
        for name, rows in results.items()
    }


def _transformed_text(result: Result, before: Prediction, now: Prediction) -> Transformed:
    return Transformed(result, now, now.label == (default_of(result.transform) or before.label))


def examine(
    classifier: Classifier,
    pair: Pair,
    names: Sequence[str] = (),
    seed: int = 0,
    options: Options = Options(),
    method: Method = "gradient_x_input",
    baseline: BaselineToken = "pad",
    label: Label | None = None,
    precision: Precision = "fp32",
) -> Examination:
    """Look at one pair. `label` is what is explained: given, else gold, else predicted.

    Raises ExampleError where a side is empty, UnknownTransform for a name that is not there,
    Unavailable for a transform that cannot run here.
    """
    require_text(pair)
    for name in names:
        require_ready(name)
    prediction = classifier.predict([pair], precision)[0]
    shown = label or explained(classifier.task, [pair], [prediction.label])[0]
    importance = attribute(classifier, [pair], [shown], method, options.sign, baseline)[0]
    transformed = transform_all(classifier, [pair], [prediction], names, seed, options, precision)
    several = tuple(one for rows in transformed.values() for one in rows[0])
    rules = {name: BASELINES[name]([pair])[0] for name in OF_ONE}
    return Examination(pair, prediction, importance, several, rules)


HALF = re.compile("[\ud800-\udfff]")


def require_text(pair: Pair) -> None:
    """Refuse a pair without readable text on both sides. Raises ExampleError."""
    empty = [side for side in ("premise", "hypothesis") if not getattr(pair, side).strip()]
    if empty:
        raise ExampleError(
            f"the {' and the '.join(empty)} {'is' if len(empty) == 1 else 'are'} empty"
        )
    if HALF.search(pair.premise + " " + pair.hypothesis):
        raise ExampleError(
            "the text holds half of a character, a lone surrogate, and cannot be read"
        )
