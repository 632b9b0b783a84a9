"""A prediction's bar can be read without its colours."""

from probe.models.prediction import Prediction
from probe.tasks.nli import LABELS
from probe.ui.html.prediction import bar


def test_a_bar_says_its_probabilities_in_words() -> None:
    shown = bar(Prediction("entailment", (0.7, 0.2, 0.1), LABELS))
    assert "entailment 0.70, neutral 0.20, contradiction 0.10" in shown
    assert all(f'class="part tone-{place}"' in shown for place in ("first", "middle", "last"))
