"""Every long loop that answers a request ends within a few steps once nobody wants the answer."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

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
from tests.support.cases import check_each
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import shared
from tests.support.models.toy_ngrams import TOY

PAIRS = tiny_pairs(100)
TEXT = "The big old dog sat near the small green house. " * 5
LONG = Pair(TEXT, "The dog sat.")


WEIGHTS = DecoderWeights(language_model=0.5, distortion=0.3, distortion_limit=6)


def transformed(name: str, *pairs: Pair) -> object:
    """Transform pairs whose predictions are known."""
    return transform_all(shared(), pairs, shared_predictions(pairs), [name])


def shared_predictions(pairs: Sequence[Pair]) -> Any:  # Any: the model's own
    """Predict where nobody looks."""
    with stopping(alone=True):
        return shared().predict(pairs)


LOOPS: dict[str, Callable[[], object]] = {
    "batches of a model": lambda: shared().predict(PAIRS),
    **{
        f"{method} of {len(pairs)}": partial(
            attribute, shared(), pairs, ["neutral"] * len(pairs), method
        )
        for pairs, methods in ((PAIRS, METHODS), ([LONG], ["integrated_gradients", "occlusion"]))
        for method in methods
    },
    "examples": lambda: transformed("sort", *PAIRS[:3]),
    "links of a chain": lambda: transformed("sort+reverse+sort", PAIRS[0]),
    **{
        f"words of {name}": partial(transformed, name, Pair(LONG.hypothesis, LONG.premise))
        for name in ("hnounsyn", "hverbant", "antonym")
        if not wordnet.missing()
    },
    "a translation": Search(
        TEXT.split(), translate.parse_table([]), TOY, WEIGHTS, beam_size=10
    ).run,
    "pairs of templates": lambda: list(generate(Request("hans"), 1000)),
    "sub-cases of HANS": lambda: list(profile(shared(), 5)),
}


def test_work_asks_at_least_twice_and_ends_when_it_is_told_to() -> None:
    def check(work: Callable[[], object]) -> None:
        looks = 0

        def second_look() -> str:
            nonlocal looks
            looks += 1
            return "nobody waits" if looks == 2 else ""

        with stopping(second_look), pytest.raises(Stopped, match="nobody waits"):
            work()
        assert looks == 2

    check_each(LOOPS, check)
