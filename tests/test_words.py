"""Tokens as the Penn Treebank has them, and the difference between two texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.words import Edit, edits, join, same_words, tokenise
from tests.steady import STEADY

TEXT = st.text(alphabet="ab AB.,!?'\"-é\n", max_size=40)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("He left.", "He|left|."),
        ("He won't go.", "He|wo|n't|go|."),
        ("It's Ann's.", "It|'s|Ann|'s|."),
        ("They've gone!", "They|'ve|gone|!"),
        ('"Yes," he said.', "``|Yes|,|''|he|said|."),
        ("It cost $5.50 (50%).", "It|cost|$|5.50|(|50|%|)|."),
        ("Mr. Hale left.", "Mr.|Hale|left|."),
        ("It rained. We left.", "It|rained.|We|left|."),
        ("a well-known man", "a|well-known|man"),
        ("Wait...", "Wait|..."),
        ("", ""),
        (" \n", ""),
    ],
)
def test_words_are_split_as_the_treebank_does(text: str, tokens: str) -> None:
    assert tokenise(text) == [token for token in tokens.split("|") if token]


def test_joined_words_are_not_put_together_again() -> None:
    assert join(["ca", "n't", "."]) == "ca n't ."


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("He can't go.", "he ca n't go .", True),
        ("A  man", "a\nman", True),
        ("A man", "man a", False),
        ("A man", "A man.", False),
        ("", " ", True),
    ],
)
def test_case_and_spacing_do_not_make_other_words(first: str, second: str, same: bool) -> None:
    assert same_words(first, second) is same


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("a man sat", "a man sat", [Edit("kept", "a man sat")]),
        ("a man sat", "A Man sat", [Edit("kept", "A Man sat")]),
        ("a man sat", "man sat", [Edit("removed", "a"), Edit("kept", "man sat")]),
        (
            "he sat.",
            "he sat and true is true.",
            [Edit("kept", "he sat"), Edit("added", "and true is true"), Edit("kept", ".")],
        ),
        (
            "a man sat",
            "a dog sat",
            [Edit("kept", "a"), Edit("removed", "man"), Edit("added", "dog"), Edit("kept", "sat")],
        ),
        ("a man sat", "sat man a", [Edit("moved", "sat man a")]),
        ("", "a", [Edit("added", "a")]),
        ("a", "", [Edit("removed", "a")]),
        ("", "", []),
    ],
)
def test_edits_are_those_worked_by_hand(before: str, after: str, found: list[Edit]) -> None:
    assert edits(before, after) == found


@STEADY
@given(TEXT, TEXT)
def test_what_was_not_removed_spells_the_new_text(before: str, after: str) -> None:
    spelt = "".join(edit.text for edit in edits(before, after) if edit.kind != "removed")
    assert "".join(spelt.split()) == "".join(after.split())


@STEADY
@given(TEXT, TEXT)
def test_what_was_not_added_spells_the_old_text(before: str, after: str) -> None:
    found = edits(before, after)
    if any(edit.kind == "moved" for edit in found):
        return
    spelt = "".join(edit.text for edit in found if edit.kind != "added").lower()
    assert "".join(spelt.split()) == "".join(before.lower().split())


@STEADY
@given(TEXT)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert {edit.kind for edit in edits(text, text)} <= {"kept"}
