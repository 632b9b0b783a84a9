"""Lines of word_TAG: their tags, and the corrections made in them."""

import pytest

from probe.text.tagger import TAGS, held_out, read_line


def test_there_are_45_tags() -> None:
    assert len(TAGS) == len(set(TAGS)) == 45


@pytest.mark.parametrize(
    ("line", "words", "tags"),
    [
        ("a_DT man_NN ._.", ["a", "man", "."], ["DT", "NN", "."]),
        ("snake_case_NN", ["snake_case"], ["NN"]),
        ("\"_'' go_VB \"_''", ["``", "go", "''"], ["``", "VB", "''"]),
        ("so_RB ..._... -_-", ["so", "...", "-"], ["RB", ":", ":"]),
        ("/_NN ]_NN", ["/", "]"], ["SYM", ")"]),
        ("dogs_NNS ’_POS", ["dogs", "'"], ["NNS", "POS"]),
        ("dogs_NNS '_NN", ["dogs", "'"], ["NNS", "''"]),
        ("i_NNP go_VBP", ["i", "go"], ["PRP", "VBP"]),
        ("ah_UH`", ["ah"], ["UH"]),
        ("she_PRP nodded_JJ", ["she", "nodded"], ["PRP", "VBD"]),
        ("a_DT nodded_JJ man_NN", ["a", "nodded", "man"], ["DT", "JJ", "NN"]),
        ("men_NNS tired_JJ", ["men", "tired"], ["NNS", "JJ"]),
        ("a_DT b_XYZ", [], []),
        ("a_DT _.", [], []),
    ],
)
def test_a_line_is_read_with_its_tags_corrected(
    line: str, words: list[str], tags: list[str]
) -> None:
    assert read_line(line) == (words, tags)


def test_about_a_tenth_of_lines_is_held_out() -> None:
    assert 70 < sum(held_out(f"line {n}") for n in range(1000)) < 130
