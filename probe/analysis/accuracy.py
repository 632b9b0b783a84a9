"""How often a model is right; without the statistics of `probe.metrics`, which load slowly."""

import math
from collections.abc import Sequence

from probe.models.classifier import Prediction
from probe.tasks.examples import Pair
from probe.tasks.nli import matches


def accuracy(predictions: Sequence[Prediction], pairs: Sequence[Pair]) -> float:
    """Return the share of right predictions over the pairs that have a gold label."""
    hits = [
        matches(prediction.label, pair.gold)
        for prediction, pair in zip(predictions, pairs, strict=True)
        if pair.gold
    ]
    return sum(hits) / len(hits) if hits else math.nan
