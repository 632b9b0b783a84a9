"""What a weak model says of training rows it has not learnt."""

import random
from dataclasses import replace

import numpy as np
import pytest

from finetune.training.losses import admissible
from finetune.training.recipes import WEAK
from finetune.training.weak import weak_probabilities, weak_right, weak_words
from probe.errors import TrainingError
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.reading import READING
from probe.tasks.task import Task, task_named
from tests.support.cases import each

TWO = ("entailment", "contradiction")


def pairs(n: int, told: bool) -> list[Pair]:
    """Return pairs whose hypothesis has a word of its label, or one of its own."""
    rng = random.Random(0)
    golds = [rng.choice(TWO) for _ in range(n)]
    word = {"entailment": "outside", "contradiction": "nobody"}
    return [
        Pair(f"Premise {at}.", f"It is {word[gold] if told else f'w{at}'} here.", gold)
        for at, gold in enumerate(golds)
    ]


def share_right(name: str, rows: list[Pair]) -> float:
    said = weak_probabilities(name, rows, NLI, LABELS)
    assert said.shape == (len(rows), 3)
    np.testing.assert_allclose(said.sum(1), 1, rtol=1e-5)
    right, _, n = weak_right(said, admissible(rows, NLI))
    return right / n


def test_a_give_away_word_is_known_and_no_row_by_heart() -> None:
    assert share_right("hypothesis", pairs(200, told=True)) == 1
    assert share_right("bag", pairs(200, told=True)) == 1
    # five copies of each word, all in one fold with their premise
    by_heart = [row for row in pairs(60, told=False) for _ in range(5)]
    assert share_right("hypothesis", by_heart) < 0.75
    assert share_right("overlap", pairs(200, told=True)) < 0.75


def test_shared_words_are_known_to_the_overlap_alone() -> None:
    rows = [
        Pair(f"The {one} sees the {two} number {at}.", f"The {one} sees the {other}.", gold)
        for at in range(60)
        for one, two in (("man", "dog"), ("dog", "man"))
        for other, gold in ((two, "entailment"), (f"bird {at}", "contradiction"))
    ]
    assert share_right("overlap", rows) == 1


def test_a_label_of_two_is_asked_about_and_not_learnt_from() -> None:
    rows = pairs(200, told=True)
    merged = [replace(each, gold="non-entailment") for each in rows[:5]]
    said = weak_probabilities("hypothesis", [*rows, *merged], NLI, LABELS)
    assert said[-5:].isfinite().all()
    with pytest.raises(TrainingError, match="rows of two labels"):
        weak_probabilities("hypothesis", merged, NLI, LABELS)
    assert "mends little" in weak_words("bag", 50, 50, 100)
    assert "mends little" not in weak_words("bag", 90, 50, 100)


@each(
    "name, task, words",
    [
        ("premise", NLI, "there are: hypothesis, overlap, bag"),
        ("overlap", task_named("sentiment"), "compares two texts"),
        ("bag", READING, "answered with spans"),
    ],
)
def test_a_weak_model_that_cannot_be_is_refused(name: str, task: Task, words: str) -> None:
    with pytest.raises(TrainingError, match=words):
        weak_probabilities(name, bundled_examples(task, "dev"), task, task.labels)


def test_every_weak_model_is_fitted() -> None:
    rows = bundled_examples(NLI, "dev")
    for name in WEAK:
        assert 0.2 < share_right(name, list(rows)) < 1, name
