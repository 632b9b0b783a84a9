"""The notebooks: every cell runs, top to bottom, and none is kept with its output."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.checkout import ROOT
from tests.support.models.tiny_bert import tiny_bert

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FEW = {
    "word_salad": {"PAIRS = 240": "PAIRS = 6", 'MODEL = "minilm"': 'MODEL = "da"'},
    "own_model": {
        'ENCODER = "google/electra-small-discriminator"': 'ENCODER = "tiny"',
        "EPOCHS = 3": "EPOCHS = 1",
        "in rows if": "in rows[::20] if",
    },
}
"""What makes each notebook quick, and without the network: fewer pairs, a small model."""


def code_cells(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook that hold code."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom_and_is_kept_without_outputs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    tiny_bert(tmp_path / "tiny")
    shared: dict[str, Any] = {}
    cells, few = code_cells(path), FEW[path.stem]
    assert all("".join(cell["source"] for cell in cells).count(long) == 1 for long in few)
    for cell in cells:
        assert not cell["outputs"] and not cell["execution_count"]
        code = cell["source"]
        for long, short in few.items():
            code = code.replace(long, short)
        exec(code, shared)
        assert capsys.readouterr().out, cell["source"]
