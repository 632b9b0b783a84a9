"""Tables guarded for spreadsheets: what would be computed there is text, the rest is unchanged."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from probe.data.tables import read_table, write_guarded_copy, write_table
from probe.data.writers import checked_form
from probe.errors import FileError

FORMULAS = ["=1+1", "+1", "-1", "@sum", "\tx", "\rx", '=HYPERLINK("http://x")']
TEXTS = ["a", "", " =1", "1-1", "'=1", "é", "a\n=1"]


def test_texts_that_begin_like_a_formula_get_an_apostrophe(tmp_path: Path) -> None:
    frame = pd.DataFrame({"=name": FORMULAS, "plain": TEXTS})
    write_table(frame, tmp_path / "a.csv", guard=True)
    guarded = read_table(tmp_path / "a.csv").frame
    assert list(guarded["'=name"]) == ["'" + text for text in FORMULAS]
    assert list(guarded["plain"]) == TEXTS


def test_numbers_and_what_is_missing_stay(tmp_path: Path) -> None:
    frame = pd.DataFrame({"n": [-1, None, -0.5], "x": "y"}, dtype=object)
    write_table(frame, tmp_path / "a.csv", guard=True)
    assert read_table(tmp_path / "a.csv").frame["n"].tolist() == ["-1", "", "-0.5"]


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t")])
def test_a_guarded_copy_differs_in_the_formulas_only(
    name: str, delimiter: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"text": ["=1+1", 'a "b"', ""], "n": [0.5, None, -1]}, dtype=object)
    write_table(frame, tmp_path / name)
    write_guarded_copy(tmp_path / name, tmp_path / "copy" / name)
    with (tmp_path / "copy" / name).open(newline="") as file:
        quoting = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
        rows = list(csv.reader(file, delimiter=delimiter, quoting=quoting))
    assert rows == [["text", "n"], ["'=1+1", "0.5"], ['a "b"', ""], ["", "'-1"]]


@pytest.mark.parametrize(
    "above", ["", "Our pairs\n", '"A title, not a name"\n'], ids=["none", "a title", "in quotes"]
)
def test_what_was_asked_of_a_file_is_not_asked_of_its_guarded_copy(
    above: str, tmp_path: Path
) -> None:
    rows = '"He left. b\tHe went there.\t=1\nShe sat" d\te\t=2\nHe was there all day.\tČovjek\t=3\n'
    (tmp_path / "a.csv").write_bytes(f"{above}text\tname\tn\n{rows}".encode("cp1250"))
    write_guarded_copy(tmp_path / "a.csv", tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes().count(b"'=") == 3


def test_a_file_without_rows_has_a_guarded_copy(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"text": []}), tmp_path / "a.csv")
    write_guarded_copy(tmp_path / "a.csv", tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_only_what_spreadsheets_open_is_guarded() -> None:
    with pytest.raises(FileError, match=r"^a\.jsonl: only CSV and TSV are guarded"):
        checked_form(Path("a.jsonl"), guard=True)
