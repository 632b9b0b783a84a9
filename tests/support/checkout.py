"""The files of the repository that say what is installed where."""

import re
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.10", "3.11", "3.12", "3.13")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


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
