"""Pairs made from templates, judged by plainer ways than the one that made them."""

import csv
import json
import re
import sys
import tracemalloc
from collections import Counter, deque
from collections.abc import Iterable
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import probe.templates
from probe.cli.main import app
from probe.errors import TemplateError
from probe.templates import (
    KINDS,
    RANGES,
    Request,
    TemplatePair,
    count,
    generate,
    read_range,
    split_by_template,
    subcases,
    template_ids,
)
from probe.templates.combinations import Combinations
from probe.templates.files import COLUMNS
from probe.templates.permutation import Permutation

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(probe.templates.__file__).parent
FILES: dict[str, Any] = {  # Any: TOML values
    kind: tomllib.loads((HERE / f"{kind}.toml").read_text(encoding="utf-8")) for kind in KINDS
}
ROZEN = ("dative", "numerical")
LEVELS = ("simple", "medium", "complex")
ROWS = [(kind, row) for kind in KINDS for row in FILES[kind]["template"]]
CRATE = "numerical_simple_crate"
GIVE = "dative_simple_give"
each_template = pytest.mark.parametrize(
    ("kind", "row"), ROWS, ids=[f"{row['id']}" for _, row in ROWS]
)


def sample(kind: str, template: str, n: int = 40, **wanted: Any) -> list[TemplatePair]:
    return list(generate(Request(kind, templates=(template,), **wanted), n, seed=3))


def lists(row: dict[str, Any]) -> dict[str, list[list[str]]]:
    return {name: value for name, value in row.items() if isinstance(value, list)}


def words(text: str) -> list[str]:
    return re.sub(r"[.,]", "", text).lower().split()


def texts(rows: Iterable[TemplatePair]) -> list[tuple[str, str]]:
    return [(row.premise, row.hypothesis) for row in rows]


# how many, and how they are named


@pytest.mark.parametrize(("kind", "least"), [("dative", 28), ("numerical", 30)])
def test_there_are_at_least_as_many_templates_as_in_the_paper(kind: str, least: int) -> None:
    assert len(set(template_ids(kind))) >= least
    assert all(len(template_ids(kind, level)) >= 10 for level in LEVELS)
    assert sum(len(template_ids(kind, level)) for level in LEVELS) == len(template_ids(kind))


def test_hans_has_five_entailed_and_five_other_sub_cases_for_each_heuristic() -> None:
    for heuristic, letter in (("lexical_overlap", "l"), ("subsequence", "s"), ("constituent", "c")):
        names = subcases(heuristic)
        assert Counter(name[:2] for name in names) == {f"{letter}e": 5, f"{letter}n": 5}
    assert len(set(subcases())) == 30


def test_every_sub_case_of_hans_has_equally_many_templates() -> None:
    found = Counter(row["subcase"] for row in FILES["hans"]["template"])
    assert set(found) == set(subcases())
    assert len(set(found.values())) == 1


def test_the_dative_verbs_have_their_fixed_prepositions() -> None:
    to = {"gave", "sent", "showed", "lent", "offered", "brought", "granted", "sold"}
    for row in FILES["dative"]["template"]:
        assert row["preposition"] == ("to" if row["verb"] in to else "for")
        assert row["sister"] != row["verb"]


# the words


@pytest.mark.parametrize("kind", ROZEN)
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
    known = FILES["hans"]["words"]
    assert not {f"{person}s" for person in known["person"]} & set(known["people"])


@pytest.mark.parametrize("kind", ROZEN)
def test_group_a_holds_words_of_group_a_only(kind: str) -> None:
    for row in FILES[kind]["template"]:
        fixed = [value for value in row.values() if isinstance(value, str)]
        given = [word for first, _ in lists(row).values() for word in first]
        for made in sample(kind, row["id"], 5, lexical="A"):
            for first, second in lists(row).values():
                assert any(word.lower() in made.premise.lower() for word in first)
                strange = [word for word in second if f" {word} " in made.premise]
                assert all(any(word in text for text in fixed + given) for word in strange)


def test_b2_is_b_with_the_sister_verb() -> None:
    row = next(row for row in FILES["dative"]["template"] if row["id"] == GIVE)
    swap = [f" {row['verb']} ", f" {row['sister']} "]
    plain, sister = (sample("dative", GIVE, 60, lexical=group) for group in ("B", "B2"))
    assert [(a.replace(*swap), b.replace(*swap)) for a, b in texts(plain)] == texts(sister)


# the text


@each_template
def test_the_sentences_are_written_as_english_is(kind: str, row: dict[str, Any]) -> None:
    for made in sample(kind, row["id"]):
        for text in (made.premise, made.hypothesis):
            assert text[0].isupper() or text[0].isdigit()
            assert re.search(r"[a-zé]\.$", text) and text.count(".") == 1
            assert not re.search(r"[{}_]|\s[\s.,]|\bthe the\b", text)
            assert not re.search(r"\ba [aeiou]", text, re.IGNORECASE)
            assert not re.search(r"\ban (?!(hour|honest|heir))[^aeiou]", text, re.IGNORECASE)
        assert made.premise != made.hypothesis


@pytest.mark.parametrize("kind", ROZEN)
def test_complexity_follows_words_and_depth(kind: str) -> None:
    for row in FILES[kind]["template"]:
        for made in sample(kind, row["id"], 150, balance=False):
            length = len(made.premise.split())
            if length < 16 and row["depth"] < 4:
                expected = "simple"
            elif length > 25 and row["depth"] > 6:
                expected = "complex"
            else:
                expected = "medium"
                assert 16 <= length <= 25
            assert made.complexity == row["complexity"] == expected, (length, made.premise)


# dative alternation


def test_a_dative_premise_has_its_three_hypotheses() -> None:
    premise = "The young clerk gave the tourist a folded map at the front desk."
    found = {
        row.hypothesis: row.gold
        for row in sample("dative", GIVE, 256 * 3, lexical="A", balance=False)
        if row.premise == premise
    }
    assert found == {
        "The young clerk gave a folded map to the tourist at the front desk.": "entailment",
        "The young clerk gave a folded map at the front desk.": "entailment",
        "The young clerk gave the tourist at the front desk.": "contradiction",
    }


def test_dative_pairs_are_counted_by_hand() -> None:
    thirty = len(template_ids("dative"))
    assert count(Request("dative")) == thirty * 8**4 * 2
    assert count(Request("dative", lexical="A")) == thirty * 4**4 * 2
    assert count(Request("dative", "simple", "B2", balance=False)) == 10 * 4**4 * 3


def test_all_dative_pairs_differ_and_half_of_them_are_entailed() -> None:
    request = Request("dative", "medium", "B")
    there = count(request) or 0
    rows = list(generate(request, there))
    assert len(set(texts(rows))) == there == 10 * 256 * 2
    assert Counter(row.gold for row in rows) == {"entailment": 2560, "contradiction": 2560}


def test_each_of_the_two_dative_entailments_is_kept_half_of_the_time() -> None:
    rows = list(generate(Request("dative", "simple", "A"), 5120))
    entailed = [row for row in rows if row.gold == "entailment"]
    kept = sum(bool(re.search(r" (to|for) the ", row.hypothesis)) for row in entailed)
    assert 0.45 < kept / len(entailed) < 0.55


# numerical reasoning

QUANTITY = re.compile(r"(?:\b(more|less) than )?(\d+)", re.IGNORECASE)


def quantity(text: str) -> tuple[str, int]:
    """Read the one number of a text and what is said about it."""
    (found,) = QUANTITY.findall(text)
    assert len(re.findall("(?:more|less) than", text, re.IGNORECASE)) == bool(found[0])
    return found[0].lower(), int(found[1])


def worlds(text: str, amounts: list[float]) -> set[float]:
    """Return the amounts of which a text is true."""
    relation, number = quantity(text)
    return {
        amount
        for amount in amounts
        if (relation == "more" and amount > number)
        or (relation == "less" and amount < number)
        or (relation == "" and amount == number)
    }


def solve(made: TemplatePair, step: float) -> str:
    """Judge a pair by trying all amounts from 0 to 32, one every `step`."""
    amounts = [step * at for at in range(round(32 / step) + 1)]
    premise, hypothesis = (worlds(text, amounts) for text in (made.premise, made.hypothesis))
    if premise <= hypothesis:
        return "entailment"
    return "neutral" if premise & hypothesis else "contradiction"


def low_numbers(n: int, **wanted: Any) -> list[TemplatePair]:
    return list(generate(Request("numerical", low=2, high=30, balance=False, **wanted), n))


@pytest.mark.parametrize("strict", [False, True])
def test_a_solver_over_amounts_finds_every_numerical_label(strict: bool) -> None:
    rows = low_numbers(4000, integer_strict=strict)
    assert [solve(row, 0.5) for row in rows] == [row.gold for row in rows]


def test_with_integer_strict_a_solver_over_whole_numbers_agrees() -> None:
    rows = low_numbers(4000, integer_strict=True)
    assert [solve(row, 1) for row in rows] == [row.gold for row in rows]


def test_without_integer_strict_some_neutral_pairs_contradict_in_whole_numbers() -> None:
    rows = low_numbers(4000)
    wrong = [row for row in rows if solve(row, 1) != row.gold]
    assert wrong
    for row in wrong:
        (said, n), (asked, other) = quantity(row.premise), quantity(row.hypothesis)
        assert (row.gold, solve(row, 1)) == ("neutral", "contradiction")
        assert (said, asked, other - n) in {("more", "less", 1), ("less", "more", -1)}


@pytest.mark.parametrize(
    ("said", "entailed", "neutral", "contradicted"),
    [
        ("more", {"more l"}, {"more h", "less h", " h"}, {"less n", "less l", " n", " l"}),
        ("", {"more l", "less h"}, set(), {"more h", "more n", "less l", "less n"}),
        ("less", {"less h"}, {"less l", "more l", " l"}, {"more h", "more n", " n", " h"}),
    ],
)
def test_the_22_hypotheses_are_those_measured_in_the_released_files(
    said: str, entailed: set[str], neutral: set[str], contradicted: set[str]
) -> None:
    found: dict[str, set[str]] = {"entailment": set(), "neutral": set(), "contradiction": set()}
    for row in low_numbers(4000):
        (first, n), (second, other) = quantity(row.premise), quantity(row.hypothesis)
        if first == said:
            place = "n" if other == n else "l" if other < n else "h"
            found[str(row.gold)].add(f"{second} {place}")
    assert found == {"entailment": entailed, "neutral": neutral, "contradiction": contradicted}


def test_all_hypotheses_of_all_words_are_4_6_and_12() -> None:
    once = 4**4 * 22
    rows = sample("numerical", CRATE, once, lexical="A", balance=False)
    assert Counter(row.gold for row in rows) == {
        "entailment": 4**4 * 4,
        "neutral": 4**4 * 6,
        "contradiction": 4**4 * 12,
    }


def test_balanced_numerical_pairs_are_a_third_of_each_label() -> None:
    rows = sample("numerical", CRATE, 4**4 * 12, lexical="A")
    assert set(Counter(row.gold for row in rows).values()) == {4**4 * 4}
    found = Counter(row.gold for row in generate(Request("numerical"), 6000))
    assert all(abs(number / 6000 - 1 / 3) < 0.02 for number in found.values())


@pytest.mark.parametrize("text", RANGES)
def test_numbers_lie_in_the_range(text: str) -> None:
    low, high = read_range(text)
    rows = generate(Request("numerical", low=low, high=high), 300)
    numbers = {quantity(text)[1] for row in rows for text in (row.premise, row.hypothesis)}
    assert low <= min(numbers) and max(numbers) <= high


def test_three_numbers_are_drawn_alike_from_the_range() -> None:
    """All 4 triples of 2-5: n is 3 in (2 3 4) (2 3 5) and 4 in (2 4 5) (3 4 5)."""
    rows = generate(Request("numerical", low=2, high=5), 6000)
    drawn = Counter(quantity(row.premise)[1] for row in rows)
    assert set(drawn) == {3, 4}
    assert abs(drawn[3] / 6000 - 0.5) < 0.03


def test_a_range_of_the_same_width_gives_the_same_pairs_with_shifted_numbers() -> None:
    def shift(text: str) -> str:
        return re.sub(r"\d+", lambda number: str(int(number[0]) + 30), text)

    near = generate(Request("numerical", low=30, high=49), 300)
    far = generate(Request("numerical", low=60, high=79), 300)
    assert [(shift(a), shift(b)) for a, b in texts(near)] == texts(far)


def test_no_numerical_pair_comes_twice_while_its_words_last() -> None:
    made = sample("numerical", CRATE, 4**4 * 12, lexical="A", low=2, high=6)
    assert len(set(texts(made))) == len(made)


def test_words_that_come_again_come_with_other_numbers() -> None:
    made = sample("numerical", CRATE, 4**4 * 12 * 4, lexical="A", low=30, high=49)
    assert len(set(texts(made))) == len(made)


# HANS


def within(part: list[str], whole: list[str]) -> list[int]:
    """Return where `part` stands in one piece in `whole`."""
    return [at for at in range(len(whole)) if whole[at : at + len(part)] == part]


@pytest.mark.parametrize("subcase", subcases())
def test_every_hans_pair_fits_its_heuristic_and_its_label(subcase: str) -> None:
    for made in generate(Request("hans", subcase=subcase), 200):
        premise, hypothesis = words(made.premise), words(made.hypothesis)
        at = within(hypothesis, premise)
        assert set(hypothesis) <= set(premise)
        assert made.subcase == subcase
        assert made.gold == ("entailment" if subcase[1] == "e" else "non-entailment")
        assert made.heuristic == {"l": "lexical_overlap", "s": "subsequence"}.get(
            subcase[0], "constituent"
        )
        # the heuristics are nested; each of ours is exactly the one it is named after
        assert bool(at) == (made.heuristic != "lexical_overlap")


JOINTS = {"if", "unless", "that", "or", "and", "since", "because", "although", "though", "after"}


@pytest.mark.parametrize("subcase", subcases("constituent"))
def test_a_constituent_is_a_clause_from_end_to_end(subcase: str) -> None:
    adverbs = FILES["hans"]["words"]["perhaps"] + FILES["hans"]["words"]["surely"]
    for made in generate(Request("hans", subcase=subcase), 200):
        clause = made.hypothesis[0].lower() + made.hypothesis[1:-1]
        before, _, after = (made.premise[0].lower() + made.premise[1:]).partition(clause)
        starts = before.endswith(", ") or before.strip() in ("", *adverbs)
        assert starts or before.split()[-1] in JOINTS, made.premise
        assert after[0] in ".," or after.split()[0] in JOINTS | {"provided"}, made.premise


def test_thirty_thousand_hans_pairs_are_a_thousand_of_each_sub_case() -> None:
    rows = list(generate(Request("hans"), 30_000))
    assert Counter(row.subcase for row in rows) == dict.fromkeys(subcases(), 1000)
    assert set(Counter(row.gold for row in rows).values()) == {15_000}
    assert len(set(texts(rows))) == 30_000


def test_a_heuristic_or_a_sub_case_can_be_asked_for_alone() -> None:
    rows = list(generate(Request("hans", heuristic="subsequence"), 80))
    assert {row.subcase for row in rows} == set(subcases("subsequence"))
    assert {row.subcase for row in generate(Request("hans", subcase="sn_NP/Z"), 9)} == {"sn_NP/Z"}


# streams


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_pairs_and_another_seed_others(kind: str) -> None:
    first, again, other = (list(generate(Request(kind), 200, seed)) for seed in (1, 1, 2))
    assert first == again
    assert texts(first) != texts(other)


@pytest.mark.parametrize("kind", KINDS)
def test_a_larger_set_starts_with_the_smaller_one(kind: str) -> None:
    assert list(generate(Request(kind), 50)) == list(islice(generate(Request(kind), 500), 50))


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_has_its_own_id(kind: str) -> None:
    assert len({row.id for row in generate(Request(kind), 2000)}) == 2000


def peak(n: int) -> int:
    tracemalloc.start()
    deque(generate(Request("numerical", "simple", "A"), n), maxlen=0)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_number_of_pairs() -> None:
    peak(10)  # reads the templates, once
    assert peak(4000) < peak(400) + 100_000


def test_rows_of_600_000_are_made_when_they_are_asked_for() -> None:
    rows = generate(Request("numerical"), 600_000)
    assert len(list(islice(rows, 5))) == 5


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100, 257])
def test_an_order_is_a_permutation(size: int) -> None:
    order = Permutation(size, "0")
    assert sorted(order[at] for at in range(size)) == list(range(size))


def test_orders_of_different_seeds_differ() -> None:
    assert [Permutation(1000, "0")[at] for at in range(9)] != [
        Permutation(1000, "1")[at] for at in range(9)
    ]


def test_arguments_are_all_combinations_without_a_word_twice_from_one_list() -> None:
    known = Combinations({"who": ("a", "b", "c"), "act": ("x", "y"), "who2": ("a", "b", "c")})
    found = {tuple(known[at].values()) for at in range(known.size)}
    assert found == {row for row in product("abc", "xy", "abc") if row[0] != row[2]}
    assert known.size == 12


# the split


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_no_template_is_on_both_sides_of_a_split(kind: str, seed: int) -> None:
    train, test = split_by_template(kind, seed=seed)
    assert not set(train) & set(test)
    assert sorted(train + test) == sorted(template_ids(kind))
    assert abs(len(train) / len(train + test) - 0.77) < 0.04


@pytest.mark.parametrize("kind", ROZEN)
def test_both_sides_of_a_split_have_every_complexity(kind: str) -> None:
    for side in split_by_template(kind, seed=1):
        assert all(set(side) & set(template_ids(kind, level)) for level in LEVELS)


def test_splits_differ_by_seed() -> None:
    assert len({split_by_template("numerical", seed=seed) for seed in range(5)}) == 5


# what cannot be asked for


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request("anagram"), "kind 'anagram' is not one of dative, numerical, hans"),
        (Request("dative", "hard"), "complexity 'hard' is not one of simple, medium, complex"),
        (Request("hans", "simple"), "complexity means nothing for hans templates"),
        (Request("hans", lexical="A"), "lexical means nothing for hans templates"),
        (Request("dative", subcase="ce_adverb"), "subcase means nothing for dative templates"),
        (Request("dative", high=20), "high means nothing for dative templates"),
        (Request("numerical", lexical="B2"), "others have no sister verbs"),
        (Request("numerical", low=1), "numbers start at 2, not 1"),
        (Request("numerical", low=5, high=6), "the range 5-6 needs at least 3 whole numbers"),
        (
            Request("numerical", low=5, high=7, integer_strict=True),
            "the range 5-7 needs at least 4 whole numbers",
        ),
        (Request("hans", subcase="ln_nothing"), "subcase 'ln_nothing' is not one of ln_"),
        (Request("dative", templates=("x",)), "template 'x' is not one of dative_simple_give"),
        (Request("dative", "complex", templates=(GIVE,)), "no dative template fits"),
        (
            Request("hans", heuristic="constituent", subcase="sn_NP/S"),
            "no hans template fits all that was asked for",
        ),
    ],
)
def test_what_cannot_be_made_is_refused_at_once(request_: Request, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        generate(request_, 1)
    assert message in str(caught.value)


def test_asking_for_more_than_there_is_says_how_many_there_are() -> None:
    with pytest.raises(TemplateError, match=r"513 pairs were asked for.* has 512 diff"):
        generate(Request("dative", lexical="A", templates=(GIVE,)), 513)


def test_numerical_pairs_have_no_end() -> None:
    assert count(Request("numerical")) is None


@pytest.mark.parametrize("text", ["", "30", "30-", "a-b", "30-49-60", "-3-5"])
def test_a_range_is_two_numbers(text: str) -> None:
    with pytest.raises(TemplateError, match="LO-HI"):
        read_range(text)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_a_split_needs_two_sides(share: float) -> None:
    with pytest.raises(TemplateError, match="not between 0 and 1"):
        split_by_template("dative", share)


# the command


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["templates", *arguments])


def test_the_command_writes_what_generate_makes(tmp_path: Path) -> None:
    out = tmp_path / "made" / "n.csv"
    asked = ["--complexity", "simple", "--range", "30-49", "--n", "40", "--seed", "4"]
    ended = run("numerical", *asked, "--out", str(out))
    assert ended.exit_code == 0
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    made = list(generate(Request("numerical", "simple", low=30, high=49), 40, 4))
    assert tuple(rows[0]) == COLUMNS
    assert [(row["premise"], row["hypothesis"]) for row in rows] == texts(made)
    assert [row["label"] for row in rows] == [row.gold for row in made]
    assert {row["kind"] for row in rows} == {"numerical"}


def test_the_command_writes_json_lines_and_tsv(tmp_path: Path) -> None:
    asked = ["--subcase", "ce_adverb", "--n", "3"]
    for name in ("h.jsonl", "h.tsv"):
        assert run("hans", *asked, "--out", str(tmp_path / name)).exit_code == 0
    lines = (tmp_path / "h.jsonl").read_text(encoding="utf-8").splitlines()
    table = (tmp_path / "h.tsv").read_text(encoding="utf-8").splitlines()
    assert [list(json.loads(line).values()) for line in lines] == [
        line.split("\t") for line in table[1:]
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dative", "--n", "999999", "--out", "a.csv"], "999,999 pairs were asked for"),
        (["dative", "--out", "a.parquet"], "name the file .csv or .jsonl"),
        (["dative", "--out", "a.png"], "name the file .csv"),
        (["numerical", "--range", "9", "--out", "a.csv"], "not of the form LO-HI"),
        (["hans", "--lexical", "A", "--out", "a.csv"], "lexical means nothing for hans"),
    ],
)
def test_the_command_says_what_is_wrong_in_a_sentence(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(*arguments)
    assert ended.exit_code == 2
    assert message in ended.output
    assert list(tmp_path.iterdir()) == []
