"""What may vary in which templates."""

import pytest

from finetune.trials.generalisation_plan import conditions, grids, offered, phenomena
from probe.errors import ExperimentError


def test_the_phenomena_are_those_of_the_paper() -> None:
    assert phenomena() == ("dative", "numerical")


@pytest.mark.parametrize(
    ("phenomenon", "vary"),
    [("dative", ("complexity", "lexical")), ("numerical", ("complexity", "lexical", "range"))],
)
def test_only_numbers_have_a_range(phenomenon: str, vary: tuple[str, ...]) -> None:
    assert grids(phenomenon) == vary


def test_another_verb_is_tested_on_and_only_in_datives() -> None:
    assert [each.name for each in conditions("dative", "lexical")] == ["Lex1", "Lex2", "Lex2b"]
    assert [each.name for each in conditions("numerical", "lexical")] == ["Lex1", "Lex2"]
    assert conditions("dative", "lexical")[2].train is None


def test_the_ranges_are_the_published_ones() -> None:
    names = [each.name for each in conditions("numerical", "range")]
    assert names == ["30-49", "60-79", "200-299", "1000-9999"]


@pytest.mark.parametrize(
    ("phenomenon", "vary", "sentence"),
    [
        ("hans", "complexity", "no conditions for 'hans'; there are: dative, numerical"),
        ("dative", "range", "dative templates cannot vary 'range'; they can: complexity, lexical"),
    ],
)
def test_what_there_is_not_is_refused(phenomenon: str, vary: str, sentence: str) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        offered(phenomenon, vary)
