"""Options of the transforms: their table, their names in results, the values they take."""

from dataclasses import fields

import pytest

from probe.errors import OptionError
from probe.transforms import Options
from probe.transforms.options import DEFAULTS, OPTIONS, read_options
from tests.support.cases import each


def test_every_field_has_a_line_in_the_table() -> None:
    assert {field.name for field in fields(Options)} == set(OPTIONS)


@each("name", OPTIONS)
def test_the_default_is_among_what_is_allowed(name: str) -> None:
    option, default = OPTIONS[name], getattr(DEFAULTS, name)
    if option.values:
        assert ("".join(default) if isinstance(default, tuple) else default) in option.values
    else:
        assert option.low <= default <= option.high


def test_nothing_given_is_the_defaults() -> None:
    assert read_options({}) == Options()


def test_text_and_values_are_read_alike() -> None:
    values = {"keep": "0.25", "by_id": "true", "pin": ".", "replacements": "2", "sign": "abs"}
    expected = Options(keep=0.25, by_id=True, pin=(".",), replacements=2, sign="abs")
    assert read_options(values) == expected
    assert (
        read_options(
            {
                "keep": 0.25,
                "by_id": True,
                "pin": [
                    ".",
                ],
                "replacements": 2.0,
                "sign": "abs",
            }
        )
        == expected
    )


@each(
    ("values", "sentence"),
    [
        ({"kep": 1}, "there is no option 'kep'; there are: keep, sign, "),
        ({"keep": "much"}, "keep 'much' is not a number"),
        ({"keep": 1.5}, "keep 1.5 is not from 0 to 1"),
        ({"keep": "nan"}, "keep 'nan' is not from 0 to 1"),
        ({"replacements": 1.5}, "replacements 1.5 is not a whole number"),
        ({"senses": "second"}, "senses 'second' is not one of all, first"),
        ({"inflect": "maybe"}, "inflect 'maybe' is not one of true, false"),
        ({"pin": ";"}, "pin ';' is not one of .!?, ."),
    ],
)
def test_an_impossible_value_is_one_sentence(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(OptionError) as problem:
        read_options(values)
    assert str(problem.value).startswith(sentence)


def test_the_variant_names_what_differs() -> None:
    assert Options().variant == "safe"
    chosen = Options(sign="gupta", pin=(".",), by_id=True, senses="first", keep=0.25, inflect=False)
    assert chosen.variant == "keep=0.25+gupta+by_id+pin=paper_code+senses=first+inflect=no"
