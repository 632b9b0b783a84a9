"""Tokens shaded by their scores, and a table with signed numbers that says the same."""

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from probe.analysis.importance import METHODS, Importance, Method
from probe.tasks.task import Example
from probe.text.words import spans
from probe.transforms.options import SIGNS, Sign
from probe.transforms.registry import Scored
from probe.ui.html.elements import join, note, twin

KEYS: Mapping[Sign, Markup] = {
    "support": Markup(
        'tokens <span class="key for">speak for it</span> or '
        '<span class="key against">against it</span>'
    ),
    "gupta": Markup(
        'tokens <span class="key for">raise the loss</span> or '
        '<span class="key against">lower it</span>'
    ),
    "abs": Markup('the more a token matters, the <span class="key for">darker</span>'),
}
"""What the two shades mean, by the convention of the signs."""


def importance(
    example: Example, scores: Importance | str, answer: tuple[int, int] | None = None
) -> Markup:
    """Show each text as shaded tokens, and once more as a table for screen readers.

    `answer` is as of `shaded`. Where it is not to be had `scores` says why.
    """
    if isinstance(scores, str):
        return note(f"No importance of the tokens: {scores}.")
    return Markup('<div class="importance">{}{}</div>').format(
        shaded(example, scores, answer), twin("as table", score_table(example, scores))
    )


def shaded(example: Example, scores: Importance, answer: tuple[int, int] | None = None) -> Markup:
    """Show each text as tokens shaded by their scores, under a line that says how to read them.

    `answer` are the characters of the last text that are the answer, which are marked.
    """
    task = scores.model.task
    sides = task.texts(example)
    largest, last = _largest(scores), list(sides)[-1]
    lines = join(
        Markup('<div class="tokens" aria-hidden="true">{}</div>').format(
            tokens(text, scores.tokens(field), largest, answer if field == last else None)
        )
        for field, text in sides.items()
    )
    return Markup('<p class="rests">{}</p>{}{}').format(
        _caption(scores), lines, join(map(note, scores.remarks))
    )


def _caption(scores: Importance) -> Markup:
    what = f"What “{scores.label}” rests on"
    if scores.against:
        what = f"Why “{scores.label}” and not “{scores.against}”"
    return Markup('{} — {} <span class="hide-phone">· {}</span>').format(
        what, KEYS[scores.sign], METHODS[scores.method].title.lower()
    )


def legend(method: Method, sign: Sign) -> Markup:
    """Say how shaded words of many rows are read."""
    sign = sign if METHODS[method].signed else "abs"
    return Markup(
        '<p class="rests">What the right label rests on, else the answer — {} · {}; '
        "a press on a text shows all of it</p>"
    ).format(KEYS[sign], METHODS[method].title.lower())


def shaded_words(text: str, scores: Sequence[tuple[str, float | None]], largest: float) -> Markup:
    """Shade the words of a text, scored as `word_scores` has it; one without a score is plain."""
    scored = [
        Scored(word, 0, at.start, at.end, score)
        for at, (word, score) in zip(spans(text), scores, strict=True)
        if score is not None
    ]
    return tokens(text, scored, largest)


def score_table(example: Example, scores: Importance) -> Markup:
    """Return the signed scores as a table, with the method, the label and the unit."""
    task = scores.model.task
    power = exponent(_largest(scores))
    rows = join(
        Markup("<tr><td>{}</td><td>{}</td><td>{}</td><td>{:+.2e}</td></tr>").format(
            task.title_of(field), token.token, signed(token.score / 10.0**power), token.score
        )
        for field in task.texts(example)
        for token in scores.tokens(field)
    )
    delta = f" Convergence error {scores.delta:+.2g}." if scores.delta is not None else ""
    return Markup(
        '<div class="sheet scores" tabindex="0" role="region" aria-label="scores of the tokens">'
        '<table><thead><tr><th scope="col">text</th><th scope="col">token</th>'
        '<th scope="col">× 10<sup>{}</sup></th><th scope="col">score</th></tr></thead>'
        '<tbody>{}</tbody></table></div><p class="fine">{} {}, for the label {}: {}.{}</p>'
    ).format(
        power,
        rows,
        METHODS[scores.method].title,
        scores.where,
        scores.target,
        SIGNS[scores.sign],
        delta,
    )


def _largest(scores: Importance) -> float:
    every = (abs(token.score) for side in scores.fields.values() for token in side)
    return max(every, default=0.0)


def tokens(
    text: str,
    scored: Sequence[Scored],
    largest: float,
    marked: tuple[int, int] | None = None,
) -> Markup:
    """Shade each token of a text by its score; the signed number shows on hovering.

    The characters from `marked[0]` to `marked[1]` are marked as the answer.
    """
    if marked is None:
        return _stretch(text, scored, largest, 0, len(text))
    start, end = marked
    return (
        _stretch(text, scored, largest, 0, start)
        + Markup('<mark class="answer-span">{}</mark>').format(
            _stretch(text, scored, largest, start, end)
        )
        + _stretch(text, scored, largest, end, len(text))
    )


def _stretch(text: str, scored: Sequence[Scored], largest: float, start: int, end: int) -> Markup:
    """Shade the tokens that begin between two characters of a text."""
    pieces, at = list[str](), start
    for token in scored:
        if not start <= token.start < end:
            continue
        gap = text[at : token.start]
        pieces.append(gap if gap.strip() else (" " if gap else ""))
        pieces.append(_token(text[token.start : token.end], token.score, largest))
        at = max(at, token.end)
    return Markup("").join([*pieces, text[at:end]])  # what is no markup is escaped


def _token(text: str, score: float, largest: float) -> Markup:
    return Markup('<span class="token {}" style="--strength:{:.3f}" title="{}">{}</span>').format(
        "for" if score >= 0 else "against",
        abs(score) / largest if largest else 0.0,
        f"{signed(score / 10.0 ** exponent(largest))} × 10^{exponent(largest)}",
        text,
    )


def exponent(largest: float) -> int:
    """Return the power of ten in which scores are shown: a sure model's are tiny."""
    return math.floor(math.log10(largest)) if largest > 0 else 0


def signed(score: float) -> str:
    """Write a score with its sign and one decimal, a true minus before negatives."""
    return f"{score:+.1f}".replace("-", "−")
