"""The split by template, and requests that are refused."""

import pytest

from probe.errors import TemplateError
from probe.templates import (
    Request,
    count,
    generate,
    kinds,
    read_range,
    split_by_template,
    template_ids,
)
from tests.support.each import each
from tests.support.files.template_files import GIVE, LEVELS, ROZEN

# the split


@each("kind", kinds())
@each("seed", range(5))
def test_no_template_is_on_both_sides_of_a_split(kind: str, seed: int) -> None:
    train, test = split_by_template(kind, seed=seed)
    assert not set(train) & set(test)
    assert sorted(train + test) == sorted(template_ids(kind))
    assert abs(len(train) / len(train + test) - 0.77) < 0.04


@each("kind", ROZEN)
def test_both_sides_of_a_split_have_every_complexity(kind: str) -> None:
    for side in split_by_template(kind, seed=1):
        assert all(set(side) & set(template_ids(kind, level)) for level in LEVELS)


def test_splits_differ_by_seed() -> None:
    assert len({split_by_template("numerical", seed=seed) for seed in range(5)}) == 5


# refused requests


@each(
    ("request_", "message"),
    [
        (Request("anagram"), "kind 'anagram' is not one of dative, numerical, hans"),
        (Request("dative", "hard"), "complexity 'hard' is not one of simple, medium, complex"),
        (Request("hans", "simple"), "complexity means nothing for hans templates"),
        (Request("hans", lexical="A"), "lexical means nothing for hans templates"),
        (Request("dative", subcase="ce_adverb"), "subcase means nothing for dative templates"),
        (Request("dative", high=20), "range means nothing for dative templates"),
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
def test_an_impossible_request_is_refused_at_once(request_: Request, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        generate(request_, 1)
    assert message in str(caught.value)


def test_asking_for_more_than_there_is_says_how_many_there_are() -> None:
    with pytest.raises(TemplateError, match=r"513 pairs were asked for.* has 512 diff"):
        generate(Request("dative", lexical="A", templates=(GIVE,)), 513)


def test_numerical_pairs_have_no_end() -> None:
    assert count(Request("numerical")) is None


@each("text", ["", "30", "30-", "a-b", "30-49-60", "-3-5"])
def test_a_range_is_two_numbers(text: str) -> None:
    with pytest.raises(TemplateError, match="LO-HI"):
        read_range(text)


@each("share", [0.0, 1.0, -1.0])
def test_a_split_needs_two_sides(share: float) -> None:
    with pytest.raises(TemplateError, match="not between 0 and 1"):
        split_by_template("dative", share)
