"""The pieces of HTML: text is escaped, numbers can be read."""

import pandas as pd
import pytest

from probe.models.classifier import as_prediction
from probe.tasks.nli import LABELS
from probe.text.tokens import edits
from probe.transforms.registry import Scored
from probe.ui.html import elements as marks


def scored(token: str, start: int, score: float) -> Scored:
    return Scored(token, 0, start, start + len(token), score)


@pytest.mark.parametrize(
    ("largest", "power"), [(0.0021, -3), (0.9, -1), (1.0, 0), (37.0, 1), (0.0, 0)]
)
def test_scores_are_shown_in_the_power_of_ten_of_the_largest(largest: float, power: int) -> None:
    assert marks.exponent(largest) == power


def test_a_tiny_score_still_shows_its_size_and_sign() -> None:
    shown = marks.tokens("it rains", [scored("it", 0, 0.0004), scored("rains", 3, -0.0021)], 0.0021)
    assert '<span class="score">+0.4</span>' in shown
    assert '<span class="score">−2.1</span>' in shown


def test_tokens_spell_the_whole_text_again() -> None:
    shown = marks.tokens("a<b> c", [scored("a", 0, 1.0), scored("c", 5, 1.0)], 1.0)
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown


def test_a_diff_escapes_what_a_person_typed() -> None:
    assert "<i>" not in marks.diff(edits("<i> one", "<i> two"))


def test_a_sheet_escapes_cells_and_heads() -> None:
    shown = marks.sheet(pd.DataFrame({"<h>": ["<c>"]}), "rows")
    assert "<h>" not in shown
    assert "<c>" not in shown


def test_a_bar_says_its_probabilities_in_words() -> None:
    shown = marks.bar(as_prediction((0.7, 0.2, 0.1), LABELS))
    assert "entailment 0.70, neutral 0.20, contradiction 0.10" in shown
    assert all(f'class="part {label}"' in shown for label in LABELS)
