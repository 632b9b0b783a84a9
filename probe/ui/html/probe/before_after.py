"""The probabilities of an answer before and after a change, as a file of its own."""

import textwrap
from collections.abc import Iterator, Mapping

from markupsafe import Markup

from probe.models.classifier import Prediction
from probe.pictures.svg import FILE, box, drawing, text
from probe.ui.html.tones import Tone, tone

WIDTH, MARGIN, LINE = 760, 20, 20
CHARACTERS = 100
"""Characters of a line of text."""
MAX_LINES = 12
"""Lines of one text; the rest of a longer one is left out."""
COLOURS: Mapping[Tone, str] = {
    "first": "#0072b2",
    "middle": "#6e6e6e",
    "last": "#c44e00",
    "invalid": "#a65e8e",
}


def before_after_svg(
    title: str, texts: Mapping[str, str], before: Prediction, after: Prediction
) -> Markup:
    """Draw both answers as stacked bars over the changed texts, by their titles."""
    lines = [line for name, words in texts.items() for line in _lines(name, words)]
    top = MARGIN + LINE
    parts = [text(MARGIN, top, title)]
    for name, prediction in (("before", before), ("after", after)):
        top += LINE + 10
        words = f"{name}: {prediction.label} {prediction.confidence:.2f}"
        parts += [text(MARGIN, top, words), *_bar(prediction, top + 6)]
        top += 14
    for line in lines:
        top += LINE
        parts.append(text(MARGIN, top + 8, line, fill=FILE.soft))
    return drawing(WIDTH, top + MARGIN + 8, title, parts)


def _lines(name: str, words: str) -> list[str]:
    return textwrap.wrap(f"{name}: {words}", CHARACTERS)[:MAX_LINES]


def _bar(prediction: Prediction, top: float) -> Iterator[Markup]:
    left, room = float(MARGIN), WIDTH - 2 * MARGIN
    for label, share in prediction.by_label.items():
        yield box(left, top, room * share, 12, COLOURS[tone(label)])
        left += room * share
