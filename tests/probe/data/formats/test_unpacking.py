"""Packed Parquet and Excel files lie unpacked on the disk for as long as they are read."""

import gzip
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probe.data.source import open_source
from probe.data.writers import Output
from probe.errors import FileError, LimitError
from probe.limits import Bounds

PACK = {".gz": gzip.compress, ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True)}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(params=[".parquet", ".xlsx"])
def plain(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of five rows, not packed."""
    path = tmp_path / f"a{request.param}"
    rows: list[dict[str, Any]] = [{"id": at, "text": f"text {at}"} for at in range(5)]
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    book = openpyxl.Workbook()
    for cells in (list(rows[0]), *(list(row.values()) for row in rows)):
        book.worksheets[0].append(cells)
    book.save(path)
    return path


def packed(plain: Path, packing: str) -> Path:
    """Return the file packed."""
    path = plain.with_name(f"{plain.name}{packing}")
    path.write_bytes(PACK[packing](plain.read_bytes()))
    return path


@pytest.mark.parametrize("packing", PACK)
def test_an_unpacked_copy_is_gone_when_the_rows_are_read_or_left(
    packing: str, plain: Path, place: Path
) -> None:
    records = open_source(packed(plain, packing)).records()
    assert [record.cells["id"] for record in islice(records, 2)] == [0, 1]
    (copy,) = (path for path in place.rglob("*") if path.is_file())
    assert copy.read_bytes() == plain.read_bytes()
    del records
    assert list(place.iterdir()) == []


def test_an_unpacked_copy_is_gone_after_an_error(plain: Path, place: Path) -> None:
    broken = plain.with_name(f"b{plain.suffix}.gz")
    broken.write_bytes(gzip.compress(bytes(2_000_000)))
    with pytest.raises(FileError):
        open_source(broken)
    with pytest.raises(LimitError):
        open_source(broken, Bounds(max_unpacked_mb=1))
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("packing", PACK)
def test_a_file_is_packed_a_piece_at_a_time(
    packing: str, plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} is read at once"))
    source = open_source(plain)
    out = tmp_path / f"out{plain.suffix}{packing}"
    output = Output(out, ("mine",), tmp_path / "spool", source)
    output.write((record, [record.number]) for record in source.records())
    output.finish()
    assert [record.cells["mine"] for record in open_source(out).records()] == list(range(5))
    assert not list(tmp_path.glob(".out*"))
