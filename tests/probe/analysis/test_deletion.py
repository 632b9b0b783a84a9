"""The deletion test: what it takes out, and that chance is its control."""

import pytest

from probe.analysis.deletion import CHUNK, RANDOM, RANKINGS, deletion_test, without_top_half
from tests.support.models.scored_tokens import WORDS, scored
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import shared


@pytest.mark.parametrize(
    ("scores", "stay"),
    [
        ([0.9, 0.1, 0.5, -0.3], ["man", "walk"]),
        ([0.2, 0.2, 0.2, 0.2], ["here", "walk"]),
        ([0.9, 0.1, 0.5], ["man", "here"]),
        ([0.9], ["a"]),
        ([], []),
    ],
)
def test_the_higher_half_goes_and_a_middle_one_stays(scores: list[float], stay: list[str]) -> None:
    tokens = scored(["a", "man", "here", "walk"][: len(scores)], scores)
    assert [WORDS[id_] for id_ in without_top_half(tokens)] == stay


def test_each_example_is_judged_by_every_ranking() -> None:
    pairs = tiny_pairs(CHUNK + 3)
    chunks = list(deletion_test(shared(), pairs))
    assert [len(chunk.rows) for chunk in chunks] == [CHUNK, 3]
    assert all(tuple(row) == RANKINGS for chunk in chunks for row in chunk.rows)


def test_chance_is_the_same_with_the_same_seed() -> None:
    pairs = tiny_pairs(12)
    first, again = (list(deletion_test(shared(), pairs, [RANDOM], seed=1)) for _ in range(2))
    assert first[0].rows == again[0].rows
