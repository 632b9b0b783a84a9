"""The pairs that come with the app, and what the bundled model makes of them."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from probe.metrics import accuracy
from probe.models.library import load
from probe.tasks.examples import BundledPair, bundled_pairs, random_pair
from probe.tasks.nli import LABELS, NLI

GENRES = 10
SPLITS = ("dev", "test", "pool")
ALL = bundled_pairs()


def by_premise() -> dict[str, list[BundledPair]]:
    """Return the pairs of each premise."""
    found = defaultdict(list)
    for pair in ALL:
        found[pair.premise].append(pair)
    return found


def test_there_are_600_premises_in_ten_genres() -> None:
    assert len(by_premise()) >= 600
    assert len({pair.genre for pair in ALL}) == GENRES


def test_no_genre_is_rare() -> None:
    counts = Counter(pairs[0].genre for pairs in by_premise().values())
    assert min(counts.values()) >= 30


def test_each_premise_has_one_hypothesis_of_each_label() -> None:
    for pairs in by_premise().values():
        assert sorted(pair.gold or "" for pair in pairs) == sorted(LABELS)


def test_no_premise_is_in_two_splits() -> None:
    assert {pair.split for pair in ALL} == set(SPLITS)
    for pairs in by_premise().values():
        assert len({pair.split for pair in pairs}) == 1


def test_the_splits_are_the_whole() -> None:
    assert sum(len(bundled_pairs(split)) for split in SPLITS) == len(ALL)


def test_no_pair_and_no_id_comes_twice() -> None:
    assert len({(p.premise.lower(), p.hypothesis.lower()) for p in ALL}) == len(ALL)
    assert len({pair.id for pair in ALL}) == len(ALL)


def test_no_hypothesis_is_its_premise_again() -> None:
    assert not [pair for pair in ALL if pair.premise.lower() == pair.hypothesis.lower()]


def test_no_text_is_blank_or_padded() -> None:
    for pair in ALL:
        for text in (pair.premise, pair.hypothesis):
            assert text and text == text.strip()
            assert "\n" not in text


def test_lengths_are_like_those_of_mnli() -> None:
    premise = np.mean([len(premise.split()) for premise in by_premise()])
    hypothesis = np.mean([len(pair.hypothesis.split()) for pair in ALL])
    assert 15 <= premise <= 24
    assert 7 <= hypothesis <= 12


def test_no_label_has_longer_hypotheses() -> None:
    means = [np.mean([len(p.hypothesis.split()) for p in ALL if p.gold == g]) for g in LABELS]
    assert max(means) - min(means) < 2


def test_the_hypothesis_alone_gives_no_label_away(capsys: pytest.CaptureFixture[str]) -> None:
    scores = cross_val_score(
        make_pipeline(CountVectorizer(ngram_range=(1, 1)), LogisticRegression(max_iter=1000)),
        [pair.hypothesis for pair in ALL],
        [pair.gold for pair in ALL],
        groups=[pair.premise for pair in ALL],
        cv=GroupKFold(5),
    )
    with capsys.disabled():
        print(f"\nbag of words over the hypothesis alone: {scores.mean():.3f}")
    assert scores.mean() <= 0.45


def test_a_random_pair_is_a_test_pair_and_follows_its_seed() -> None:
    assert random_pair(3) == random_pair(3)
    assert {random_pair(seed).split for seed in range(20)} == {"test"}
    assert len({random_pair(seed) for seed in range(20)}) > 10


def test_the_bundled_model_knows_most_of_them_and_not_all() -> None:
    sample = random.Random(0).sample(ALL, 300)
    said = [prediction.label for prediction in load("minilm").predict(sample, "auto")]
    assert 0.70 <= accuracy(NLI, said, sample) <= 0.97
