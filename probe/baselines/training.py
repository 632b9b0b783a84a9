"""Training of the hypothesis-only baseline: frequent words and their weights."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from probe.baselines.hypothesis_only import WEIGHTS_FILE, BagWeights, bag_of_words
from probe.baselines.registry import baseline
from probe.errors import TrainingError, writing
from probe.statistics import Estimate, share
from probe.tasks.nli import ENTAILMENT, LABELS, NON_ENTAILMENT, Pair, matches
from probe.tasks.task import Label

INVERSE_REGULARISATION = 0.03  # C; chosen with `min_count` on a tenth of the training set
DECIMALS = 3  # of weights; more change no accuracy and make the file larger


def train(pairs: Sequence[Pair], min_count: int) -> BagWeights:
    """Fit the words that at least `min_count` hypotheses have.

    Pairs with a label of two classes are left out. Raises TrainingError.
    """
    golden = [(pair, pair.gold) for pair in pairs if pair.gold in LABELS]
    bags = [bag_of_words(pair.hypothesis) for pair, _ in golden]
    targets = [LABELS.index(gold) for _, gold in golden if gold]
    if set(targets) != set(range(len(LABELS))):
        raise TrainingError("to train, the file needs pairs of all three labels")
    rows = vocabulary(bags, min_count)
    if not rows:
        raise TrainingError(
            f"no word is in {min_count} hypotheses; a lower --least keeps rarer words"
        )
    model = LogisticRegression(C=INVERSE_REGULARISATION, max_iter=1000).fit(
        _design_matrix(bags, rows), targets
    )
    return BagWeights(rows, model.coef_.T.round(DECIMALS), model.intercept_.round(DECIMALS))


def vocabulary(bags: Sequence[set[str]], min_count: int) -> dict[str, int]:
    """Return the words of at least `min_count` bags with their alphabetical numbers."""
    counts = Counter(word for words in bags for word in words)
    frequent = sorted(word for word, count in counts.items() if count >= min_count)
    return {word: row for row, word in enumerate(frequent)}


def write(weights: BagWeights, folder: Path) -> Path:
    """Write the weights where `hypothesis_only` reads them, and return the file."""
    table = {
        "words": list(weights.rows),
        "bias": dict(zip(LABELS, weights.bias.tolist(), strict=True)),
        "weights": dict(zip(LABELS, weights.matrix.T.tolist(), strict=True)),
    }
    path = folder / WEIGHTS_FILE
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return path


def _design_matrix(bags: Sequence[set[str]], rows: Mapping[str, int]) -> csr_matrix:
    columns = [sorted(rows[word] for word in words if word in rows) for words in bags]
    starts = np.cumsum([0, *map(len, columns)])
    flat = np.concatenate([np.array(row_columns, dtype=np.int64) for row_columns in columns])
    return csr_matrix((np.ones(len(flat)), flat, starts), shape=(len(bags), len(rows)))


GOLDS: tuple[Label, ...] = (*LABELS, NON_ENTAILMENT)


@dataclass(frozen=True)
class Tally:
    """A number of pairs, and the number of them that are labelled correctly."""

    n: int
    correct: int


@dataclass(frozen=True)
class Evaluation:
    """A baseline's accuracy on the pairs with a gold label.

    Where some gold labels are non-entailment, all pairs are judged in two classes. `low` and `high`
    are Wilson's 95 % interval; all three are NaN where n is 0. `counts` has for each predicted
    label the numbers of gold labels of those pairs.
    """

    name: str
    n: int
    correct: int
    accuracy: float
    low: float
    high: float
    by_gold: Mapping[Label, Tally]
    counts: Mapping[Label, Mapping[Label, int]]

    @property
    def estimate(self) -> Estimate:
        """The accuracy with its interval."""
        return Estimate(self.accuracy, self.low, self.high, self.n)


def evaluate_baseline(name: str, pairs: Sequence[Pair]) -> Evaluation:
    """Evaluate a baseline; pairs without a gold label are left out. Raises UnknownBaseline."""
    labelled = [pair for pair in pairs if pair.gold]
    predicted = baseline(name)(labelled)
    # all of these pairs have a gold label; the condition is for the type checker
    outcomes = [
        (label, pair.gold) for label, pair in zip(predicted, labelled, strict=True) if pair.gold
    ]
    if any(gold == NON_ENTAILMENT for _, gold in outcomes):  # then all are judged in two classes
        outcomes = [(a, ENTAILMENT if b == ENTAILMENT else NON_ENTAILMENT) for a, b in outcomes]
    counts = Counter(outcomes)
    estimate = share([matches(*outcome) for outcome in outcomes])
    return Evaluation(
        name,
        len(outcomes),
        sum(n for outcome, n in counts.items() if matches(*outcome)),
        estimate.value,
        estimate.low,
        estimate.high,
        {gold: _tally(gold, counts) for gold in GOLDS if any(g == gold for _, g in counts)},
        {
            label: {gold: counts[label, gold] for gold in GOLDS if counts[label, gold]}
            for label in GOLDS
            if label in predicted
        },
    )


def _tally(gold: Label, counts: Mapping[tuple[Label, Label], int]) -> Tally:
    """Count the pairs of one gold label; `counts` is by predicted and gold label."""
    of_gold = {outcome: n for outcome, n in counts.items() if outcome[1] == gold}
    correct = sum(n for outcome, n in of_gold.items() if matches(*outcome))
    return Tally(sum(of_gold.values()), correct)


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as JSON values; an accuracy over no pair is null."""
    known = evaluation.n > 0
    return {
        "rule": evaluation.name,
        "n": evaluation.n,
        "correct": evaluation.correct,
        "accuracy": evaluation.accuracy if known else None,
        "low": evaluation.low if known else None,
        "high": evaluation.high if known else None,
        "by_gold": {
            gold: {"n": tally.n, "correct": tally.correct}
            for gold, tally in evaluation.by_gold.items()
        },
        "counts": {label: dict(golds) for label, golds in evaluation.counts.items()},
    }
