"""Answers, edits and tokens can be read without colours, and text is escaped."""

import pytest

from probe.models.prediction import Prediction
from probe.tasks.nli import LABELS
from probe.text.difference import edits
from probe.transforms.registry import Scored
from probe.ui.html.edits import diff
from probe.ui.html.importance import exponent, tokens
from probe.ui.html.prediction import bar, tone


def test_a_bar_says_its_probabilities_in_words() -> None:
    shown = bar(Prediction("entailment", (0.7, 0.2, 0.1), LABELS))
    assert "entailment 0.70, neutral 0.20, contradiction 0.10" in shown
    assert all(f'class="part tone-{place}"' in shown for place in ("first", "middle", "last"))


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("entailment", "first"),
        ("neutral", "middle"),
        ("contradiction", "last"),
        ("non-entailment", "last"),
        ("paraphrase", "first"),
        ("non-paraphrase", "last"),
        ("positive", "first"),
        ("negative", "last"),
        ("no label at all", "middle"),
        ("invalid", "invalid"),
    ],
)
def test_a_labels_colour_is_that_of_its_place_in_its_task(label: str, expected: str) -> None:
    assert tone(label) == expected


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


def test_a_diff_escapes_what_a_person_typed() -> None:
    assert "<i>" not in diff(edits("<i> one", "<i> two"))
