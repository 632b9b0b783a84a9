"""Train the hypothesis-only baseline: words that occur often enough, and their weights."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from probe.baselines.hypothesis_only import FILE, Weights, bag
from probe.errors import TrainingError, writing
from probe.tasks.nli import LABELS, Pair

STRENGTH = 0.03  # scikit-learn's C; chosen with `least` on a tenth of the training set
DIGITS = 3  # more change no accuracy and make the file larger


def train(pairs: Sequence[Pair], least: int) -> Weights:
    """Fit the words that at least `least` hypotheses have; pairs of two classes are left out."""
    golden = [(pair, pair.gold) for pair in pairs if pair.gold in LABELS]
    bags = [bag(pair.hypothesis) for pair, _ in golden]
    targets = [LABELS.index(gold) for _, gold in golden if gold]
    if set(targets) != set(range(len(LABELS))):
        raise TrainingError("to train, the file needs pairs of all three labels")
    rows = vocabulary(bags, least)
    model = LogisticRegression(C=STRENGTH, max_iter=1000).fit(_matrix(bags, rows), targets)
    return Weights(rows, model.coef_.T.round(DIGITS), model.intercept_.round(DIGITS))


def vocabulary(bags: Sequence[set[str]], least: int) -> dict[str, int]:
    """Number the words of at least `least` bags by alphabet."""
    counts = Counter(word for words in bags for word in words)
    kept = sorted(word for word, count in counts.items() if count >= least)
    return {word: row for row, word in enumerate(kept)}


def write(weights: Weights, folder: Path) -> Path:
    """Write the weights where `hypothesis_only` reads them, and return the file."""
    shape = {
        "words": list(weights.rows),
        "bias": dict(zip(LABELS, weights.bias.tolist(), strict=True)),
        "weights": dict(zip(LABELS, weights.matrix.T.tolist(), strict=True)),
    }
    path = folder / FILE
    text = json.dumps(shape, ensure_ascii=False, separators=(",", ":"))
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return path


def _matrix(bags: Sequence[set[str]], rows: Mapping[str, int]) -> csr_matrix:
    columns = [sorted(rows[word] for word in words if word in rows) for words in bags]
    starts = np.cumsum([0, *map(len, columns)])
    flat = np.concatenate([np.array(each, dtype=np.int64) for each in columns])
    return csr_matrix((np.ones(len(flat)), flat, starts), shape=(len(bags), len(rows)))
