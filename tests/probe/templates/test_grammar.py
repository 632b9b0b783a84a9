"""The template files: numbers of templates, word lists, written sentences."""

import re
from collections import Counter
from typing import Any

from probe.templates import subcases, template_ids
from probe.templates.grammar import grammar
from tests.support.cases import each
from tests.support.files.template_files import (
    FILES,
    GIVE,
    LEVELS,
    ROWS,
    ROZEN,
    lists,
    sample,
    texts,
)

# numbers of templates


@each(("kind", "at_least"), [("dative", 28), ("numerical", 30)])
def test_there_are_at_least_as_many_templates_as_in_the_paper(kind: str, at_least: int) -> None:
    assert len(set(template_ids(kind))) >= at_least
    assert all(len(template_ids(kind, level)) >= 10 for level in LEVELS)
    assert sum(len(template_ids(kind, level)) for level in LEVELS) == len(template_ids(kind))


def test_hans_has_five_entailed_and_five_other_sub_cases_for_each_heuristic() -> None:
    for heuristic, letter in (("lexical_overlap", "l"), ("subsequence", "s"), ("constituent", "c")):
        names = subcases(heuristic)
        assert Counter(name[:2] for name in names) == {f"{letter}e": 5, f"{letter}n": 5}
    assert len(set(subcases())) == 30


def test_every_sub_case_of_hans_has_equally_many_templates() -> None:
    templates = Counter(row["subcase"] for row in FILES["hans"]["template"])
    assert set(templates) == set(subcases())
    assert len(set(templates.values())) == 1


def test_the_dative_verbs_have_their_fixed_prepositions() -> None:
    to = {"gave", "sent", "showed", "lent", "offered", "brought", "granted", "sold"}
    for row in FILES["dative"]["template"]:
        assert row["preposition"] == ("to" if row["verb"] in to else "for")
        assert row["sister"] != row["verb"]


# the words


@each("kind", ROZEN)
def test_the_two_groups_of_every_argument_share_nothing(kind: str) -> None:
    for row in FILES[kind]["template"]:
        for first, second in lists(row).values():
            assert len(set(first)) == len(set(second)) == 4
            assert not set(first) & set(second), row["id"]


def test_nobody_gives_anything_to_himself() -> None:
    for row in FILES["dative"]["template"]:
        who, whom = ({word for group in row[name] for word in group} for name in ("who", "whom"))
        assert not who & whom, row["id"]


def test_no_word_list_of_hans_names_a_word_twice() -> None:
    for name, listed in FILES["hans"]["words"].items():
        assert len(set(listed)) == len(listed), name


def test_nobody_in_hans_is_named_in_the_singular_and_in_the_plural() -> None:
    lists_of_words = FILES["hans"]["words"]
    plurals = {f"{person}s" for person in lists_of_words["person"]}
    assert not plurals & set(lists_of_words["people"])


@each("kind", ROZEN)
def test_group_a_holds_words_of_group_a_only(kind: str) -> None:
    for row in FILES[kind]["template"]:
        fixed = [value for value in row.values() if isinstance(value, str)]
        group_a = [word for first, _ in lists(row).values() for word in first]
        for pair in sample(kind, row["id"], 5, lexical="A"):
            for first, second in lists(row).values():
                assert any(word.lower() in pair.premise.lower() for word in first)
                strange = [word for word in second if f" {word} " in pair.premise]
                assert all(any(word in text for text in fixed + group_a) for word in strange)


def test_b2_is_b_with_the_sister_verb() -> None:
    row = next(row for row in FILES["dative"]["template"] if row["id"] == GIVE)
    swap = [f" {row['verb']} ", f" {row['sister']} "]
    plain, sister = (sample("dative", GIVE, 60, lexical=group) for group in ("B", "B2"))
    assert [(a.replace(*swap), b.replace(*swap)) for a, b in texts(plain)] == texts(sister)


# the text


@each(("kind", "row"), ROWS)
def test_the_sentences_are_written_as_english_is(kind: str, row: dict[str, Any]) -> None:
    for pair in sample(kind, row["id"]):
        for text in grammar(kind).task.texts(pair).values():
            assert text[0].isupper() or text[0].isdigit()
            assert re.search(r"[a-zéö][.?]$", text) and len(re.findall("[.?]", text)) == 1
            assert not re.search(r"[{}_]|\s[\s.,]|\bthe the\b", text)
            assert not re.search(r"\ba [aeiou]", text, re.IGNORECASE)
            assert not re.search(r"\ban (?!(hour|honest|heir))[^aeiou]", text, re.IGNORECASE)
        assert len(set(grammar(kind).task.texts(pair).values())) == 2


@each("kind", ROZEN)
def test_complexity_follows_words_and_depth(kind: str) -> None:
    for row in FILES[kind]["template"]:
        for pair in sample(kind, row["id"], 150, balance=False):
            length = len(pair.premise.split())
            if length < 16 and row["depth"] < 4:
                expected = "simple"
            elif length > 25 and row["depth"] > 6:
                expected = "complex"
            else:
                expected = "medium"
                assert 16 <= length <= 25
            assert pair.complexity == row["complexity"] == expected, (length, pair.premise)
