"""The templates as their files have them, and samples of their pairs."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import probe.templates
from probe.templates import Request, generate, kinds
from probe.templates.grammar import grammar

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(probe.templates.__file__).parent
FILES: dict[str, Any] = {  # Any: TOML values
    kind: tomllib.loads((FOLDER / f"{kind}.toml").read_text(encoding="utf-8")) for kind in kinds()
}
ROZEN = ("dative", "numerical")
LEVELS = ("simple", "medium", "complex")
ROWS = [(kind, row) for kind in kinds() for row in FILES[kind]["template"]]
CRATE = "numerical_simple_crate"
GIVE = "dative_simple_give"


def sample(kind: str, template: str, n: int = 40, **fields: Any) -> list[Any]:
    """Return n pairs of one template, by a fixed seed."""
    return list(generate(Request(kind, templates=(template,), **fields), n, seed=3))


def lists(row: dict[str, Any]) -> dict[str, list[list[str]]]:
    """Return the word lists of a template, group A and group B of each argument."""
    return {name: value for name, value in row.items() if isinstance(value, list)}


def words(text: str) -> list[str]:
    """Return the lower-case words of a sentence."""
    return re.sub(r"[.,]", "", text).lower().split()


def texts(rows: Iterable[Any]) -> list[tuple[str, ...]]:
    """Return the texts of each pair."""
    return [tuple(grammar(row.kind).task.texts(row).values()) for row in rows]
