"""A bag of words over the hypothesis alone: the accuracy that needs no premise.

Multinomial logistic regression over which words occur (Gururangan et al. 2018 and Poliak et al.
2018 show the effect with stronger models). `python -m probe baselines train` trains it and
writes the words and their weights as JSON; prediction needs only numpy.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from probe.baselines.registry import register
from probe.errors import MissingWeights
from probe.settings import ASSETS
from probe.tasks.nli import LABELS, Pair
from probe.tasks.task import Label
from probe.text.words import tokenise

FOLDER = ASSETS / "baselines"
WEIGHTS_FILE = "hypothesis_only.json"


@dataclass(frozen=True)
class BagWeights:
    """Each word's row in `matrix` (words, labels), and `bias` (labels,), in the order of LABELS."""

    rows: Mapping[str, int]
    matrix: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]


@register(
    "hypothesis_only",
    "Hypothesis only",
    "A bag of the hypothesis's words, which never sees the premise.",
    source="Gururangan et al. 2018; Poliak et al. 2018",
)
def hypothesis_only(pairs: Sequence[Pair]) -> list[Label]:
    """Sum the weights of the words that occur. Raises MissingWeights."""
    weights = load(FOLDER)
    return [LABELS[int(label_scores(pair.hypothesis, weights).argmax())] for pair in pairs]


def bag_of_words(text: str) -> set[str]:
    """Return the lower-cased tokens that occur in a text."""
    return set(tokenise(text.lower()))


def label_scores(hypothesis: str, weights: BagWeights) -> npt.NDArray[np.float64]:
    """Return the score of each label, in the order of LABELS: logits up to a constant."""
    rows = sorted(weights.rows[word] for word in bag_of_words(hypothesis) if word in weights.rows)
    total: npt.NDArray[np.float64] = weights.matrix[rows].sum(axis=0) + weights.bias
    return total


@cache
def load(folder: Path) -> BagWeights:
    """Read the weights that `training.write` wrote. Raises MissingWeights."""
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise MissingWeights(
            f"hypothesis_only has no weights in {folder}; "
            "make them with python -m probe baselines train TRAIN.jsonl.gz --out FOLDER"
        )
    table = json.loads(path.read_text(encoding="utf-8"))
    matrix = np.array([table["weights"][label] for label in LABELS], dtype=np.float64)
    bias = np.array([table["bias"][label] for label in LABELS], dtype=np.float64)
    return BagWeights({word: row for row, word in enumerate(table["words"])}, matrix.T, bias)
