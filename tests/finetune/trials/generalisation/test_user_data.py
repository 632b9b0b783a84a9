"""A column of a person's own file becomes the grid."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from finetune.trials.challenges import UserFiles
from finetune.trials.generalisation_data import read_conditions, read_data
from probe.errors import FileError
from tests.support.models.tiny_bert import tiny_pairs


def write(path: Path, conditions: Sequence[str]) -> Path:
    pairs = zip(tiny_pairs(len(conditions)), conditions, strict=True)
    rows = [
        {"premise": p.premise, "hypothesis": p.hypothesis, "label": p.gold, "Length": name}
        for p, name in pairs
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_lie_by_what_the_column_says(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", ["short", "long", " short ", ""])
    rows = read_conditions(path, "length")
    assert {name: [pair.id for pair in own] for name, own in rows.items()} == {
        "short": ["0", "2"],
        "long": ["1"],
    }


@pytest.mark.parametrize(
    ("column", "values", "sentence"),
    [
        (
            "size",
            ["a", "b"],
            "no column 'size' in mine.jsonl names .* say it with --condition NAME",
        ),
        ("length", ["a", "a"], "must name 2 to 12 conditions of labelled rows; it names 1"),
        ("length", [str(n) for n in range(13)], "it names 13"),
    ],
)
def test_a_column_that_is_no_grid_is_refused(
    column: str, values: list[str], sentence: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "mine.jsonl", values)
    with pytest.raises(FileError, match=sentence):
        read_conditions(path, column)


def test_the_original_set_is_dev_and_test_together(tmp_path: Path) -> None:
    files = UserFiles(
        original_dev=write(tmp_path / "dev.jsonl", ["", ""]),
        original_test=write(tmp_path / "test.jsonl", [""]),
    )
    assert len(read_data(files).original) == 3
    assert len(read_data(UserFiles()).original) == 900
