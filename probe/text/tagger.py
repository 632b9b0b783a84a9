"""Penn Treebank tags by an averaged perceptron, and the command that trains it.

The perceptron is NLTK's, whose own weights must be downloaded; ours lie in assets/tagger (see its
README). `python -m probe tagger train FILE.txt.gz --out FOLDER` makes them from lines of
`word_TAG`; the same file gives the same weights.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nltk.tag.perceptron import AveragedPerceptron

from probe.settings import ASSETS
from probe.text.inflection import kinds
from probe.text.treebank import MARKS, TAGS, Tagged

FOLDER = ASSETS / "tagger"
FILE = "weights.json"
FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
EPOCHS = 5
SEEN, AGREED = 20, 0.97  # a word seen so often, with one tag in this share, is not guessed
LEAST = 1.0  # weights nearer to 0 are left out


@dataclass(frozen=True)
class Model:
    """The tags of words that always have the same one, and weights for all others.

    `small` are words more often seen small than with a capital inside a sentence: a capital at its
    start makes no name of them.
    """

    fixed: Mapping[str, str]
    small: frozenset[str]
    perceptron: AveragedPerceptron


def tag(words: Sequence[str]) -> list[str]:
    """Return the Penn Treebank tag of each token, as `probe.text.tokens.tokenise` makes tokens.

    Left to right, each tag chosen for good; words are best given a sentence at a time.
    """
    return tags([word.replace("’", "'") for word in words], _shipped())


def missing() -> str:
    """Say that the weights are missing and how to get them, "" where they are there."""
    if (FOLDER / FILE).is_file():
        return ""
    return (
        f"The tagger's weights are not in assets/tagger/{FILE}; "
        "make them with `python -m probe tagger train FILE.txt.gz`."
    )


@cache
def _shipped() -> Model:
    return load(FOLDER)


def tags(words: Sequence[str], model: Model, gold: Sequence[str] = ()) -> list[str]:
    """Tag words; where their gold tags are given, learn from each mistake on the way.

    Not from a first word that is used to being small and yet tagged as a name: MASC has "Children"
    and "Excuse" so at the start of sentences.
    """
    given, words = words, _uncapitalised(words, model.small)
    context = ["-2", "-1", *map(_normal, words), "+1", "+2"]
    made = ["-2", "-1"]
    said = False  # whether there was a finite verb since the last full stop
    for i, word in enumerate(words):
        guess = model.fixed.get(word)
        if not guess:
            seen = _features(i + 2, word, context, made, said)
            guess, _ = model.perceptron.predict(seen)
            if gold and (word == given[i] or not gold[i].startswith("NNP")):
                model.perceptron.update(gold[i], guess, seen)
        made.append(str(guess))
        said = guess != "." and (said or guess in FINITE)
    return made[2:]


def _uncapitalised(words: Sequence[str], small: frozenset[str]) -> Sequence[str]:
    """Write the first word small if it is used to that and no name goes on behind it.

    Inflected forms count as used to it: "Lawyers" is a name more seldom than "Mark".
    """
    at = 1 if words and words[0] in MARKS else 0
    first, second = [*words[at : at + 2], "", ""][:2]
    low = first.lower()
    used = low in small or "<" in kinds(low)
    return [*words[:at], low, *words[at + 1 :]] if used and not second[:1].isupper() else words


def _normal(word: str) -> str:
    """Put compounds, numbers and addresses together, and drop case."""
    if word[:1].isdigit():
        return "!YEAR" if word.isdigit() and len(word) == 4 else "!DIGITS"
    if "@" in word or "/" in word[1:]:
        return "!ADDRESS"
    return "!HYPHEN" if "-" in word[1:] else word.lower()


def _shape(word: str) -> str:
    if word.isupper():
        return "all" if len(word) > 1 else "one"
    if word[:1].isupper():
        return "first"
    return "digit" if any(map(str.isdigit, word)) else "none"


def _features(
    i: int, word: str, near: Sequence[str], made: Sequence[str], said: bool
) -> dict[str, int]:
    """Describe position i of `near` and the tags `made` before it; both begin with two edges."""
    low, one, two = word.lower(), made[i - 1], made[i - 2]
    start = " at the start" if one == "-1" else ""
    names = [
        "bias",
        f"upper {_shape(word)}{start}",
        f"said {said} {low[-2:]}",
        f"kinds {kinds(low)} {_shape(word)}{start}",
        f"kinds {kinds(low)} {one}",
        f"kinds {kinds(low)} {said}",
        f"pre3 {low[:3]}",
        *(f"suf{n} {low[-n:]}" for n in (1, 2, 3, 4)),
        *(f"w{n:+} {near[i + n]}" for n in (-2, -1, 0, 1, 2)),
        *(f"end{n:+} {near[i + n][-3:]}" for n in (-1, 1)),
        f"t-1 {one}",
        f"t-2 {two}",
        f"t-2-1 {two} {one}",
        f"t-1w {one} {near[i]}",
    ]
    return dict.fromkeys(names, 1)


def learn(lines: Sequence[Tagged]) -> Model:
    """Train anew. Chance, the order of the lines after each epoch, is the same every time."""
    model = Model(_fixed(lines), _small(lines), AveragedPerceptron())
    order, chance = list(lines), random.Random(0)
    model.perceptron.classes = set(TAGS)
    for _ in range(EPOCHS):
        chance.shuffle(order)
        for words, gold in order:
            tags(words, model, gold)
    model.perceptron.average_weights()
    return model


def _fixed(lines: Iterable[Tagged]) -> dict[str, str]:
    counts = Counter(pair for line in lines for pair in zip(*line, strict=True))
    totals = Counter[str]()
    for (word, _), count in counts.items():
        totals[word] += count
    common = {
        word: label
        for (word, label), count in counts.items()
        if totals[word] >= SEEN and count >= AGREED * totals[word] and _normal(word) != "!ADDRESS"
    }
    return common | MARKS


def _small(lines: Iterable[Tagged]) -> frozenset[str]:
    inside = Counter(word for words, _ in lines for word in words[1:])
    low = {word: n for word, n in inside.items() if word.isalpha() and word.islower()}
    return frozenset(word for word, n in low.items() if n > inside[word.capitalize()])


def accuracy(model: Model, lines: Sequence[Tagged]) -> float:
    """Return the share of tokens, marks among them, that get their gold tag."""
    made = [label for words, _ in lines for label in tags(words, model)]
    gold = [label for _, labels in lines for label in labels]
    right = [one == other for one, other in zip(made, gold, strict=True)]
    return sum(right) / len(right)


def save(model: Model, folder: Path) -> None:
    """Write weights.json: a row of tag number, thousandths, tag number, ... for each feature."""
    rows = {
        feature: [
            number
            for label, weight in sorted(weights.items())
            if abs(weight) >= LEAST
            for number in (TAGS.index(label), round(weight * 1000))
        ]
        for feature, weights in sorted(model.perceptron.weights.items())
    }
    kept = {feature: row for feature, row in rows.items() if row}
    data = {
        "tags": TAGS,
        "fixed": dict(sorted(model.fixed.items())),
        "small": " ".join(sorted(model.small)),
        "weights": kept,
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    (folder / FILE).write_text(text.replace("],", "],\n") + "\n", encoding="utf-8")


def load(folder: Path) -> Model:
    """Read what `save` wrote."""
    data = json.loads((folder / FILE).read_text(encoding="utf-8"))
    names = data["tags"]
    weights = {
        feature: {names[row[i]]: row[i + 1] / 1000 for i in range(0, len(row), 2)}
        for feature, row in data["weights"].items()
    }
    perceptron = AveragedPerceptron(weights)
    perceptron.classes = set(names)
    return Model(data["fixed"], frozenset(data["small"].split()), perceptron)
