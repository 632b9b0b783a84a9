"""The examples that come with the app, and what the bundled models make of them."""

import csv
from collections import Counter, defaultdict

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from probe.errors import ExampleError
from probe.tasks.examples import FOLDER, bundled_examples, random_example
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from tests.support.cases import each

SPLITS = ("dev", "test", "pool")
ALL = bundled_examples(NLI)


def column(task: Task, name: str) -> dict[str, str]:
    """Return a column of the bundled file by the rows' ids."""
    with (FOLDER / task.bundled).open(encoding="utf-8", newline="") as file:
        return {row["id"]: row[name] for row in csv.DictReader(file)}


GENRE, SPLIT = column(NLI, "genre"), column(NLI, "split")


def test_600_premises_in_ten_genres_have_one_hypothesis_of_each_label() -> None:
    by_premise = defaultdict[str, list[Pair]](list)
    for pair in ALL:
        by_premise[pair.premise].append(pair)
    assert len(by_premise) >= 600
    genres = Counter(GENRE[pairs[0].id] for pairs in by_premise.values())
    assert len(genres) == len({*GENRE.values()}) == 10 and min(genres.values()) >= 30
    for pairs in by_premise.values():
        assert sorted(pair.gold or "" for pair in pairs) == sorted(LABELS)
        assert len({SPLIT[pair.id] for pair in pairs}) == 1
    means = [np.mean([len(p.hypothesis.split()) for p in ALL if p.gold == g]) for g in LABELS]
    assert 7 <= np.mean(means) <= 12 and max(means) - min(means) < 2  # as long as MNLI's


@each("task", [NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT])
def test_every_split_is_balanced_and_no_example_comes_twice(task: Task) -> None:
    every, splits, genres = bundled_examples(task), column(task, "split"), column(task, "genre")
    assert set(splits.values()) == set(SPLITS)
    assert sum(len(bundled_examples(task, split)) for split in SPLITS) == len(every)
    texts = [tuple(text.lower() for text in task.texts(each).values()) for each in every]
    assert len(set(texts)) == len(every) == len({each.id for each in every})
    for each_ in every:
        own = task.texts(each_).values()
        assert len({text.lower() for text in own}) == len(task.fields)
        assert all(text and text == text.strip() and "\n" not in text for text in own)
    for split in SPLITS:
        golds = Counter(example.gold for example in bundled_examples(task, split))
        assert set(golds) == set(task.labels) and len(set(golds.values())) == 1
        assert golds.total() >= 100
        assert {g for id_, g in genres.items() if splits[id_] == split} == {*genres.values()}
    if task is NLI:
        return
    by_split = [
        {text for example in bundled_examples(task, split) for text in task.texts(example).values()}
        for split in SPLITS
    ]
    assert sum(map(len, by_split)) == len(set.union(*by_split))
    lengths = {g: [len(getattr(e, task.target)) for e in every if e.gold == g] for g in task.labels}
    means = [np.mean(each) for each in lengths.values()]
    assert max(means) / min(means) < 1.08  # no label has longer texts


def test_the_hypothesis_alone_gives_no_label_away() -> None:
    scores = cross_val_score(
        make_pipeline(CountVectorizer(ngram_range=(1, 1)), LogisticRegression(max_iter=1000)),
        [pair.hypothesis for pair in ALL],
        [pair.gold for pair in ALL],
        groups=[pair.premise for pair in ALL],
        cv=GroupKFold(5),
    )
    assert scores.mean() <= 0.45


def test_a_random_example_is_a_test_example_and_follows_its_seed() -> None:
    drawn = [random_example(NLI, seed) for seed in range(20)]
    assert drawn == [random_example(NLI, seed) for seed in range(20)]
    assert {SPLIT[pair.id] for pair in drawn} == {"test"}
    assert len(set(drawn)) > 10
    assert bundled_examples(NLI_TWO_WAY) == ALL
    with pytest.raises(ExampleError, match="no examples of the task bare come with the app"):
        bundled_examples(Task("bare", "Bare", Pair, ("premise",), "premise"))
