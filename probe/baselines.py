"""Rule baselines beside the models: the accuracy that a set allows without any understanding.

`hypothesis_only` is multinomial logistic regression over which words occur (Gururangan et al. 2018
and Poliak et al. 2018 show the effect with stronger models), trained by
`python -m recipes.bag_of_words`; prediction needs only numpy.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from probe.errors import MissingWeights, UnknownBaseline
from probe.first_import import first_import
from probe.settings import ASSETS
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL, NON_ENTAILMENT, Pair
from probe.tasks.task import Label, Task
from probe.text.words import tokenise

Labeller = Callable[[Sequence[Pair]], list[Label]]
"""Returns one label for each pair, in their order."""


@dataclass(frozen=True)
class Baseline:
    """A rule and its facts. Calling it with pairs returns a label for each, in their order."""

    name: str
    title: str
    summary: str
    source: str
    function: Labeller

    def __call__(self, pairs: Sequence[Pair]) -> list[Label]:
        """Label the pairs."""
        return self.function(pairs)


BASELINES: dict[str, Baseline] = {}


def baselines_for(task: Task) -> tuple[str, ...]:
    """Return the names of the rules that speak of a task: all of ours are about NLI pairs."""
    return tuple(BASELINES) if task.example is Pair else ()


def register(name: str, title: str, summary: str, source: str) -> Callable[[Labeller], Labeller]:
    """Register the decorated function under `name` with its facts."""

    def register(function: Labeller) -> Labeller:
        BASELINES[name] = Baseline(name, title, summary, source, function)
        return function

    return register


def baseline(name: str) -> Baseline:
    """Return a registered baseline. Raises UnknownBaseline."""
    if name not in BASELINES:
        raise UnknownBaseline(f"there is no rule {name!r}; there are: {', '.join(BASELINES)}")
    return BASELINES[name]


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
    "Gururangan et al. 2018; Poliak et al. 2018",
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


BAG = 0.1
"""C of a bag that is fitted to a file: within half a point of the best for 8,000 rows of SNLI and
for 110,000 of several sets."""
BAG_LEAST = 5
"""Training rows that a word of such a bag must be in."""


def fit_bag(matrix: Any, targets: npt.NDArray[np.int64], strength: float) -> Any:
    """Fit multinomial logistic regression to which words occur: (rows, words), a sparse matrix.

    `strength` is C, the inverse of the regularisation; both Any are untyped scikit-learn's.
    """
    with first_import:
        from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=1000).fit(matrix, targets)


@cache
def load(folder: Path) -> BagWeights:
    """Read the weights that `recipes.bag_of_words` wrote. Raises MissingWeights."""
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise MissingWeights(
            f"hypothesis_only has no weights in {folder}; "
            "make them with python -m recipes.bag_of_words train TRAIN.jsonl.gz --out FOLDER"
        )
    table = json.loads(path.read_text(encoding="utf-8"))
    matrix = np.array([table["weights"][label] for label in LABELS], dtype=np.float64)
    bias = np.array([table["bias"][label] for label in LABELS], dtype=np.float64)
    return BagWeights({word: row for row, word in enumerate(table["words"])}, matrix.T, bias)


COMPARISON = re.compile(r"\b(?:more|less) than\b", re.IGNORECASE)


@register(
    "numerical",
    "More than, less than",
    '"More than" or "less than" in neither text: contradiction; in the premise: neutral; '
    "else entailment.",
    "Liu et al. 2019, appendix C",
)
def numerical(pairs: Sequence[Pair]) -> list[Label]:
    """Solve 82 % of the numerical stress test without reading a number.

    The appendix swaps the two sides: its own counts fit only these rules, so the phrase in the
    premise means neutral and in the hypothesis entailment. As printed they get 17 %.
    """
    other = [ENTAILMENT if COMPARISON.search(p.hypothesis) else CONTRADICTION for p in pairs]
    labelled = zip(pairs, other, strict=True)
    return [NEUTRAL if COMPARISON.search(pair.premise) else label for pair, label in labelled]


def words(text: str) -> list[str]:
    """Return the lower-cased tokens without the marks . ? ! at their ends."""
    return bare(tokenise(text.lower()))


def bare(tokens: Sequence[str]) -> list[str]:
    """Return tokens without the marks . ? ! at their ends."""
    return [word for token in tokens if (word := token.strip(".?!"))]


def in_one_run(words: Sequence[str], among: Sequence[str]) -> bool:
    """Whether words, of which none has a blank, stand among others in one run."""
    return " ".join(["", *words, ""]) in " ".join(["", *among, ""])


def _entailed(pairs: Sequence[Pair], holds: Callable[[list[str], list[str]], bool]) -> list[Label]:
    """Call those entailed of whose premise's and hypothesis's words something holds."""
    entailed = [holds(words(pair.premise), words(pair.hypothesis)) for pair in pairs]
    return [ENTAILMENT if each else NON_ENTAILMENT for each in entailed]


@register(
    "lexical_overlap",
    "Every word shared",
    "Entailment where every word of the hypothesis is in the premise, else non-entailment.",
    "McCoy et al. 2019, section 2",
)
def lexical_overlap(pairs: Sequence[Pair]) -> list[Label]:
    """Look each word up in the premise; a hypothesis without words is entailed.

    The released code splits at blanks, so a last word with its full stop is another word; here
    the words are Penn tokens and the marks at their ends do not count.
    """
    return _entailed(pairs, lambda premise, hypothesis: set(hypothesis) <= set(premise))


@register(
    "subsequence",
    "Words in one run",
    "Entailment where the hypothesis's words stand in the premise in one run, else non-entailment.",
    "McCoy et al. 2019, section 2",
)
def subsequence(pairs: Sequence[Pair]) -> list[Label]:
    """Search the premise for the hypothesis as a run of whole words.

    The released code looks for a substring, which also finds "the cat" in "the category".
    """
    return _entailed(pairs, lambda premise, hypothesis: in_one_run(hypothesis, premise))


@register(
    "majority",
    "Most frequent label",
    "The most frequent gold label of the file at hand, for every pair.",
    "the chance level of a set",
)
def majority(pairs: Sequence[Pair]) -> list[Label]:
    """Return the most frequent gold label for all: of equals, or of none, the first of LABELS."""
    golds = [pair.gold for pair in pairs]
    return [max((*LABELS, NON_ENTAILMENT), key=golds.count)] * len(pairs)
