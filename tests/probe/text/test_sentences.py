"""Sentences end where a reader ends them."""

from probe.text.words import sentences
from tests.support.each import each


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
