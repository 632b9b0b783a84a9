"""Names of columns and of files that people choose."""

from pathlib import Path

import pytest

from probe.data.names import check_names, listed, shown, stem_of
from probe.errors import FileError


def test_names_that_cannot_be_used_are_refused() -> None:
    wrong = {
        "x.csv has two columns called 'a'; rename one": ["a", "b", "a"],
        "x.csv has 2 columns without a name; name them or leave them out": ["a", "", ""],
        "x.csv: the name of column 2 holds half of a character": ["a", "b\ud800"],
    }
    for sentence, names in wrong.items():
        with pytest.raises(FileError, match=f"^{sentence}"):
            check_names(names, "x.csv")


def test_many_and_long_names_are_listed_in_part() -> None:
    assert listed([]) == "none"
    assert listed(["a", "b"]) == "a, b"
    assert listed(["a" * 1000] * 1000) == ", ".join(["a" * 40 + "…"] * 20) + " and 980 more"
    assert shown("a" * 1000) == repr("a" * 40 + "…")


STEMS = {
    "pairs.csv": "pairs", "pairs.v2.csv.gz": "pairs", ".csv": "file", "  .csv": "file",
    'a"b:c|d?.csv': "a_b_c_d_", "a\n\x00b.csv": "a__b", "a\udce9.csv": "a_",
    "x" * 400 + ".csv": "x" * 120, "é" * 400 + ".csv": "é" * 60,
    "x" + "é" * 400 + ".csv": "x" + "é" * 59,
}  # fmt: skip


def test_results_are_named_after_a_file_as_every_system_can() -> None:
    assert {name: stem_of(Path(name)) for name in STEMS} == STEMS
