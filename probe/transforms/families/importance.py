"""Drop, repeat, replace, copyone: sub-words by their importance (Gupta et al. 2021, section 3.1).

The sub-words of a text are ranked by score, ties by position, and the ceil(r * n) highest are kept.
The paper's code keeps by id (`by_id`), so a low-ranked repetition of a kept sub-word is kept too;
and its sign keeps what raises the loss (`sign="gupta"`). The score is the paper's, or that of the
method by which importance is shown (`ranks="shown"`).
"""

import math
from collections.abc import Sequence
from functools import partial

from probe.tasks.label_rules import UNDEFINED
from probe.tasks.task import SOURCE
from probe.transforms.registry import Inexact, Scored, Tools, transform

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


def kept_positions(scored: Sequence[Scored], tools: Tools) -> set[int]:
    """Return the positions of the sub-words that are kept."""
    ranked = sorted(range(len(scored)), key=lambda i: (-scored[i].score, i))
    best = ranked[: kept_count(tools.options.keep, len(scored))]
    if not tools.options.by_id:
        return set(best)
    ids = {scored[i].id for i in best}
    return {i for i, token in enumerate(scored) if token.id in ids}


def kept_count(share: float, n: int) -> int:
    """Return ceil(share * n) without the error of floating point (0.7 * 10 is seven)."""
    return math.ceil(round(share * n, 9))


def rewrite(ids: Sequence[int], tools: Tools) -> str | Inexact | None:
    """Turn edited ids into text; inexact where the text is read as other sub-words.

    None where nothing is left of it, such as of a text of emoji that a model does not know.
    """
    text = tools.reading.decode(ids)
    if not text:
        return None
    if tools.reading.loses_letters(ids):
        return Inexact(text, "a word that the model does not know has lost its letters")
    if tools.reading.encode(text) == list(ids):
        return text
    return Inexact(text, "scored as text, which the model splits into other sub-words")


@register(
    "drop",
    "Drop the unimportant half",
    "Takes out the tokens of {target} that matter least to the model, half of them by default.",
    applies=TOKEN,
)
def drop(text: str, tools: Tools) -> str | Inexact | None:
    """Keep the important sub-words only."""
    if not tools.tokens:
        return None
    positions = kept_positions(tools.tokens, tools)
    return rewrite([token.id for i, token in enumerate(tools.tokens) if i in positions], tools)


@register(
    "repeat",
    "Repeat the important half",
    "Replaces the tokens of {target} that matter least to the model by repetitions of the others.",
    applies=TOKEN,
)
def repeat(text: str, tools: Tools) -> str | Inexact | None:
    """Draw each of them anew from all kept sub-words."""
    if not tools.tokens:
        return None
    positions = kept_positions(tools.tokens, tools)
    pool = [token.id for i, token in enumerate(tools.tokens) if i in positions]
    if not pool:  # r = 0 keeps nothing, so there is nothing to repeat
        return None
    return rewrite(_redrawn(positions, pool, tools), tools)


@register(
    "replace",
    "Replace the unimportant half",
    "Replaces the tokens of {target} that matter least to the model by random ones.",
    applies=TOKEN,
    options=("sign", "ranks", "keep", "by_id", "draw"),
)
def replace(text: str, tools: Tools) -> str | Inexact | None:
    """Draw each of them from the vocabulary without special and unused tokens."""
    if not tools.tokens:
        return None
    positions = kept_positions(tools.tokens, tools)
    pool = PAPER_CODE_IDS if tools.options.draw == "paper_code" else tools.reading.vocabulary()
    return rewrite(_redrawn(positions, pool, tools), tools)


def _redrawn(positions: set[int], pool: Sequence[int], tools: Tools) -> list[int]:
    """Return the ids with those at other positions drawn from a pool."""
    return [
        token.id if i in positions else tools.rng.choice(pool)
        for i, token in enumerate(tools.tokens)
    ]


@register(
    "copyone",
    "Copy one important token",
    "Replaces {target} by the one token of {source} that matters most to the model.",
    reads=SOURCE,
    applies="a token in {source}",
    default=True,
    options=("sign", "ranks"),
)
def copyone(text: str, tools: Tools) -> str | Inexact | None:
    """Copy one token, as the paper says; its first code filled every position with it."""
    if not tools.tokens:
        return None
    return rewrite([max(tools.tokens, key=lambda token: token.score).id], tools)
