"""`python -m recipes.tagger train FILE.txt.gz`: train the part-of-speech tagger on tagged lines.

The lines are `word_TAG word_TAG ...`; the same file gives the same weights.
"""

import json
import random
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from nltk.tag.perceptron import AveragedPerceptron

from probe.cli.group import group
from probe.data.formats.encodings import text_file
from probe.errors import TrainingError, writing
from probe.limits import UNBOUNDED
from probe.text.inflection import parts_of_speech
from probe.text.tagger import (
    FOLDER,
    PUNCTUATION_TAGS,
    WEIGHT_SCALE,
    WEIGHTS_FILE,
    Features,
    Model,
    is_address,
    load,
    tags,
)

app = group()
EPOCHS = 5
MIN_OCCURRENCES = 20  # of a word with a fixed tag
MIN_AGREEMENT = 0.97  # the share of a word's occurrences that have its fixed tag
MIN_WEIGHT = 1.0  # smaller absolute weights are not written
TAGS_TEXT = """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM
TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB . , : `` '' ( ) $ #"""
TAGS = TAGS_TEXT.split()
TAG_CORRECTIONS = {
    "...": ":",
    "-": ":",
    '"': "''",
    "'": "''",
    "UH`": "UH",
    "PP": "PRP",
    "VBG|NN": "VBG",
}
"""Tags of MASC that are not the Penn Treebank's, and the tags they stand for."""
NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP"})

TaggedLine = tuple[list[str], list[str]]
"""The words of a line and their tags."""


def read_line(line: str) -> TaggedLine:
    """Read `word_TAG word_TAG ...`; return no words where the line has an unknown tag.

    Double quotes open and close by turns, other marks get their tag from `PUNCTUATION_TAGS`, a lone
    apostrophe that is no possessive closes a quotation, "i" is a pronoun, not a name, and after a
    noun a word in -ed that is a verb only is no adjective ("she nodded").
    """
    words: list[str] = []
    tags: list[str] = []
    for item in line.replace("’", "'").split():
        word, _, tag = item.rpartition("_")
        if word == '"':
            word = "``" if words.count("``") == words.count("''") else "''"
        previous = tags[-1] if tags else ""
        tag = TAG_CORRECTIONS.get(tag, tag)
        tags.append(PUNCTUATION_TAGS.get(word) or _corrected_tag(word, tag, previous))
        words.append(word)
    return (words, tags) if all(words) and set(tags) <= set(TAGS) else ([], [])


def _corrected_tag(word: str, tag: str, previous: str) -> str:
    """Return the tag of a word that is no mark, given the tag of the word before it."""
    if word == "'" and tag != "POS":
        return "''"
    if (word, tag) == ("i", "NNP"):
        return "PRP"
    past_tense = (
        tag == "JJ"
        and previous in NOUN_TAGS
        and word.endswith("ed")
        and parts_of_speech(word) == "VERB<"
    )
    return "VBD" if past_tense else tag


def held_out(line: str) -> bool:
    """Whether a line is in the tested tenth: its CRC-32 divides by 10, so equal lines agree."""
    return zlib.crc32(line.encode()) % 10 == 0


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


@app.callback()
def main() -> None:
    """Train the part-of-speech tagger."""


@app.command("train")
def train_command(
    file: Annotated[Path, typer.Argument(help="Lines of word_TAG, maybe gzipped.")],
    out: Annotated[Path, typer.Option(help="The folder for weights.json.")] = FOLDER,
) -> None:
    """Measure on a tenth of the lines what the others teach, then learn from all of them."""
    with text_file(file, UNBOUNDED).open() as opened:
        text = [line.strip() for line in opened if line.strip()]
    lines = {line: read_line(line) for line in text}
    readable = [line for line in text if lines[line][0]]
    tested = [lines[line] for line in readable if held_out(line)]
    taught = [lines[line] for line in readable if not held_out(line)]
    if not (tested and taught):
        raise TrainingError(
            f"of the lines of {file.name} {len(taught)} are left to learn from and {len(tested)} "
            "to measure on; it takes some of each, of words with known tags, word_TAG"
        )
    typer.echo(f"{len(readable):,} lines; {len(text) - len(readable)} left out for unknown tags")
    with writing(out):
        save(train(taught), out)
    share, tokens = accuracy(load(out), tested), sum(len(words) for words, _ in tested)
    typer.echo(f"held out: {share:.2%} of {tokens:,} tokens right, by the weights as written")
    with writing(out):
        save(train([lines[line] for line in readable]), out)
    path = out / WEIGHTS_FILE
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB, learnt from all lines")


if __name__ == "__main__":
    app()
