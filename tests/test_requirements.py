"""What is installed: each package for a reason, each version that is tested in its range."""

import re
import sys
from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from hatch_build import RequirementsHook
from tests.support.checkout import (
    PYTHONS,
    ROOT,
    applicable,
    imports,
    modules,
    ranges,
    requirements,
    text,
)

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


def test_every_range_contains_the_tested_version_and_each_package_is_pinned_once_and_exactly() -> (
    None
):
    for python in PYTHONS:
        exact = list(applicable("constraints.txt", python))
        pins = {canonicalize_name(each.name): each.specifier for each in exact}
        assert len(pins) == len(exact), python
        assert [
            str(pin) for pin in exact if not re.fullmatch(r"[\w.-]+==[\w.]+(;.*)?", str(pin))
        ] == []
        outside = [
            str(requirement)
            for name in REQUIREMENTS
            for requirement in applicable(name, python)
            for each in pins[canonicalize_name(requirement.name)]
            if not requirement.specifier.contains(each.version)
        ]
        assert outside == [], python


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


def test_torch_of_a_space_is_welcome() -> None:
    welcome = ("2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.11.0+cu129")
    assert list(ranges("requirements.txt", "torch").filter(welcome)) == list(welcome)


def imported() -> dict[str, set[str]]:
    """Return by module the packages of others that it imports, by their own names."""
    ours = {"", "probe", "finetune", "app", *sys.stdlib_module_names}
    return {
        name: {
            str(canonicalize_name(PACKAGES.get(package, package)))
            for package in {each.partition(".")[0] for each in imports(name)} - ours
        }
        for name in ("app.py", "nli_clinic.py", *modules("probe", "finetune"))
    }


def required() -> dict[str, set[str]]:
    """Return each required package and its extras: dask[distributed] brings distributed."""
    return {
        canonicalize_name(requirement.name): {
            str(canonicalize_name(name)) for name in (requirement.name, *requirement.extras)
        }
        for requirement in requirements("requirements.txt")
    }


def test_every_import_is_required_and_every_requirement_imported_or_there_for_a_reason() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    extras = [each for lines in project["optional-dependencies"].values() for each in lines]
    wanted = set().union(*required().values(), (Requirement(each).name for each in extras))
    assert {name: found - wanted for name, found in imported().items() if found - wanted} == {}
    used = set().union(*imported().values())
    assert {name for name, names in required().items() if not names & used} == set(UNIMPORTED)


def test_the_wheel_requires_what_requirements_txt_does() -> None:
    filled: dict[str, list[str]] = {}
    RequirementsHook(str(ROOT), {}).update(filled)
    asked = [Requirement(line) for line in filled["dependencies"]]
    assert asked == requirements("requirements.txt")
