"""Penn Treebank tags by an averaged perceptron.

The perceptron is NLTK's, whose own weights must be downloaded; ours lie in assets/tagger (see its
README), and `python -m recipes.tagger` trains them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from probe.first_import import first_import
from probe.settings import ASSETS
from probe.text.inflection import parts_of_speech

if TYPE_CHECKING:
    from nltk.tag.perceptron import AveragedPerceptron


PUNCTUATION_TAGS = {
    **dict.fromkeys(".?!", "."),
    **dict.fromkeys([":", ";", "-", "--", "...", "…", "‒", "–", "—", "―"], ":"),
    **dict.fromkeys(["``", "`", "“", "‘", "«"], "``"),
    **dict.fromkeys(["''", "”", "»"], "''"),
    **dict.fromkeys("([{<", "("),
    **dict.fromkeys(")]}>", ")"),
    **dict.fromkeys("$£€", "$"),
    **dict.fromkeys("*+=/|~^_@•\\", "SYM"),
    **{",": ",", "#": "#", "&": "CC", "%": "NN"},
}
"""Tokens that have the same tag in every context."""


FOLDER = ASSETS / "tagger"
WEIGHTS_FILE = "weights.json"
WEIGHT_SCALE = 1000  # the file holds thousandths
FINITE_TAGS = frozenset({"VBD", "VBZ", "VBP", "MD"})
EDGES = 2  # entries before the first word, so that every word has two tags before it

Place = tuple[str, tuple[str, ...], str, str, bool]
"""A word, the five around it that are compared, it in their middle, the tags of the last but one
and of the last, and whether the sentence has had a finite verb."""
Features = dict[str, int]
Update = Callable[[int, str, str, Features], None]
"""Called in training with a word's index, the word as tagged, its predicted tag, its features."""


@dataclass(frozen=True)
class Model:
    """The tags of words that always have the same one, and weights for all others.

    `lowercase` has the words that are written in lower case more often than with a capital inside
    a sentence: a capital at the start of a sentence does not make them names.
    """

    fixed: Mapping[str, str]
    lowercase: frozenset[str]
    perceptron: AveragedPerceptron


def tag(words: Sequence[str]) -> list[str]:
    """Return the Penn Treebank tag of each token that `probe.text.words.tokenise` returns.

    Tags are chosen greedily from left to right. Accuracy is best on one sentence at a time.
    """
    return tags([word.replace("’", "'") for word in words], _bundled_model(), known=_bundled_tag)


def missing() -> str:
    """Return that the weights are missing and how to get them, "" where they are present."""
    if (FOLDER / WEIGHTS_FILE).is_file():
        return ""
    return (
        f"The tagger's weights are not in assets/tagger/{WEIGHTS_FILE}; "
        "make them with `python -m recipes.tagger train FILE.txt.gz`."
    )


@cache
def _bundled_model() -> Model:
    return load(FOLDER)


@lru_cache(maxsize=20_000)
def _bundled_tag(place: Place) -> str:
    """Return the tag of a word at a place: a chain asks of each word again in each of its links."""
    return str(_bundled_model().perceptron.predict(_features(*place))[0])


def tags(
    words: Sequence[str],
    model: Model,
    update: Update | None = None,
    known: Callable[[Place], str] | None = None,
) -> list[str]:
    """Tag words; training passes `update`, called after each prediction of the perceptron.

    `known` is what the perceptron says of a place, where its weights do not change.
    """
    words = _uncapitalised(words, model.lowercase)
    context = ["-2", "-1", *map(_normal, words), "+1", "+2"]
    history = ["-2", "-1"]
    after_finite_verb = False  # whether the sentence has had a finite verb so far
    for i, word in enumerate(words):
        predicted = model.fixed.get(word)
        if not predicted:
            around = tuple(context[i : i + 2 * EDGES + 1])
            place: Place = (word, around, history[-2], history[-1], after_finite_verb)
            if known:
                predicted = known(place)
            else:
                features = _features(*place)
                predicted, _ = model.perceptron.predict(features)
                if update:
                    update(i, word, predicted, features)
        history.append(str(predicted))
        after_finite_verb = predicted != "." and (after_finite_verb or predicted in FINITE_TAGS)
    return history[EDGES:]


def _uncapitalised(words: Sequence[str], lowercase: frozenset[str]) -> Sequence[str]:
    """Write the first word in lower case unless it seems to be a name.

    It is no name where it is in `lowercase` or an inflected form ("Lawyers" is a name more seldom
    than "Mark") and the next word has no capital.
    """
    first = 1 if words and words[0] in PUNCTUATION_TAGS else 0
    word, following = [*words[first : first + 2], "", ""][:2]
    low = word.lower()
    common = low in lowercase or "<" in parts_of_speech(low)
    if common and not following[:1].isupper():
        return [*words[:first], low, *words[first + 1 :]]
    return words


def _normal(word: str) -> str:
    """Return one placeholder for all compounds, numbers or addresses; other words lower-cased."""
    if word[:1].isdigit():
        return "!YEAR" if word.isdigit() and len(word) == 4 else "!DIGITS"
    if is_address(word):
        return "!ADDRESS"
    return "!HYPHEN" if "-" in word[1:] else word.lower()


def is_address(word: str) -> bool:
    """Whether a word is an e-mail or web address; what begins with a digit is none."""
    return not word[:1].isdigit() and ("@" in word or "/" in word[1:])


def _shape(word: str) -> str:
    if word.isupper():
        return "all" if len(word) > 1 else "one"
    if word[:1].isupper():
        return "first"
    return "digit" if any(map(str.isdigit, word)) else "none"


def _features(
    word: str, around: Sequence[str], before_previous: str, previous: str, after_finite_verb: bool
) -> Features:
    """Return the features of a place, by the names that weights.json has for them."""
    low = word.lower()
    start = " at the start" if previous == "-1" else ""
    parts = parts_of_speech(low)
    names = [
        "bias",
        f"upper {_shape(word)}{start}",
        f"said {after_finite_verb} {low[-2:]}",
        f"kinds {parts} {_shape(word)}{start}",
        f"kinds {parts} {previous}",
        f"kinds {parts} {after_finite_verb}",
        f"pre3 {low[:3]}",
        *(f"suf{n} {low[-n:]}" for n in (1, 2, 3, 4)),
        *(f"w{n:+} {around[EDGES + n]}" for n in (-2, -1, 0, 1, 2)),
        *(f"end{n:+} {around[EDGES + n][-3:]}" for n in (-1, 1)),
        f"t-1 {previous}",
        f"t-2 {before_previous}",
        f"t-2-1 {before_previous} {previous}",
        f"t-1w {previous} {around[EDGES]}",
    ]
    return dict.fromkeys(names, 1)


def load(folder: Path) -> Model:
    """Read the weights that `recipes.tagger.save` wrote."""
    with first_import:
        from nltk.tag.perceptron import AveragedPerceptron  # slow, and no page waits for it

    table = json.loads((folder / WEIGHTS_FILE).read_text(encoding="utf-8"))
    names = table["tags"]
    weights = {
        feature: {names[row[i]]: row[i + 1] / WEIGHT_SCALE for i in range(0, len(row), 2)}
        for feature, row in table["weights"].items()
    }
    perceptron = AveragedPerceptron(weights)
    perceptron.classes = set(names)
    return Model(table["fixed"], frozenset(table["small"].split()), perceptron)
