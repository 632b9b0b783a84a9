"""A model's answer: its label, its confidence, its probabilities as bars."""

from collections.abc import Iterable, Mapping

from markupsafe import Markup

from probe.models.classifier import Prediction
from probe.tasks.nli import NON_ENTAILMENT
from probe.ui.html.elements import NOTHING, join
from probe.ui.html.tones import tone

LETTERS: Mapping[str, str] = {NON_ENTAILMENT: "¬E"}
"""What stands for a label in a bar; any other label's first letter does."""
NARROW = 0.09
"""A stretch of bar under this share has no room for its letter."""


def label_name(label: str) -> Markup:
    """Name a label in its colour."""
    return Markup('<span class="label tone-{}">{}</span>').format(tone(label), label)


def verdict(prediction: Prediction) -> Markup:
    """Name the label and the confidence."""
    return Markup('{} <span class="number">{:.2f}</span>').format(
        label_name(prediction.label), prediction.confidence
    )


def bar(prediction: Prediction) -> Markup:
    """Draw the probabilities as one stacked bar with letters, and say them in words."""
    words = ", ".join(f"{label} {share:.2f}" for label, share in _shares(prediction))
    stretches = join(_stretch(label, share) for label, share in _shares(prediction))
    return Markup(
        '<span class="bar" role="img" aria-label="{words}" title="{words}">{stretches}</span>'
    ).format(words=words, stretches=stretches)


def probabilities(prediction: Prediction) -> Markup:
    """Draw each label's probability as a bar of its own with its number."""
    lines = join(_line(label, share) for label, share in _shares(prediction))
    return Markup('<div class="probabilities">{}</div>').format(lines)


def _shares(prediction: Prediction) -> Iterable[tuple[str, float]]:
    return zip(prediction.labels, prediction.probabilities, strict=True)


def _stretch(label: str, share: float) -> Markup:
    letter = LETTERS.get(label, label[:1].upper()) if share > NARROW else ""
    return _filled(label, share, letter)


def _filled(label: str, share: float, text: str = NOTHING) -> Markup:
    """Return a stretch of bar in the label's colour, as wide as its share."""
    return Markup('<span class="part tone-{}" style="width:{:.2f}%">{}</span>').format(
        tone(label), 100 * share, text
    )


def _line(label: str, share: float) -> Markup:
    return Markup(
        '<div class="probability"><span class="name label tone-{}">{}</span>'
        '<span class="track">{}</span><span class="number">{:.3f}</span></div>'
    ).format(tone(label), label, _filled(label, share), share)
