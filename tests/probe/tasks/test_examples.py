"""The examples that come with the app, and what the bundled models make of them."""

import csv
import random
from collections import Counter, defaultdict
from difflib import SequenceMatcher

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from probe.errors import ExampleError
from probe.models.library import load
from probe.statistics import accuracy
from probe.tasks.examples import FOLDER, bundled_examples, random_example
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from probe.text.words import tokenise
from tests.support.cases import each

GENRES = 10
SPLITS = ("dev", "test", "pool")
ALL = bundled_examples(NLI)
NEW = (PARAPHRASE_IDENTIFICATION, SENTIMENT)


def column(task: Task, name: str) -> dict[str, str]:
    """Return a column of the bundled file by the rows' ids."""
    with (FOLDER / task.bundled).open(encoding="utf-8", newline="") as file:
        return {row["id"]: row[name] for row in csv.DictReader(file)}


GENRE, SPLIT = column(NLI, "genre"), column(NLI, "split")


def by_premise() -> dict[str, list[Pair]]:
    """Return the pairs of each premise."""
    found = defaultdict(list)
    for pair in ALL:
        found[pair.premise].append(pair)
    return found


def test_there_are_600_premises_in_ten_genres() -> None:
    assert len(by_premise()) >= 600
    assert len({GENRE[pair.id] for pair in ALL}) == GENRES


def test_no_genre_is_rare() -> None:
    counts = Counter(GENRE[pairs[0].id] for pairs in by_premise().values())
    assert min(counts.values()) >= 30


def test_each_premise_has_one_hypothesis_of_each_label() -> None:
    for pairs in by_premise().values():
        assert sorted(pair.gold or "" for pair in pairs) == sorted(LABELS)


def test_no_premise_is_in_two_splits() -> None:
    assert set(SPLIT.values()) == set(SPLITS)
    for pairs in by_premise().values():
        assert len({SPLIT[pair.id] for pair in pairs}) == 1


def test_the_splits_are_the_whole() -> None:
    assert sum(len(bundled_examples(NLI, split)) for split in SPLITS) == len(ALL)


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


def test_a_random_example_is_a_test_example_and_follows_its_seed() -> None:
    drawn = [random_example(NLI, seed) for seed in range(20)]
    assert drawn == [random_example(NLI, seed) for seed in range(20)]
    assert {SPLIT[pair.id] for pair in drawn} == {"test"}
    assert len(set(drawn)) > 10


def test_two_classes_share_the_examples_of_three() -> None:
    assert bundled_examples(NLI_TWO_WAY) == ALL


def test_a_task_without_examples_says_so() -> None:
    with pytest.raises(ExampleError, match="no examples of the task bare come with the app"):
        bundled_examples(Task("bare", "Bare", Pair, ("premise",), "premise"))


def test_the_bundled_model_knows_most_of_them_and_not_all() -> None:
    sample = random.Random(0).sample(ALL, 300)
    said = [prediction.label for prediction in load("minilm").predict(sample, "auto")]
    assert 0.70 <= accuracy(NLI, said, sample) <= 0.97


# the other tasks


@each("task", NEW)
def test_a_task_has_as_many_examples_of_each_label_in_each_split(task: Task) -> None:
    assert {*column(task, "split").values()} == set(SPLITS)
    for split in SPLITS:
        golds = Counter(example.gold for example in bundled_examples(task, split))
        assert set(golds) == set(task.labels)
        assert len(set(golds.values())) == 1
        assert golds.total() >= 100


@each("task", NEW)
def test_no_example_comes_twice_or_in_two_splits(task: Task) -> None:
    every = bundled_examples(task)
    texts = [tuple(task.texts(example).values()) for example in every]
    assert len(set(texts)) == len(every) == len({example.id for example in every})
    by_split = [
        {text for example in bundled_examples(task, split) for text in task.texts(example).values()}
        for split in SPLITS
    ]
    assert sum(map(len, by_split)) == len(set.union(*by_split))


@each("task", NEW)
def test_no_text_of_a_task_is_blank_or_padded(task: Task) -> None:
    for example in bundled_examples(task):
        for text in task.texts(example).values():
            assert text and text == text.strip()


@each("task", NEW)
def test_no_label_of_a_task_has_longer_texts(task: Task) -> None:
    means = [
        np.mean([len(getattr(e, task.target)) for e in bundled_examples(task) if e.gold == label])
        for label in task.labels
    ]
    assert max(means) / min(means) < 1.08


@each("task", NEW)
def test_each_split_has_all_genres(task: Task) -> None:
    genres, splits = column(task, "genre"), column(task, "split")
    both = {(splits[id_], genre) for id_, genre in genres.items()}
    assert both == {(split, genre) for split in SPLITS for genre in set(genres.values())}


def test_texts_of_the_pool_turn_their_opinion_in_a_few_words() -> None:
    twins: defaultdict[str, list[list[str]]] = defaultdict(list)
    for review in bundled_examples(SENTIMENT, "pool"):
        twins[review.id.rpartition("-")[0]].append(tokenise(review.text))
    alike = [SequenceMatcher(None, *couple, autojunk=False).ratio() for couple in twins.values()]
    assert min(alike) > 1 / 3
    assert np.mean(alike) > 2 / 3


@each("field", PARAPHRASE_IDENTIFICATION.fields)
def test_one_question_alone_cannot_tell_a_paraphrase(field: str) -> None:
    golds = defaultdict(Counter[str])
    for pair in bundled_examples(PARAPHRASE_IDENTIFICATION):
        golds[getattr(pair, field)][pair.gold] += 1
    assert {tuple(count.values()) for count in golds.values()} == {(1, 1)}
