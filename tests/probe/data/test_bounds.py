"""How far a file is read: no further than to the first bound that it passes."""

import gzip
import io
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.reading_process import Reading, read_in_process
from probe.data.tables import read_table
from probe.errors import FileError, LimitError
from probe.limits import Bounds

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


def csv_of(rows: int = 1, columns: int = 2, cell: str = "a") -> bytes:
    """Return a CSV file of equal cells."""
    header = ",".join(f"c{number}" for number in range(columns))
    return "\n".join([header, *[",".join([cell] * columns)] * rows, ""]).encode()


def jsonl_of(rows: int = 1, columns: int = 2, cell: str = "a") -> bytes:
    """Return JSON lines of equal cells."""
    row = json.dumps({f"c{number}": cell for number in range(columns)})
    return (row + "\n").encode() * rows


def list_of(rows: int = 1, columns: int = 2, cell: str = "a") -> bytes:
    """Return a JSON list of equal cells."""
    row = {f"c{number}": cell for number in range(columns)}
    return json.dumps([row] * rows, indent=1).encode()


def parquet_of(rows: int = 1, columns: int = 2, cell: str = "a") -> bytes:
    """Return a Parquet file of equal cells."""
    return parquet(**{f"c{number}": [cell] * rows for number in range(columns)})


MAKERS = {"a.csv": csv_of, "a.jsonl": jsonl_of, "a.json": list_of, "a.parquet": parquet_of}


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", MAKERS)
def test_a_file_at_its_bounds_is_read(name: str, packed: str, tmp_path: Path) -> None:
    data = MAKERS[name](rows=3, columns=4, cell="b" * 10)
    (tmp_path / (name + packed)).write_bytes(gzip.compress(data) if packed else data)
    table = read_table(tmp_path / (name + packed), BOUNDS)
    assert table.frame.shape == (3, 4)
    assert table.bounds == BOUNDS


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    ("size", "sentence"),
    [
        ({"rows": 4}, "the file has more than 3 rows"),
        ({"columns": 5}, "the file has more than 4 columns"),
        ({"cell": "b" * 11}, "a cell of the file has more than 10 characters"),
    ],
)
@pytest.mark.parametrize("name", MAKERS)
def test_a_file_one_above_a_bound_is_refused(
    name: str, size: dict[str, int | str], sentence: str, packed: str, tmp_path: Path
) -> None:
    data = MAKERS[name](**size)  # type: ignore[arg-type]  # each size has its own type
    (tmp_path / (name + packed)).write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(LimitError, match=f"^{sentence}"):
        read_table(tmp_path / (name + packed), BOUNDS)


LARGE = 40_000_000
"""Less than a public app unpacks, so that the other bounds are met."""


def packed(start: bytes, unit: bytes, size: int = LARGE) -> bytes:
    """Return the gzip of a start and very many units."""
    block = unit * (1_000_000 // len(unit))
    return gzip.compress(start) + gzip.compress(block) * (size // len(block))


BOMBS = {
    "very much.csv.gz": lambda: packed(b"a\n", b"b\n", 300_000_000),
    "rows of one character.csv.gz": lambda: packed(b"a\n", b"b\n"),
    "one cell.csv.gz": lambda: packed(b"a\n", b"b"),
    "one quoted cell.csv.gz": lambda: packed(b'a\n"', b"b\n"),
    "columns.csv.gz": lambda: packed(b"a", b",b"),
    "blank lines.csv.gz": lambda: packed(b"a\n", b"\n"),
    "rows.jsonl.gz": lambda: packed(b"", b'{"a": 1}\n'),
    "one cell.jsonl.gz": lambda: packed(b'{"a": "', b"b"),
    "lists.jsonl.gz": lambda: packed(b'{"a": [', b"[],"),
    "rows.json.gz": lambda: packed(b"[", b'{"a": 1},'),
    "one row.json.gz": lambda: packed(b'[{"a": [', b"{},"),
    "spaces.json.gz": lambda: packed(b"[", b" ", 300_000_000),
    "columns.parquet": lambda: parquet(**{f"c{number}": [1] for number in range(5000)}),
    "a text many times.parquet": lambda: parquet(a=repeated("b" * 90_000, 20_000)),
    "a list of a text.parquet": lambda: parquet(
        a=repeated("b" * 90_000, 20_000, range(0, 20_001, 20_000))
    ),
    "a long list.parquet": lambda: parquet(
        a=repeated("b", 20_000_000, range(0, 20_000_001, 20_000_000))
    ),
    "rows.parquet": lambda: parquet(a=pa.nulls(20_000_000, pa.int64())),
    "rows.parquet.gz": lambda: gzip.compress(parquet(a=pa.nulls(20_000_000, pa.int64()))),
}
"""Small files that are large once they are read."""


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reading]:
    """How each of them was read in a process of its own, with the limits of a public app."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, make in BOMBS.items():
        (folder / name).write_bytes(make())
    return {reading.name: reading for reading in read_in_process(folder / name for name in BOMBS)}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bound_ends_the_reading_before_it_fills_the_memory(
    name: str, readings: dict[str, Reading]
) -> None:
    assert readings[name].kind == "LimitError"
    assert readings[name].packed_megabytes < 2
    assert readings[name].peak_megabytes < 100


def test_a_gzip_of_very_many_members_is_refused_within_bounds_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"premise\na\n") + gzip.compress(b"") * 100_000)
    with pytest.raises(FileError, match=r"^a\.csv\.gz cannot be opened: it has more than 100,000"):
        read_table(path, BOUNDS)
    assert list(read_table(path).frame["premise"]) == ["a"]


def test_all_members_of_a_gzip_are_read_and_zeros_behind_them_are_not(tmp_path: Path) -> None:
    members = [b"premise,hypo", b"", b"thesis\na,", b"b\n"]
    data = b"".join(map(gzip.compress, members)) + b"\0" * 512
    (tmp_path / "a.csv.gz").write_bytes(data)
    assert read_table(tmp_path / "a.csv.gz").frame.to_numpy().tolist() == [["a", "b"]]


@pytest.mark.parametrize("piece", [1, 65_536, 1 << 18, (1 << 18) + 1])
def test_a_character_may_lie_across_pieces(piece: int, tmp_path: Path) -> None:
    text = "premise,hypothesis\n" + ("a" * (piece - 20) + "😀é") * 2 + ",b\n"
    (tmp_path / "a.csv").write_bytes(text.encode())
    assert read_table(tmp_path / "a.csv").frame.iloc[0, 0] == text.split("\n")[1][:-2]


def test_a_json_list_of_any_layout_is_read_piece_by_piece(tmp_path: Path) -> None:
    chance = random.Random(0)
    rows = [{"a": "x" * chance.randrange(5000), "b": number} for number in range(100)]
    for indent in (None, 0, 7):
        (tmp_path / "a.json").write_text(json.dumps(rows, indent=indent))
        assert read_table(tmp_path / "a.json").frame.to_dict("records") == rows
