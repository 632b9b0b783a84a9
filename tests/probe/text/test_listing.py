"""Names in a sentence."""

import pytest

from probe.text.words import listing
from tests.support.each import each


@each(
    ("names", "words"),
    [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_names_stand_as_in_a_sentence(names: list[str], words: str) -> None:
    assert listing(names) == words


def test_no_name_is_refused() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        listing([])
