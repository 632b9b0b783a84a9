"""A model's answer: its label in its colour, its confidence, its probabilities as bars."""

from collections.abc import Iterable
from typing import Literal

from markupsafe import Markup

from probe.models.classifier import Prediction
from probe.models.reader import SpanPrediction
from probe.models.served import BoundedPrediction
from probe.tasks.task import INVALID, TASKS, Label
from probe.ui.html.elements import NOTHING, join

Tone = Literal["first", "middle", "last", "invalid"]
"""Blue, grey, vermilion, and purple for what is no example: `.tone-first` and so on in page.css."""


def tone_class(label: Label) -> str:
    """Return the class that gives a label its colour, "" for a span, which has none."""
    known = label == INVALID or any(label in task.labels for task in TASKS.values())
    return f"tone-{tone(label)}" if known else ""


def tone(label: Label) -> Tone:
    """Return the tone of a label of any task; the middle one for what is no label."""
    if label == INVALID:
        return "invalid"
    labels = next((task.labels for task in TASKS.values() if label in task.labels), ())
    if label not in labels[:1] + labels[-1:]:
        return "middle"
    return "first" if label == labels[0] else "last"


LONGEST = 60
"""Characters of a span that is named as an answer."""


def label_name(label: str) -> Markup:
    """Name a label in its colour, or a span in short."""
    if kind := tone_class(label):
        return Markup('<span class="label {}">{}</span>').format(kind, label)
    return Markup('<span class="label span" title="{}">{}</span>').format(label, short_label(label))


def short_label(label: str) -> str:
    """Return an answer with its end cut where it is long."""
    return label if len(label) <= LONGEST else f"{label[:LONGEST]} …"


def verdict(prediction: Prediction) -> Markup:
    """Name the label and the confidence."""
    return Markup('{} <span class="number">{}</span>').format(
        label_name(prediction.label), prediction.sure
    )


def bar(prediction: Prediction, kind: str = "", stays: bool = True) -> Markup:
    """Draw the probabilities as one stacked bar, and say them in words.

    The kind "was" is the thin bar of the answer before. A span's bar is as long as it is sure, and
    in the colour of the first label where it stays what it was, else in that of the last.
    """
    words = ", ".join(f"{label} {share:.2f}" for label, share in _shares(prediction))
    if isinstance(prediction, SpanPrediction):
        stretches = _filled("first" if stays else "last", prediction.confidence)
    else:
        stretches = join(_filled(tone(label), share) for label, share in _shares(prediction))
    return Markup(
        '<span class="bar {kind}" role="img" aria-label="{before}{words}" title="{before}{words}">'
        "{stretches}</span>"
    ).format(
        kind=kind, words=words, before="before: " if kind == "was" else "", stretches=stretches
    )


def legend(prediction: Prediction) -> Markup:
    """Say each label's probability, in the order of the bar."""
    bounded = prediction.at_most if isinstance(prediction, BoundedPrediction) else ()
    lines = join(
        Markup("<span><b>{}</b> {}{}</span>").format(
            label_name(label), "≤ " if label in bounded else "", short(share)
        )
        for label, share in _shares(prediction)
    )
    return Markup('<div class="legend num">{}</div>').format(lines)


def short(share: float) -> str:
    """Write a probability with three decimals and no needless zero before them."""
    return f"{share:.3f}".removeprefix("0")


def _shares(prediction: Prediction) -> Iterable[tuple[str, float]]:
    return prediction.by_label.items()


def place_of(prediction: Prediction) -> tuple[int, int] | None:
    """Return where a span stands in its text, None for a label."""
    if isinstance(prediction, SpanPrediction):
        return prediction.start, prediction.end
    return None


def next_best(prediction: Prediction) -> Markup:
    """Name the answers behind the best one, with their probabilities; nothing where none is."""
    others = join(
        (
            Markup("<span>{} {}</span>").format(label_name(label), short(share))
            for label, share in list(_shares(prediction))[1:]
        ),
        Markup(" · "),
    )
    if not others:
        return NOTHING
    return Markup('<div class="legend num"><span>Next best</span>{}</div>').format(others)


def _filled(colour: Tone, share: float) -> Markup:
    """Return a stretch of bar in a colour, as wide as its share."""
    return Markup('<span class="part tone-{}" style="width:{:.2f}%"></span>').format(
        colour, 100 * share
    )
