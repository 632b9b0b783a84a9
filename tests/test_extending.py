"""docs/extending.md as it is written: what it adds is in commands, on the page and in files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT, text


@pytest.mark.slow  # the guide's code needs a process of its own
def test_what_each_section_of_the_guide_adds_is_everywhere(tmp_path: Path) -> None:
    environment = os.environ | {"NLI_CLINIC_HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.support.processes.extended_app", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-3000:]
    rows = text("docs/extending.md").split("|---|---|\n")[1].split("\n\n")[0].splitlines()
    sections = {row.split("[")[1].split("]")[0].split(" ", 1)[1] for row in rows}
    assert sections == set(ended.stdout.splitlines())
