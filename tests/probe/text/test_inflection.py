"""Lemmas of inflected forms, and inflected forms of lemmas."""

from probe.text.inflection import inflect, lemmas
from probe.text.wordnet import Pos
from tests.support.cases import each


@each(
    ("word", "tag", "pos", "expected"),
    [
        ("saw", "VBD", "v", ("see",)),
        ("saw", "VB", "v", ("saw",)),
        ("found", "VBD", "v", ("find",)),
        ("men", "NNS", "n", ("man",)),
        ("bigger", "JJR", "a", ("big",)),
        ("Earlier", "RBR", "r", ("early",)),
        ("more", "RBR", "r", ("more",)),
        ("zorbs", "NNS", "n", ("zorbs",)),
        ("\x00", "NN", "n", ("\x00",)),
    ],
)
def test_a_word_is_the_form_its_tag_says(
    word: str, tag: str, pos: Pos, expected: tuple[str, ...]
) -> None:
    assert lemmas(word, tag, pos) == expected


@each(
    ("lemma", "tag", "form"),
    [
        ("buy", "VBD", "bought"),
        ("buy", "VBZ", "buys"),
        ("buy", "VBG", "buying"),
        ("buy", "VB", "buy"),
        ("give up", "VBN", "given up"),
        ("wife", "NNS", "wives"),
        ("swimming pool", "NNS", "swimming pools"),
        ("man of letters", "NNS", "men of letters"),
        ("big", "JJR", "bigger"),
        ("expensive", "JJS", "most expensive"),
        ("easily", "RBR", "more easily"),
        ("be after", "VBD", ""),
        ("be", "VBP", ""),
        ("be", "VBZ", "is"),
        ("zorb", "VBD", ""),
    ],
)
def test_a_lemma_takes_the_form_of_the_tag(lemma: str, tag: str, form: str) -> None:
    assert inflect(lemma, tag) == form
