"""What `make` and the checks call, by stubs of the tools that note their calls."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

TOOLS = ("python", "ruff", "mypy", "lint-imports")
STAMPS = ("run", "test", "wordnet", "chromium")


@dataclass(frozen=True)
class Made:
    """What make did in a checkout whose tools only note that they were called."""

    folder: Path

    def __call__(self, *arguments: str, tests_found: bool = True) -> list[str]:
        """Return the calls in their order, without the folder of the tools."""
        if not shutil.which("make"):
            pytest.skip("no make")
        log = self.folder / "calls.log"
        log.write_text("")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        code = "0" if tests_found else "5"
        environment = clean | {"CALLS": str(log), "PYTEST_CODE": code}
        asked = ["make", "-C", str(self.folder), *arguments]
        subprocess.run(asked, capture_output=True, text=True, check=True, env=environment)
        return log.read_text().splitlines()


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A set-up checkout: the Makefile, what it reads, and an environment of stubs."""
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "packages.txt").touch()
    bin_folder = tmp_path / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    for name in TOOLS:
        tool = bin_folder / name
        tool.write_text(
            '#!/bin/sh\necho "$(basename $0) $*" >> "$CALLS"\n'
            'case "$*" in *"-m slow"*) exit $PYTEST_CODE;; esac\n'
        )
        tool.chmod(0o755)
    for name in STAMPS:
        (tmp_path / ".venv" / f".stamp-{name}").touch()
    return Made(tmp_path)


def pytest_calls(calls: list[str]) -> list[str]:
    """Return the marks that pytest was called for."""
    found = (re.search(r"python -m pytest .*-m (.*?) *$", call) for call in calls)
    return [match.group(1) for match in found if match]


def test_make_checks_format_lint_types_and_imports_before_it_tests(made: Made) -> None:
    calls = made("test", "CHROMIUM=/usr/bin/chromium")
    assert [call.split()[0] for call in calls] == ["ruff", "ruff", "mypy", "lint-imports", "python"]
    assert calls[:2] == ["ruff format --check .", "ruff check ."]


def test_make_runs_the_tests_of_these_marks(made: Made) -> None:
    browser, chosen = "CHROMIUM=/usr/bin/chromium", "TESTS=tests/app/test_page.py"
    for asked, marks in {
        ("test", browser): ["not slow and not app"],
        ("test-all", browser): ["not slow", "slow"],
        ("test", browser, chosen): ["not slow tests/app/test_page.py"],
        ("test-all", "CHROMIUM="): ["not slow and not browser", "slow and not browser"],
    }.items():
        assert pytest_calls(made(*asked)) == marks, asked
    none_is_slow = made("test-all", browser, chosen, tests_found=False)
    assert len(pytest_calls(none_is_slow)) == 2


def test_an_index_for_torch_is_used_before_the_rest_is_installed(made: Made) -> None:
    (made.folder / ".venv" / ".stamp-run").unlink()
    torch, rest, _ = made("run", "TORCH_INDEX=here")
    assert "--index-url here -c constraints.txt torch" in torch
    assert "-r requirements.txt -c constraints.txt" in rest and "--index-url" not in rest
    (made.folder / ".venv" / ".stamp-run").unlink()
    assert "--index-url" not in "".join(made("run", "TORCH_INDEX="))


def test_make_figures_is_given_the_folder_of_data(made: Made) -> None:
    run = "python -m benchmarks.figures run"
    assert [call.strip() for call in made("figures", "DATA=")] == [run]
    assert made("figures", "DATA=my data") == [f"{run} --data my data"]


def test_ci_runs_everything_that_people_run(tmp_path: Path) -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    checkout, log = tmp_path / "checkout", tmp_path / "calls.log"
    (checkout / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci")
    make = tmp_path / "make"
    make.write_text(f'#!/bin/sh\necho "$PWD: make $*" >> {log}\nexit 3\n')
    make.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run([checkout / ".ci" / "run"], env=environment, check=False)
    assert log.read_text() == f"{checkout}: make test-all\n"
    assert ended.returncode == 3


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


def test_make_installs_wordnet_from_the_list_of_packages(made: Made, tmp_path: Path) -> None:
    (made.folder / "packages.txt").write_text("some-package\n")
    (made.folder / ".venv" / ".stamp-wordnet").unlink()
    apt = made.folder / ".venv" / "bin" / "apt-get"
    shutil.copy(made.folder / ".venv" / "bin" / "ruff", apt)
    path = f"PATH={apt.parent}{os.pathsep}{os.environ['PATH']}"
    calls = made(".venv/.stamp-wordnet", "WORDNET=nowhere", "AS_ROOT=", path)
    assert [call.split()[-1] for call in calls if " install " in call] == ["some-package"]
