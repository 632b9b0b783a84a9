"""Tokens, sentences and lists of words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.text.words import Span, join, listing, same_words, sentences, spans, substitute, tokenise
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
def test_spans_are_the_tokens_in_order(text: str) -> None:
    assert [span.word for span in spans(text)] == tokenise(text)


@STEADY
@given(TEXT)
def test_a_span_is_its_token_but_for_double_quotes(text: str) -> None:
    for span in spans(text):
        assert text[span.start : span.end] == span.word or span.word in ("``", "''")


@STEADY
@given(TEXT)
def test_between_spans_there_are_blanks_only(text: str) -> None:
    ends = [0, *(span.end for span in spans(text))]
    starts = [*(span.start for span in spans(text)), len(text)]
    assert not any(text[end:start].strip() for end, start in zip(ends, starts, strict=True))


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


@STEADY
@given(TEXT)
def test_every_span_replaced_by_itself_gives_the_text(text: str) -> None:
    replacements = [(span.start, span.end, text[span.start : span.end]) for span in spans(text)]
    assert substitute(text, replacements) == text


def test_joined_tokens_are_not_detokenised() -> None:
    assert join(["ca", "n't", "."]) == "ca n't ."


@each(
    ("first", "second", "same"),
    [
        ("He can't go.", "he ca n't go .", True),
        ("A  man", "a\nman", True),
        ("A man", "man a", False),
        ("A man", "A man.", False),
        ("", " ", True),
    ],
)
def test_case_and_spacing_do_not_make_other_words(first: str, second: str, same: bool) -> None:
    assert same_words(first, second) is same


@each(
    "expected",
    [
        ["It rained.", "The game went on!", "Why?"],
        ["Mr. Hale met J. Smith.", "It cost 3.5 dollars, e.g. in Rome."],
        ['He said "Stop."', "Nobody did."],
        ["No mark at the end"],
        ["वह घर है।", "वह खुश है।"],
    ],
)
def test_a_text_is_its_sentences(expected: list[str]) -> None:
    text = "  " + " ".join(expected) + "\n"
    assert [text[start:end] for start, end in sentences(text)] == expected


def test_a_script_without_blanks_has_sentences_too() -> None:
    text = "下雨了。比赛继续！为什么？"
    parts = [text[start:end] for start, end in sentences(text)]
    assert parts == ["下雨了。", "比赛继续！", "为什么？"]


def test_blanks_alone_are_no_sentence() -> None:
    assert sentences(" \n\n ") == []


@each(
    ("names", "words"),
    [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_names_stand_as_in_a_sentence(names: list[str], words: str) -> None:
    assert listing(names) == words


def test_no_name_is_refused() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        listing([])
