"""The deletion test: what it takes out and puts back, and that chance is its control."""

from collections.abc import Sequence

import pytest

from probe.analysis.deletion import (
    CHUNK,
    HALF,
    RANDOM,
    Cut,
    Ranking,
    deletion_test,
    rankings,
)
from probe.analysis.importance import METHODS
from probe.models.classifier import Classifier, Prediction
from probe.tasks.nli import Pair
from tests.support.models.scored_tokens import WORDS, scored
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import shared


def test_the_highest_go_or_come_back() -> None:
    cases: list[tuple[Cut, list[float], list[str]]] = [
        (HALF, [0.9, 0.1, 0.5, -0.3], ["man", "walk"]),
        (HALF, [0.2, 0.2, 0.2, 0.2], ["here", "walk"]),
        (HALF, [0.9, 0.1, 0.5], ["man", "here"]),
        (HALF, [0.9], ["a"]),
        (HALF, [], []),
        (Cut("deletion", 1), [0.9, 0.1, 0.5], ["man", "here"]),
        (Cut("insertion", 2), [0.9, 0.1, 0.5], ["a", "here"]),
        (Cut("insertion", 5), [0.9, 0.1], ["a", "man"]),
    ]
    for cut, scores, stay in cases:
        tokens = scored(["a", "man", "here", "walk"][: len(scores)], scores)
        left = [token for token, kept in zip(tokens, cut.kept(tokens), strict=True) if kept]
        assert [WORDS[token.id] for token in left] == stay, (cut, scores)


def test_each_example_is_judged_by_every_ranking_and_chance_is_the_same_by_its_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = tiny_pairs(CHUNK + 3)
    orders, cuts = [*map(Ranking, METHODS), RANDOM], [HALF, Cut("insertion", 1)]
    chunks = list(deletion_test(shared(), pairs, orders, cuts))
    assert [len(chunk.rows) for chunk in chunks] == [CHUNK, 3]
    keys = [(order, cut) for order in orders for cut in cuts]
    assert all(list(row) == keys for chunk in chunks for row in chunk.rows)
    read, predict = list[object](), Classifier.predict

    def kept(model: Classifier, examples: Sequence[Pair]) -> list[Prediction]:
        read.append([each.hypothesis for each in examples])
        return predict(model, examples)

    monkeypatch.setattr(Classifier, "predict", kept)
    for seed in (1, 1, 2):  # reads the whole texts and then the shortened ones
        list(deletion_test(shared(), pairs[:CHUNK], [RANDOM], seed=seed))
    assert read[1] == read[3] != read[5]
    signs: dict[object, list[str]] = {}
    for order in rankings():
        signs.setdefault(order.method, []).append(order.sign)
    assert signs["occlusion"] == ["support", "gupta", "abs"] and signs["saliency"] == ["abs"]


def test_nothing_taken_out_changes_nothing_and_everything_put_back_neither() -> None:
    pairs, cuts = tiny_pairs(12), [Cut("deletion", 0), Cut("insertion", 1000)]
    fields = shared().task.fields
    (chunk,) = deletion_test(shared(), pairs, [Ranking("saliency")], cuts, fields)
    assert not any(changed for row in chunk.rows for changed in row.values())
