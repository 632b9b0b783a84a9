"""A model's answer: its label, its confidence, its probabilities as bars."""

from collections.abc import Iterable

from markupsafe import Markup

from probe.models.classifier import Prediction
from probe.ui.html.elements import join
from probe.ui.html.tones import tone


def label_name(label: str) -> Markup:
    """Name a label in its colour."""
    return Markup('<span class="label tone-{}">{}</span>').format(tone(label), label)


def verdict(prediction: Prediction) -> Markup:
    """Name the label and the confidence."""
    return Markup('{} <span class="number">{:.2f}</span>').format(
        label_name(prediction.label), prediction.confidence
    )


def bar(prediction: Prediction, kind: str = "") -> Markup:
    """Draw the probabilities as one stacked bar, and say them in words.

    The kind "was" is the thin bar of the answer before.
    """
    words = ", ".join(f"{label} {share:.2f}" for label, share in _shares(prediction))
    stretches = join(_filled(label, share) for label, share in _shares(prediction))
    return Markup(
        '<span class="bar {kind}" role="img" aria-label="{before}{words}" title="{before}{words}">'
        "{stretches}</span>"
    ).format(
        kind=kind, words=words, before="before: " if kind == "was" else "", stretches=stretches
    )


def legend(prediction: Prediction) -> Markup:
    """Say each label's probability, in the order of the bar."""
    lines = join(
        Markup("<span><b>{}</b> {}</span>").format(label_name(label), short(share))
        for label, share in _shares(prediction)
    )
    return Markup('<div class="legend num">{}</div>').format(lines)


def short(share: float) -> str:
    """Write a probability with three decimals and no needless zero before them."""
    return f"{share:.3f}".removeprefix("0")


def _shares(prediction: Prediction) -> Iterable[tuple[str, float]]:
    return zip(prediction.labels, prediction.probabilities, strict=True)


def _filled(label: str, share: float) -> Markup:
    """Return a stretch of bar in the label's colour, as wide as its share."""
    return Markup('<span class="part tone-{}" style="width:{:.2f}%"></span>').format(
        tone(label), 100 * share
    )
