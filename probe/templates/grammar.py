"""Templates read from TOML: texts with {slots} that other texts, words and numbers fill.

A file has `template` tables, each with a source text (in NLI a premise), and `case` tables, the
target texts (hypotheses) that each of them gets. A string in either is a text; any text may hold
the {name} of another, and `texts` are for all templates that have none of their own of that name. A
list of words in a template is an argument: two lists, group A and group B. The word lists of the
whole file are in `words`, and {person2} is another draw from `person` than {person}.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from probe.errors import TemplateError, reading
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task, task_named

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SLOT = re.compile(r"\{(\w+)\}")
NUMBER_SLOTS = ("l", "n", "h")
MAX_NESTING = 6  # levels of texts inside texts

WordGroups = tuple[tuple[str, ...], ...]
Table = dict[str, Any]  # Any: TOML values


@dataclass(frozen=True)
class Case:
    """One target text: its label and its texts.

    `gap` names the number, l or h, that n must not be next to, "" for none; `numbers` are those
    that its texts hold, where these are whole.
    """

    name: str
    label: Label
    texts: Mapping[str, str]
    heuristic: str = ""
    gap: str = ""
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Template:
    """One source text."""

    id: str
    texts: Mapping[str, str]
    arguments: Mapping[str, WordGroups]
    complexity: str = ""
    subcase: str = ""


@dataclass(frozen=True)
class Grammar:
    """A file; `keep` has the number of targets of each label for a source of a balanced set.

    `title` and `summary` say what its pairs are, `order` its place in lists, `reads` the fields of
    a request that it heeds besides templates and balance.
    """

    kind: str
    task: Task
    title: str
    summary: str
    order: int
    reads: frozenset[str]
    templates: tuple[Template, ...]
    cases: tuple[Case, ...]
    keep: Mapping[str, int]


FOLDERS = [Path(__file__).parent]
"""Where files of templates lie; each file is a kind."""


def kinds(task: Task | None = None) -> tuple[str, ...]:
    """Return the kinds of templates, of all tasks or one: a file each, in the order they say."""
    wanted = (
        name for name in files() if task is None or grammar(name).task.example is task.example
    )
    return tuple(sorted(wanted, key=lambda kind: (grammar(kind).order, kind)))


def files() -> Mapping[str, Path]:
    """Return the files of templates by their kinds."""
    return {path.stem: path for folder in FOLDERS for path in folder.glob("*.toml")}


def grammar(kind: str) -> Grammar:
    """Read the templates of a kind. Raises TemplateError where there are none of that name."""
    there = files()
    if kind not in there:
        raise TemplateError(f"there are no templates {kind!r}; there are: {', '.join(there)}")
    return _read(kind, there[kind])


@cache
def _read(kind: str, path: Path) -> Grammar:
    with reading(path.name, "templates", "mend it or remove it", TemplateError):
        table: Table = tomllib.loads(path.read_text(encoding="utf-8"))
        words = {name: (tuple(values),) for name, values in table.get("words", {}).items()}
        texts, task = table.get("texts", {}), task_named(table.get("task", NLI.name))
        source = task.source or task.target
        return Grammar(
            kind,
            task,
            table["title"],
            table["summary"],
            table["order"],
            frozenset(table["reads"]),
            tuple(_template(row, source, texts, words) for row in table["template"]),
            tuple(_case(row, task) for row in table["case"]),
            table.get("keep", {}),
        )


def flatten(text: str, texts: Mapping[str, str]) -> str:
    """Fill slots with texts until only those of arguments and numbers are left."""
    for _ in range(MAX_NESTING):
        text = SLOT.sub(lambda slot: texts.get(slot[1], slot[0]), text)
    return text


def slot_names(text: str) -> list[str]:
    """Return the names of the slots in a text, in order, each once."""
    return list(dict.fromkeys(SLOT.findall(text)))


def _case(row: Table, task: Task) -> Case:
    options = {name: row[name] for name in ("heuristic", "gap") if name in row}
    return Case(row["name"], task.read_gold(row["label"]) or "", _texts(row), **options)


def _template(
    row: Table, source: str, shared: Mapping[str, str], words: Mapping[str, WordGroups]
) -> Template:
    options = {name: row[name] for name in ("complexity", "subcase") if name in row}
    texts = {**shared, **_texts(row)}
    lists = {**words, **{n: tuple(map(tuple, v)) for n, v in row.items() if isinstance(v, list)}}
    slots = slot_names(flatten(texts[source], texts))
    own = {slot: slot if slot in lists else slot.rstrip("0123456789") for slot in slots}
    filled = {slot: lists[name] for slot, name in own.items() if name in lists}
    return Template(row["id"], texts, filled, **options)


def _texts(row: Table) -> dict[str, str]:
    return {name: value for name, value in row.items() if isinstance(value, str)}
