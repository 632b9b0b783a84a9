"""What is installed: each package for a reason, each version that is tested in its range."""

import ast
import re
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from hatch_build import RequirementsHook
from tests.support.checkout import PYTHONS, ROOT, applicable, ranges, requirements

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")
# modules that are not called what their package is called
PACKAGES = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python", "PIL": "pillow"}
UNIMPORTED = {
    "sentencepiece": "transformers reads the spm files of hub models with it",
    "protobuf": "and needs this to do so",
    "cryptography": "dask makes the certificate of the app's own processes with it",
}
# torch pins the packages of its CUDA build itself
CUDA = re.compile(r"nvidia-|cuda-|triton$")


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_range_contains_the_tested_version(name: str, python: str) -> None:
    pins = {canonicalize_name(r.name): r for r in applicable("constraints.txt", python)}
    for requirement in applicable(name, python):
        pin = pins[canonicalize_name(requirement.name)]
        (exact,) = pin.specifier
        assert requirement.specifier.contains(exact.version), f"{requirement} and {pin}"


@pytest.mark.parametrize("python", PYTHONS)
def test_each_package_is_pinned_once_and_exactly(python: str) -> None:
    pins = list(applicable("constraints.txt", python))
    names = [canonicalize_name(pin.name) for pin in pins]
    assert len(names) == len(set(names))
    assert [str(pin) for pin in pins if [s.operator for s in pin.specifier] != ["=="]] == []
    assert [str(pin) for pin in pins if pin.url or "+" in str(pin.specifier)] == []


def brought(name: str, extras: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> None:
    """Adds `name` and all that it requires here to `seen`."""
    if (name, extras) in seen or CUDA.match(name):
        return
    seen.add((name, extras))
    for line in requires(name) or []:
        requirement = Requirement(line)
        marker = requirement.marker
        wanted = marker is None or any(marker.evaluate({"extra": e}) for e in extras | {""})
        if wanted:
            brought(canonicalize_name(requirement.name), frozenset(requirement.extras), seen)


def test_what_the_requirements_bring_along_is_pinned_too() -> None:
    pinned = {canonicalize_name(pin.name) for pin in requirements("constraints.txt")}
    seen: set[tuple[str, frozenset[str]]] = set()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    for name in REQUIREMENTS:
        for requirement in applicable(name, python):
            brought(canonicalize_name(requirement.name), frozenset(requirement.extras), seen)
    assert {name for name, _ in seen} - pinned == set()


@pytest.mark.parametrize("version", ["2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.11.0+cu129"])
def test_torch_of_a_space_is_welcome(version: str) -> None:
    assert ranges("requirements.txt", "torch").contains(version)


def modules() -> list[Path]:
    found = [path for folder in ("probe", "finetune") for path in (ROOT / folder).rglob("*.py")]
    return [ROOT / "app.py", ROOT / "nli_clinic.py", *found]


def imported(path: Path) -> set[str]:
    """Return the packages of others that a file imports, by their own names."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    others = names - {"probe", "finetune", "app", *sys.stdlib_module_names}
    return {str(canonicalize_name(PACKAGES.get(name, name))) for name in others}


def required() -> dict[str, set[str]]:
    """Return each required package and its extras: dask[distributed] brings distributed."""
    return {
        canonicalize_name(requirement.name): {
            str(canonicalize_name(name)) for name in (requirement.name, *requirement.extras)
        }
        for requirement in requirements("requirements.txt")
    }


def test_every_import_is_required() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [each for lines in project["optional-dependencies"].values() for each in lines]
    wanted = set().union(*required().values(), (Requirement(each).name for each in extras))
    missing = {
        f"{path.relative_to(ROOT)}: {sorted(imported(path) - wanted)}"
        for path in modules()
        if imported(path) - wanted
    }
    assert missing == set()


def test_every_requirement_is_imported_or_there_for_a_reason() -> None:
    used = set().union(*map(imported, modules()))
    assert {name for name, names in required().items() if not names & used} == set(UNIMPORTED)


def test_the_wheel_requires_what_requirements_txt_does() -> None:
    filled: dict[str, list[str]] = {}
    RequirementsHook(str(ROOT), {}).update(filled)
    asked = [Requirement(line) for line in filled["dependencies"]]
    assert asked == requirements("requirements.txt")
