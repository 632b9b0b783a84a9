"""A scored file holds the texts of the input, whatever their form, and our fields behind them."""

import csv
import gzip
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Sequence
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.data.rows import Source
from probe.data.source import open_source, read_table
from probe.data.writers import Output, checked_form, write_guarded_copy, write_table
from probe.errors import FileError, LimitError
from probe.limits import Bounds
from tests.support.cases import each
from tests.support.property_settings import STEADY

OURS = ("prediction", "note")
VALUES = ("neutral", 'says "no", twice')
QUOTED = 'neutral,"says ""no"", twice"'
PACK = {
    ".gz": gzip.compress,
    ".zst": lambda raw: pa.Codec("zstd").compress(raw, asbytes=True),
}


def scored(source: Source, out: Path, guard: bool = False) -> Path:
    """Write every row of a file with the same two values behind it."""
    output = Output(out, OURS, source, guard)
    output.write((record, VALUES) for record in source.records())
    output.finish()
    return out


def written(folder: Path, name: str, data: bytes, guard: bool = False) -> bytes:
    """Return the file that is written of an input of the same form."""
    (folder / name).write_bytes(data)
    return scored(open_source(folder / name), folder / f"out-{name}", guard).read_bytes()


def lines(*rows: str, end: str = "\n") -> str:
    return end.join([*rows, ""])


HEAD = "premise,hypothesis"
SAME_FORM: dict[str, tuple[str, str, str, str]] = {
    **{
        f"split by {mark!r}": (
            "a.csv", "utf-8", lines(f"premise{mark}hypothesis", f"a, b{mark}c"),
            lines(f"premise{mark}hypothesis{mark}prediction{mark}note",
                  f'a, b{mark}c{mark}neutral{mark}"says ""no"", twice"'),
        )
        for mark in (";", "|", "\t", "^", "~", "\x01", "\x1f")
    },
    **{
        f"the mark is told, {encoding}": (
            "a.csv", encoding,
            lines("sep=\N{SECTION SIGN}", "premise§hypothesis", "El niño§ comió.", end="\r\n"),
            lines("sep=§", "premise§hypothesis§prediction§note",
                  'El niño§ comió.§neutral§"says ""no"", twice"', end="\r\n"),
        )
        for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16")
    },
    **{
        f"lines end by {end!r}": (
            "a.csv", "utf-8", lines(HEAD, "a,b", end=end) + "c,d",
            lines(f"{HEAD},prediction,note", f"a,b,{QUOTED}", f"c,d,{QUOTED}", end=end),
        )
        for end in ("\n", "\r\n", "\r")
    },
    **{
        f"in {encoding}": (
            "a.csv", encoding, lines(HEAD, "El niño comió una manzana.,El niño comió."),
            lines(f"{HEAD},prediction,note",
                  f"El niño comió una manzana.,El niño comió.,{QUOTED}"),
        )
        for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-be", "utf-32")
    },
    "a title stays": (
        "a.csv", "utf-8", lines("Our pairs", HEAD, "a man walks fast,b", "he is here,c"),
        lines("Our pairs", f"{HEAD},prediction,note", f"a man walks fast,b,{QUOTED}",
              f"he is here,c,{QUOTED}"),
    ),
    "bytes of Python stay": (
        "a.csv", "utf-8", lines(HEAD, "b'a',c"),
        lines(f"{HEAD},prediction,note", f"b'a',c,{QUOTED}"),
    ),
    "quotes that belong to the text": (
        "a.tsv", "utf-8", lines("premise\thypothesis", '"He left.\tHe "went.'),
        lines("premise\thypothesis\tprediction\tnote",
              '"He left.\tHe "went.\tneutral\tsays "no", twice'),
    ),
    "JSON keeps every value as it was written": (
        "a.jsonl", "utf-8",
        lines('{"premise": "a\\u00e9\\/b", "n": 1.10, "m": 1e400, "k": -0.0}',
              '{ "h":"\\ud83d" ,"z":{"b":1,"a":[1.0]}, "big": 12345678901234567890 }', "{}"),
        lines('{"premise": "a\\u00e9\\/b", "n": 1.10, "m": 1e400, "k": -0.0, OURS}',
              '{ "h":"\\ud83d" ,"z":{"b":1,"a":[1.0]}, "big": 12345678901234567890, OURS}',
              "{OURS}").replace("OURS", '"prediction": "neutral", "note": "says \\"no\\", twice"'),
    ),
}  # fmt: skip


@each("name, encoding, text, expected", SAME_FORM.values())
def test_a_file_of_the_same_form_keeps_encoding_line_ends_delimiter_and_what_stands_above(
    name: str, encoding: str, text: str, expected: str, tmp_path: Path
) -> None:
    assert written(tmp_path, name, text.encode(encoding)) == expected.encode(encoding)


@each("cell, expected", {"a comma": ("0,5", "0,25"), "a point": ("0.5", "0.25")}.values())
def test_our_fractions_have_decimal_commas_where_a_file_with_semicolons_has(
    cell: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"text;n\nGood, bad;{cell}\n")
    output = Output(out := tmp_path / "out.csv", ["ours", "n.b"], source := open_source(path))
    output.write((record, [0.25, 3]) for record in source.records())
    output.finish()
    assert out.read_text().splitlines()[1] == f"Good, bad;{cell};{expected};3"


RAGGED = {
    "too few, too many": (
        "a\nb,c,d,e f,g\nh,i,j\n", [["a", "", ""], ["b", "c", "d,e f,g"], [*"hij"]]
    ),
    "surplus in quotes": (
        ' a ,"b, ""c""" d,"1", x ,"z"\n', [[" a ", 'b, "c" d', "1, x ,z"]]
    ),
    "never closed": ('a,b,c\nc,"d\ne\n', [[*"abc"], ["c", "d\ne\n", ""]]),
    "bytes and quotes": ('\' 1.10,"b"""," x"\n', [["' 1.10", 'b"', " x"]]),
}  # fmt: skip


def test_ragged_rows_keep_every_character_and_our_columns_their_place(tmp_path: Path) -> None:
    for case, (rows, expected) in RAGGED.items():
        for encoding in ("utf-8", "utf-16"):
            out = written(tmp_path, "a.csv", f"x,y,z\n{rows}".encode(encoding)).decode(encoding)
            found = list(csv.reader(io.StringIO(out, newline="")))[1:]
            assert found == [[*row, *VALUES] for row in expected], case


def test_what_the_form_is_and_what_a_guard_changes_is_said(tmp_path: Path) -> None:
    files = {
        "a.csv": "premise;hypothesis\nEl niño comió.;b\n".encode("cp1252"),
        "b.csv": b"premise^hypothesis\na^b\n", "c.jsonl": b'{"n": 1.10}',
    }  # fmt: skip
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    pq.write_table(pa.table({"n": [1]}), tmp_path / "d.parquet")
    said = {
        ("a.csv", "csv", False): "CSV as your file is, semicolons between its fields, in CP1252: "
        "the text of every field stands as it is",
        ("b.csv", "csv", True): "CSV as your file is, '^' between its fields, in UTF-8: fields "
        "that spreadsheets would compute begin with '",
        ("c.jsonl", "jsonl", False): "JSON lines in UTF-8: every value of yours stands as it is "
        "written",
        ("d.parquet", "jsonl", False): "JSON lines in UTF-8: what JSON has no form for, such as a "
        "date or a decimal, is text",
        ("d.parquet", "xlsx", False): "an Excel workbook of one sheet: cells keep their types, a "
        "formula the value that is stored with it, which is none where no spreadsheet computed it",
        ("b.csv", "tsv", True): "TSV in UTF-8, its texts as they are read; fields that "
        "spreadsheets would compute begin with '",
    }
    for (name, out, guard), words in said.items():
        source = open_source(tmp_path / name)
        assert Output(tmp_path / f"out.{out}", OURS, source, guard).words == words
    output = Output(tmp_path / "out.csv", ("note",), open_source(tmp_path / "a.csv"))
    output.write((record, ["→"]) for record in open_source(tmp_path / "a.csv").records())
    output.finish()  # what the encoding cannot hold of ours is escaped
    assert (tmp_path / "out.csv").read_bytes().splitlines()[1].endswith(rb";\u2192")


def test_json_of_any_layout_becomes_a_line_a_row(tmp_path: Path) -> None:
    data = b'[ {"premise": "a",\n "n": 1.10},\r\n {"premise": "b"} ]'
    first, second = written(tmp_path, "a.json", data).splitlines()
    assert first.startswith(b'{"premise": "a",  "n": 1.10, "prediction"')
    assert json.loads(second)["premise"] == "b"
    asked = [{"id": str(n), "question": f"Who {n}?", "answers": []} for n in range(3)]
    articles = [
        {"title": "T", "paragraphs": [{"context": "C", "qas": asked[:2]}]},
        {"title": "U", "paragraphs": [{"context": "D", "qas": asked[2:]}]},
    ]
    squad = json.dumps({"version": "1.1", "data": articles, "more": 1}, indent=1).encode()
    rows = [json.loads(line) for line in written(tmp_path, "b.json", squad).splitlines()]
    assert [(row["title"], row["context"], row["id"]) for row in rows] == [
        *(("T", "C", "0"), ("T", "C", "1"), ("U", "D", "2"))
    ]


def test_parquet_keeps_the_types_of_its_columns_and_any_rows(tmp_path: Path) -> None:
    words = pa.array(["a", None, "c", "d"])
    several = pa.array([[1], [2], [3], [4]], pa.list_view(pa.int64()))
    table = pa.table({
        "premise": words, "n": pa.array([1, None, 2**60, 0], pa.int64()),
        "when": pa.array([date(2026, 1, 2)] * 4, pa.date32()), "tags": [["x"], [], None, []],
        "small": pa.array([1, 2, 3, 4], pa.uint8()), "seen": words.cast(pa.string_view()),
        "views": several,
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    source = open_source(tmp_path / "a.parquet")
    for left_out in ((), (0, 2), (1,), (0, 1, 2, 3)):
        output = Output(tmp_path / "b.parquet", OURS, source)
        output.write((row, VALUES) for row in source.records() if row.number not in left_out)
        output.finish()
        out = pq.read_table(output.path)
        kept = [row for at, row in enumerate(table.to_pylist()) if at not in left_out]
        assert out.select(table.column_names).to_pylist() == kept
        assert out.select(table.column_names).schema == table.schema
        assert out["prediction"].to_pylist() == ["neutral"] * len(kept)


def test_excel_keeps_the_types_and_formats_of_its_cells_and_says_no_date(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    rows: list[list[Any]] = [
        ["a", "b", 7, datetime(2026, 1, 2, 3, 4), 0.25],
        ["=1+1", None, 1.5, None, True],
        ["#N/A", "#DIV/0!", "#N/A", "=1+1", ""],
    ]
    for row in (["premise", "hypothesis", "n", "when", "share"], *rows):
        sheet.append(row)
    sheet["A3"].data_type = sheet["C4"].data_type = "s"
    sheet["E2"].number_format = "0.0%"
    book.save(tmp_path / "a.xlsx")
    out = scored(open_source(tmp_path / "a.xlsx"), tmp_path / "b.xlsx")
    found = list(openpyxl.load_workbook(out).worksheets[0].iter_rows(min_row=2))
    expected = [*rows[:2], [*rows[2][:3], None, None]]
    assert [[cell.value for cell in row[:5]] for row in found] == expected
    assert [cell.value for cell in found[0][5:]] == [*VALUES]
    assert found[0][4].number_format == "0.0%"
    assert [row[0].data_type for row in found[1:]] == ["s", "e"]
    assert found[2][2].data_type == "s"
    with zipfile.ZipFile(out) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        dates = re.findall(rb">([0-9T:Z-]+)</dcterms:", parts.read("docProps/core.xml"))
        assert dates == [b"1980-01-01T00:00:00Z"] * 2


def test_what_no_workbook_holds_is_text_in_it(tmp_path: Path) -> None:
    cells = {
        "a\x01b": "a\N{REPLACEMENT CHARACTER}b", "=HYPERLINK(1)": "=HYPERLINK(1)", "007": "007",
        datetime(2026, 1, 2, tzinfo=UTC): "2026-01-02 00:00:00+00:00", float("inf"): "inf",
        (1, 2): "[1, 2]",
    }  # fmt: skip
    for cell, text in cells.items():
        own = [list(cell) if isinstance(cell, tuple) else cell]
        pq.write_table(pa.table({"premise": ["a"], "own": own}), tmp_path / "a.parquet")
        out = scored(open_source(tmp_path / "a.parquet"), tmp_path / "b.xlsx")
        found = openpyxl.load_workbook(out).worksheets[0]["B2"]
        assert (found.value, found.data_type) == (text, "s")


@each("form", [".csv", ".parquet", ".xlsx"])
def test_any_form_becomes_any_other_with_the_rows_that_are_scored(
    form: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("id,text\n" + "".join(f"{at},{at}\n" for at in range(6)))
    source = open_source(scored(open_source(tmp_path / "a.csv"), tmp_path / f"in{form}"))
    for suffix in (
        ".csv.gz",
        ".jsonl",
        ".parquet",
        ".xlsx",
        ".tsv.zst",
        ".parquet.gz",
        ".xlsx.zst",
    ):
        output = Output(tmp_path / f"b{suffix}", ("mine",), source)
        rows = [(record, [f"of {record.cells['id']}"]) for record in source.records()]
        output.write(rows[:1])
        output.write(rows[3:5])
        output.finish()
        cells = [record.cells for record in open_source(output.path).records()]
        found = [f"{each['id']} {each['mine']}" for each in cells]
        assert found == ["0 of 0", "3 of 3", "4 of 4"], suffix
    assert not list(tmp_path.glob(".b*"))


def test_an_unpacked_copy_is_gone_when_the_rows_are_left_or_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    rows: list[dict[str, Any]] = [{"id": at, "text": f"text {at}"} for at in range(5)]
    pd.DataFrame(rows).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame(rows).to_excel(tmp_path / "a.xlsx", index=False)
    for suffix in (".parquet", ".xlsx"):
        for packing, pack in PACK.items():
            packed = tmp_path / f"a{suffix}{packing}"
            packed.write_bytes(pack((tmp_path / f"a{suffix}").read_bytes()))
            records = open_source(packed).records()
            assert [record.cells["id"] for record in islice(records, 2)] == [0, 1]
            del records
        broken = tmp_path / f"b{suffix}.gz"
        broken.write_bytes(gzip.compress(bytes(2_000_000)))
        with pytest.raises(FileError):
            open_source(broken)
        with pytest.raises(LimitError):
            open_source(broken, Bounds(max_unpacked_mb=1))
        assert list(place.iterdir()) == [], suffix


FORMULAS = ["=1+1", "+1", "-1", "@sum", "\tx", "\rx", '=HYPERLINK("http://x")']
TEXTS = ["a", "", " =1", "1-1", "'=1", "é", "a\n=1"]


def test_texts_that_begin_like_a_formula_get_an_apostrophe_and_numbers_none(tmp_path: Path) -> None:
    frame = pd.DataFrame({"=name": FORMULAS, "plain": TEXTS, "n": -0.5}, dtype=object)
    write_table(frame, tmp_path / "a.csv", guard=True)
    guarded = read_table(tmp_path / "a.csv").frame
    assert list(guarded["'=name"]) == ["'" + text for text in FORMULAS]
    assert (list(guarded["plain"]), guarded["n"][0]) == (TEXTS, "-0.5")
    out = written(tmp_path, "b.csv", b'premise,hypothesis\n"=1+1","b"\n', guard=True)
    assert out.splitlines()[1] == f"'=1+1,b,{QUOTED}".encode()
    with pytest.raises(FileError, match=r"^a\.jsonl: only CSV and TSV are guarded"):
        checked_form(Path("a.jsonl"), guard=True)
    for name in ("a.csv", "a.tsv"):  # of a copy each number is a text, too
        frame = pd.DataFrame({"text": ["=1+1", 'a "b"', ""], "n": [0.5, None, -1]}, dtype=object)
        write_table(frame, tmp_path / name)
        write_guarded_copy(tmp_path / name, tmp_path / "copy" / name)
        copy = read_table(tmp_path / "copy" / name).frame
        assert copy.to_numpy().tolist() == [["'=1+1", "0.5"], ['a "b"', ""], ["", "'-1"]], name
    write_table(pd.DataFrame({"text": []}), tmp_path / "b.csv")
    write_guarded_copy(tmp_path / "b.csv", tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_what_was_asked_of_a_file_is_not_asked_of_its_guarded_copy(tmp_path: Path) -> None:
    rows = '"He left. b\tHe went there.\t=1\nShe sat" d\te\t=2\nHe was there all day.\tČovjek\t=3\n'
    for above in ("", "Our pairs\n", '"A title, not a name"\n'):
        (tmp_path / "a.csv").write_bytes(f"{above}text\tname\tn\n{rows}".encode("cp1250"))
        write_guarded_copy(tmp_path / "a.csv", tmp_path / "b.csv")
        assert (tmp_path / "b.csv").read_bytes().count(b"'=") == 3, above


FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)
PLAIN = st.text("ab \u00e9", min_size=1, max_size=4)


@STEADY
@given(
    st.lists(st.tuples(PLAIN, FIELD), min_size=1, max_size=5),
    st.sampled_from(",;|\t"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_the_text_of_every_cell_of_any_csv_stays(
    tmp_path_factory: pytest.TempPathFactory,
    rows: Sequence[tuple[str, str]], mark: str, end: str, encoding: str, quoting: Literal[0, 1],
) -> None:  # fmt: skip
    folder, text = tmp_path_factory.mktemp("csv"), io.StringIO(newline="")
    header = ("premise", f"h{mark}i")
    writer = csv.writer(text, delimiter=mark, lineterminator=end, quoting=quoting)
    writer.writerows([header, *rows])
    (folder / "a.csv").write_bytes(text.getvalue().encode(encoding))
    source = open_source(folder / "a.csv")
    if len(source) != len(rows):  # a lone mark in a field may make another line of it
        return
    originals = [record.cells for record in source.records()]
    copies = [record.cells for record in open_source(scored(source, folder / "b.csv")).records()]
    ours = dict(zip(OURS, VALUES, strict=True))
    assert copies == [{**original, **ours} for original in originals]
    assert {tuple(copy) for copy in copies} == {(*header, *OURS)}


CLASSES = {"names": ["contradiction", "neutral", "entailment"], "_type": "ClassLabel"}
VALUE = {
    "ours": {"dtype": "string", "_type": "Value"}, "p": {"dtype": "float64", "_type": "Value"},
}  # fmt: skip
OTHER_TYPES = [{"name": None, "pandas_type": "int64", "numpy_type": "int64"}]
METADATA: dict[str, tuple[dict[str, str], dict[bytes, Any]]] = {
    "features": (
        {"huggingface": json.dumps({
            "info": {"features": {"label": CLASSES, "gone": CLASSES, "ours": CLASSES}},
            "fingerprint": "of the file before",
        })},
        {b"huggingface": {"info": {"features": {"label": CLASSES, **VALUE}}}},
    ),
    "features that are none": ({"huggingface": '{"info": {"features": ["label"]}}'}, {}),
    "Spark": (
        {"org.apache.spark.sql.parquet.row.metadata": "{}", "org.apache.spark.version": "4"},
        {b"org.apache.spark.version": 4},
    ),
    **{
        f"pandas {bad}": ({"pandas": bad, "mine": "7"}, {b"mine": 7})
        for bad in (
            "no JSON", json.dumps({"index_columns": ["gone"], "columns": [{"name": "gone"}]}),
            json.dumps({"index_columns": [], "column_indexes": OTHER_TYPES, "columns": []}),
        )
    },
}  # fmt: skip


def test_what_parquet_says_of_its_columns_stays_true_where_ours_stand_behind_them(
    tmp_path: Path,
) -> None:
    def beside(path: Path) -> Path:
        source = open_source(path)
        output = Output(path.with_name("out.parquet"), ("ours", "p"), source)
        output.write((record, ("neutral", 0.5)) for record in source.records())
        output.finish()
        return output.path

    pairs = {"premise": ["A man sings."] * 3, "hypothesis": ["He sings."] * 3, "label": [0, 1, 2]}
    for case, (metadata, expected) in METADATA.items():
        table = pa.table(pairs).replace_schema_metadata(metadata)
        pq.write_table(table, tmp_path / "in.parquet")
        out = beside(tmp_path / "in.parquet")
        said = pq.read_schema(out).metadata or {}
        assert {key: json.loads(value) for key, value in said.items()} == expected, case
        assert list(pd.read_parquet(out).columns) == [*pairs, "ours", "p"], case
    kinds = pd.Categorical(["b", "a", "b"], categories=["b", "a", "c"], ordered=True)
    columns = {"premise": ["A."] * 3, "whole": pd.array([1, None, 3], "Int64"), "kind": kinds}
    frame = pd.DataFrame(columns, index=pd.Index([7, 8, 9], name="key"))
    frame.attrs = {"source": "by hand"}
    frame.to_parquet(tmp_path / "in.parquet")
    found = pd.read_parquet(beside(tmp_path / "in.parquet"))  # with index and types of its own
    pd.testing.assert_frame_equal(found[frame.columns], frame)
    assert (found.attrs, list(found["p"])) == (frame.attrs, [0.5] * 3)
