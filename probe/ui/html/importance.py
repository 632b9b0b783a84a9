"""Tokens shaded by their scores, with signed numbers and a table that says the same."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from probe.analysis.attribution import Importance
from probe.analysis.methods import METHODS
from probe.tasks.task import Example
from probe.transforms.options import SIGNS
from probe.transforms.registry import Scored
from probe.ui.html.elements import NOTHING, join, twin


def importance(example: Example, scores: Importance | None) -> Markup:
    """Show each text as shaded tokens, and once more as a table for screen readers.

    Nothing for a model that does not say which tokens matter to it.
    """
    if scores is None:
        return NOTHING
    texts = scores.classifier.task.texts(example)
    sides = [(field, text, scores.tokens(field)) for field, text in texts.items()]
    largest = max((abs(token.score) for _, _, side in sides for token in side), default=0.0)
    lines = join(_side(name, tokens(text, scored, largest)) for name, text, scored in sides)
    rows = join(_row(name, token) for name, _, scored in sides for token in scored)
    listed = Markup(
        "<table><thead><tr><th>side</th><th>token</th><th>score</th></tr></thead>"
        "<tbody>{}</tbody></table>"
    ).format(rows)
    return Markup('<div class="importance">{}<p class="fine">{}</p>{}</div>').format(
        lines, _caption(scores, largest), twin("as table", listed)
    )


def _side(name: str, shaded: Markup) -> Markup:
    return Markup(
        '<div class="side"><span class="name">{}</span>'
        '<div class="tokens" aria-hidden="true">{}</div></div>'
    ).format(name, shaded)


def _row(side: str, token: Scored) -> Markup:
    return Markup("<tr><td>{}</td><td>{}</td><td>{:+.2e}</td></tr>").format(
        side, token.token, token.score
    )


def _caption(scores: Importance, largest: float) -> Markup:
    """Say which method and label the numbers are of, and their unit."""
    delta = f" Convergence error {scores.delta:+.2g}." if scores.delta is not None else ""
    return Markup("{}, for the label <b>{}</b>: {}. Numbers in units of 10<sup>{}</sup>.{}").format(
        METHODS[scores.method].title, scores.label, SIGNS[scores.sign], exponent(largest), delta
    )


def tokens(text: str, scored: Sequence[Scored], largest: float) -> Markup:
    """Shade each token of a text by its score, the signed number below it."""
    pieces, at = list[str](), 0
    for token in scored:
        gap = text[at : token.start]
        pieces.append(gap if gap.strip() else (" " if gap else ""))
        pieces.append(_token(text[token.start : token.end], token.score, largest))
        at = max(at, token.end)
    return Markup("").join([*pieces, text[at:]])  # what is no markup is escaped


def _token(text: str, score: float, largest: float) -> Markup:
    return Markup(
        '<span class="token {}" style="--strength:{:.3f}">'
        '<span class="text">{}</span><span class="score">{}</span></span>'
    ).format(
        "for" if score >= 0 else "against",
        abs(score) / largest if largest else 0.0,
        text,
        signed(score / 10.0 ** exponent(largest)),
    )


def exponent(largest: float) -> int:
    """Return the power of ten in which scores are shown: a sure model's are tiny."""
    return math.floor(math.log10(largest)) if largest > 0 else 0


def signed(score: float) -> str:
    """Write a score with its sign and one decimal, a true minus before negatives."""
    return f"{score:+.1f}".replace("-", "−")
