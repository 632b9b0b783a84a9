"""Pieces of HTML: probability bars, signed tokens, edits, result rows. All text is escaped."""

import math
from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

import pandas as pd

from probe.analysis.attribution import METHODS, Importance
from probe.models.classifier import Prediction
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, NEUTRAL, NON_ENTAILMENT, Pair
from probe.tasks.task import Label
from probe.text.tokens import Edit
from probe.transforms.options import SIGNS
from probe.transforms.registry import Scored

SHORT: dict[Label, str] = {ENTAILMENT: "E", NEUTRAL: "N", CONTRADICTION: "C", NON_ENTAILMENT: "¬E"}
TAGS = {"kept": "span", "moved": "span", "removed": "del", "added": "ins"}
WIDE, LONG = 30, ' class="long"'
NARROW = 0.09  # a stretch of bar under this share has no room for its letter


def bar(prediction: Prediction) -> str:
    """Draw the probabilities as one stacked bar with letters, and say them in words."""
    words = ", ".join(
        f"{label} {p:.2f}"
        for label, p in zip(prediction.labels, prediction.probabilities, strict=True)
    )
    parts = "".join(
        f'<span class="part {label}" style="width:{100 * p:.2f}%">'
        f"{SHORT[label] if p > NARROW else ''}</span>"
        for label, p in zip(prediction.labels, prediction.probabilities, strict=True)
    )
    return f'<span class="bar" role="img" aria-label="{words}" title="{words}">{parts}</span>'


def meter(label: str, share: float) -> str:
    """Draw how far work is, as a share from 0 to 1."""
    percent = 100 * share
    return (
        f'<div class="progress" role="progressbar" aria-label="{label}" '
        f'aria-valuenow="{percent:.0f}" aria-valuemin="0" aria-valuemax="100">'
        f'<span style="width:{percent:.1f}%"></span></div>'
    )


def verdict(prediction: Prediction) -> str:
    """Name the label and the confidence."""
    return (
        f'<span class="label {prediction.label}">{prediction.label}</span> '
        f'<span class="number">{prediction.confidence:.2f}</span>'
    )


def probabilities(prediction: Prediction) -> str:
    """Draw each label's probability as a bar of its own with its number."""
    rows = "".join(
        f'<div class="probability"><span class="name label {label}">{label}</span>'
        f'<span class="track"><span class="part {label}" style="width:{100 * p:.2f}%"></span>'
        "</span>"
        f'<span class="number">{p:.3f}</span></div>'
        for label, p in zip(prediction.labels, prediction.probabilities, strict=True)
    )
    return f'<div class="probabilities">{rows}</div>'


def tokens(text: str, scored: Sequence[Scored], largest: float) -> str:
    """Shade each token of a text by its score, the signed number below it."""
    pieces, at = [], 0
    for token in scored:
        gap = text[at : token.start]
        pieces.append(escape(gap) if gap.strip() else (" " if gap else ""))
        pieces.append(_token(text[token.start : token.end], token.score, largest))
        at = max(at, token.end)
    return "".join(pieces) + escape(text[at:])


def _token(text: str, score: float, largest: float) -> str:
    strength = abs(score) / largest if largest else 0.0
    kind = "for" if score >= 0 else "against"
    return (
        f'<span class="token {kind}" style="--strength:{strength:.3f}">'
        f'<span class="text">{escape(text)}</span>'
        f'<span class="score">{signed(score / 10.0 ** exponent(largest))}</span></span>'
    )


def exponent(largest: float) -> int:
    """Return the power of ten in which scores are shown: a sure model's are tiny."""
    return math.floor(math.log10(largest)) if largest > 0 else 0


def signed(score: float) -> str:
    """Write a score with its sign and one decimal, a true minus before negatives."""
    return f"{score:+.1f}".replace("-", "−")


def importance(pair: Pair, found: Importance) -> str:
    """Show both sides as shaded tokens, and once more as a table for screen readers."""
    sides = (
        ("premise", pair.premise, found.premise),
        ("hypothesis", pair.hypothesis, found.hypothesis),
    )
    scores = [abs(token.score) for _, _, side in sides for token in side]
    largest = max(scores, default=0.0)
    lines = "".join(
        f'<div class="side"><span class="name">{name}</span>'
        f'<div class="tokens" aria-hidden="true">{tokens(text, side, largest)}</div></div>'
        for name, text, side in sides
    )
    rows = "".join(
        f"<tr><td>{name}</td><td>{escape(token.token)}</td><td>{token.score:+.2e}</td></tr>"
        for name, _, side in sides
        for token in side
    )
    delta = f" Convergence error {found.delta:+.2g}." if found.delta is not None else ""
    unit = f" Numbers in units of 10<sup>{exponent(largest)}</sup>."
    said = (
        f"{METHODS[found.method]}, for the label <b>{found.label}</b>: {SIGNS[found.sign]}."
        f"{unit}{delta}"
    )
    return (
        f'<div class="importance">{lines}<p class="fine">{said}</p>'
        '<details class="twin"><summary>as table</summary><table><thead><tr><th>side</th>'
        f"<th>token</th><th>score</th></tr></thead><tbody>{rows}</tbody></table></details></div>"
    )


def diff(found: Sequence[Edit]) -> str:
    """Show removed words struck and new ones marked."""
    return " ".join(
        f'<{TAGS[edit.kind]} class="{edit.kind}">{escape(edit.text)}</{TAGS[edit.kind]}>'
        for edit in found
    )


def sheet(frame: pd.DataFrame, label: str) -> str:
    """Show a frame as a plain table that scrolls sideways where it must; a head sorts by it."""
    head = "".join(
        f'<th scope="col"><button type="button" onclick="sortSheet(this)">{escape(str(name))}'
        "</button></th>"
        for name in frame.columns
    )
    body = "".join(
        "<tr>" + "".join(_cell(value) for value in row) + "</tr>"
        for row in frame.itertuples(index=False, name=None)
    )
    return (
        f'<div class="sheet" tabindex="0" role="region" aria-label="{label}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: object) -> str:
    text = "" if value is None or value != value else str(value)  # NaN is not itself
    return f"<td{LONG if len(text) > WIDE else ''}>{escape(text)}</td>"


def link(pair: Pair, model: str) -> str:
    """Return a permalink that opens a pair in the Probe tab."""
    return "?" + urlencode({"premise": pair.premise, "hypothesis": pair.hypothesis, "model": model})


def link_to_inoculation(challenge: str, model: str) -> str:
    """Return a permalink that opens the Inoculate tab with a model and a challenge chosen."""
    return "?" + urlencode({"tab": "inoculate", "model": model, "challenge": challenge})


def link_to_model(model: str) -> str:
    """Return a permalink that opens the Probe tab with a model."""
    return "?" + urlencode({"model": model})
