"""Contrast sets: figures by hand, and the same from both commands."""

import csv
from pathlib import Path

import pytest

from probe.analysis.contrast_sets import Keyed, contrast_json
from probe.errors import FileError
from probe.models.library import load
from tests.support.commands import answer, refusal, run
from tests.support.models.tiny_bert import tiny_pairs

Right = bool | None
ROWS: list[tuple[str, Right, Right]] = [
    ("a", True, True), ("b", True, False), ("a", True, True),  # both consistent on a
    ("b", True, True),  # the first on b
    ("c", False, True), ("c", True, False), ("c", True, True),  # none on c
    ("d", False, False), ("d", False, True),
    ("alone", True, True), ("", True, False), ("", False, False),
    ("lacking", True, True), ("lacking", None, None),
]  # fmt: skip


def test_bundles_are_right_throughout_in_part_or_not_at_all() -> None:
    rows = [Keyed(key, at, right) for at, (key, *right) in enumerate(ROWS, 1)]
    shape = contrast_json(rows, ["one", "other"], "key")
    counts = {name: shape[name] for name in ("bundles", "rows", "alone", "not_judged", "splits")}
    assert counts == {"bundles": 4, "rows": 9, "alone": 1, "not_judged": 1, "splits": 3}
    one, other = shape["models"]["one"], shape["models"]["other"]
    assert [one[each] for each in ("all_right", "split", "all_wrong")] == [2, 1, 1]
    assert (one["consistency"]["value"], other["consistency"]["value"]) == (0.5, 0.25)
    assert one["consistency"]["n"] == 4
    assert one["by_bundle"]["value"] == pytest.approx((1 + 1 + 2 / 3 + 0) / 4)
    assert one["by_row"]["value"] == pytest.approx(6 / 9)
    # over four bundles, not over nine rows that are independent
    assert one["by_row"]["high"] - one["by_row"]["low"] > 0.6
    assert shape["pairs_of_models"] == [
        {"first": "one", "second": "other", "only_first": 1, "only_second": 0, "p": 1.0}
    ]
    assert shape["split"][1] == {
        "key": "c", "rows": [5, 6, 7],
        "right": {"one": [False, True, True], "other": [True, False, True]},
    }  # fmt: skip
    for some in (rows[9:12], rows[12:]):
        with pytest.raises(FileError, match="there are no contrast sets"):
            contrast_json(some, ["one", "other"], "key")


def test_both_commands_offer_a_key_take_any_column_and_agree(tmp_path: Path, model: str) -> None:
    path, out, summary = (tmp_path / name for name in ("in.csv", "out.csv", "s.json"))
    pairs = tiny_pairs(12)
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["base_id", "group", "premise", "hypothesis", "label"])
        for at, pair in enumerate(pairs):
            lines.writerow([at % 4, at // 2, pair.premise, pair.hypothesis, pair.gold])
    said = [each.label for each in load(model).predict(pairs, "auto")]
    right = [label == pair.gold for label, pair in zip(said, pairs, strict=True)]
    for column, bundles in (("base_id", [right[at::4] for at in range(4)]), ("group", None)):
        several = bundles or [right[at : at + 2] for at in range(0, 12, 2)]
        told = answer("compare", str(path), "--model", model, "--model", "da", "--bundle", column)
        found = told["contrast_sets"]["models"][model]
        assert found["all_right"] == sum(map(all, several))
        words = ["batch", str(path), "--out", str(out), "--summary", str(summary)]
        scored = run(*words, "--model", model, "--bundle", column)
        assert f"Contrast sets by {column}: {len(several)} bundles of 12 rows" in scored.stdout
        assert f"on none of {found['all_wrong']}; right on" in scored.stdout
        out.unlink()
    unasked = run("batch", str(path), "--out", str(out), "--model", model)
    assert "--bundle base_id" in unasked.stderr and "Contrast" not in unasked.stdout
    absent = refusal("batch", str(path), "--out", str(out), "--bundle", "kye")
    assert absent.startswith("no column 'kye' in your file to join rows by; it has: base_id")
