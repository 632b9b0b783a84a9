"""Files as people should not send them, made by a seed: broken on purpose, or good ones damaged."""

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

Chance = random.Random
Made = tuple[str, bytes]
"""A file's name and what it holds."""
PREMISES = ("A man walks to the park.", "Two dogs run in the snow.", "Ola swims every morning.")
HYPOTHESES = ("He moves.", "The dogs sleep.", "Ça va très bien, naïve façade.", "Ola swims.")
GOLDS = ("entailment", "neutral", "contradiction", "-", "e", "")
HEADER = "premise,hypothesis,label\n"


@dataclass(frozen=True)
class BadFile:
    """A file, and of which kind it is."""

    kind: str
    name: str
    data: bytes


def rows(chance: Chance, count: int = 4) -> list[dict[str, object]]:
    """Return rows that are in order."""
    return [
        {
            "premise": chance.choice(PREMISES),
            "hypothesis": chance.choice(HYPOTHESES),
            "label": chance.choice(GOLDS),
        }
        for _ in range(count)
    ]


def delimited(chance: Chance, mark: str = ",", end: str = "\n") -> str:
    """Return rows as CSV, or as TSV."""
    lines = [mark.join(f'"{cell}"' for cell in row.values()) for row in rows(chance)]
    text = end.join([HEADER.strip().replace(",", mark), *lines, ""])
    return text.replace('"', "") if mark == "\t" else text


def jsonl(chance: Chance, **cells: object) -> bytes:
    """Return rows as JSON lines, the last one with other cells."""
    *first, last = rows(chance)
    return "".join(json.dumps(row) + "\n" for row in [*first, {**last, **cells}]).encode()


def parquet(chance: Chance, **columns: object) -> bytes:
    """Return rows as Parquet, with further columns."""
    table = pa.Table.from_pylist(rows(chance))
    for name, column in columns.items():
        table = table.append_column(name, pa.array(column))
    return stored(table)


def stored(table: pa.Table) -> bytes:
    """Return a table as Parquet."""
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def archive(name: str) -> bytes:
    """Return a ZIP archive, as spreadsheets are."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr(name, HEADER)
    return file.getvalue()


def nested(depth: int) -> bytes:
    """Return a row with lists inside one another."""
    cell = b"[" * depth + b"]" * depth
    return b'{"premise": "a", "hypothesis": "b", "tags": ' + cell + b"}\n"


def repeated(size: int, count: int) -> bytes:
    """Return Parquet that holds one long text many times and once in the file."""
    numbers = pa.array([0] * count, pa.int32())
    texts = pa.DictionaryArray.from_arrays(numbers, pa.array(["x" * size]))
    return stored(pa.table({"text": texts}))


KINDS: dict[str, Callable[[Chance], Made]] = {
    "nothing": lambda chance: ("a.csv", b""),
    "blank": lambda chance: ("a.csv", b" \r\n\t\n"),
    "a mark alone": lambda chance: ("a.jsonl", b"\xef\xbb\xbf"),
    "a header alone": lambda chance: ("a.csv", HEADER.encode()),
    "no columns of texts": lambda chance: ("a.csv", b"text,label\na,e\n"),
    "zeros": lambda chance: ("a.csv", b"\0" * 5000),
    "a zero in a cell": lambda chance: ("a.csv", HEADER.encode() + b"a\0b,c,e\n"),
    "UTF-16": lambda chance: ("a.csv", delimited(chance).encode("utf-16")),
    "UTF-16 without a mark": lambda chance: ("a.csv", delimited(chance).encode("utf-16-le")),
    "half of UTF-16": lambda chance: ("a.csv", delimited(chance).encode("utf-16")[:-1]),
    "UTF-32": lambda chance: ("a.tsv", delimited(chance, "\t").encode("utf-32")),
    "Latin-1": lambda chance: ("a.csv", delimited(chance).encode("latin-1")),
    "noise": lambda chance: ("a.csv", chance.randbytes(3000)),
    "mixed line ends": lambda chance: ("a.csv", HEADER.encode() + b"a,b,e\rc,d,n\r\ne,f,c\n\r"),
    "ragged": lambda chance: ("a.csv", HEADER.encode() + b"a,b,e\nc\nd,e,f,g,h\n,,\n"),
    "names twice": lambda chance: ("a.csv", b"premise,hypothesis,premise\na,b,c\n"),
    "no names": lambda chance: ("a.csv", b"premise,hypothesis,,\na,b,c,d\n"),
    "a quote without end": lambda chance: ("a.csv", HEADER.encode() + b'"a,b,e\n' * 5),
    "a long cell": lambda chance: ("a.csv", HEADER.encode() + b"x" * 300_000 + b",b,e\n"),
    "many columns": lambda chance: ("a.csv", b"c," * 3000 + b"\n" + b"x," * 3000),
    "many rows": lambda chance: ("a.csv", b"text\n" + b"x\n" * 30_000),
    "an archive": lambda chance: ("a.csv", archive("a.csv")),
    "a spreadsheet": lambda chance: ("a.xlsx", archive("xl/workbook.xml")),
    "a PDF": lambda chance: ("a.tsv", b"%PDF-1.7\n" + chance.randbytes(300)),
    "a picture": lambda chance: ("a.csv", b"\x89PNG\r\n\x1a\n" + chance.randbytes(300)),
    "Parquet as CSV": lambda chance: ("a.csv", parquet(chance)),
    "CSV as Parquet": lambda chance: ("a.parquet", delimited(chance).encode()),
    "CSV as JSON lines": lambda chance: ("a.jsonl", delimited(chance).encode()),
    "lists without end": lambda chance: ("a.jsonl", nested(100_000)),
    "lists in lists": lambda chance: ("a.jsonl", nested(200)),
    "lists in a list": lambda chance: ("a.json", b"[" + nested(5000) + b"]"),
    "a very long number": lambda chance: ("a.jsonl", b'{"premise": ' + b"9" * 5000 + b"}\n"),
    "half a character": lambda chance: ("a.jsonl", jsonl(chance, hypothesis="a \ud800")),
    "half a character in a name": lambda chance: ("a.jsonl", jsonl(chance, **{"\udfff": 1})),
    "no numbers": lambda chance: ("a.jsonl", jsonl(chance, premise=float("nan"), n=float("inf"))),
    "objects as cells": lambda chance: (
        "a.jsonl",
        jsonl(chance, premise={"a": ["b"]}, tags=[1]),
    ),
    "an object as label": lambda chance: ("a.jsonl", jsonl(chance, label={"gold": "e"})),
    "a long label": lambda chance: ("a.jsonl", jsonl(chance, label="x" * 9000)),
    "numbers as texts": lambda chance: ("a.jsonl", jsonl(chance, premise=7, hypothesis=True)),
    "lines of numbers": lambda chance: ("a.jsonl", b"1\n2\n"),
    "a list of numbers": lambda chance: ("a.json", b"[1, 2]"),
    "a list without end": lambda chance: ("a.json", b"[" + jsonl(chance).replace(b"\n", b",")),
    "something behind a list": lambda chance: ("a.json", b'[{"premise": "a"}] x'),
    "something behind a row": lambda chance: ("a.jsonl", b'{"premise": "a"} {"premise": "b"}\n'),
    "a name in each row": lambda chance: (
        "a.jsonl",
        b"".join(b'{"k%d": 1}\n' % number for number in range(3000)),
    ),
    "missing numbers": lambda chance: (
        "a.parquet",
        parquet(chance, n=[1, None, 3, None], tags=[["a"], [], None, ["b", "c"]]),
    ),
    "bytes": lambda chance: ("a.parquet", parquet(chance, claim=[b"a", b"\xff", b"", None])),
    "texts that are none": lambda chance: (
        "a.parquet",
        stored(pa.table({"premise": pa.array([b"a\xff"]).view(pa.string()), "hypothesis": ["b"]})),
    ),
    "structures": lambda chance: ("a.parquet", parquet(chance, s=[{"a": [{"b": 1}]}] * 4)),
    "names twice in Parquet": lambda chance: (
        "a.parquet",
        stored(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["premise", "premise"])),
    ),
    "Parquet without rows": lambda chance: ("a.parquet", stored(pa.table({"premise": []}))),
    "a text many times": lambda chance: ("a.parquet", repeated(150_000, 2000)),
    "cut gzip": lambda chance: ("a.csv.gz", gzip.compress(delimited(chance).encode())[:-9]),
    "gzip of gzip": lambda chance: ("a.csv.gz", gzip.compress(gzip.compress(b"a,b\nc,d\n"))),
    "many members": lambda chance: (
        "a.csv.gz",
        gzip.compress(delimited(chance).encode()) + gzip.compress(b"") * 2000,
    ),
    "noise behind gzip": lambda chance: (
        "a.csv.gz",
        gzip.compress(delimited(chance).encode()) + chance.randbytes(50),
    ),
    "much in little": lambda chance: ("a.csv.gz", gzip.compress(b"text\n" + b"x" * 5_000_000)),
    "a long name": lambda chance: ("n" * 240 + ".csv", delimited(chance).encode()),
    "a name of an ending": lambda chance: (".csv", delimited(chance).encode()),
    "a name of odd characters": lambda chance: (
        "é \u202e<b>'\";=&$(x).v2.csv",
        delimited(chance).encode(),
    ),
    "a name without ending": lambda chance: ("pairs", delimited(chance).encode()),
}
"""By what is wrong."""

GOOD: dict[str, Callable[[Chance], bytes]] = {
    "a.csv": lambda chance: delimited(chance).encode(),
    "a.tsv": lambda chance: delimited(chance, "\t").encode(),
    "a.jsonl": jsonl,
    "a.json": lambda chance: json.dumps(rows(chance)).encode(),
    "a.parquet": parquet,
    "a.csv.gz": lambda chance: gzip.compress(delimited(chance).encode(), mtime=0),
}
"""Files that are in order, to be damaged."""


INSERTED = (b"\0", b'"', b"\n", b"[", b",", b"\xff\xfe", b"\xed\xa0\x80", b"\x1f\x8b")


def truncated(chance: Chance, data: bytes) -> bytes:
    """Return the beginning of a file."""
    return data[: chance.randrange(len(data))]


def flipped(chance: Chance, data: bytes) -> bytes:
    """Return a file with some bits turned over."""
    damaged = bytearray(data)
    for _ in range(chance.choice((1, 2, 8, 64))):
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def inserted(chance: Chance, data: bytes) -> bytes:
    """Return a file with some bytes more."""
    at = chance.randrange(len(data))
    more = chance.choice(INSERTED)
    return data[:at] + more * chance.choice((1, 3, 1000)) + data[at:]


def reencoded(chance: Chance, data: bytes) -> bytes:
    """Return a file whose beginning and end are in two encodings."""
    at, encoding = chance.randrange(len(data)), chance.choice(("utf-16", "cp1252", "utf-32-be"))
    return data[:at] + data[at:].decode("latin-1").encode(encoding, errors="replace")


DAMAGES = (truncated, flipped, inserted, reencoded)


def one_of_each(seed: int) -> Iterator[BadFile]:
    """Yield a file of each kind, then each good file damaged in each way; the same for a seed."""
    for kind, make in KINDS.items():
        yield BadFile(kind, *make(Chance(f"{seed}|{kind}")))
    for name, make_good in GOOD.items():
        for damage in DAMAGES:
            chance = Chance(f"{seed}|{name}|{damage.__name__}")
            yield BadFile(damage.__name__, name, damage(chance, make_good(chance)))


def bad_files(count: int) -> Iterator[BadFile]:
    """Yield so many files: one of each by a seed after the other."""
    seed = made = 0
    while True:
        for bad in one_of_each(seed):
            if made == count:
                return
            yield bad
            made += 1
        seed += 1
