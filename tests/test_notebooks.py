"""The notebooks: every cell runs, top to bottom, and none is kept with its output."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.checkout import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FEW = {"PAIRS = 240": "PAIRS = 6", 'MODEL = "minilm"': 'MODEL = "da"'}
"""What makes a notebook quick: fewer pairs, a small model."""


def code_cells(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook that hold code."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom_and_is_kept_without_outputs(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared: dict[str, Any] = {}
    cells = code_cells(path)
    assert all("".join(cell["source"] for cell in cells).count(long) == 1 for long in FEW)
    for cell in cells:
        assert not cell["outputs"] and not cell["execution_count"]
        code = cell["source"]
        for long, short in FEW.items():
            code = code.replace(long, short)
        exec(code, shared)
        assert capsys.readouterr().out, cell["source"]
