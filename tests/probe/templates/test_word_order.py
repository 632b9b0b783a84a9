"""Word orders in the manner of PAWS: which of them say the same."""

from collections import Counter
from itertools import permutations
from typing import Any

from probe.tasks.paraphrase import PARAPHRASE, PARAPHRASE_IDENTIFICATION
from probe.templates import Request, generate
from probe.templates.grammar import grammar, slot_names
from tests.support.each import each
from tests.support.files.template_files import FILES, sample, words

KIND = "word_order"
TEMPLATES = FILES[KIND]["template"]


def exchanged(text: str, one: str, other: str) -> str:
    """Return a text with two of its slots in each other's place."""
    return (
        text.replace(f"{{{one}}}", "\0")
        .replace(f"{{{other}}}", f"{{{one}}}")
        .replace("\0", f"{{{other}}}")
    )


@each("row", TEMPLATES)
def test_what_is_no_paraphrase_exchanges_two_words_of_what_is_one(row: dict[str, Any]) -> None:
    couples = list(permutations(slot_names(row["text1"]), 2))
    changed = {exchanged(row[name], *couple) for name in ("text1", "same") for couple in couples}
    assert row["swapped"] in changed


@each("row", TEMPLATES)
def test_both_labels_change_the_order_and_keep_most_words(row: dict[str, Any]) -> None:
    for pair in sample(KIND, row["id"], 20):
        first, second = (Counter(words(text)) for text in (pair.text1, pair.text2))
        assert pair.text1 != pair.text2
        assert (first & second).total() >= 0.6 * max(first.total(), second.total())


def test_both_labels_are_as_frequent() -> None:
    golds = Counter(pair.gold for pair in generate(Request(KIND), 560))
    assert set(golds) == set(PARAPHRASE_IDENTIFICATION.labels)
    assert 0.4 < golds[PARAPHRASE] / 560 < 0.6


def test_they_are_examples_of_paraphrase_with_their_template() -> None:
    assert grammar(KIND).task is PARAPHRASE_IDENTIFICATION
    pair = next(generate(Request(KIND), 1))
    assert isinstance(pair, PARAPHRASE_IDENTIFICATION.example)
    assert pair.template in {row["id"] for row in TEMPLATES}
