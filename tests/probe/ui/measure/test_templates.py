"""Pairs from templates as texts to measure on: a file, or a sentence where none can be made."""

import csv
from pathlib import Path

import gradio as gr
import pytest

from probe.runs.store import Store
from probe.ui.measure.templates import make, offer
from tests.support.pages.visitors import ME


def made(kind: str, **asked: object) -> tuple[list[dict[str, str]], str]:
    """Make pairs as the page does; return the rows of the file and what is told."""
    settings: dict[str, object] = {
        "complexity": "all",
        "group": "",
        "low": 2,
        "high": 999,
        "strict": False,
        "heuristic": "all",
        "n": 12,
        "seed": 0,
    }
    path, told = make(Store("sqlite://"), ME, kind, **(settings | asked))  # type: ignore[arg-type]  # any of the controls
    if path is None:
        return [], told
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)), told


@pytest.mark.parametrize("kind", ["dative", "numerical", "hans"])
def test_each_kind_is_made_whatever_the_other_kinds_controls_say(kind: str) -> None:
    rows, told = made(kind, heuristic="subsequence", complexity="simple", low=30, high=49)
    assert len(rows) == 12
    assert {row["kind"] for row in rows} == {kind}
    assert {row["complexity"] for row in rows} <= {"simple", ""}
    assert {row["heuristic"] for row in rows} <= {"subsequence", ""}
    assert f"12 {kind} pairs" in told


@pytest.mark.parametrize(
    ("kind", "asked", "sentence"),
    [
        ("hans", {"n": 0}, "the page makes 1 to 20000 pairs"),
        ("hans", {"n": None}, "the page makes 1 to 20000 pairs"),
        ("numerical", {"low": 50, "high": 40}, "the range 50-40 must begin with the smaller"),
        ("numerical", {"low": None}, "numbers start at 2, not 0"),
        ("numerical", {"group": "B2"}, "for dative templates"),
    ],
)
def test_what_cannot_be_made_is_one_sentence(
    kind: str, asked: dict[str, object], sentence: str
) -> None:
    rows, told = made(kind, **asked)
    assert rows == []
    assert sentence in told


def test_a_task_without_templates_hides_the_panel_and_leaves_its_list_as_it_is() -> None:
    panel, listed, _ = offer("sentiment")
    assert not panel.visible
    assert listed == gr.skip()


def test_another_task_offers_its_own_templates() -> None:
    panel, listed, _ = offer("paraphrase")
    assert panel.visible
    assert listed.value == "word_order"
