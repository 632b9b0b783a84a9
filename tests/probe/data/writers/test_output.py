"""A scored file holds the bytes of the input, whatever their form, and our fields behind them."""

import csv
import gzip
import io
import json
import re
import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.data.source import Source, open_source
from probe.data.writers import Output
from probe.errors import FileError
from tests.support.property_settings import STEADY

OURS = ("prediction", "note")
VALUES = ("neutral", 'says "no", twice')
ZSTD = pa.Codec("zstd")


def scored(source: Source, out: Path, guard: bool = False, parts: int = 1) -> Path:
    """Write every row of a file with the same two values behind it, in so many parts."""
    output = Output(out, OURS, out.with_suffix(".spool"), source, guard)
    rows = [(record, VALUES) for record in source.records()]
    size = -(-len(rows) // parts)
    for start in range(0, len(rows), size):
        output.write(rows[start : start + size])
    output.finish()
    return out


def written(folder: Path, name: str, data: bytes, guard: bool = False) -> bytes:
    """Return the file that is written of an input of the same form."""
    (folder / name).write_bytes(data)
    return scored(open_source(folder / name), folder / f"out-{name}", guard).read_bytes()


ADDED = b',neutral,"says ""no"", twice"'


def test_a_csv_line_begins_with_the_bytes_of_the_input(tmp_path: Path) -> None:
    lines = [b'premise , "hypothesis"', b'\'1.10,"b"', b' "x" y,"two\r\nlines "', b'"a""b", c']
    data = b"\r\n".join([*lines, b""])
    header = b",prediction,note"
    expected = [lines[0] + header, *(line + ADDED for line in lines[1:]), b""]
    assert written(tmp_path, "a.csv", data) == b"\r\n".join(expected)


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_the_mark_between_fields_stays(mark: str, tmp_path: Path) -> None:
    data = f"premise{mark}hypothesis\na, b{mark}c\n".encode()
    out = written(tmp_path, "a.csv", data).decode()
    assert out.splitlines()[1] == f'a, b{mark}c{mark}neutral{mark}"says ""no"", twice"'


@pytest.mark.parametrize("mark", ["^", "\x01"])
def test_a_rare_mark_between_fields_stays(mark: str, tmp_path: Path) -> None:
    data = f"premise{mark}hypothesis\na, b{mark}c\n".encode()
    out = written(tmp_path, "a.csv", data).decode()
    assert out.splitlines()[1] == f'a, b{mark}c{mark}neutral{mark}"says ""no"", twice"'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_line_that_tells_what_splits_fields_stays(encoding: str, tmp_path: Path) -> None:
    text = "sep=\N{SECTION SIGN}\r\npremise§hypothesis\r\nEl niño§ El niño comió.\r\n"
    out = written(tmp_path, "a.csv", text.encode(encoding))
    first, header, row, _ = text.split("\r\n")
    ours = 'neutral§"says ""no"", twice"'
    expected = [first, f"{header}§prediction§note", f"{row}§{ours}", ""]
    assert out == "\r\n".join(expected).encode(encoding)


def test_the_mark_between_fields_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"premise;hypothesis\na;b\n")
    (tmp_path / "b.csv").write_bytes(b"premise^hypothesis\na^b\n")
    outputs = [
        Output(tmp_path / f"out-{name}", OURS, tmp_path / "spool", open_source(tmp_path / name))
        for name in ("a.csv", "b.csv")
    ]
    assert outputs[0].words.startswith("CSV as your file is, semicolons between its fields, in")
    assert outputs[1].words.startswith("CSV as your file is, '^' between its fields, in")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_stay_and_a_last_line_without_one_gets_that_of_the_header(
    end: bytes, last: bool, tmp_path: Path
) -> None:
    data = b"premise,hypothesis" + end + b"a,b" + end + b"c,d" + (end if last else b"")
    out = written(tmp_path, "a.csv", data)
    assert out == b"premise,hypothesis,prediction,note" + end + b"a,b" + ADDED + end + (
        b"c,d" + ADDED + end
    )


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-be", "utf-32"]
)
def test_the_encoding_and_its_mark_stay(encoding: str, tmp_path: Path) -> None:
    text = "premise,hypothesis\nEl niño comió una manzana.,El niño comió.\n"
    out = written(tmp_path, "a.csv", text.encode(encoding))
    kept = "premise,hypothesis,prediction,note\n" + (
        'El niño comió una manzana.,El niño comió.,neutral,"says ""no"", twice"\n'
    )
    assert out == kept.encode(encoding)


def test_what_the_encoding_cannot_hold_of_ours_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("premise,hypothesis\nEl niño comió.,Él comió.\n".encode("cp1252"))
    output = Output(tmp_path / "b.csv", ("note",), tmp_path / "spool", open_source(path))
    output.write((record, ["→"]) for record in open_source(path).records())
    output.finish()
    assert (tmp_path / "b.csv").read_bytes().splitlines()[1].endswith(rb",\u2192")


def test_ragged_rows_keep_every_character_and_our_columns_their_place(tmp_path: Path) -> None:
    out = written(tmp_path, "a.csv", b'premise,hypothesis,id\na\nb,"c",d,e f,g\nh,i,j\n')
    rows = list(csv.reader(io.StringIO(out.decode())))
    assert [row[:3] for row in rows[1:]] == [["a", "", ""], ["b", "c", "d,e f,g"], ["h", "i", "j"]]
    assert all(row[3:] == list(VALUES) for row in rows[1:])


@pytest.mark.parametrize(
    ("name", "row", "kept"),
    [
        ("a.csv", ' a ,"b, ""c""" d,"1", x ,y,"z"', ' a ,"b, ""c""" d,"1"," x ,y,z"'),
        ("a.csv", '"a\r\n,b" ,é"",,"1 ""2""",3', '"a\r\n,b" ,é"",,"1 ""2"",3"'),
        ("a.tsv", '"a\t b,"\t"c\t"d\te"', '"a\t b,"\t"c\t"d e"'),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_fields_before_the_surplus_keep_their_bytes(
    encoding: str, name: str, row: str, kept: str, tmp_path: Path
) -> None:
    mark = "\t" if name == "a.tsv" else ","
    text = f"{mark.join('wxyz')}\r\n{row}\r\n".encode(encoding)
    lines = written(tmp_path, name, text).decode(encoding).removesuffix("\r\n")
    ours = 'says "no", twice' if name == "a.tsv" else '"says ""no"", twice"'
    assert lines.partition("\r\n")[2] == mark.join([kept, "neutral", ours])


def test_a_quote_that_is_never_closed_does_not_swallow_our_fields(tmp_path: Path) -> None:
    out = written(tmp_path, "a.csv", b'premise,hypothesis\na,b\nc,"d\ne\n')
    rows = list(csv.reader(io.StringIO(out.decode(), newline="")))
    assert rows[2] == ["c", "d\ne\n", *VALUES]


def test_tsv_is_read_and_written_without_quoting(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b'premise\thypothesis\n"He left.\tHe "went.\n')
    source = open_source(tmp_path / "a.tsv")
    out = scored(source, tmp_path / "b.tsv").read_bytes()
    assert out.splitlines()[1] == b'"He left.\tHe "went.\tneutral\tsays "no", twice'


def test_a_guarded_line_is_made_anew_where_a_spreadsheet_would_compute(tmp_path: Path) -> None:
    data = b'premise,hypothesis\n"=1+1","b"\n"c","d"\n'
    lines = written(tmp_path, "a.csv", data, guard=True).splitlines()
    assert lines[1:] == [b"'=1+1,b" + ADDED, b'"c","d"' + ADDED]


JSON_LINES = [
    '{"premise": "a\\u00e9\\/b", "hypothesis": "c", "n": 1.10, "m": 1e400, "k": -0.0}',
    '{ "hypothesis":"\\ud83d" ,"premise":"x","z":{"b":1,"a":[1.0]}, "big": 12345678901234567890 }',
    "{}",
]


def test_json_lines_keep_every_value_as_it_was_written(tmp_path: Path) -> None:
    out = written(tmp_path, "a.jsonl", "\n".join(JSON_LINES).encode()).decode().splitlines()
    ours = '"prediction": "neutral", "note": "says \\"no\\", twice"}'
    assert out == [
        f"{JSON_LINES[0][:-1]}, {ours}",
        f"{JSON_LINES[1][:-1].rstrip()}, {ours}",
        "{" + ours,
    ]


def test_only_json_is_said_to_stand_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": 1.10}')
    pq.write_table(pa.table({"n": [Decimal("1.2300")]}), tmp_path / "a.parquet")
    sources = [None, *(open_source(tmp_path / f"a.{form}") for form in ("parquet", "jsonl"))]
    pairs, of_parquet, of_json = (
        Output(tmp_path / f"{number}.jsonl", OURS, tmp_path / "spool", source).words
        for number, source in enumerate(sources)
    )
    assert of_json == "JSON lines in UTF-8: every value of yours stands as it is written"
    assert pairs == of_parquet
    assert of_parquet.endswith(": what JSON has no form for, such as a date or a decimal, is text")


def test_a_list_of_objects_becomes_lines_with_every_value_as_it_was(tmp_path: Path) -> None:
    data = b'[ {"premise": "a",\n "n": 1.10},\r\n {"premise": "b"} ]'
    lines = written(tmp_path, "a.json", data).splitlines()
    assert lines[0].startswith(b'{"premise": "a",  "n": 1.10, "prediction"')
    assert [json.loads(line)["premise"] for line in lines] == ["a", "b"]


def test_squad_becomes_a_line_a_question(tmp_path: Path) -> None:
    asked = [{"id": str(n), "question": f"Who {n}?", "answers": []} for n in range(3)]
    articles = [
        {"title": "T", "paragraphs": [{"context": "C", "qas": asked[:2]}]},
        {"title": "U", "paragraphs": [{"context": "D", "qas": asked[2:]}]},
    ]
    data = json.dumps({"version": "1.1", "data": articles, "more": 1}, indent=1).encode()
    rows = [json.loads(line) for line in written(tmp_path, "a.json", data).splitlines()]
    assert [(row["title"], row["context"], row["id"]) for row in rows] == [
        *(("T", "C", "0"), ("T", "C", "1"), ("U", "D", "2"))
    ]


def test_squad_that_ends_too_early_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"data": [{"paragraphs": []}]')
    with pytest.raises(FileError, match=r"^a\.json"):
        open_source(tmp_path / "a.json")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.tsv"])
@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_parts_of_a_packed_file_are_one_file(name: str, packing: str, tmp_path: Path) -> None:
    data = {
        "a.csv": b"premise,hypothesis\n" + b"a,b\n" * 9,
        "a.tsv": b"premise\thypothesis\n" + b"a\tb\n" * 9,
        "a.jsonl": b'{"premise": "a", "hypothesis": "b"}\n' * 9,
    }[name]
    pack = {".gz": gzip.compress, ".zst": lambda raw: ZSTD.compress(raw, asbytes=True)}[packing]
    (tmp_path / name).write_bytes(data)
    (tmp_path / f"{name}{packing}").write_bytes(pack(data))
    plain = scored(open_source(tmp_path / name), tmp_path / f"plain-{name}")
    packed = scored(
        open_source(tmp_path / f"{name}{packing}"), tmp_path / f"b-{name}{packing}", parts=3
    )
    with pa.input_stream(packed, compression={".gz": "gzip", ".zst": "zstd"}[packing]) as file:
        assert file.read() == plain.read_bytes()
    again = [dict(record.cells) for record in open_source(packed).records()]
    assert again == [dict(record.cells) for record in open_source(plain).records()]


def test_parquet_keeps_the_types_of_its_columns(tmp_path: Path) -> None:
    table = pa.table(
        {
            "premise": ["a", None, "c"],
            "n": pa.array([1, None, 2**60], pa.int64()),
            "when": pa.array([date(2026, 1, 2)] * 3, pa.date32()),
            "tags": [["x"], [], None],
            "small": pa.array([1, 2, 3], pa.uint8()),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    out = pq.read_table(scored(open_source(tmp_path / "a.parquet"), tmp_path / "b.parquet"))
    assert out.select(table.column_names).equals(table)
    assert out["prediction"].to_pylist() == ["neutral"] * 3


@pytest.mark.parametrize("left_out", [(), (0, 2), (1,), (0, 1, 2, 3)])
def test_parquet_of_types_that_cannot_be_filtered_keeps_the_rows_that_are_scored(
    left_out: tuple[int, ...], tmp_path: Path
) -> None:
    words = pa.array(["a", "b", "c", "d"])
    several = pa.array([[1], [2], [3], [4]], pa.list_view(pa.int64()))
    table = pa.table({"premise": words, "seen": words.cast(pa.string_view()), "tags": several})
    pq.write_table(table, tmp_path / "a.parquet")
    source = open_source(tmp_path / "a.parquet")
    output = Output(tmp_path / "b.parquet", OURS, tmp_path / "spool", source)
    records = [record for record in source.records() if record.number not in left_out]
    output.write([(record, VALUES) for record in records])
    output.finish()
    out = pq.read_table(output.path)
    kept = [word for at, word in enumerate("abcd") if at not in left_out]
    assert (out["premise"].to_pylist(), out["seen"].to_pylist()) == (kept, kept)
    assert out["prediction"].to_pylist() == ["neutral"] * len(kept)
    assert out.schema.field("seen").type == pa.string_view()


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    """A workbook with cells of every type."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["premise", "hypothesis", "n", "when", "share"])
    sheet.append(["a", "b", 7, datetime(2026, 1, 2, 3, 4), 0.25])
    sheet.append(["=1+1", None, 1.5, None, True])
    sheet["A3"].data_type = "s"
    sheet["E2"].number_format = "0.0%"
    book.save(tmp_path / "a.xlsx")
    return tmp_path / "a.xlsx"


def test_excel_keeps_the_types_and_formats_of_its_cells(workbook: Path) -> None:
    out = scored(open_source(workbook), workbook.with_name("b.xlsx"))
    rows = list(openpyxl.load_workbook(out).worksheets[0].iter_rows())
    assert [cell.value for cell in rows[1]] == [
        *("a", "b", 7, datetime(2026, 1, 2, 3, 4), 0.25, *VALUES)
    ]
    assert rows[1][4].number_format == "0.0%"
    assert [cell.value for cell in rows[2]] == ["=1+1", None, 1.5, None, True, *VALUES]
    assert rows[2][0].data_type == "s"


def test_a_formula_that_nothing_computed_is_empty_and_the_form_says_so(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["premise", "n"], ["a", "=1+1"]):
        book.worksheets[0].append(row)
    book.save(tmp_path / "a.xlsx")
    source = open_source(tmp_path / "a.xlsx")
    assert [record.cells["n"] for record in source.records()] == [None]
    words = Output(tmp_path / "b.xlsx", OURS, tmp_path / "spool", source).words
    assert "a formula the value that is stored with it, which is none where no" in words


def test_excel_keeps_errors_and_texts_that_look_like_them(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in (["premise", "n"], ["a", "#N/A"], ["b", "#DIV/0!"], ["c", "#N/A"]):
        sheet.append(row)
    sheet["B4"].data_type = "s"
    book.save(tmp_path / "a.xlsx")
    out = scored(open_source(tmp_path / "a.xlsx"), tmp_path / "b.xlsx")
    cells = [row[1] for row in openpyxl.load_workbook(out).worksheets[0].iter_rows(min_row=2)]
    assert [(cell.value, cell.data_type) for cell in cells] == [
        *(("#N/A", "e"), ("#DIV/0!", "e"), ("#N/A", "s"))
    ]


def test_a_workbook_does_not_say_when_it_was_written(workbook: Path) -> None:
    out = scored(open_source(workbook), workbook.with_name("b.xlsx"))
    with zipfile.ZipFile(out) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {part.compress_type for part in parts.infolist()} == {zipfile.ZIP_DEFLATED}
        dates = re.findall(rb">([0-9T:Z-]+)</dcterms:", parts.read("docProps/core.xml"))
        assert dates == [b"1980-01-01T00:00:00Z"] * 2


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".tsv", ".csv.zst"])
def test_excel_can_be_written_in_other_forms(suffix: str, workbook: Path) -> None:
    out = scored(open_source(workbook), workbook.with_name(f"b{suffix}"))
    first, second = open_source(out).records()
    assert (first.cells["premise"], second.cells["premise"]) == ("a", "=1+1")
    assert str(first.cells["n"]) in ("7", "7.0")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("a\x01b", "a\N{REPLACEMENT CHARACTER}b"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02 00:00:00+00:00"),
        (float("inf"), "inf"),
        ([1, 2], "[1, 2]"),
    ],
)
def test_what_no_workbook_holds_is_text_in_it(tmp_path: Path, cell: object, text: str) -> None:
    pq.write_table(pa.table({"premise": ["a"], "own": [cell]}), tmp_path / "a.parquet")
    out = scored(open_source(tmp_path / "a.parquet"), tmp_path / "b.xlsx")
    assert openpyxl.load_workbook(out).worksheets[0]["B2"].value == text


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".xlsx", ".parquet.gz"])
@pytest.mark.parametrize("form", [".csv", ".parquet", ".xlsx"])
def test_rows_behind_some_that_are_not_scored_keep_their_own_values(
    form: str, suffix: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("id,text\n" + "".join(f"{at},{at}\n" for at in range(6)))
    source = open_source(scored(open_source(tmp_path / "a.csv"), tmp_path / f"in{form}"))
    output = Output(tmp_path / f"b{suffix}", ("mine",), tmp_path / "spool", source)
    rows = [(record, [f"of {record.cells['id']}"]) for record in source.records()]
    output.write(rows[:1])
    output.write(rows[3:5])
    output.finish()
    cells = [record.cells for record in open_source(output.path).records()]
    assert [f"{each['id']} {each['mine']}" for each in cells] == ["0 of 0", "3 of 3", "4 of 4"]


def test_any_form_can_be_written_as_excel(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("premise,hypothesis\n=HYPERLINK(1),007\n")
    out = scored(open_source(tmp_path / "a.csv"), tmp_path / "b.xlsx")
    cells = list(openpyxl.load_workbook(out).worksheets[0].iter_rows())[1]
    assert [cell.value for cell in cells] == ["=HYPERLINK(1)", "007", *VALUES]
    assert cells[0].data_type == "s"


FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)
PLAIN = st.text("ab \u00e9", min_size=1, max_size=4)


@STEADY
@given(
    st.lists(st.tuples(PLAIN, FIELD), min_size=1, max_size=5),
    st.sampled_from(",;|\t"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    st.booleans(),
)
def test_any_csv_comes_back_byte_by_byte(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]],
    mark: str,
    end: str,
    encoding: str,
    quoted: bool,
) -> None:
    folder = tmp_path_factory.mktemp("csv")
    text = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(text, delimiter=mark, lineterminator=end, quoting=quoting).writerows(
        [("premise", f"h{mark}i"), *rows]
    )
    (folder / "a.csv").write_bytes(text.getvalue().encode(encoding))
    source = open_source(folder / "a.csv")
    if source.rows != len(rows):  # a lone mark in a field may make another line of it
        return
    output = Output(folder / "b.csv", ("ours",), folder / "spool", source)
    output.write((record, ["\u2603"]) for record in source.records())
    output.finish()
    again = open_source(folder / "b.csv")
    originals = list(source.records())
    copies = list(again.records())
    assert len(copies) == len(originals) == len(rows)
    for original, copy in zip(originals, copies, strict=True):
        assert copy.written.startswith(original.written)
        assert copy.cells == {**original.cells, "ours": "\u2603"}
