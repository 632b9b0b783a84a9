"""Pairs from templates as texts to measure on: a file, or a sentence where none can be made."""

import csv
from pathlib import Path

import gradio as gr

from probe.runs.store import Store
from probe.ui.measure.templates import HEEDED, make, offer
from tests.support.cases import each
from tests.support.pages.visitors import ME

USUAL = dict(zip(HEEDED, ("all", "all", "all", 2, 999, False), strict=True))


def made(kind: str, n: float | None = 12, **asked: object) -> tuple[list[dict[str, str]], str]:
    """Make pairs as the page does; return the rows of the file and what is told."""
    heeded = (USUAL | asked).values()
    path, told = make(Store("sqlite://"), ME, kind, n, 0, *heeded)
    if path is None:
        return [], told
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)), told


@each("kind", ["dative", "numerical", "hans"])
def test_each_kind_is_made_whatever_the_other_kinds_controls_say(kind: str) -> None:
    rows, told = made(kind, heuristic="subsequence", complexity="simple", low=30, high=49)
    assert len(rows) == 12
    assert {row["kind"] for row in rows} == {kind}
    assert {row["complexity"] for row in rows} <= {"simple", ""}
    assert {row["heuristic"] for row in rows} <= {"subsequence", ""}
    assert f"12 {kind} pairs" in told


@each(
    ("kind", "asked", "sentence"),
    [
        ("hans", {"n": 0}, "the page makes 1 to 20000 pairs"),
        ("hans", {"n": None}, "the page makes 1 to 20000 pairs"),
        ("numerical", {"low": 50, "high": 40}, "the range 50-40 must begin with the smaller"),
        ("numerical", {"low": None}, "numbers start at 2, not 0"),
        ("numerical", {"lexical": "B2"}, "for dative templates"),
    ],
)
def test_what_cannot_be_made_is_one_sentence(
    kind: str, asked: dict[str, object], sentence: str
) -> None:
    rows, told = made(kind, **asked)  # type: ignore[arg-type]  # any of the controls
    assert rows == [] and sentence in told


def test_each_task_offers_its_own_templates_and_a_link_those_that_it_names() -> None:
    panel, listed, _ = offer("sentiment")
    assert not panel.visible and listed == gr.skip()
    asked = {("paraphrase", ""): "word_order", ("nli", "hans"): "hans", ("nli", "x"): "dative"}
    for (task, kind), value in asked.items():
        panel, listed, _ = offer(task, kind)
        assert panel.visible and listed.value == value
