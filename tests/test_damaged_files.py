"""Files of every kind that a person hands over, damaged in every way: a sentence of our own each.

A reader is a library behind a command. No damage may end in a traceback, and no sentence may speak
of the library.
"""

import gzip
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from finetune.training.checkpoints import averages_and_scores
from probe.checkup.report import REFERENCES
from probe.errors import UserError
from probe.runs import gallery
from probe.scoring.files import STATE, read_identity
from probe.templates import grammar
from tests.support.cases import check_each
from tests.support.commands import run

FRAME = pd.DataFrame({"premise": ["A man runs.", "It rains."], "hypothesis": ["He moves.", "Sun."]})
SQUAD = {"data": [{"paragraphs": [{"context": "Ada swam.", "qas": [{"question": "Who?", "id": "1",
    "answers": [{"text": "Ada", "answer_start": 0}]}]}]}]}  # fmt: skip
LIBRARY = re.compile(
    r"pyarrow|pandas|openpyxl|safetensors?_|tomllib|pydantic|tokenizers|zipfile|json\.decoder"
    r"|\w(Error|Exception)\b|Invalid\b|Expecting|NoneType|Traceback|codec|magic|\(char |<class"
    r"|thrift|object (has no|cannot)|subscriptable|deserializ|validation|Unexpected|untagged",
    re.IGNORECASE,
)
"""What libraries say, and we do not."""
PAGE = b"<!DOCTYPE html>\n<html><body><table><tr><td>premise</td></tr></table></body></html>\n"


def flipped(data: bytes) -> bytes:
    """Return bytes of which some have a bit turned over, the first ones too."""
    chance, damaged = random.Random(0), bytearray(data)
    for at in (0, *(chance.randrange(len(data)) for _ in range(8))):
        damaged[at] ^= 1 << chance.randrange(7)
    return bytes(damaged)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "noise": lambda data: random.Random(len(data)).randbytes(3000),
    "a web page": lambda data: PAGE,
    "flipped": flipped,
    "a list": lambda data: b"[[[]]]",
}
UNREADABLE = ("empty", "noise", "a web page", "a list")
"""Of which nothing can be read, in whatever form it was meant to be."""
Read = Callable[[Path], str]
"""What opens a file; it returns the sentence of its refusal, "" for none."""


def by_command(*words: str) -> Read:
    """Return what calls a command, in which FILE stands for the file and FOLDER for its folder."""

    def read(path: Path) -> str:
        names = {"FILE": str(path), "FOLDER": str(path.parent), "OUT": str(path.parent / "out.csv")}
        ended = run(*(names.get(word, word) for word in words))
        assert ended.exit_code in (0, 2), ended.exception
        assert isinstance(ended.exception, (SystemExit, type(None))), ended.exception
        lines = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
        assert len(lines) == (ended.exit_code == 2), ended.output
        return "".join(lines)

    return read


def by_function(function: Callable[[Path], object]) -> Read:
    """Return what calls a function of ours."""

    def read(path: Path) -> str:
        try:
            function(path)
        except UserError as problem:
            return str(problem)
        return ""

    return read


def arrow(path: Path) -> None:
    """Write a stream of Arrow."""
    table = pa.Table.from_pandas(FRAME)
    with path.open("wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def compressed(path: Path) -> None:
    """Write CSV packed by zstd."""
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(FRAME.to_csv(index=False).encode())


def text(words: str) -> Callable[[Path], object]:
    """Return what writes a text."""
    return lambda path: path.write_text(words)


def first_of(folder: Path, name: str) -> Callable[[Path], object]:
    """Return what copies a file that ships with us."""
    return lambda path: shutil.copyfile(sorted(folder.glob(name))[0], path)


SCORE = by_command("batch", "FILE", "--model", "mine", "--out", "OUT")
MODEL = by_command(
    "pair", "--model", "FOLDER", "--premise", "A man runs.", "--hypothesis", "He moves."
)
TABLES: dict[str, Callable[[Path], object]] = {
    "a.csv": text(FRAME.to_csv(index=False)),
    "a.tsv": text(FRAME.to_csv(index=False, sep="\t")),
    "a.jsonl": text(FRAME.to_json(orient="records", lines=True)),
    "a.json": text(FRAME.to_json(orient="records")),
    "b.json": text(FRAME.to_json()),
    "a.parquet": FRAME.to_parquet,
    "a.xlsx": lambda path: FRAME.to_excel(path, index=False),
    "a.arrow": arrow,
    "a.feather": FRAME.to_feather,
    "a.csv.gz": lambda path: path.write_bytes(gzip.compress(FRAME.to_csv().encode(), mtime=0)),
    "a.csv.zst": compressed,
}
READERS: dict[str, tuple[Callable[[Path], object], Read]] = {
    **{name: (make, SCORE) for name, make in TABLES.items()},
    "squad.json": (
        text(json.dumps(SQUAD)), by_command("distractors", "FILE", "--out", "OUT.jsonl")
    ),
    "set/state.json": (
        text('{"_data_files": [{"filename": "data.arrow"}]}'),
        by_command("batch", "FOLDER", "--model", "mine", "--out", "OUT"),
    ),
    "report.json": (
        first_of(REFERENCES, "da*.json"), by_command("checkup", "mine", "--against", "FILE")
    ),
    "mine.toml": (
        first_of(Path(grammar.__file__).parent, "dative.toml"),
        by_command("templates", "mine", "--n", "2", "--out", "OUT"),
    ),
    "run.json": (first_of(gallery.FOLDER, "da-*.json"), by_function(gallery.read)),
    STATE: (
        text('{"identity": {}, "rows": 1, "sizes": {}, "state": {}}'),
        by_function(lambda path: read_identity(path.parent)),
    ),
    "checkpoint/state.json": (
        text('{"step": 1, "recipe": {}, "scores": []}'),
        by_function(lambda path: averages_and_scores(path.parents[1])),
    ),
    **dict.fromkeys(
        ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"),
        (lambda path: None, MODEL),
    ),
}  # fmt: skip
"""By the name of the file: what writes one that is in order, and what opens it."""


@pytest.fixture(autouse=True)
def home(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A home with a tiny model, and templates from the folder of the test."""
    shutil.copytree(model, tmp_path / "home" / "models" / "mine")
    monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(grammar, "FOLDERS", [tmp_path / "file"])
    grammar._read.cache_clear()
    yield
    grammar._read.cache_clear()


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_ends_in_a_sentence_of_ours(name: str, model: str, tmp_path: Path) -> None:
    make, read = READERS[name]
    folder = tmp_path / "file"

    def check(damage: str) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        grammar._read.cache_clear()
        path = folder / name
        shutil.copytree(model, folder) if read is MODEL else path.parent.mkdir(parents=True)
        make(path)
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
        sentence = read(path)
        assert not LIBRARY.search(sentence), sentence
        assert "\n" not in sentence and len(sentence) < 600
        assert bool(sentence) or damage not in UNREADABLE

    check_each({damage: damage for damage in DAMAGES}, check)
