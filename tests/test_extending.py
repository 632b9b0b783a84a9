"""docs/extending.md as it is written: what it adds is in commands, on the page and in files."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.support.checkout import ROOT, text

pytestmark = pytest.mark.slow  # the guide's code needs a process of its own
Seen = dict[str, Any]  # Any: JSON


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    """Run the guide's code in a process of its own; return what was seen of each member."""
    folder = tmp_path_factory.mktemp("extended")
    environment = os.environ | {"NLI_CLINIC_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        [sys.executable, "-m", "tests.support.processes.extended_app", str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    found: dict[str, Seen] = json.loads(ended.stdout.splitlines()[-1])
    return found


def test_the_guide_has_a_section_for_each_row_of_its_table(seen: dict[str, Seen]) -> None:
    rows = text("docs/extending.md").split("|---|---|\n")[1].split("\n\n")[0].splitlines()
    assert {row.split("[")[1].split("]")[0].split(" ", 1)[1] for row in rows} == set(seen)


def test_a_transform_is_everywhere(seen: dict[str, Seen]) -> None:
    places = ("command", "page", "catalogue", "challenge", "file")
    assert seen["transform"] == dict.fromkeys(places, True)


def test_a_model_family_trains_by_its_row(seen: dict[str, Seen]) -> None:
    assert seen["model family"] == {"rate": 0.2, "frozen": True, "command": True}


def test_templates_are_a_challenge(seen: dict[str, Seen]) -> None:
    found = seen["challenge"]
    assert "20 pairs written" in found["made"]
    assert (found["file"], found["command"], found["page"]) == (21, True, True)
    assert found["golds"] == ["contradiction", "entailment"]


def test_a_task_is_that_of_models_and_files(seen: dict[str, Seen]) -> None:
    found = seen["task"]
    assert (found["task"], found["command"]) == ("politeness", True)
    assert "Politeness" in found["page"]
    assert found["file"].startswith("2 of 2 rows scored")


def test_an_experiment_is_computed_and_told(seen: dict[str, Seen]) -> None:
    found = seen["experiment"]
    assert (found["kind"], found["state"], found["verdict"]) == ("word-count", "done", {"most": 2})
    assert [(cell["word"], cell["count"]) for cell in found["cells"]] == [("rain", 2), ("sun", 1)]


def test_a_file_format_is_read_by_its_row(seen: dict[str, Seen]) -> None:
    found = seen["file format"]
    assert found["said"].startswith("2 of 2 rows scored")
    assert found["first"] == ["A: b.", "C."]


def test_a_tab_is_on_the_page(seen: dict[str, Seen]) -> None:
    found = seen["tab"]
    assert found["tabs"][-1] == "Count"
    assert "Text to count" in found["labels"]
    assert found["handler"] == "<p>2 words</p>"


def test_a_parameter_a_command_and_a_chart_are_where_a_person_looks(seen: dict[str, Seen]) -> None:
    assert seen["parameter"] == {"command": True, "endpoint": True}
    assert seen["command"] == {"listed": True, "said": "2 words\n"}
    drawn = seen["chart"]["drawn"]
    assert drawn.startswith("<svg") and "&lt;b&gt;" in drawn and "<rect" in drawn
