"""The difference between two texts."""

import random
from difflib import SequenceMatcher
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.errors import Stopped
from probe.stopping import stopping
from probe.text import difference
from probe.text.difference import Edit, EditKind, common_stretches, edits
from tests.support.cases import each
from tests.support.property_settings import STEADY

TEXT = st.text(alphabet="ab AB.,!?'\"-é\n", max_size=40)
WORDS = st.lists(st.sampled_from("abcdefghijklmnop"), max_size=40)


KINDS: dict[str, EditKind] = {"=": "kept", "-": "removed", "+": "added", "~": "moved"}
EDITS = """
a man sat|a man sat|=a man sat
a man sat|A Man sat|=A Man sat
a man sat|man sat|-a|=man sat
he sat.|he sat and true is true.|=he sat|+and true is true|=.
a man sat|a dog sat|=a|-man|+dog|=sat
a man sat|sat man a|~sat man a
|a|+a
a||-a
|
"""


@each("row", EDITS.splitlines()[1:])
def test_edits_are_those_worked_by_hand(row: str) -> None:
    before, after, *expected = row.split("|")
    assert edits(before, after) == [Edit(KINDS[each[0]], each[1:]) for each in expected]


@STEADY
@given(TEXT, TEXT)
def test_edits_spell_both_texts(before: str, after: str) -> None:
    found = edits(before, after)
    moved = any(edit.kind == "moved" for edit in found)
    for text, left_out in ((after, "removed"), ("" if moved else before, "added")):
        spelt = "".join(edit.text for edit in found if edit.kind != left_out)
        assert "".join(spelt.lower().split()) == "".join(text.lower().split()) or not text
    assert {edit.kind for edit in edits(before, before)} <= {"kept"}


@STEADY
@given(WORDS, WORDS)
def test_stretches_are_the_longest_and_stand_in_both_texts_in_order(
    old: list[str], new: list[str]
) -> None:
    *expected, _ = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    assert common_stretches(old, new) == expected
    with pytest.MonkeyPatch.context() as bounds:  # without comparisons too
        bounds.setattr(difference, "COMPARISONS", 0)
        bounds.setattr(difference, "COMPARISONS_A_WORD", 0)
        stretches = common_stretches(old, new)
    for match in stretches:
        words = old[match.a : match.a + match.size]
        assert words and words == new[match.b : match.b + match.size]
    for one, other in pairwise(stretches):
        assert one.a + one.size <= other.a and one.b + one.size <= other.b


def test_a_long_text_keeps_what_a_transform_left() -> None:
    rng = random.Random(0)
    old = [f"{rng.choice('abc')}{rng.randrange(2000)}" for _ in range(20_000)]
    kept = [word for word in old if rng.random() < 0.5]
    assert sum(match.size for match in common_stretches(old, kept)) > 0.9 * len(kept)
    same = ["again"] * 8000
    stretches = common_stretches(same, [*same[:5000], "new", *same[5000:]])
    assert [tuple(match) for match in stretches] == [(0, 0, 5000), (5000, 5001, 3000)]


@each("repeated", [2000, 4000, 8000])
def test_repeated_words_are_compared_in_few_steps(repeated: int) -> None:
    old, new = ["the", "cat"] * (repeated // 2), ["the", "cat", "sat"] * (repeated // 3)
    looks = 0

    def look() -> str:
        nonlocal looks
        looks += 1
        return ""

    with stopping(look):
        common_stretches(old, new)
    assert looks < 50
    with stopping(lambda: "the time is up"), pytest.raises(Stopped):
        edits("a man sat", "a dog sat")
