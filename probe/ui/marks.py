"""Pieces of HTML: probability bars, signed tokens, edits, result rows. All text is escaped."""

import math
from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

import pandas as pd

from probe.attribution import METHODS, Importance
from probe.examine import Treated
from probe.labels import CONTRADICTION, ENTAILMENT, KEEP, LABELS, NEUTRAL, UNDEFINED, Label
from probe.models.classifier import Prediction
from probe.pairs import Pair
from probe.transforms.registry import SIGNS, Scored, default_of
from probe.words import Edit

SHORT: dict[Label, str] = {ENTAILMENT: "E", NEUTRAL: "N", CONTRADICTION: "C"}
TAGS = {"kept": "span", "moved": "span", "removed": "del", "added": "ins"}
AGREEMENT = (
    "Agreement: the prediction is that of the original pair; for copysort and copyone, that it is "
    "entailment"
)
WIDE, LONG = 30, ' class="long"'
NARROW = 0.09  # a stretch of bar under this share has no room for its letter


def bar(prediction: Prediction) -> str:
    """Draw the three probabilities as one stacked bar with letters, and say them in words."""
    words = ", ".join(
        f"{label} {p:.2f}" for label, p in zip(LABELS, prediction.probabilities, strict=True)
    )
    parts = "".join(
        f'<span class="part {label}" style="width:{100 * p:.2f}%">'
        f"{SHORT[label] if p > NARROW else ''}</span>"
        for label, p in zip(LABELS, prediction.probabilities, strict=True)
    )
    return f'<span class="bar" role="img" aria-label="{words}" title="{words}">{parts}</span>'


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
        for label, p in zip(LABELS, prediction.probabilities, strict=True)
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


def diff(edits: Sequence[Edit]) -> str:
    """Show removed words struck and new ones marked."""
    return " ".join(
        f'<{TAGS[edit.kind]} class="{edit.kind}">{escape(edit.text)}</{TAGS[edit.kind]}>'
        for edit in edits
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


def link_to_model(model: str) -> str:
    """Return a permalink that opens the Probe tab with a model."""
    return "?" + urlencode({"model": model})


def meaning(treated: Treated, before: Prediction) -> str:
    """Say in one sentence what a result means."""
    result, now = treated.result, treated.prediction
    change = now.confidence - before.confidence
    sure = "as sure as before" if abs(change) < 0.05 else ("surer" if change > 0 else "less sure")
    if not result.changed:
        return "The pair is unchanged, so this says nothing about the model."
    if default_of(result.transform):
        said = "calls it entailed" if now.label == ENTAILMENT else f"says {now.label}"
        return f"The hypothesis is only the premise's own words, and the model {said}."
    if result.rule == UNDEFINED:
        if treated.agrees:
            return f"The text is destroyed, and the model still says {now.label}, {sure}."
        return f"The text is destroyed, and the answer moves from {before.label} to {now.label}."
    if result.rule == KEEP:
        if treated.agrees:
            return f"The label should stay, and it does, {sure}."
        return f"The label should stay, but the answer moves from {before.label} to {now.label}."
    return f"The model says {now.label}, {sure}."


def row(treated: Treated, before: Prediction, model: str) -> str:
    """Show one transform's result: verdict, bar, agreement, rule, the marked text, the meaning."""
    result = treated.result
    agrees = "agrees" if treated.agrees else "changed"
    mark = "=" if treated.agrees else "≠"
    sides = "".join(
        f'<p class="text"><span class="name">{side}</span> {diff(edits)}</p>'
        for side, edits in result.edits.items()
        if any(edit.kind != "kept" for edit in edits)
    )
    flags = "".join(
        f'<span class="flag">{escape(flag)}</span>'
        for flag, on in (("unchanged", not result.changed), ("not exact", not result.exact))
        if on
    )
    note = f'<p class="fine">{escape(result.note)}</p>' if result.note else ""
    return (
        f'<details class="row"><summary><span class="what">{escape(result.transform)}</span>'
        f'<span class="said">{verdict(treated.prediction)}</span>{bar(treated.prediction)}'
        f'<span class="agree {agrees}" title="{AGREEMENT}">{mark} {agrees}</span>'
        f'<span class="rule" title="{escape(result.rule.words)}">gold label: '
        f"{escape(result.rule.name.replace('_', '-'))}{flags}</span>"
        f'<span class="more" aria-hidden="true">›</span></summary>'
        f"{_full(treated, model)}</details>"
        f'<div class="made">{sides}<p class="meaning">{meaning(treated, before)}</p>{note}</div>'
    )


def _full(treated: Treated, model: str) -> str:
    """Show what opens on a click: probabilities, both texts, the steps of a chain."""
    result = treated.result
    steps = "".join(
        f"<li><b>{escape(name)}</b>: {escape(step.premise)} ▸ {escape(step.hypothesis)}</li>"
        for name, step in zip(result.transform.split("+"), result.steps, strict=True)
    )
    return (
        f'<div class="full">{probabilities(treated.prediction)}'
        f"<p><b>Premise</b> {escape(result.pair.premise)}</p>"
        f"<p><b>Hypothesis</b> {escape(result.pair.hypothesis)}</p>"
        f"<p>Rule: {escape(result.rule.words)}. "
        f"Seed {result.seed}, variant {escape(result.variant)}.</p>"
        + (f"<ol>{steps}</ol>" if len(result.steps) > 1 else "")
        + f'<p><a href="{escape(link(result.pair, model))}">Open this pair in Probe</a></p></div>'
    )
