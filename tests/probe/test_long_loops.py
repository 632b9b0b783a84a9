"""Every long loop that answers a request ends within a few steps once nobody wants the answer."""

from collections.abc import Callable
from functools import partial

import pytest

from probe import pbsmt as translate
from probe.analysis.hans import profile
from probe.analysis.importance import METHODS, attribute
from probe.analysis.transformed import transform_all
from probe.errors import Stopped
from probe.pbsmt import DecoderWeights, Search
from probe.stopping import stopping
from probe.tasks.nli import Pair
from probe.templates import Request, generate
from probe.text import wordnet
from probe.transforms import chain
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import shared
from tests.support.models.toy_ngrams import TOY

PAIRS = tiny_pairs(100)
TEXT = "The big old dog sat near the small green house. " * 5
LONG = Pair(TEXT, "The dog sat.")


def stopped_at_the_second_look(work: Callable[[], object]) -> bool:
    """Whether work asks at least twice, and ends when it is told to."""
    looks = 0

    def second_look() -> str:
        nonlocal looks
        looks += 1
        return "nobody waits" if looks == 2 else ""

    with stopping(second_look), pytest.raises(Stopped, match="nobody waits"):
        work()
    return looks == 2


def transformed(name: str, *pairs: Pair) -> Callable[[], object]:
    """Return the transforming of pairs whose predictions are known."""
    predictions = shared().predict(pairs)
    return lambda: transform_all(shared(), pairs, predictions, [name])


def test_batches_of_a_model() -> None:
    assert stopped_at_the_second_look(lambda: shared().predict(PAIRS))


def test_the_importance_of_many_examples() -> None:
    for method in METHODS:
        labels = ["neutral"] * len(PAIRS)
        assert stopped_at_the_second_look(partial(attribute, shared(), PAIRS, labels, method)), (
            method
        )


def test_the_importance_of_one_example() -> None:
    for method in ["integrated_gradients", "occlusion"]:
        assert stopped_at_the_second_look(
            partial(attribute, shared(), [LONG], ["neutral"], method)
        ), method


def test_the_examples_and_the_links_of_a_chain() -> None:
    for name in ["sort", "sort+reverse+sort"]:
        pairs = PAIRS[:1] if len(chain(name)) > 1 else PAIRS[:3]
        assert stopped_at_the_second_look(transformed(name, *pairs)), name


@pytest.mark.skipif(bool(wordnet.missing()), reason="needs WordNet")
def test_the_words_that_are_looked_up_in_wordnet() -> None:
    for name in ["hnounsyn", "hverbant", "antonym"]:
        assert stopped_at_the_second_look(transformed(name, Pair(LONG.hypothesis, LONG.premise))), (
            name
        )


def test_the_search_of_a_translation() -> None:
    weights = DecoderWeights(language_model=0.5, distortion=0.3, distortion_limit=6)
    search = Search(TEXT.split(), translate.parse_table([]), TOY, weights, beam_size=10)
    assert stopped_at_the_second_look(search.run)


def test_the_pairs_of_templates() -> None:
    assert stopped_at_the_second_look(lambda: list(generate(Request("hans"), 1000)))


def test_the_subcases_of_hans() -> None:
    assert stopped_at_the_second_look(lambda: list(profile(shared(), 5)))
