"""How far a file is read: no further than to the first bound that it passes."""

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from benchmarks.reading_process import Reading, read_in_process
from probe.data.source import read_table
from probe.errors import FileError, LimitError
from probe.limits import Bounds
from tests.support.cases import check_each, each

BOUNDS = Bounds(max_unpacked_mb=1, max_rows=3, max_columns=4, max_cell=10)
"""Small ones, as no app has them."""


def parquet(**columns: object) -> bytes:
    """Return columns as a Parquet file."""
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def repeated(value: object, rows: int, offsets: range | None = None) -> pa.Array:
    """Return a column that holds one value many times and once in the file."""
    values = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([value]))
    return values if offsets is None else pa.ListArray.from_arrays(pa.array(offsets), values)


def arrow(table: pa.Table, packing: str | None = None) -> bytes:
    """Return a table as a stream of Arrow, whose buffers may be packed."""
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=packing)
    with pa.ipc.new_stream(file, table.schema, options=options) as writer:
        writer.write_table(table)
    return file.getvalue()


WRITERS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    "a.csv": lambda frame: frame.to_csv(index=False).encode(),
    "a.jsonl": lambda frame: frame.to_json(orient="records", lines=True).encode(),
    "a.json": lambda frame: frame.to_json(orient="records", indent=1).encode(),
    "a.parquet": lambda frame: parquet(**frame),
    "a.arrow": lambda frame: arrow(pa.table(frame)),
}


def equal(rows: int = 1, columns: int = 2, cell: str = "a") -> pd.DataFrame:
    """Return equal cells."""
    return pd.DataFrame({f"c{number}": [cell] * rows for number in range(columns)})


TOO_MANY: dict[str, dict[str, Any]] = {
    "the file has more than 3 rows": {"rows": 4},
    "the file has more than 4 columns": {"columns": 5},
    "a cell of the file has more than 10 characters": {"cell": "b" * 11},
}


@each("name", WRITERS)
@each("packed", ["", ".gz"])
def test_a_file_at_its_bounds_is_read_and_one_above_is_refused(
    name: str, packed: str, tmp_path: Path
) -> None:
    def write(**size: Any) -> Path:
        data = WRITERS[name](equal(**size))
        (tmp_path / f"{name}{packed}").write_bytes(gzip.compress(data) if packed else data)
        return tmp_path / f"{name}{packed}"

    table = read_table(write(rows=3, columns=4, cell="b" * 10), BOUNDS)
    assert (table.frame.shape, table.bounds) == ((3, 4), BOUNDS)
    for sentence, size in TOO_MANY.items():
        with pytest.raises(LimitError, match=f"^{sentence}"):
            read_table(write(**size), BOUNDS)


def test_the_columns_of_all_rows_of_json_count(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1, "b": 2}\n{"c": 3, "d": 4}\n{"e": 5}\n')
    with pytest.raises(LimitError, match=r"^the file has more than 4 columns"):
        read_table(tmp_path / "a.jsonl", BOUNDS)


LARGE = 40_000_000
"""Less than a public app unpacks, so that the other bounds are met."""


def packed(start: bytes, unit: bytes, size: int = LARGE) -> bytes:
    """Return the gzip of a start and very many units."""
    block = unit * (1_000_000 // len(unit))
    return gzip.compress(start) + gzip.compress(block) * (size // len(block))


SHARED = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"


def workbook(end: str, more: str, texts: int = 0) -> bytes:
    """Return a workbook of one pair with more before the end of an element, and shared texts."""
    book, file, out = Workbook(), io.BytesIO(), io.BytesIO()
    for row in (["premise", "hypothesis"], ["a", "b"]):
        book.active.append(row)  # type: ignore[union-attr]  # a new book has a sheet
    book.save(file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name).decode()
            new.writestr(name, text.replace(end, more + end))
        new.writestr("xl/texts.xml", f"<sst>{'<si/>' * texts}</sst>")
    return out.getvalue()


def parts(count: int) -> bytes:
    """Return an archive of so many empty files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number:x}", "")
    return file.getvalue()


def row_groups(count: int) -> bytes:
    """Return a Parquet file of so many groups of no rows."""
    file = io.BytesIO()
    with pq.ParquetWriter(file, pa.schema([("a", pa.string())])) as writer:
        for _ in range(count):
            writer.write_batch(pa.record_batch([pa.array([], pa.string())], ["a"]))
    return file.getvalue()


def empty_batches(count: int) -> bytes:
    """Return a stream of Arrow of so many batches of no rows."""
    file, empty = io.BytesIO(), pa.record_batch([pa.array([], pa.string())], ["a"])
    with pa.ipc.new_stream(file, empty.schema) as writer:
        for _ in range(count):
            writer.write_batch(empty)
    return gzip.compress(file.getvalue())


def claiming(size: int) -> bytes:
    """Return a stream of Arrow, a packed buffer of which claims another size."""
    data = arrow(pa.table({"a": ["b" * 90_000]}), "zstd")
    return data.replace((90_000).to_bytes(8, "little"), size.to_bytes(8, "little"))


NOTHING = pa.nulls(20_000_000)
LONG = "b" * 90_000
WITHIN = pa.array([{f"c{number}": 1 for number in range(5000)}])
RUN = pa.RunEndEncodedArray.from_arrays(pa.array([2_000_000_000], pa.int32()), pa.array(["b"]))
ARROW_BOMBS = {
    "rows.arrow": lambda: arrow(pa.table({"a": NOTHING})),
    "a list of nothing.arrow": lambda: arrow(
        pa.table({"a": pa.ListArray.from_arrays(pa.array([0, 20_000_000], pa.int32()), NOTHING)})
    ),
    "structures of nothing.arrow": lambda: arrow(
        pa.table({"a": pa.StructArray.from_arrays([NOTHING], ["b"])})
    ),
    "a text many times.arrow": lambda: arrow(pa.table({"a": repeated(LONG, 19_000)})),
    "packed.arrow": lambda: arrow(pa.table({"a": [LONG] * 4000}), "zstd"),
    "packed.arrow.gz": lambda: gzip.compress(arrow(pa.table({"a": [LONG] * 4000}))),
    "a packed dictionary.arrow": lambda: arrow(
        pa.table({"a": pa.array([f"{at:090000}" for at in range(4000)]).dictionary_encode()}),
        "zstd",
    ),
    "a claim.arrow": lambda: claiming(1 << 40),
    "a false claim.arrow": lambda: claiming(90_001),
    "a claim below nothing.arrow": lambda: claiming((1 << 64) - 9),
    "columns.arrow": lambda: arrow(pa.table(equal(columns=5000))),
    "columns within.arrow": lambda: arrow(pa.table({"a": WITHIN})),
    "empty batches.arrow.gz": lambda: empty_batches(25_000),
    "a run.arrow": lambda: arrow(pa.table({"a": RUN})),
    "views.arrow": lambda: arrow(pa.table({"a": pa.array(["b"], pa.string_view())})),
    "half.arrow": lambda: arrow(pa.table(equal(1000)))[:2000],
    "long metadata.arrow": lambda: b"\xff" * 7 + b"\x7f" + arrow(pa.table(equal()))[8:],
    "no message.arrow": lambda: b"ARROW1\0\0" + b"\0" * 100,
}
BOMBS = {
    **ARROW_BOMBS,
    "very much.csv.gz": lambda: packed(b"a\n", b"b\n", 300_000_000),
    "rows of one character.csv.gz": lambda: packed(b"a\n", b"b\n"),
    "one cell.csv.gz": lambda: packed(b"a\n", b"b"),
    "one quoted cell.csv.gz": lambda: packed(b'a\n"', b"b\n"),
    "columns.csv.gz": lambda: packed(b"a", b",b"),
    "blank lines.csv.gz": lambda: packed(b"a\n", b"\n"),
    "blank lines first.csv.gz": lambda: packed(b"", b"\n") + gzip.compress(b"a\nb\n"),
    "rows longer than the header.csv.gz": lambda: packed(b"a\n", b"b," * 400_000 + b"\n"),
    "rows.jsonl.gz": lambda: packed(b"", b'{"a": 1}\n'),
    "one cell.jsonl.gz": lambda: packed(b'{"a": "', b"b"),
    "lists.jsonl.gz": lambda: packed(b'{"a": [', b"[],"),
    "rows.json.gz": lambda: packed(b"[", b'{"a": 1},'),
    "one row.json.gz": lambda: packed(b'[{"a": [', b"{},"),
    "spaces.json.gz": lambda: packed(b"[", b" ", 300_000_000),
    "empty objects.json.gz": lambda: packed(b"[", b"{},"),
    "empty articles.json.gz": lambda: packed(b'{"data": [', b'{"paragraphs": []},'),
    "empty paragraphs.json.gz": lambda: packed(b'{"data": [{"paragraphs": [', b"{},"),
    "behind the articles.json.gz": lambda: packed(b'{"data": [], "a": [', b"[],"),
    "columns.parquet": lambda: parquet(**{f"c{number}": [1] for number in range(5000)}),
    "a text many times.parquet": lambda: parquet(a=repeated(LONG, 20_000)),
    "a list of a text.parquet": lambda: parquet(a=repeated(LONG, 20_000, range(0, 20_001, 20_000))),
    "a long list.parquet": lambda: parquet(
        a=repeated("b", 20_000_000, range(0, 20_000_001, 20_000_000))
    ),
    "row groups.parquet": lambda: row_groups(25_000),
    "rows.parquet": lambda: parquet(a=pa.nulls(20_000_000, pa.int64())),
    "rows.parquet.gz": lambda: gzip.compress(parquet(a=pa.nulls(20_000_000, pa.int64()))),
    "row number.xlsx": lambda: workbook("</sheetData>", '<row r="2000000000"/>'),
    "row number as a fraction.xlsx": lambda: workbook("</sheetData>", '<row r="2e9"/>'),
    "empty rows.xlsx": lambda: workbook("</sheetData>", "<row/>" * 10_000_000),
    "a place in a row.xlsx": lambda: workbook("</row>", '<c r="ZZ3"/>'),
    "cells of a row.xlsx": lambda: workbook("</row>", "<c/>" * 5_000_000),
    "shared texts.xlsx": lambda: workbook(
        "</Types>", f'<Override PartName="/xl/texts.xml" ContentType="{SHARED}"/>', 11_000_000
    ),
    "merged cells.xlsx": lambda: workbook(
        "</worksheet>", f"<mergeCells>{'<mergeCell/>' * 3_000_000}</mergeCells>"
    ),
    "styles.xlsx": lambda: workbook("</cellXfs>", "<xf/>" * 10_000_000),
    "parts.xlsx": lambda: parts(15_000),
}
"""Small files that are large once they are read."""
SECONDS = 20
"""Within which each is refused, on a busy machine too; what they hold takes minutes."""


def test_a_bound_ends_the_reading_before_it_fills_the_memory(tmp_path: Path) -> None:
    """Each is read in a process of its own, with the limits of a public app."""
    for name, make in BOMBS.items():
        (tmp_path / name).write_bytes(make())
    readings = read_in_process(tmp_path / name for name in BOMBS)

    def check(reading: Reading) -> None:
        assert reading.kind in ("LimitError", "FileError"), reading
        assert reading.seconds < SECONDS and reading.peak_megabytes < 100, reading
        assert reading.packed_megabytes < 2

    check_each({reading.name: reading for reading in readings}, check)


def test_of_gzip_all_members_are_read_and_within_bounds_not_very_many(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    members = [b"premise,hypo", b"", b"thesis\na,", b"b\n"]
    path.write_bytes(b"".join(map(gzip.compress, members)) + b"\0" * 512)
    assert read_table(path).frame.to_numpy().tolist() == [["a", "b"]]
    path.write_bytes(gzip.compress(b"premise\na\n") + gzip.compress(b"") * 100_000)
    with pytest.raises(FileError, match=r"^a\.csv\.gz cannot be opened: it has more than 100,000"):
        read_table(path, BOUNDS)
    assert list(read_table(path).frame["premise"]) == ["a"]


def test_characters_and_json_of_any_layout_may_lie_across_pieces(tmp_path: Path) -> None:
    for piece in (21, 65_536, 1 << 18, (1 << 18) + 1):
        text = "premise,hypothesis\n" + ("a" * (piece - 20) + "😀é") * 2 + ",b\n"
        (tmp_path / "a.csv").write_bytes(text.encode())
        assert read_table(tmp_path / "a.csv").frame.iloc[0, 0] == text.split("\n")[1][:-2], piece
    chance = random.Random(0)
    rows = [{"a": "x" * chance.randrange(5000), "b": number} for number in range(100)]
    for indent in (None, 0, 7):
        (tmp_path / "a.json").write_text(json.dumps(rows, indent=indent))
        assert read_table(tmp_path / "a.json").frame.to_dict("records") == rows
