"""Weak models: what the short cuts of a training set give away, so that a model may learn the rest.

A bag of words or the overlap of two texts tells labels without understanding (Gururangan et al.
2018, McCoy et al. 2019). What such a model says of a training row is asked of folds that the row is
not in: of rows that it has learnt by heart it would be surer than of any other (Clark et al. 2019,
Utama et al. 2020).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from finetune.training.losses import admissible
from finetune.training.recipes import weak_problem
from probe.baselines import BAG, BAG_LEAST, bag_of_words, fit_bag, in_one_run, words
from probe.errors import TrainingError
from probe.first_import import first_import
from probe.statistics import percent, wilson
from probe.tasks.task import Label, Task

FOLDS = 5
LEAST = 1e-6
"""The least probability: of a label that no row of the other folds has there is no logarithm."""


def _judged(task: Task, example: Any) -> set[str]:  # Any: the task's own dataclass
    return bag_of_words(task.texts(example)[task.target])


def _both(task: Task, example: Any) -> set[str]:  # Any: as above
    """Return the words of each text, apart from those of the other."""
    return {
        f"{name} {word}" for name in task.fields for word in bag_of_words(task.texts(example)[name])
    }


def _overlap(task: Task, example: Any) -> set[str]:  # Any: as above
    """Return how many tenths of the judged text's words are in the other, and whether in one run.

    Clark et al. 2019 have these of both texts as numbers, and distances of word vectors besides.
    """
    from probe.analysis.slices import overlap  # loads pandas, which no worker needs to train

    texts = task.texts(example)
    judged, source = words(texts[task.target]), words(texts[task.source or task.target])
    share = overlap(judged, source)
    run = {"in one run"} if in_one_run(judged, source) else set[str]()
    return {f"tenths {int(share * 10 + LEAST)}"} | run


FEATURES: Mapping[str, Callable[[Task, Any], set[str]]] = {  # Any: as above
    "hypothesis": _judged,
    "overlap": _overlap,
    "bag": _both,
}
"""The features of an example over which a weak model is a logistic regression."""


def weak_probabilities(
    name: str, examples: Sequence[Any], task: Task, labels: Sequence[Label], seed: int = 0
) -> torch.Tensor:  # Any: as above
    """Return what a weak model says of each row by cross-validation.  # (examples, labels)

    Rows with the same source are in one fold. It learns from rows with one right label; of all it
    says something. Raises TrainingError where it cannot be fitted, or the task has none.
    """
    with first_import:
        from sklearn.feature_extraction.text import CountVectorizer

    if problem := weak_problem(name, task):
        raise TrainingError(problem)
    admitted = admissible(examples, task, labels).numpy()
    known, label = admitted.sum(1) == 1, admitted.argmax(1)
    topics: dict[str, int] = {}
    group = np.array([topics.setdefault(task.topic_of(each), len(topics)) for each in examples])
    if len(topics) < FOLDS or len(np.unique(label[known])) < 2:
        raise TrainingError(
            f"a weak model needs rows of two labels and {FOLDS} different "
            f"{task.title_of(task.source or task.target).lower()} texts to be cross-validated"
        )
    fold = (np.random.default_rng(seed).permutation(len(topics)) % FOLDS)[group]
    features = [[*sorted(FEATURES[name](task, each)), ""] for each in examples]
    said = np.zeros(admitted.shape)
    for at in range(FOLDS):
        held, train = np.flatnonzero(fold == at), np.flatnonzero((fold != at) & known)
        present, counts = np.unique(label[train], return_counts=True)
        if len(present) < 2:
            said[np.ix_(held, present)] = counts / max(1, len(train))
            continue
        # the empty feature is every row's, so that some word is always left
        bags = CountVectorizer(
            analyzer=list, binary=True, min_df=min(BAG_LEAST, len(train)), dtype=np.float64
        )
        matrix = bags.fit_transform([features[row] for row in train])
        fitted = fit_bag(matrix, label[train], BAG)
        of_held = bags.transform([features[row] for row in held])
        said[np.ix_(held, fitted.classes_)] = fitted.predict_proba(of_held)
    said = said.clip(LEAST)
    return torch.from_numpy(said / said.sum(1, keepdims=True)).float()


def weak_right(
    said: torch.Tensor,  # (examples, labels)
    admitted: torch.Tensor,  # (examples, labels), true where admissible
) -> tuple[int, int, int]:
    """Return of how many rows a weak model, and the most frequent label, are right, and of all."""
    rows, chosen = (each[admitted.any(1)] for each in (admitted, said.argmax(1, keepdim=True)))
    right = int(rows.gather(1, chosen).sum())
    return right, int(rows.sum(0).max()), len(rows)


def weak_words(name: str, right: int, most: int, n: int) -> str:
    """Say how much a weak model knows: against one that knows nothing nothing is learnt."""
    weak, majority = wilson(right, n), wilson(most, n)
    words = (
        f"the weak model {name} is right on {percent(weak)} of {n:,} rows by "
        f"cross-validation, the most frequent label on {percent(majority)}"
    )
    if weak.low > majority.value:
        return words
    return f"{words}: it knows no short cut here, so that a training against it mends little"
