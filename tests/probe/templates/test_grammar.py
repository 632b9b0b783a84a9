"""The template files: numbers of templates, word lists, written sentences."""

import re
from collections import Counter
from typing import Any

from probe.templates import subcases, template_ids
from probe.templates.grammar import grammar
from tests.support.cases import each
from tests.support.files.template_files import (
    FILES,
    LEVELS,
    ROWS,
    ROZEN,
    lists,
    sample,
    texts,
)


def test_hans_has_five_entailed_and_five_other_sub_cases_for_each_heuristic() -> None:
    for heuristic, letter in (("lexical_overlap", "l"), ("subsequence", "s"), ("constituent", "c")):
        names = subcases(heuristic)
        assert Counter(name[:2] for name in names) == {f"{letter}e": 5, f"{letter}n": 5}
    templates = Counter(row["subcase"] for row in FILES["hans"]["template"])
    assert set(templates) == set(subcases()) and len(templates) == 30
    assert len(set(templates.values())) == 1


def test_no_word_list_names_anybody_twice() -> None:
    listed = FILES["hans"]["words"]
    assert [name for name, some in listed.items() if len(set(some)) < len(some)] == []
    assert not {f"{person}s" for person in listed["person"]} & set(listed["people"])
    to = {"gave", "sent", "showed", "lent", "offered", "brought", "granted", "sold"}
    for row in FILES["dative"]["template"]:
        who, whom = ({word for group in row[name] for word in group} for name in ("who", "whom"))
        assert not who & whom, row["id"]
        assert row["preposition"] == ("to" if row["verb"] in to else "for")
        assert row["sister"] != row["verb"]
        swap = [f" {row['verb']} ", f" {row['sister']} "]  # B2 is B with the sister verb
        plain, sister = (texts(sample("dative", row["id"], lexical=g)) for g in ("B", "B2"))
        assert [(a.replace(*swap), b.replace(*swap)) for a, b in plain] == sister


@each("kind", ROZEN)
def test_the_two_groups_of_every_argument_share_nothing(kind: str) -> None:
    for row in FILES[kind]["template"]:
        for first, second in lists(row).values():
            assert len(set(first)) == len(set(second)) == 4
            assert not set(first) & set(second), row["id"]
        fixed = [value for value in row.values() if isinstance(value, str)]
        group_a = [word for first, _ in lists(row).values() for word in first]
        for pair in sample(kind, row["id"], 5, lexical="A"):
            for first, second in lists(row).values():
                assert any(word.lower() in pair.premise.lower() for word in first)
                strange = [word for word in second if f" {word} " in pair.premise]
                assert all(any(word in text for text in fixed + group_a) for word in strange)


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
    ids = [template_ids(kind, level) for level in LEVELS]
    assert sum(map(len, ids)) == len(set(template_ids(kind))) >= 28  # as many as in the paper
    assert min(map(len, ids)) >= 10
    for row in FILES[kind]["template"]:
        for pair in sample(kind, row["id"], 60, balance=False):
            length, expected = len(pair.premise.split()), "medium"
            if length < 16 and row["depth"] < 4:
                expected = "simple"
            elif length > 25 and row["depth"] > 6:
                expected = "complex"
            assert pair.complexity == row["complexity"] == expected, (length, pair.premise)
            assert expected != "medium" or 16 <= length <= 25
