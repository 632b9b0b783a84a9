"""Data maps: the three measures, regions, how dynamics are read, and to which rows they belong."""

import json
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probe.analysis.cartography import (
    REGIONS,
    DataMap,
    Dynamics,
    DynamicsOptions,
    dynamics_files,
    map_json,
    read_dynamics,
)
from probe.data.file_options import FileOptions
from probe.errors import FileError
from probe.pictures.data_map import LEVELS, MOST_MARKS, map_frame, map_svg, marks_of, thinned
from probe.tasks.nli import LABELS, NLI
from probe.tasks.reading import READING
from tests.support.cases import each
from tests.support.commands import answer, refusal, run
from tests.support.files.pair_files import row, write
from tests.support.models.tiny_bert import tiny_pairs

SAID = {  # by id: the place of the right label, and the probabilities epoch by epoch
    "0": (0, [(0.5, 0.3, 0.2), (0.7, 0.2, 0.1), (0.9, 0.05, 0.05)]),
    "1": (1, [(0.8, 0.1, 0.1), (0.8, 0.1, 0.1), (0.8, 0.1, 0.1)]),
    "2": (2, [(0.1, 0.0, 0.9), (0.9, 0.0, 0.1), (0.1, 0.0, 0.9)]),
}
MEASURES = {  # mean, population standard deviation, and share of epochs, by hand
    "0": (0.7, (0.08 / 3) ** 0.5, 1),
    "1": (0.1, 0, 0),
    "2": (1.9 / 3, (0.64 * 2 / 9) ** 0.5, 2 / 3),
}
Rows = list[dict[str, object]]


def logits(shares: Sequence[float]) -> list[float]:
    return [log(share) + 3 if share else -1e9 for share in shares]


def folder(path: Path, start: int = 0) -> Path:
    """Write the dynamics as the paper's code does."""
    inner = path / "training_dynamics"
    inner.mkdir(parents=True)
    for epoch in range(3):
        rows: Rows = [
            {"guid": int(name), f"logits_epoch_{epoch}": logits(said[epoch]), "gold": gold + start}
            for name, (gold, said) in SAID.items()
        ]
        write(inner / f"dynamics_epoch_{epoch}.jsonl", rows)
    return path


def wide() -> Rows:
    return [
        {"id": name, "gold": gold, **{f"epoch {at}": list(each) for at, each in enumerate(said)}}
        for name, (gold, said) in SAID.items()
    ]


def long() -> Rows:
    return [
        {"id": name, "epoch": at, "label": NLI.labels[gold], "logits": logits(each)}
        for name, (gold, said) in SAID.items()
        for at, each in enumerate(said)
    ]


def named() -> Rows:
    """A column a label, whose names tell the order."""
    return [
        {
            **{name: value for name, value in row.items() if name != "logits"},
            **dict(zip([f"p_{label}" for label in NLI.labels], row["logits"], strict=True)),  # type: ignore[call-overload]  # a list
        }
        for row in long()
    ]


def both() -> Rows:
    """The number beside the word, as our trainings write them."""
    return [{**row, "label": NLI.labels[at]} for at, row in enumerate(wide())]


def by_name() -> Rows:
    """Columns named in an order of their own beside right labels by number."""
    return [
        {
            **{name: row[name] for name in ("id", "epoch", *sorted(row)) if name in row},
            "label": NLI.labels.index(str(row["label"])),
        }
        for row in named()
    ]


ORDER = DynamicsOptions(labels=NLI.labels)
FORMS: Mapping[str, tuple[Rows, DynamicsOptions]] = {
    "wide": (wide(), DynamicsOptions()),
    "long": (long(), ORDER),
    "named": (named(), DynamicsOptions()),
    "both": (both(), DynamicsOptions()),
    "by name": (by_name(), ORDER),
    "from 1": ([{**row, "gold": int(str(row["gold"])) + 1} for row in wide()], DynamicsOptions()),
}


@each("form", ["folder", "inner", *FORMS])
def test_each_form_gives_the_same_measures(form: str, tmp_path: Path) -> None:
    options, place = DynamicsOptions(), folder(tmp_path / "kept")
    if form == "inner":
        place /= "training_dynamics"
    elif form in FORMS:
        rows, options = FORMS[form]
        pd.DataFrame(rows).to_csv(place := tmp_path / "own.csv", index=False)
    drawn = DataMap(read_dynamics(dynamics_files(place), NLI, options))
    for at, name in enumerate(drawn.dynamics.ids):
        got = (drawn.confidence[at], drawn.variability[at], drawn.correctness[at])
        assert got == pytest.approx(MEASURES[name], abs=1e-6)
    assert drawn.right.mean(0) == pytest.approx([2 / 3, 1 / 3, 2 / 3])
    assert not drawn.too_few
    words = form in ("long", "named", "both", "by name")
    assert drawn.golds == ([*NLI.labels] if words else ["0", "1", "2"])


def test_a_number_beside_tells_the_order_of_words(tmp_path: Path) -> None:
    file = write(tmp_path / "own.jsonl", both())
    assert read_dynamics([file], NLI, reading=FileOptions(gold="label")).golds.tolist() == [0, 1, 2]


def test_regions_are_the_tops_of_their_measures_and_may_share_rows() -> None:
    drawn = DataMap(read_golds(np.linspace(0, 1, 10)), 0.3)
    assert drawn.region("easy") == [9, 8, 7]
    assert drawn.region("hard") == [0, 1, 2]
    assert drawn.region("ambiguous") == [0, 1, 2]  # as in order: none varies
    told = map_json(drawn)
    assert told["regions"]["hard"]["shared"] == {"easy": 0, "ambiguous": 3}
    assert told["regions"]["easy"]["confidence"] == pytest.approx(8 / 9)


def read_golds(shares: Sequence[float]) -> Dynamics:
    """Return rows whose right label, the first, has the same share in each of three epochs."""
    said = np.array([[[share, 1 - share]] * 3 for share in shares])
    return Dynamics(tuple(map(str, range(len(said)))), np.zeros(len(said), int), said)


NUMBERED = [row for row in wide() if row["gold"] == 1]
REFUSED: Mapping[str, tuple[Rows, str]] = {
    "numbers from 0 or 1": (NUMBERED, "whether the first of 3 has the number 0 or 1.*--first 0"),
    "words without an order": (long(), "nothing tells which of 3 scores.*--labels entailment,"),
    "names in another order": (by_name(), "an order of their own.*--labels entailment,"),
    "an empty id": ([*wide(), {**wide()[0], "id": " "}], "row 4 of own.jsonl has no id in 'id'"),
    "no right label": ([{"id": 1, "epoch 0": [1, 2]}], "holds the right labels.*--gold NAME"),
    "no epochs": ([{"id": 1, "gold": 0, "logits": [1, 2]}], "no columns such as logits_epoch_0"),
    "no id": ([{"epoch": 1, "gold": 0, "logits": [1, 2]}], "which row of the training set.*--key"),
    "one epoch": ([{"id": 1, "gold": 0, "epoch 0": [1, 2]}], "tells one epoch"),
    "no numbers": ([{"id": 1, "gold": 0, "epoch 0": "often"}], "'often' in 'epoch 0' is no list"),
    "one number": ([{"id": 1, "gold": 0, "epoch 0": 0.5}], "no list of one number a label"),
    "neither": ([{"id": 1, "gold": 0, "epoch 0": [0.2, 0.2], "epoch 1": [1, 0]}], "add up to 1"),
    "widths": ([{"id": 1, "gold": 0, "epoch 0": [1, 2], "epoch 1": [1, 2, 3]}], "2, 3 scores"),
    "beyond": ([{"id": 1, "gold": 5, "epoch 0": [1, 2], "epoch 1": [1, 3]}], "--first 0"),
    "twice": ([*long(), long()[0]], "has '0' twice in epoch 0"),
    "another label": ([*long(), {**long()[0], "label": "neutral"}], "another right label"),
}


@each("case", [*REFUSED])
def test_what_is_not_told_is_asked(case: str, tmp_path: Path) -> None:
    rows, sentence = REFUSED[case]
    file = write(tmp_path / "own.jsonl", rows)
    with pytest.raises(FileError, match=sentence):
        read_dynamics([file], NLI)


def test_rows_that_lack_an_epoch_or_a_label_are_counted_and_two_epochs_called_too_few(
    tmp_path: Path,
) -> None:
    rows = [{**row, "epoch 2": None} if row["id"] == "1" else row for row in wide()]
    file = write(tmp_path / "own.jsonl", [*rows, {**wide()[0], "id": "9", "gold": -1}])
    assert "2 of 4 rows are left out: 1 that are not in every epoch, 1 without a right label" in (
        read_dynamics([file], NLI).notes
    )
    two = [{name: row[name] for name in row if name != "epoch 2"} for row in wide()]
    drawn = DataMap(read_dynamics([write(tmp_path / "two.jsonl", two)], NLI))
    assert drawn.too_few.startswith("2 epochs are too few")
    place = folder(tmp_path / "kept")
    (place / "training_dynamics" / "dynamics_epoch_1.jsonl").unlink()
    with pytest.raises(FileError, match=r"lacks dynamics_epoch_1\.jsonl"):
        dynamics_files(place)
    (place / "training_dynamics" / "dynamics_epoch_0.jsonl").unlink()
    with pytest.raises(FileError, match=r"lacks dynamics_epoch_1\.jsonl"):
        dynamics_files(place)
    with pytest.raises(FileError, match="holds no training dynamics"):
        dynamics_files(tmp_path)
    with pytest.raises(FileError, match="answered with spans"):
        read_dynamics([file], READING)


PAIRS = tiny_pairs(6)
BY_PLACE = [next(pair for pair in PAIRS if pair.gold == label) for label in NLI.labels]


def test_the_command_joins_writes_and_draws(tmp_path: Path) -> None:
    place, out = str(folder(tmp_path / "kept")), tmp_path / "rows.csv"
    file = str(write(tmp_path / "train.jsonl", [row(pair) for pair in BY_PLACE]))
    drawn = tmp_path / "map.svg"
    words = ("map", place, file, "--out", str(out), "--picture", str(drawn), "--share", "0.34")
    told = answer(*words, "--summary", str(tmp_path / "s.json"))
    assert told == json.loads((tmp_path / "s.json").read_text())
    assert {label: one["n"] for label, one in told["labels"].items()} == dict.fromkeys(LABELS, 1)
    rows = pd.read_csv(out)
    assert [*rows["hypothesis"]] == [pair.hypothesis for pair in BY_PLACE]
    assert [*rows["row"]] == [1, 2, 3] and [*rows["gold"]] == [*NLI.labels]
    assert {name: [*rows[name]].index(True) for name in REGIONS} == {
        "easy": 0, "hard": 1, "ambiguous": 2
    }  # fmt: skip
    assert "Data map of train.jsonl, 3 epochs" in drawn.read_text()
    assert "Ambiguous" in run("map", place).output  # without texts too


def test_rows_of_another_file_are_not_joined(tmp_path: Path) -> None:
    place = str(folder(tmp_path / "kept"))
    golds = [{**row(pair), "label": "neutral"} for pair in BY_PLACE]
    other = str(write(tmp_path / "other.jsonl", golds))
    assert "other.jsonl cannot be joined to the training dynamics" in refusal("map", place, other)
    keyed = [{**row(pair), "pairID": 2 - at} for at, pair in enumerate(BY_PLACE[::-1])]
    own = str(write(tmp_path / "own.jsonl", keyed))
    question = refusal("map", place, own)
    assert "may be joined in several ways; say it with --key pairID or --key none" in question
    for key, how in (("pairID", "by 'pairID'"), ("none", "by their number from 0")):
        assert any(note.endswith(how) for note in answer("map", place, own, "--key", key)["notes"])
    assert "no column 'nosuch'" in refusal("map", place, own, "--key", "nosuch")


def test_a_table_with_texts_needs_no_other_file(tmp_path: Path) -> None:
    rows: Rows = [{**each, **row(pair)} for each, pair in zip(wide(), BY_PLACE, strict=True)]
    file = write(tmp_path / "own.jsonl", rows)
    out = tmp_path / "rows.csv"
    run("map", str(file), "--gold", "gold", "--out", str(out))
    assert [*pd.read_csv(out)["premise"]] == [pair.premise for pair in BY_PLACE]


def test_many_rows_are_drawn_as_fewer_marks_that_count_them() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"variability": rng.uniform(0, 0.5, 5000)})
    rows["confidence"], rows["correctness"] = rng.uniform(0, 1, 5000), rng.choice([0, 0.2, 1], 5000)
    rows[["easy", "hard", "ambiguous"]] = True
    marks, side = marks_of(rows)
    assert side and len(marks) <= MOST_MARKS and sum(mark.rows for mark in marks) == 5000
    assert "Of 5,000 rows" in thinned(rows) and not thinned(rows[:50])
    assert len(marks_of(rows[:50])[0]) == 50
    drawn = map_svg(rows[:50], "<b>")
    assert "&lt;b&gt;" in drawn and all(f"{words} (" in drawn for words in LEVELS)
    assert map_frame(rows)["rows"].sum() == 5000
