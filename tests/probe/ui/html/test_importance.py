"""Shaded tokens: text is escaped, numbers can be read."""

import pytest

from probe.transforms.registry import Scored
from probe.ui.html.importance import exponent, tokens


def scored(token: str, start: int, score: float) -> Scored:
    return Scored(token, 0, start, start + len(token), score)


@pytest.mark.parametrize(
    ("largest", "power"), [(0.0021, -3), (0.9, -1), (1.0, 0), (37.0, 1), (0.0, 0)]
)
def test_scores_are_shown_in_the_power_of_ten_of_the_largest(largest: float, power: int) -> None:
    assert exponent(largest) == power


def test_a_tiny_score_still_shows_its_size_and_sign() -> None:
    shown = tokens("it rains", [scored("it", 0, 0.0004), scored("rains", 3, -0.0021)], 0.0021)
    assert 'title="+0.4 × 10^-3">it<' in shown
    assert 'title="−2.1 × 10^-3">rains<' in shown


def test_tokens_spell_the_whole_text_again() -> None:
    shown = tokens("a<b> c", [scored("a", 0, 1.0), scored("c", 5, 1.0)], 1.0)
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
