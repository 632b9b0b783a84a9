"""The files of the repository: what they import, and what they say is installed where."""

import ast
import gc
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.10", "3.11", "3.12", "3.13")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def modules(*folders: str) -> list[str]:
    """Return the modules below folders, as they are written in the repository."""
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return [path.relative_to(ROOT).as_posix() for path in paths]


@cache
def tree(name: str) -> ast.Module:
    """Return the syntax of a module."""
    gc.disable()  # what it would end may let another thread parse, which CPython 3.11 mixes up
    try:
        return ast.parse(text(name))
    finally:
        gc.enable()


@cache
def imports(name: str) -> frozenset[str]:
    """Return the modules that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return frozenset(found)


def requirements(name: str) -> list[Requirement]:
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text(name).splitlines())
    return [Requirement(line) for line in lines if line]


def applicable(name: str, python: str) -> Iterator[Requirement]:
    environment = {"python_version": python, "python_full_version": f"{python}.5"}
    for requirement in requirements(name):
        if requirement.marker is None or requirement.marker.evaluate(environment):
            yield requirement


def ranges(name: str, package: str) -> SpecifierSet:
    """The range that holds for the newest Python."""
    matching = (
        requirement.specifier
        for requirement in applicable(name, PYTHONS[-1])
        if canonicalize_name(requirement.name) == package
    )
    return next(matching)
