"""How far a lesson's scoring is said to be."""

import pytest

from probe.analysis.batch import Chunk
from probe.ui.lessons.bundled_scores import progress


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (24, "24 of 240 pairs, about 2 min left"),
        (238, "238 of 240 pairs, about 10 s left"),
        (240, "240 of 240 pairs"),
    ],
)
def test_the_time_left_is_never_none(done: int, words: str) -> None:
    assert f">{words}<" in progress(Chunk((), done, 240, done / 2), "pair")
