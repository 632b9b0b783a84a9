"""What is varied between training and testing: conditions of the templates of Rozen et al. 2019.

A model is trained on examples of one condition and tested on those of each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from probe.errors import ExperimentError, TemplateError
from probe.templates import Request, kinds, read_range
from probe.templates.request import COMPLEXITIES
from probe.templates.selection import select

FILE = "file"
"""What varies where a column of a person's own file names the conditions."""
Fields = Mapping[str, Any]  # Any: values of a Request's fields


@dataclass(frozen=True)
class Condition:
    """One condition: its title, and a phrase that names its examples.

    `train` and `test` are the fields of the requests that its examples are drawn with; one that is
    only tested on has no `train`.
    """

    name: str
    title: str
    phrase: str
    test: Fields
    train: Fields | None = None


@dataclass(frozen=True)
class Grid:
    """Something that varies. With `by_template` no template is both trained and tested on."""

    title: str
    summary: str
    conditions: tuple[Condition, ...] = field(repr=False)
    by_template: bool = False


def _complexity(name: str) -> Condition:
    fields = {"complexity": name}
    return Condition(name, name.capitalize(), f"{name} sentences", fields, fields)


def _range(text: str) -> Condition:
    low, high = read_range(text)
    fields = {"low": low, "high": high}
    words = f"{low:,} to {high:,}"
    return Condition(
        text,
        words,
        f"numbers from {words}",
        {**fields, "lexical": "B"},
        {**fields, "lexical": "A"},
    )


PUBLISHED_RANGES = ("30-49", "60-79", "200-299", "1000-9999")
GRIDS: Mapping[str, Grid] = {
    "complexity": Grid(
        "Sentence",
        "Simple, medium and complex sentences; no template is both trained and tested on.",
        tuple(map(_complexity, COMPLEXITIES)),
        by_template=True,
    ),
    "lexical": Grid(
        "Words",
        "Two sets of words in the same templates, and another verb with the second set.",
        (
            Condition("Lex1", "First words", "the first words", {"lexical": "A"}, {"lexical": "A"}),
            Condition("Lex2", "Other words", "the other words", {"lexical": "B"}, {"lexical": "B"}),
            Condition("Lex2b", "Another verb", "another verb", {"lexical": "B2"}),
        ),
    ),
    "range": Grid(
        "Range",
        "Numbers of other ranges in the same templates; the words that are tested are new.",
        tuple(map(_range, PUBLISHED_RANGES)),
    ),
}
"""What may vary, by name."""


def conditions(phenomenon: str, vary: str) -> tuple[Condition, ...]:
    """Return the conditions that a kind of templates has, none where it has no two to train on."""
    fitting = tuple(each for each in GRIDS[vary].conditions if _fits(phenomenon, each))
    return fitting if sum(each.train is not None for each in fitting) > 1 else ()


def _fits(phenomenon: str, condition: Condition) -> bool:
    try:
        select(Request(phenomenon, **condition.test))
    except TemplateError:
        return False
    return True


def grids(phenomenon: str) -> tuple[str, ...]:
    """Return what may vary in a kind of templates."""
    return tuple(name for name in GRIDS if conditions(phenomenon, name))


def phenomena() -> tuple[str, ...]:
    """Return the kinds of templates in which anything may vary."""
    return tuple(kind for kind in kinds() if grids(kind))


def offered(phenomenon: str, vary: str) -> tuple[Condition, ...]:
    """Return the conditions of a grid by its names. Raises ExperimentError for unknown ones."""
    if phenomenon not in phenomena():
        raise ExperimentError(
            f"there are no conditions for {phenomenon!r}; there are: {', '.join(phenomena())}"
        )
    if vary not in grids(phenomenon):
        raise ExperimentError(
            f"{phenomenon} templates cannot vary {vary!r}; they can: {', '.join(grids(phenomenon))}"
        )
    return conditions(phenomenon, vary)


def described(names: Sequence[str], vary: str) -> dict[str, Condition]:
    """Return conditions by name; those of a person's own file are called by what stands there."""
    known = {each.name: each for each in GRIDS[vary].conditions} if vary in GRIDS else {}
    return {name: known.get(name) or Condition(name, name, f"“{name}”", {}) for name in names}
