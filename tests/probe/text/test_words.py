"""Tokens, sentences and lists of words; durations; lemmas and inflected forms."""

import re
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from probe.text.duration import duration, duration_words
from probe.text.inflection import inflect, lemmas
from probe.text.wordnet import Pos
from probe.text.words import (
    Span,
    _tokenizer,
    join,
    listing,
    same_words,
    sentences,
    spans,
    substitute,
    tokenise,
)
from tests.support.cases import each
from tests.support.property_settings import STEADY

TEXT = st.text(alphabet="ab AB.,!?'\"-é\n", max_size=40)


@each(
    ("text", "tokens"),
    [
        ("He left.", "He|left|."),
        ("He won't go.", "He|wo|n't|go|."),
        ("It's Ann's.", "It|'s|Ann|'s|."),
        ("They've gone!", "They|'ve|gone|!"),
        ('"Yes," he said.', "``|Yes|,|''|he|said|."),
        ("It cost $5.50 (50%).", "It|cost|$|5.50|(|50|%|)|."),
        ("Mr. Hale left.", "Mr.|Hale|left|."),
        ("It rained. We left.", "It|rained.|We|left|."),
        ("a well-known man", "a|well-known|man"),
        ("Wait...", "Wait|..."),
        ("", ""),
        (" \n", ""),
    ],
)
def test_words_are_split_as_the_treebank_does(text: str, tokens: str) -> None:
    assert tokenise(text) == [token for token in tokens.split("|") if token]
    assert join(tokenise(text)) == tokens.replace("|", " ")  # nothing is detokenised


PIECES = [
    *(
        "a",
        "can",
        "cannot",
        "gonna",
        "Gimme",
        "gotta",
        "lemme",
        "wanna.",
        "Mr.",
        "e.g.",
        "1,000",
        "a:b",
        "3.5",
        "..",
        "--",
        ".",
        ",",
        ":",
    ),
    *(";", "?", "!", "-", "%", "$", "'", "(", ")", "\n"),
]


@STEADY
@given(st.lists(st.sampled_from(PIECES)), st.sampled_from(["", " "]))
@example(["a.", ")"], " ")
@example(["a", "\n", '"'], "")
def test_a_text_split_word_by_word_is_split_as_the_whole(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    assert tokenise(text) == [each for each in _tokenizer().tokenize(text) if each.strip()]


@each(
    ("text", "expected"),
    [
        ("He  left.", [Span("He", 0, 2), Span("left", 4, 8), Span(".", 8, 9)]),
        ("can't", [Span("ca", 0, 2), Span("n't", 2, 5)]),
        ("cannot", [Span("can", 0, 3), Span("not", 3, 6)]),
        ('"Go" he', [Span("``", 0, 1), Span("Go", 1, 3), Span("''", 3, 4), Span("he", 5, 7)]),
        ("``Go''", [Span("``", 0, 2), Span("Go", 2, 4), Span("''", 4, 6)]),
        ("(''Go", [Span("(", 0, 1), Span("``", 1, 3), Span("Go", 3, 5)]),
        ("\n\tno", [Span("no", 2, 4)]),
        ("", []),
    ],
)
def test_each_span_is_where_its_token_was_read(text: str, expected: list[Span]) -> None:
    assert spans(text) == expected


@STEADY
@given(TEXT)
def test_spans_are_the_tokens_and_between_them_are_blanks_only(text: str) -> None:
    assert [span.word for span in spans(text)] == tokenise(text)
    own = [(span.start, span.end, text[span.start : span.end]) for span in spans(text)]
    for span, (_, _, part) in zip(spans(text), own, strict=True):
        assert part == span.word or span.word in ("``", "''")
    assert substitute(text, own) == text
    assert not substitute(text, [(start, end, "") for start, end, _ in own]).strip()


@each(
    ("replacements", "after"),
    [
        ([], "a man sat"),
        ([(2, 5, "dog")], "a dog sat"),
        ([(6, 9, "stood up"), (0, 1, "the")], "the man stood up"),
        ([(2, 6, "")], "a sat"),
        ([(9, 9, ".")], "a man sat."),
    ],
)
def test_new_text_replaces_the_old(replacements: list[tuple[int, int, str]], after: str) -> None:
    assert substitute("a man sat", replacements) == after


@each(
    ("first", "second", "same"),
    [
        ("He can't go.", "he ca n't go .", True),
        ("A  man", "a\nman", True),
        ("A man", "man a", False),
        ("A man", "A man.", False),
        ('He said "no".', "he said ``no'' .", True),
        ("'a'", '"a"', False),
        ("", " ", True),
    ],
)
def test_case_and_spacing_do_not_make_other_words(first: str, second: str, same: bool) -> None:
    assert same_words(first, second) is same


@each(
    ("expected", "between"),
    [
        (["It rained.", "The game went on!", "Why?"], " "),
        (["Mr. Hale met J. Smith.", "It cost 3.5 dollars, e.g. in Rome."], " "),
        (['He said "Stop."', "Nobody did."], " "),
        (["No mark at the end"], " "),
        (["वह घर है।", "वह खुश है।"], " "),
        (["下雨了。", "比赛继续！", "为什么？"], ""),
        ([], "\n\n"),
    ],
)
def test_a_text_is_its_sentences(expected: list[str], between: str) -> None:
    text = "  " + between.join(expected) + "\n"
    assert [text[start:end] for start, end in sentences(text)] == expected


def test_names_and_times_are_said_as_a_person_would() -> None:
    assert [listing(["a", "b", "c"][:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    with pytest.raises(ValueError, match="not enough values"):
        listing([])
    for say, words in (  # an estimate without single seconds
        (duration_words, {2: "about 10 s", 44: "about 40 s", 179: "about 3 min"}),
        (duration_words, {9000: "about 2.5 h"}),
        (duration, {2.4: "2 s", 89: "89 s", 1140: "19 min", 9000: "2.5 h"}),
    ):
        assert {seconds: say(seconds) for seconds in words} == words


LEMMAS = """
saw VBD v see; saw VB v saw; found VBD v find; men NNS n man; bigger JJR a big
Earlier RBR r early; more RBR r more; zorbs NNS n zorbs; \x00 NN n \x00
"""
FORMS = """
buy VBD bought; buy VBZ buys; buy VBG buying; buy VB buy; give up VBN given up; wife NNS wives
swimming pool NNS swimming pools; man of letters NNS men of letters; big JJR bigger
expensive JJS most expensive; easily RBR more easily; be after VBD; be VBP; be VBZ is; zorb VBD
"""


def test_a_word_is_the_form_its_tag_says_and_a_lemma_takes_that_form() -> None:
    for entry in LEMMAS.strip().replace("\n", "; ").split("; "):
        word, tag, pos, lemma = entry.split(" ")
        assert lemmas(word, tag, cast(Pos, pos)) == (lemma,), entry
    for entry in FORMS.strip().replace("\n", "; ").split("; "):
        lemma, tag, form = re.split(r" ?([A-Z]{3}|VB)(?: |$)", entry, maxsplit=1)
        assert inflect(lemma, tag) == form, entry
