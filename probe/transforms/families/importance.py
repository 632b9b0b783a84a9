"""Drop, repeat, replace, copyone: sub-words by their importance (Gupta et al. 2021).

The sub-words of a text are ranked by score, ties by position, and the ceil(r * n) highest are kept.
Sub-words that are bytes of one character of the text count as one.
The paper's code keeps by id (`by_id`), so a low-ranked repetition of a kept sub-word is kept too;
and its sign keeps what raises the loss (`sign="gupta"`). The score is the paper's, or that of the
method by which importance is shown (`ranks="shown"`).
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain

from probe.graphemes import clusters
from probe.tasks.label_rules import UNDEFINED
from probe.tasks.task import SOURCE
from probe.transforms.families.lexical import PAPER, TASKS_OF_PAPER
from probe.transforms.registry import Changed, Scored, Tools, transform

PAPER_CODE_IDS = range(100, 20_000)  # the ids the paper's code draws from

register = partial(
    transform,
    family="gradient",
    rule=UNDEFINED,
    level="sub-word",
    source=PAPER,
    homes=TASKS_OF_PAPER,
    options=("side", "sign", "ranks", "keep", "by_id"),
)
TOKEN = "a token in {target}"
Ids = tuple[int, ...]


def units(text: str, tokens: Sequence[Scored]) -> list[list[Scored]]:
    """Return the sub-words one by one; bytes of one character of the text stay together."""
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
    count = math.ceil(round(tools.options.keep * len(scored), 9))  # 0.7 * 10 is seven
    best = ranked[:count]
    if not tools.options.by_id:
        return set(best)
    kept = {_ids(scored[i]) for i in best}
    return {i for i, unit in enumerate(scored) if _ids(unit) in kept}


def _ids(unit: Sequence[Scored]) -> Ids:
    return tuple(token.id for token in unit)


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


def redrawn(text: str, tools: Tools, draw: Callable[[list[Ids]], Ids]) -> str | Changed | None:
    """Draw the ids of each unit that is not kept anew, from those of the kept ones."""
    every = units(text, tools.tokens)
    kept = kept_units(every, tools)
    pool = [_ids(every[i]) for i in sorted(kept)]
    new = (_ids(unit) if i in kept else draw(pool) for i, unit in enumerate(every))
    return rewrite([*chain.from_iterable(new)], tools)


@register(
    "drop",
    "Drop the unimportant half",
    "Takes out the tokens of {target} that matter least to the model, half of them by default.",
    applies=TOKEN,
)
def drop(text: str, tools: Tools) -> str | Changed | None:
    """Keep the important sub-words only."""
    return redrawn(text, tools, lambda pool: ())


@register(
    "repeat",
    "Repeat the important half",
    "Replaces the tokens of {target} that matter least to the model by repetitions of the others.",
    applies=TOKEN,
    chance=True,
)
def repeat(text: str, tools: Tools) -> str | Changed | None:
    """Draw each of them anew from all kept sub-words; r = 0 keeps none, so nothing is left."""
    return redrawn(text, tools, lambda pool: tools.rng.choice(pool) if pool else ())


@register(
    "replace",
    "Replace the unimportant half",
    "Replaces the tokens of {target} that matter least to the model by random ones.",
    applies=TOKEN,
    options=("side", "sign", "ranks", "keep", "by_id", "draw"),
    chance=True,
)
def replace(text: str, tools: Tools) -> str | Changed | None:
    """Draw each of them from the vocabulary without special and unused tokens."""
    code = tools.options.draw == "paper_code"
    ids = PAPER_CODE_IDS if code else tools.reading.vocabulary()
    return redrawn(text, tools, lambda pool: (tools.rng.choice(ids),))


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
