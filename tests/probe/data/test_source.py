"""Tables come in whatever form and go out unaltered."""

import gzip
import json
import random
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from probe.data.rows import REPEATED, Source, guess
from probe.data.source import read_table
from probe.data.writers import write_table
from probe.errors import FileError
from probe.settings import ASSETS
from probe.tasks.nli import NLI
from tests.support.cases import each
from tests.support.files.pair_files import pair_columns


def table(folder: Path, name: str, data: bytes | str) -> Source:
    """Write a file and read it."""
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_table(path)


def broken(found: Source) -> dict[int, str]:
    """Return why rows do not fit the header."""
    return {record.number: record.broken for record in found.records() if record.broken}


def cells(found: Source) -> list[list[object]]:
    """Return header and rows."""
    return [list(found.frame.columns), *found.frame.to_numpy(dtype=object).tolist()]


HEAD = ["premise", "hypothesis"]
QUOTED_NAMES = ("id, nr, x, y", "id\nnr", "id\r\nnr, x", 'the "id", nr, x, y', ",\n,\n,\n")
READ: dict[str, tuple[str, bytes | str, list[list[object]]]] = {
    "quotes, commas and line breaks": (
        "a.csv", 'premise,hypothesis\n"He said ""no"", twice.","Two\nlines"\n',
        [HEAD, ['He said "no", twice.', "Two\nlines"]],
    ),
    **{
        f"not split by {mark!r}": (
            "b.csv", f"premise,x{mark}y{mark}z\na,b\n",
            [["premise", f"x{mark}y{mark}z"], ["a", "b"]],
        )
        for mark in ("^", "~", "\x01", "\x1f")
    },
    **{
        f"quoted names {names!r}": (
            "a.csv", '"{}";"{}"\n1, 2, 3;a\n'.format(*(n.replace('"', '""') for n in names)),
            [[*names], ["1, 2, 3", "a"]],
        )
        for name in QUOTED_NAMES
        for names in ((name, "premise"), ("premise", name))
    },
    **{
        f"one column {name}": ("a.csv", f"{name}\na: b\n", [[name], ["a: b"]])
        for name in ("text", "premise: the first", "dc:title", "a/b-c_d.e #1 (f)")
    },
    **{
        f"{line!r} tells {mark!r} in {encoding}": (
            "a.csv", f"{line.format(mark)}a b{mark}café\nd{mark}e\n".encode(encoding),
            [["a b", "café"], ["d", "e"]],
        )
        for mark in (";", ",", "\t", ":", "\N{SECTION SIGN}")
        for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16")
        for line in ("sep={}\r\n", '\n"SEP={}"\n')
    },
    "an end within a character of UTF-8": (
        "a.csv", b"premise,hypothesis\na man,un caf\xe9", [HEAD, ["a man", "un café"]]
    ),
    "a lone quote in TSV": (
        "a.tsv", 'premise\thypothesis\n"He left.\tHe went.\nHe sat.\tHe "rested.\n',
        [HEAD, ['"He left.', "He went."], ["He sat.", 'He "rested.']],
    ),
    "a quote that only a wrong mark opens": (
        "a.csv", 'premise,x;"y\n' + "a,b\n" * 3000, [["premise", 'x;"y'], *[["a", "b"]] * 3000],
    ),
    "gzip": ("a.TSV.GZ", gzip.compress(b"premise\thypothesis\na\tb\n"), [HEAD, ["a", "b"]]),
    "only line feeds end JSON": (
        "a.jsonl", '{"premise": "a\u2028b\u0085c", "hypothesis": "d\\ne"}\n{"premise": "f"}\n',
        [HEAD, ["a\u2028b\u0085c", "d\ne"], ["f", None]],
    ),
}  # fmt: skip


@each("name, data, expected", READ.values())
def test_a_file_is_read_cell_by_cell(
    name: str, data: bytes | str, expected: list[list[object]], tmp_path: Path
) -> None:
    assert cells(table(tmp_path, name, data)) == expected


def test_the_releases_of_mnli_and_snli_are_read(tmp_path: Path) -> None:
    for name in ("mnli_form.tsv", "snli_form.jsonl"):
        found = read_table(ASSETS / "examples" / name)
        columns = guess(found.columns, NLI)
        assert columns == pair_columns("sentence1", "sentence2", "gold_label"), name
        assert broken(found) == {}, name
    text = "gold_label\tsentence1_binary_parse\tsentence1\tsentence2\nneutral\t( a b )\ta b\tc\n"
    found = table(tmp_path, "multinli_1.0_dev_matched.txt", text)
    assert (found.form, cells(found)[1]) == ("tsv", ["neutral", "( a b )", "a b", "c"])


def test_a_ragged_row_is_broken_and_the_rest_is_not(tmp_path: Path) -> None:
    found = table(tmp_path, "a.csv", "premise,hypothesis\na,b\nc\nd,e,f\ng,h\n")
    assert found.broken == 2
    assert broken(found) == {
        1: "the row has 1 fields, the header 2",
        2: "the row has 3 fields, the header 2",
    }
    assert cells(found)[4] == ["g", "h"]
    pd.DataFrame([["a", "b"], HEAD], columns=HEAD).to_excel(tmp_path / "a.xlsx", index=False)
    assert broken(read_table(tmp_path / "a.xlsx")) == {1: REPEATED}


BAD: list[tuple[str, bytes, str]] = [
    ("a.csv", b"", "a.csv is empty"),
    ("a.csv", b" \n\n", "a.csv is empty"),
    ("a.csv", b"\xef\xbb\xbf", "a.csv is empty"),
    ("a.jsonl", b"\xef\xbb\xbf", "a.jsonl is empty"),
    ("a.csv", b"premise,hypothesis\n", "a.csv has no rows below its header"),
    ("a.json", b"[]", "a.json has no rows below its header"),
    ("a.csv", b"a,a\n1,2\n", "a.csv has two columns called 'a'; rename one"),
    ("a.xlsx", b"PK", "a.xlsx cannot be read as an Excel workbook: "),
    ("a.ods", b"PK", "a.ods: name the file .csv, .tsv, .jsonl, .parquet or .xlsx"),
    ("a", b"a,b\n1,2\n", "a: name the file .csv, .tsv, .jsonl, .parquet or .xlsx"),
    ("a.csv", random.Random(0).randbytes(4000), "a.csv is not text"),
    ("a.csv", b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(4000), "a.csv is not text"),
    ("a.jsonl", b"premise,hypothesis\n", "a.jsonl is not JSON lines: "),
    ("a.json", b'{"data": [', "a.json is not JSON: it ends inside its list"),
    ("a.json", b'{"data": [{"paragraphs": []}]', "a.json"),
    ("a.json", b'[{"a": 1},', "a.json is not JSON: it ends inside its list"),
    ("a.jsonl", b"1\n2\n", "a.jsonl: each line must be a JSON object"),
    ("a.jsonl", b'{"a": %b}\n' % (b"[" * 51 + b"]" * 51) * 2, "a.jsonl holds lists or objects ne"),
    ("a.parquet", b"premise,hypothesis\n", "a.parquet cannot be read as Parquet: "),
    ("a.csv.gz", b"premise,hypothesis\n", "a.csv.gz cannot be opened: "),
    ("a.csv.gz", gzip.compress(b"a,b\n" * 99, mtime=0)[:-20], "a.csv.gz cannot be opened: "),
    ("a.csv.gz", gzip.compress(b"a", mtime=0)[:10] + b"\xff" * 20, "a.csv.gz cannot be opened: "),
]


@each("name, data, sentence", BAD)
def test_a_bad_file_gets_one_sentence(
    name: str, data: bytes, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(FileError) as caught:
        table(tmp_path, name, data)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)
    with pytest.raises(FileError, match=r"^gone\.csv cannot be opened: "):
        read_table(tmp_path / "gone.csv")


CELLS = [
    *("007", "NA", "1.10", " spaces ", 'a "quote"', "a, b; c", "😀", "nan", "", "1e5", "TRUE", "-"),
]
BREAKS = ["two\nlines", "two\r\nlines", "a\rb", "tab\tbed"]


def test_every_cell_comes_out_as_it_went_in(tmp_path: Path) -> None:
    for name in ("a.csv", "a.csv.gz", "a.tsv", "a.jsonl", "new/a.parquet"):
        texts = CELLS if name == "a.tsv" else [*CELLS, *BREAKS]
        write_table(pd.DataFrame({"premise": texts, "a b": texts[::-1]}), tmp_path / name)
        again = read_table(tmp_path / name)
        rows = [list(row) for row in zip(texts, texts[::-1], strict=True)]
        assert (broken(again), cells(again)) == ({}, [["premise", "a b"], *rows]), name


def test_jsonl_keeps_numbers_what_is_missing_and_half_a_surrogate_pair(tmp_path: Path) -> None:
    first = '{"premise": "a", "n": 7, "x": null, "l": [1, "b"]}'
    second = '{"premise": "b", "n": 1.5, "t": true}'
    found = table(tmp_path, "a.jsonl", f"{first}\n{second}\n")
    write_table(found.frame, tmp_path / "b.jsonl")
    assert [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()] == [
        {"premise": "a", "n": 7, "x": None, "l": [1, "b"], "t": None},
        {"premise": "b", "n": 1.5, "x": None, "l": None, "t": True},
    ]
    row = '{"premise": "a \\ud83d", "hypothesis": "b"}\n'
    write_table(table(tmp_path, "a.jsonl", row).frame, tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text() == row


def test_what_parquet_holds_can_be_written_in_any_form(tmp_path: Path) -> None:
    numbers = {"premise": ["a", "b"], "n": pa.array([1, None], pa.int64())}
    times = pa.array([0, None], pa.timestamp("s"))
    columns = {**numbers, "tags": pa.array([["x", "y"], []]), "when": times}
    parquet.write_table(pa.table(columns), tmp_path / "in.parquet")
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet"):
        write_table(read_table(tmp_path / "in.parquet").frame, tmp_path / name)
        assert list(read_table(tmp_path / name).frame["premise"]) == ["a", "b"], name
    # a whole number beside an empty cell stays whole
    assert [row[1] for row in cells(read_table(tmp_path / "a.csv"))[1:]] == ["1", ""]
    assert [row[1] for row in cells(read_table(tmp_path / "a.jsonl"))[1:]] == [1, None]
