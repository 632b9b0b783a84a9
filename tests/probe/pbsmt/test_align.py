"""Word alignment: symmetrised links, and links that were kept."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.errors import TrainingError
from probe.pbsmt.train import Link, align, symmetrise
from tests.support.property_settings import STEADY


@pytest.mark.parametrize(
    ("forward", "backward", "joined"),
    [
        pytest.param({(0, 0)}, {(0, 0)}, {(0, 0)}, id="what both have stays"),
        pytest.param(
            {(0, 0), (1, 1), (1, 2)},
            {(0, 0), (1, 1)},
            {(0, 0), (1, 1), (1, 2)},
            id="a neighbour that links a new word comes in",
        ),
        pytest.param(
            {(0, 0), (0, 1), (1, 1)},
            {(0, 0), (1, 1)},
            {(0, 0), (1, 1)},
            id="a neighbour of two linked words stays out",
        ),
        pytest.param(
            {(0, 0), (1, 1)}, {(0, 0)}, {(0, 0), (1, 1)}, id="diagonal neighbours are neighbours"
        ),
        pytest.param(
            {(0, 0), (0, 1), (0, 2), (0, 3)},
            {(0, 0)},
            {(0, 0), (0, 1), (0, 2), (0, 3)},
            id="what came in has neighbours too",
        ),
        pytest.param(
            {(0, 0), (3, 3)},
            {(0, 0)},
            {(0, 0), (3, 3)},
            id="far off, two unlinked words are linked",
        ),
        pytest.param(
            {(0, 0), (3, 0)}, {(0, 0)}, {(0, 0)}, id="far off, a linked word gets no second link"
        ),
        pytest.param(
            {(0, 2)}, {(0, 0)}, {(0, 2)}, id="of two far links the forward one comes first"
        ),
        pytest.param(set(), set(), set(), id="no links"),
    ],
)
def test_two_alignments_are_joined_as_by_hand(
    forward: set[Link], backward: set[Link], joined: set[Link]
) -> None:
    assert symmetrise(forward, backward) == joined


LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)


@STEADY
@given(LINKS, LINKS)
def test_the_joined_alignment_lies_between_both_and_either(
    forward: set[Link], backward: set[Link]
) -> None:
    assert forward & backward <= symmetrise(forward, backward) <= forward | backward


def test_links_that_were_kept_are_used_again(tmp_path: Path) -> None:
    (tmp_path / "forward").write_text("0-0 1-1\n0-1\n")
    (tmp_path / "backward").write_text("0-0\n0-1\n")
    premises, hypotheses = [["a", "b"], ["c"]], [["a", "b"], ["d", "e"]]
    assert align(premises, hypotheses, tmp_path) == [{(0, 0), (1, 1)}, {(0, 1)}]


def test_links_of_other_pairs_are_refused(tmp_path: Path) -> None:
    (tmp_path / "forward").write_text("0-0\n")
    (tmp_path / "backward").write_text("0-0\n")
    with pytest.raises(TrainingError, match="are not of these pairs; remove them"):
        align([["a"], ["b"]], [["a"], ["b"]], tmp_path)
