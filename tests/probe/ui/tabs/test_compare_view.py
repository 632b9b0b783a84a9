"""Pressing cells and choosing models where nothing was compared, or what was pressed is no cell."""

from types import SimpleNamespace
from typing import Any

import pytest

from probe.ui.html.compare.cells import chosen
from probe.ui.tabs.compare_view import press, turn

NAMES = ["da", "esim"]


@pytest.mark.parametrize("two", ["0|1", "0|x", "", "|"])
def test_two_models_before_a_comparison_are_refused_by_a_sentence(two: str) -> None:
    event: Any = SimpleNamespace(cell=f"two|{two}")
    assert "compare these models first" in press(event, "", "0|1")[2]


@pytest.mark.parametrize("cell", ["answers|a|b", "slice|0|all", "", "nosuch"])
def test_no_cell_shows_pairs_before_a_comparison(cell: str) -> None:
    event: Any = SimpleNamespace(cell=cell)
    assert "compare these models first" in press(event, "", "0|1")[2]
    assert turn(event, "", "0|1", cell) == ("", "")


@pytest.mark.parametrize("cell", ["slice|" + "9" * 5000 + "|all", "slice|-1|all", "slice||", "|||"])
def test_a_cell_that_there_is_not_shows_nothing(cell: str) -> None:
    assert chosen([], NAMES, 0, 1, cell) == ("", [])
