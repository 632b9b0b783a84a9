"""Data in Measure: what it shows of a file, the rows behind a word, and what it refuses."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from probe.tasks.nli import NLI
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from probe.ui.measure.choice import BUNDLED, FILE, ONE, UNCHANGED
from probe.ui.measure.data import JUDGED, OTHER, Data
from probe.ui.measure.result_files import files_of
from tests.support.files.pair_files import row, write
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.pages.choices import chosen
from tests.support.pages.views import asked_by, each_named, pressed, view_of
from tests.support.pages.visitors import ME


@pytest.fixture
def view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Data:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return view_of(Data)


def look(
    view: Data, source: str, path: Path | None = None, task: Task = NLI, field: str = JUDGED,
    other: Path | None = None, weigh: bool = False, epochs: Sequence[Path] = (),
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Press the button; the first model that is chosen is da."""
    given = chosen(["da"], source, str(path) if path else None)
    own = (field, str(other) if other else None, weigh, [*map(str, epochs)] or None)
    return each_named(view, view.look(asked_by(), ME, task.name, *given, *own))


def uploaded(folder: Path, name: str, rows: list[dict[str, object]]) -> Path:
    (place := folder / "gradio" / name).mkdir(parents=True)
    return write(place / f"{name}.jsonl", rows)


def test_a_word_opens_its_rows_and_two_rows_that_are_alike_stand_beside_each_other(
    view: Data, tmp_path: Path
) -> None:
    rows = [row(pair) for pair in tiny_pairs(90)]
    mine, other = uploaded(tmp_path, "mine", rows), uploaded(tmp_path, "other", rows[:4])
    *_, last = look(view, FILE, mine, other=other, weigh=True)
    assert "A bag of the hypothesis&#39;s words tells the label of" in last["found"]
    assert "90 pairs, entailment 30, neutral 30 and contradiction 30" in last["found"]
    assert "da on other.jsonl" in last["found"]
    key = last["files"].partition('name="key" value="')[2].partition('"')[0]
    assert files_of(key).keys() == {"-data", "-words"}
    before, _, _ = last["found"].partition(">very</button>")
    cell = before.rpartition('data-cell="')[2].partition('"')[0]
    shown = view.press(pressed(cell))
    assert "row 2: neutral" in shown and "The woman is very happy in the park." in shown
    alike = view.press(pressed(f"{key}|shared|0"))
    assert alike.count("The man is happy in the park.") == 2
    assert "no longer kept" in view.press(pressed("else|word|0"))
    for wrong in ("word|900", "word|", "else|0", ""):
        assert "choose one of the words" in view.press(pressed(f"{key}|{wrong}"))


def said_of(rows: Sequence[dict[str, object]], epoch: int) -> list[dict[str, object]]:
    """Return what a training says that is surer of each row than of the one before."""
    places = ("entailment", "neutral", "contradiction")
    return [
        {
            "guid": at,
            f"logits_epoch_{epoch}": [(1.3 + at / 9) * (label == row["label"]) for label in places],
            "gold": places.index(str(row["label"])),
            "label": row["label"],
        }
        for at, row in enumerate(rows)
    ]


def test_what_a_training_says_is_a_map_whose_regions_open(view: Data, tmp_path: Path) -> None:
    rows = [row(pair) for pair in tiny_pairs(90)]
    mine = uploaded(tmp_path, "mine", rows)
    epochs = [
        uploaded(tmp_path, f"dynamics_epoch_{epoch}", said_of(rows, epoch)) for epoch in (0, 1)
    ]
    *_, last = look(view, FILE, mine, epochs=epochs)
    assert "Data map, 90 rows" in last["found"] and "2 epochs are too few" in last["found"]
    key = last["files"].partition('name="key" value="')[2].partition('"')[0]
    assert files_of(key).keys() == {"-data", "-map", "-words"}
    shown = view.press(pressed(f"{key}|region|easy"))
    first = shown.index("row 90: ")
    assert first < shown.index("row 89: ") and "Easy to learn, the first 20" in shown
    assert "choose one of the words" in view.press(pressed(f"{key}|region|nosuch"))
    for other in (rows[::-1], rows[1:]):
        moved = uploaded(tmp_path, f"moved-{len(other)}", other)
        *_, last = look(view, FILE, moved, epochs=epochs)
        assert "cannot be joined to the training dynamics" in last["progress"]
    whole = [{**row, **said_of(rows, 1)[at], "epoch 0": [3, 0, 0]} for at, row in enumerate(rows)]
    *_, last = look(view, FILE, uploaded(tmp_path, "whole", whole))
    assert "Data map" not in last["progress"]


def test_what_cannot_be_looked_at_is_said_and_a_link_looks_at_once(view: Data) -> None:
    for source, task, field, words in (
        (ONE, NLI, JUDGED, "takes more than one pair"),
        (FILE, NLI, JUDGED, "choose a file first"),
        (BUNDLED, SENTIMENT, OTHER, "has one text"),
    ):
        *_, last = look(view, source, None, task, field)
        assert words in last["progress"] and UNCHANGED in last["progress"]
    view.stops.ask("me")
    query = {"view": "data", "texts": "bundled", "models": "da"}
    linked = view.open(ME, "nli", asked_by(**query))
    own = (JUDGED, None, False, None)
    *_, last = each_named(view, view.look_linked(asked_by(), ME, linked, *own))
    assert "bundled-nli.csv: 600 pairs" in last["found"]
    assert view.open(ME, "nli", asked_by(**query | {"view": "score"})) == []
