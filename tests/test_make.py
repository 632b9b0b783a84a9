"""What `make` and the checks call: read from what make would do."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

STAMPS = [f".venv/.stamp-{name}" for name in ("run", "test", "wordnet", "chromium", "smollm2")]
pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="no make")


def planned(*asked: str, changed: str = "") -> list[str]:
    """Return the calls of make in a checkout that is set up, but for what a changed file asks."""
    current = [] if changed else [word for stamp in STAMPS for word in ("-o", stamp)]
    words = [*current, "-o", ".venv/bin/python", *(["-W", changed] if changed else []), *asked]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "-n", "-C", str(ROOT), "--no-print-directory", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=clean)
    lines = [line.strip() for line in ended.stdout.splitlines()]
    return [line.removeprefix(".venv/bin/") for line in lines if not line.startswith("echo")]


def test_make_checks_format_lint_types_and_imports_before_it_tests_what_has_these_marks() -> None:
    browser, chosen = "CHROMIUM=/usr/bin/chromium", "TESTS=tests/app/test_page.py"
    *checks, _ = planned("test", browser)
    assert checks == ["ruff format --check .", "ruff check .", "mypy", "lint-imports --no-logo"]
    for asked, marks in {
        ("test", browser): ['"not slow and not app"'],
        ("test-all", browser): ['"not slow"', '"slow"  || test $? = 5'],
        ("test", browser, chosen): ['"not slow" tests/app/test_page.py'],
        ("test-all", "CHROMIUM="): [
            '"not slow and not browser"', '"slow and not browser"  || test $? = 5'
        ],
    }.items():  # fmt: skip
        found = (re.search(r"python -m pytest .*-m (\".*)", call) for call in planned(*asked))
        assert [match[1] for match in found if match] == marks, asked


def test_make_installs_torch_from_its_index_then_the_rest_and_wordnet_from_the_list() -> None:
    torch, rest = planned("run", "TORCH_INDEX=here", changed="requirements.txt")[:2]
    assert "--index-url here -c constraints.txt torch" in torch
    assert "-r requirements.txt -c constraints.txt" in rest and "--index-url" not in rest
    without = planned("run", "TORCH_INDEX=", changed="requirements.txt")
    assert "--index-url" not in "".join(without)
    wordnet = planned(STAMPS[2], "WORDNET=nowhere", changed="packages.txt")
    assert wordnet[0].startswith("test -e nowhere || ")
    assert "install wordnet-base >" in wordnet[0]


def test_make_figures_is_given_the_folder_of_data() -> None:
    run = "python -m benchmarks.figures run"
    assert planned("figures", "DATA=") == [run]
    assert planned("figures", "DATA=my data") == [f'{run} --data "my data"']


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
    assert (log.read_text(), ended.returncode) == (f"{checkout}: make test-all\n", 3)


def test_an_old_python_gets_one_clear_sentence(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    shutil.copy(ROOT / "Makefile", tmp_path)
    asked = ["make", "-s", "-C", str(tmp_path), ".venv/bin/python", f"PYTHON={old}"]
    done = subprocess.run(asked, capture_output=True, text=True)
    assert done.returncode != 0
    assert "Python 3.10 or newer is needed" in done.stderr
