"""What is called what, and the tables that it stands in."""

import csv
import io
import math
from pathlib import Path

import pytest

from probe.analysis.batch import Row
from probe.analysis.confusion import confusion
from probe.analysis.summary import Totals
from probe.analysis.tables import WRITERS, Table, check_tables_file, tables_of, write_tables
from probe.errors import FileError
from probe.models.prediction import Prediction
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI, NON_ENTAILMENT, Pair
from probe.tasks.reading import READING
from probe.tasks.task import INVALID, Label

E, N, C = ENTAILMENT, NEUTRAL, CONTRADICTION
COUNTS = {(E, E): 6, (E, N): 2, (N, N): 3, (N, C): 1, (C, C): 2, (C, E): 2}
SHAPE = {
    "model": "a_b & c", "scored": 16, "transforms": {}, "accuracy": 0.5,
    "accuracy_interval": [0.25, 0.75], "accuracy_n": 16,
}  # fmt: skip


def test_classes_have_accuracy_precision_and_f1() -> None:
    found = confusion(NLI, COUNTS)
    assert found
    assert {each.label: (each.recall.value, each.precision.value) for each in found.classes} == {
        E: (6 / 8, 6 / 8), N: (3 / 4, 3 / 5), C: (2 / 4, 2 / 3),
    }  # fmt: skip
    f1s = [6 / 8, 2 * 3 / (4 + 5), 2 * 2 / (4 + 3)]
    assert [each.f1 for each in found.classes] == pytest.approx(f1s)
    assert found.macro_f1.value == pytest.approx(sum(f1s) / 3)
    assert found.macro_f1.low < found.macro_f1.value < found.macro_f1.high
    assert found.of(N, C) == 1
    assert found.of(N, E) == 0


def test_a_class_that_is_nowhere_is_not_in_the_mean_and_one_called_in_vain_is() -> None:
    def f1s(told: list[tuple[Label, Label]]) -> list[float]:
        found = confusion(NLI, told)
        assert found
        known = [each.f1 for each in found.classes if not math.isnan(each.f1)]
        assert found.macro_f1.value == pytest.approx(sum(known) / len(known))
        return known

    assert f1s([(E, E)] * 3) == [1.0]
    assert f1s([(E, E), (E, N)]) == pytest.approx([2 / 3, 0.0])
    assert f1s([(E, E), (E, INVALID)]) == pytest.approx([2 / 3])  # no class, and not right


def test_labels_that_a_gold_label_merges_are_one_class() -> None:
    found = confusion(NLI, {(E, E): 3, (NON_ENTAILMENT, N): 2, (NON_ENTAILMENT, E): 1})
    assert found
    assert [(each.label, each.recall.value) for each in found.classes] == [
        (E, 1.0), (NON_ENTAILMENT, 2 / 3),
    ]  # fmt: skip
    mixed = confusion(NLI, {(C, C): 1, (NON_ENTAILMENT, N): 2})
    assert mixed and not mixed.classes and not mixed.macro_f1.n
    assert confusion(READING, {("a", "a"): 1}) is confusion(NLI, {}) is None


def test_rows_of_an_earlier_version_leave_no_part_of_a_matrix() -> None:
    def totals() -> Totals:
        counted = Totals(NLI, ())
        pair = Pair("A cat sleeps.", "It rests.", E)
        counted.add([Row(0, NLI, pair, Prediction(N, (0.1, 0.8, 0.1), NLI.labels))])
        return counted

    both, older = totals(), totals().state
    both.merge(totals().state)
    whole = both.summary().confusion
    assert whole
    assert whole.of(E, N) == 2
    both.merge({name: value for name, value in older.items() if name != "confusion"})
    assert both.summary().confusion is None


def test_each_form_of_tables_has_every_cell(tmp_path: Path) -> None:
    (table,) = tables_of(SHAPE)
    assert table.rows == [["as they are", "50.0 (25.0–75.0), n = 16"]]
    for end, write in WRITERS.items():
        write_tables(SHAPE, tmp_path / f"t{end}")
        assert (tmp_path / f"t{end}").read_text() == write([table])
    hard = Table("50 % & more", ["a|b", "x_1"], [["<1", "1,0"]])
    assert "50 \\% \\& more" in WRITERS[".tex"]([hard])
    assert "$<$1 & 1,0 \\\\\n\\bottomrule" in WRITERS[".tex"]([hard])
    assert "| a\\|b | x_1 |" in WRITERS[".md"]([hard])
    read = list(csv.reader(io.StringIO(WRITERS[".csv"]([hard]))))
    assert read == [["50 % & more"], ["a|b", "x_1"], ["<1", "1,0"]]
    with pytest.raises(FileError, match=r"\.csv, \.md, \.tex"):
        check_tables_file(tmp_path / "t.pdf")
