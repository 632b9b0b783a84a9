"""Templates read from TOML: texts with {places} that other texts, words and numbers fill.

A file has `case` tables, the hypotheses that each premise gets, and `template` tables. A string
in either is a text; any text may hold the {name} of another, and `texts` hold for all templates
that have none of their own of that name. A list of words in a template is an argument: two lists,
group A and group B. Words of the whole file stand in `words`, and {person2} is another draw from
`person` than {person}.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from probe.tasks.nli import NLI
from probe.tasks.task import Label

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PLACE = re.compile(r"\{(\w+)\}")
NUMBERS = ("l", "n", "h")
LEVELS = 6
"""How deep texts may stand inside texts."""

Groups = tuple[tuple[str, ...], ...]
Table = dict[str, Any]  # Any: TOML values


@dataclass(frozen=True)
class Case:
    """One hypothesis: its label and its texts. `gap` names the number that n must not touch."""

    name: str
    label: Label
    texts: Mapping[str, str]
    heuristic: str = ""
    gap: str = ""


@dataclass(frozen=True)
class Template:
    """One premise. `depth` is our count of the phrases above its dative verb or number."""

    id: str
    texts: Mapping[str, str]
    arguments: Mapping[str, Groups]
    complexity: str = ""
    depth: int = 0
    subcase: str = ""


@dataclass(frozen=True)
class Grammar:
    """A file: `keep` is how many of a premise's hypotheses a balanced set has of each label."""

    kind: str
    templates: tuple[Template, ...]
    cases: tuple[Case, ...]
    keep: Mapping[str, int]

    def cases_of(self, template: Template) -> tuple[Case, ...]:
        """Return the hypotheses of a template: those of its sub-case, or all there are."""
        return tuple(case for case in self.cases if template.subcase in ("", case.name))


@cache
def grammar(kind: str) -> Grammar:
    """Read the templates of a kind."""
    path = Path(__file__).with_name(f"{kind}.toml")
    table: Table = tomllib.loads(path.read_text(encoding="utf-8"))
    words = {name: (tuple(values),) for name, values in table.get("words", {}).items()}
    texts = table.get("texts", {})
    return Grammar(
        kind,
        tuple(_template(row, texts, words) for row in table["template"]),
        tuple(_case(row) for row in table["case"]),
        table.get("keep", {}),
    )


def flatten(text: str, texts: Mapping[str, str]) -> str:
    """Put texts into their places until only those of arguments and numbers are left."""
    for _ in range(LEVELS):
        text = PLACE.sub(lambda place: texts.get(place[1], place[0]), text)
    return text


def places(text: str) -> list[str]:
    """Return the names of the places in a text, in order, each once."""
    return list(dict.fromkeys(PLACE.findall(text)))


def list_of(place: str, lists: Iterable[str]) -> str:
    """Return the name of the list of words that fills a place, empty if none does."""
    return next((name for name in (place, place.rstrip("0123456789")) if name in lists), "")


def _case(row: Table) -> Case:
    facts = {name: row[name] for name in ("heuristic", "gap") if name in row}
    label = NLI.read_gold(row["label"])
    assert label is not None
    return Case(row["name"], label, _texts(row), **facts)


def _template(row: Table, common: Mapping[str, str], words: Mapping[str, Groups]) -> Template:
    facts = {name: row[name] for name in ("complexity", "depth", "subcase") if name in row}
    texts = {**common, **_texts(row)}
    own = {name: _groups(value) for name, value in row.items() if isinstance(value, list)}
    lists = {**words, **own}
    found = places(flatten(texts["premise"], texts))
    arguments = {place: lists[list_of(place, lists)] for place in found if list_of(place, lists)}
    return Template(row["id"], texts, arguments, **facts)


def _groups(value: list[list[str]]) -> Groups:
    return tuple(tuple(group) for group in value)


def _texts(row: Table) -> dict[str, str]:
    return {name: value for name, value in row.items() if isinstance(value, str)}
