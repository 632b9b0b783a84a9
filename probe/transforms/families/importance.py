"""Drop, repeat, replace, copyone: sub-words by their importance (Gupta et al. 2021, section 3.1).

The sub-words of a text are ranked by score, ties by position, and the ceil(r * n) highest are kept.
Sub-words that are bytes of one character of the text count as one.
The paper's code keeps by id (`by_id`), so a low-ranked repetition of a kept sub-word is kept too;
and its sign keeps what raises the loss (`sign="gupta"`). The score is the paper's, or that of the
method by which importance is shown (`ranks="shown"`).
"""

import math
from collections.abc import Callable, Container, Sequence
from functools import partial

from probe.graphemes import clusters
from probe.tasks.label_rules import UNDEFINED
from probe.tasks.task import SOURCE
from probe.transforms.registry import Changed, Scored, Tools, transform

PAPER_CODE_IDS = range(100, 20_000)  # the ids the paper's code draws from

register = partial(
    transform,
    family="gradient",
    rule=UNDEFINED,
    level="sub-word",
    source="Gupta et al. 2021, section 3.1",
    options=("sign", "ranks", "keep", "by_id"),
)
TOKEN = "a token in {target}"


def units(text: str, tokens: Sequence[Scored]) -> list[list[Scored]]:
    """Return the sub-words one by one; those that share a character of the text stay together.

    A tokenizer of bytes splits an emoji or a Chinese character into several sub-words.
    """
    if text.isascii():
        return [[token] for token in tokens]
    cluster_at = [n for n, cluster in enumerate(clusters(text)) for _ in cluster]
    grouped: list[list[Scored]] = []
    last = -1  # the cluster in which the sub-word before ends
    for token in tokens:
        inside = cluster_at[token.start : token.end]
        if inside and inside[0] == last:
            grouped[-1].append(token)
        else:
            grouped.append([token])
        last = inside[-1] if inside else last
    return grouped


def kept_units(scored: Sequence[Sequence[Scored]], tools: Tools) -> set[int]:
    """Return the positions of the units that are kept."""
    ranked = sorted(range(len(scored)), key=lambda i: -sum(token.score for token in scored[i]))
    best = ranked[: kept_count(tools.options.keep, len(scored))]
    if not tools.options.by_id:
        return set(best)
    kept = {_ids(scored[i]) for i in best}
    return {i for i, unit in enumerate(scored) if _ids(unit) in kept}


def _ids(unit: Sequence[Scored]) -> tuple[int, ...]:
    return tuple(token.id for token in unit)


def kept_count(share: float, n: int) -> int:
    """Return ceil(share * n) without the error of floating point (0.7 * 10 is seven)."""
    return math.ceil(round(share * n, 9))


def rewrite(ids: Sequence[int], tools: Tools) -> str | Changed | None:
    """Turn edited ids into text; inexact where the text is read as other sub-words.

    None where nothing is left of it, such as of a text of emoji that a model does not know.
    """
    text = tools.reading.decode(ids)
    if not text:
        return None
    if tools.reading.loses_letters(ids):
        return Changed(text, "a word that the model does not know has lost its letters")
    if tools.reading.encode(text) == list(ids):
        return text
    return Changed(text, "scored as text, which the model splits into other sub-words")


@register(
    "drop",
    "Drop the unimportant half",
    "Takes out the tokens of {target} that matter least to the model, half of them by default.",
    applies=TOKEN,
)
def drop(text: str, tools: Tools) -> str | Changed | None:
    """Keep the important sub-words only."""
    every = units(text, tools.tokens)
    kept = kept_units(every, tools)
    return rewrite([token.id for i in sorted(kept) for token in every[i]], tools)


@register(
    "repeat",
    "Repeat the important half",
    "Replaces the tokens of {target} that matter least to the model by repetitions of the others.",
    applies=TOKEN,
)
def repeat(text: str, tools: Tools) -> str | Changed | None:
    """Draw each of them anew from all kept sub-words."""
    every = units(text, tools.tokens)
    kept = kept_units(every, tools)
    if not kept:  # r = 0 keeps nothing, so there is nothing to repeat
        return None
    pool = [_ids(every[i]) for i in sorted(kept)]
    return rewrite(_redrawn(every, kept, lambda: tools.rng.choice(pool)), tools)


@register(
    "replace",
    "Replace the unimportant half",
    "Replaces the tokens of {target} that matter least to the model by random ones.",
    applies=TOKEN,
    options=("sign", "ranks", "keep", "by_id", "draw"),
)
def replace(text: str, tools: Tools) -> str | Changed | None:
    """Draw each of them from the vocabulary without special and unused tokens."""
    every = units(text, tools.tokens)
    pool = PAPER_CODE_IDS if tools.options.draw == "paper_code" else tools.reading.vocabulary()
    kept = kept_units(every, tools)
    return rewrite(_redrawn(every, kept, lambda: (tools.rng.choice(pool),)), tools)


def _redrawn(
    every: Sequence[Sequence[Scored]], kept: Container[int], draw: Callable[[], Sequence[int]]
) -> list[int]:
    """Return the ids with those of the units that are not kept drawn anew."""
    return [id_ for i, unit in enumerate(every) for id_ in (_ids(unit) if i in kept else draw())]


@register(
    "copyone",
    "Copy one important token",
    "Replaces {target} by the one token of {source} that matters most to the model.",
    reads=SOURCE,
    applies="a token in {source}",
    default=True,
    options=("sign", "ranks"),
)
def copyone(text: str, tools: Tools) -> str | Changed | None:
    """Copy one token, as the paper says; its first code filled every position with it."""
    if not tools.tokens:
        return None
    every = units(text, tools.tokens)
    most = max(every, key=lambda unit: sum(token.score for token in unit))
    return rewrite(_ids(most), tools)
