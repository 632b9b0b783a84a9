"""Training of the tagger on lines of tagged words; accuracy; the file of weights."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from nltk.tag.perceptron import AveragedPerceptron

from probe.text.tagger import (
    PUNCTUATION_TAGS,
    TAGS,
    WEIGHT_SCALE,
    WEIGHTS_FILE,
    Features,
    Model,
    TaggedLine,
    is_address,
    tags,
)

EPOCHS = 5
MIN_OCCURRENCES = 20  # of a word with a fixed tag
MIN_AGREEMENT = 0.97  # the share of a word's occurrences that have its fixed tag
MIN_WEIGHT = 1.0  # smaller absolute weights are not written


def train(lines: Sequence[TaggedLine]) -> Model:
    """Train a model from tagged lines, shuffled before each epoch from a fixed seed."""
    model = Model(_fixed_tags(lines), _lowercase_words(lines), AveragedPerceptron())
    order, rng = list(lines), random.Random(0)
    model.perceptron.classes = set(TAGS)
    for _ in range(EPOCHS):
        rng.shuffle(order)
        for words, gold in order:
            _train_line(model, words, gold)
    model.perceptron.average_weights()
    return model


def _train_line(model: Model, words: Sequence[str], gold: Sequence[str]) -> None:
    """Update the perceptron at each word of a line.

    A first word that was put into lower case and yet is tagged as a name is left out: MASC has
    "Children" and "Excuse" so at the start of sentences.
    """

    def update(i: int, word: str, predicted: str, features: Features) -> None:
        if word == words[i] or not gold[i].startswith("NNP"):
            model.perceptron.update(gold[i], predicted, features)

    tags(words, model, update)


def _fixed_tags(lines: Iterable[TaggedLine]) -> dict[str, str]:
    """Return the tags of marks and of frequent words that almost always have the same tag."""
    counts = Counter(pair for line in lines for pair in zip(*line, strict=True))
    totals = Counter[str]()
    for (word, _), count in counts.items():
        totals[word] += count
    frequent = {
        word: tag
        for (word, tag), count in counts.items()
        if totals[word] >= MIN_OCCURRENCES
        and count >= MIN_AGREEMENT * totals[word]
        and not is_address(word)
    }
    return frequent | PUNCTUATION_TAGS


def _lowercase_words(lines: Iterable[TaggedLine]) -> frozenset[str]:
    """Return the words that are seldom capitalised inside a sentence."""
    inside = Counter(word for words, _ in lines for word in words[1:])
    low = {word: n for word, n in inside.items() if word.isalpha() and word.islower()}
    return frozenset(word for word, n in low.items() if n > inside[word.capitalize()])


def accuracy(model: Model, lines: Sequence[TaggedLine]) -> float:
    """Return the share of tokens, marks included, that get their gold tag."""
    predicted = [tag for words, _ in lines for tag in tags(words, model)]
    gold = [tag for _, line_tags in lines for tag in line_tags]
    correct = [tag == gold_tag for tag, gold_tag in zip(predicted, gold, strict=True)]
    return sum(correct) / len(correct)


def save(model: Model, folder: Path) -> None:
    """Write weights.json: a row of tag number, thousandths, tag number, ... for each feature."""
    rows = {
        feature: [
            number
            for tag, weight in sorted(weights.items())
            if abs(weight) >= MIN_WEIGHT
            for number in (TAGS.index(tag), round(weight * WEIGHT_SCALE))
        ]
        for feature, weights in sorted(model.perceptron.weights.items())
    }
    table = {
        "tags": TAGS,
        "fixed": dict(sorted(model.fixed.items())),
        "small": " ".join(sorted(model.lowercase)),
        "weights": {feature: row for feature, row in rows.items() if row},
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
    (folder / WEIGHTS_FILE).write_text(text.replace("],", "],\n") + "\n", encoding="utf-8")
