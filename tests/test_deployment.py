import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.support.dockerfile import (
    Step,
    build_in,
    carry_out,
    ignore_lines,
    ignored,
    left_out,
    parse,
)

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")
FILES = (
    *REQUIREMENTS,
    ".ci/run",
    ".dockerignore",
    "Dockerfile",
    "Makefile",
    "constraints.txt",
    "packages.txt",
    "pyproject.toml",
)
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
PORT = "7860"
# modules that are not called what their package is called
PACKAGES = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python", "PIL": "pillow"}
# torch pins the packages of its CUDA build itself
CUDA = re.compile(r"nvidia-|cuda-|triton$")


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
    found = [r for r in applicable(name, PYTHONS[-1]) if canonicalize_name(r.name) == package]
    return found[0].specifier


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    return parse(text("Dockerfile"))


def named(steps: list[Step], name: str) -> list[Step]:
    return [step for step in steps if step.name == name]


def copied(steps: list[Step]) -> list[str]:
    return [source for step in named(steps, "COPY") for source in step.paths()[0]]


def variables(steps: list[Step]) -> dict[str, str]:
    return {k: v for step in named(steps, "ENV") for k, v in step.assignments().items()}


# the versions


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


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_every_import_is_required() -> None:
    wanted = {canonicalize_name(n) for r in requirements("requirements.txt") for n in names(r)}
    ours = {"probe", "finetune", "app", *sys.stdlib_module_names}
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules()
        for name in set(imported(path)) - ours
        if canonicalize_name(PACKAGES.get(name, name)) not in wanted
    }
    assert missing == set()


def names(requirement: Requirement) -> set[str]:
    """A package and its extras: dask[distributed] brings distributed."""
    return {requirement.name, *requirement.extras}


# the Dockerfile


def test_a_continued_line_is_one_step_and_a_comment_is_none() -> None:
    found = parse("# a\nFROM x\nRUN one \\\n    # b\n    && two\n\nCOPY --chown=u a b ./\n")
    assert found == [
        Step("FROM", (), "x"),
        Step("RUN", (), "one && two"),
        Step("COPY", ("--chown=u",), "a b ./"),
    ]


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("tests/test_deployment.py", True),
        ("testset/a.csv", False),
        ("probe/ui/__pycache__/x.pyc", True),
        ("probe/.mypy_cache/x", True),
        ("assets/models/minilm/model.safetensors", False),
        ("probe/runs/store.py", False),
        (".git/config", True),
    ],
)
def test_dockerignore_leaves_out_what_the_app_does_not_need(path: str, left: bool) -> None:
    assert ignored(path, ignore_lines(ROOT)) == left


def test_what_is_copied_exists_and_is_not_left_out(steps: list[Step]) -> None:
    for source in copied(steps):
        assert (ROOT / source).exists(), source
        assert not ignored(source, ignore_lines(ROOT)), source


@pytest.mark.skipif(
    not ((ROOT / ".git").exists() and shutil.which("git")), reason="not a clone of the repository"
)
def test_git_keeps_what_is_copied(steps: list[Step]) -> None:
    asked = ["git", "-C", str(ROOT), "check-ignore", *copied(steps)]
    assert subprocess.run(asked, capture_output=True, text=True).stdout == ""


def test_the_last_user_is_1000(steps: list[Step]) -> None:
    assert named(steps, "USER")[-1].text == "1000"
    assert any("useradd" in s.text and "--uid 1000" in s.text for s in named(steps, "RUN"))


def test_nothing_is_installed_after_the_code_is_copied(steps: list[Step]) -> None:
    names = [step.name for step in steps]
    code = next(i for i, s in enumerate(steps) if s.name == "COPY" and "app.py" in s.text)
    assert "RUN" not in names[code:]


def test_the_port_is_the_same_everywhere(steps: list[Step]) -> None:
    assert [step.text for step in named(steps, "EXPOSE")] == [PORT]
    assert variables(steps)["GRADIO_SERVER_PORT"] == PORT
    assert variables(steps)["GRADIO_SERVER_NAME"] == "0.0.0.0"
    (health,) = named(steps, "HEALTHCHECK")
    assert f"127.0.0.1:{PORT}" in health.argv()[-1]
    assert header().get("app_port", PORT) == PORT


def test_the_app_writes_into_a_folder_of_its_user(steps: list[Step]) -> None:
    assert f" -o user -g user {variables(steps)['HOME']}" in " ".join(s.text for s in steps)
    assert variables(steps)["NLI_CLINIC_HOME"] in " ".join(s.text for s in named(steps, "RUN"))


def test_the_command_starts_a_file_that_is_copied(steps: list[Step]) -> None:
    program, file = named(steps, "CMD")[-1].argv()
    assert program == "python"
    assert file in copied(steps) and (ROOT / file).is_file()


def test_the_steps_make_the_image_s_folder(tmp_path: Path) -> None:
    context = tmp_path / "context"
    (context / "code" / "deep").mkdir(parents=True)
    (context / ".dockerignore").write_text("**/*.pyc\n")
    for name in ("code/a.py", "code/deep/b.py", "code/deep/b.pyc", "notes"):
        (context / name).write_text(name)
    build = build_in(tmp_path / "root", context, port=1234)
    carry_out(
        build,
        parse(
            "FROM x\nRUN useradd user && install -d -o user -g user /home/user/data\n"
            "WORKDIR /home/user/app\nENV PORT=7860 DATA=/home/user/data\nCOPY notes ./\n"
            'COPY code ./code\nRUN echo "$PORT" > "$DATA/port"\n'
            'HEALTHCHECK --timeout=1s CMD ["ask", "0.0.0.0:7860"]\nCMD ["start"]\n'
        ),
    )
    home = tmp_path / "root" / "home" / "user"
    made = sorted(p.relative_to(home).as_posix() for p in home.rglob("*") if p.is_file())
    assert made == ["app/code/a.py", "app/code/deep/b.py", "app/notes", "data/port"]
    assert (home / "data" / "port").read_text() == "1234\n"
    assert (build.health, build.command) == (["ask", "127.0.0.1:1234"], ["start"])


def test_only_root_installs_debian_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert left_out("apt-get update") != ""
    assert left_out("pip install x") == ""


# the Space


def header() -> dict[str, str]:
    """The lines between the first two rules of the README."""
    block = text("README.md").split("---\n")[1]
    lines = (line.partition(":") for line in block.splitlines() if line[:1].isalpha())
    return {key.strip(): value.strip().strip("\"'") for key, _, value in lines}


def test_a_space_starts_the_app() -> None:
    assert text("README.md").startswith("---\n")
    assert (header()["sdk"], header()["app_file"]) == ("gradio", "app.py")


def test_a_space_brings_a_gradio_that_is_in_the_range() -> None:
    assert ranges("requirements.txt", "gradio").contains(header()["sdk_version"])


def test_a_space_with_a_python_of_its_own_has_one_that_is_supported() -> None:
    version = ".".join(header().get("python_version", "3.12").split(".")[:2])
    assert version in ("3.10", "3.12")


def test_wordnet_is_installed_everywhere_from_one_list() -> None:
    assert text("packages.txt").split() == ["wordnet-base"]
    assert "packages.txt" in text("Makefile") and "packages.txt" in text("Dockerfile")


# make and the rest


def recipe(*arguments: str) -> str:
    """What make would do."""
    if not shutil.which("make"):
        pytest.skip("no make")
    asked = ["make", "-n", "-C", str(ROOT), *arguments]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(asked, capture_output=True, text=True, check=True, env=clean).stdout


def test_ci_calls_make_test() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert text(".ci/run").splitlines()[-1] == "make test"
    assert "set -euo pipefail" in text(".ci/run")


def test_make_test_checks_format_lint_and_types_before_it_tests() -> None:
    plan = recipe("test")
    order = ["ruff format --check", "ruff check", "bin/mypy", "-m pytest"]
    assert [plan.index(step) for step in order] == sorted(plan.index(step) for step in order)


def test_without_chromium_the_browser_tests_are_left_out_and_it_is_said() -> None:
    plan = recipe("test", "CHROMIUM=")
    assert '-m "not browser"' in plan
    assert "browser tests are left out: no chromium" in plan
    assert "not browser" not in recipe("test", "CHROMIUM=/usr/bin/chromium")


def test_an_index_for_torch_is_used_before_the_rest_is_installed() -> None:
    plan = recipe("-B", "run", "TORCH_INDEX=here")
    assert plan.index("--index-url here") < plan.index("-r requirements.txt")
    assert "--index-url" not in recipe("-B", "run", "TORCH_INDEX=")


def test_an_old_python_gets_one_clear_sentence(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    shutil.copy(ROOT / "Makefile", tmp_path)
    asked = ["make", "-s", "-C", str(tmp_path), ".venv/bin/python", f"PYTHON={old}"]
    if not shutil.which("make"):
        pytest.skip("no make")
    done = subprocess.run(asked, capture_output=True, text=True)
    assert done.returncode != 0
    assert "Python 3.10 or newer is needed" in done.stderr


@pytest.mark.parametrize("name", FILES)
def test_a_file_names_no_place_of_one_machine(name: str) -> None:
    assert str(ROOT) not in text(name)
    found = re.findall(r"file:|/root\b|/Users/|https?://(?!127\.0\.0\.1)\S+", text(name))
    assert found == []


def test_the_licence_is_whole() -> None:
    licence = text("LICENSE")
    assert "Version 2.0, January 2004" in licence
    assert [f"\n   {n}. " in licence for n in range(1, 10)] == [True] * 9
    assert "END OF TERMS AND CONDITIONS" in licence
    assert re.search(r"Copyright \d{4} The NLI Clinic authors", licence)
