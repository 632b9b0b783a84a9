"""Files that nobody should send, by every entrance: one sentence of ours or a proper result each.

A reader is a library behind a command. No damage may end in a traceback, and no sentence may speak
of the library.
"""

import json
import random
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import torch

from benchmarks.faults.bad_file_kinds import BadFile, one_of_each
from finetune.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from finetune.ui.aim import jobs_of
from finetune.ui.inoculate import choices
from probe.checkup.report import REFERENCES
from probe.data.reading import labelled
from probe.data.source import read_table
from probe.errors import UserError
from probe.runs import gallery
from probe.scoring.files import STATE, read_unfinished
from probe.tasks.nli import NLI
from probe.templates import grammar
from probe.transforms.options import DEFAULTS, OPTIONS
from probe.ui.measure.choice import FILE
from probe.ui.measure.compare import Compare
from probe.ui.measure.score import Score
from probe.ui.measure.texts import show_file
from tests.support.cases import check_each, each
from tests.support.commands import call, run
from tests.support.pages.choices import chosen
from tests.support.pages.views import asked_by, named, view_of
from tests.support.pages.visitors import ME, uploaded

BAD_FILES = list(one_of_each(seed=0))
SOME = random.Random(0).sample(BAD_FILES, 25)
MODELS = ["first", "second"]
LONGEST = 600
"""Characters of a sentence."""
LIBRARY = re.compile(
    r"pyarrow|pandas|openpyxl|safetensors?_|tomllib|pydantic|tokenizers|zipfile|json\.decoder"
    r"|\w(Error|Exception)\b|Invalid\b|Expecting|NoneType|Traceback|codec|magic|\(char |<class"
    r"|thrift|object (has no|cannot)|subscriptable|deserializ|validation|Unexpected|untagged",
    re.IGNORECASE,
)
"""What libraries say, and we do not."""


@pytest.fixture(scope="module")
def home(model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two tiny models."""
    home = tmp_path_factory.mktemp("home")
    for name in MODELS:
        shutil.copytree(model, home / "models" / name)
    return home


@pytest.fixture(autouse=True)
def entrances(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands and page with these models; what they write lies below the test's own folder."""
    monkeypatch.setenv("NLI_CLINIC_HOME", str(home))
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    monkeypatch.chdir(tmp_path)


def refusal(read: Callable[[Path], object], path: Path) -> str:
    """Return the sentence by which a file is refused, "" for none."""
    try:
        assert read(path) is not None
    except UserError as problem:
        sentence = str(problem)
        assert 0 < len(sentence) <= LONGEST and "\n" not in sentence
        assert not LIBRARY.search(sentence), sentence
        return sentence
    return ""


def command(*words: object) -> str:
    """Run a command that is to end well; raise UserError with the sentence where it does not."""
    result = call(*words) if words[0] == "inoculate" else run(*map(str, words))
    assert result.exit_code in (0, 2), result.exception
    assert isinstance(result.exception, (SystemExit, type(None)))
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == (result.exit_code == 2), result.output
    if lines:
        raise UserError(lines[0])
    return result.output


def each_of(files: Sequence[BadFile], folder: Path, check: Callable[[Path], object]) -> None:
    """Check bad files, each written into a folder of its own."""
    paths = {}
    for number, bad in enumerate(files):
        path = folder / str(number) / bad.name
        path.parent.mkdir()
        path.write_bytes(bad.data)
        paths[f"{number} {bad.kind} {bad.name[:12]}"] = path
    check_each(paths, check)


def test_reading_in_python_and_by_command_ends_with_rows_or_a_sentence(tmp_path: Path) -> None:
    reads = (read_table, lambda path: labelled(path, NLI))
    each_of(BAD_FILES, tmp_path, lambda path: [refusal(read, path) for read in reads])
    out = ["--out", tmp_path / "out.jsonl"]
    models = [word for name in MODELS for word in ("--model", name)]
    mine = ["--challenge", "mine", "--challenge-file"]
    more = ["--sizes", "99999", "--out", tmp_path / "out", "--in-process"]

    def check(bad: Path) -> None:
        refusal(lambda path: command("batch", path, "--model", "first", *out), bad)
        refusal(lambda path: command("compare", path, *models, *out), bad)
        assert refusal(lambda path: command("inoculate", *models[:2], *mine, path, *more), bad)

    (tmp_path / "some").mkdir()
    each_of(SOME, tmp_path / "some", check)


def test_the_page_shows_the_rows_or_a_sentence(tmp_path: Path) -> None:
    score, compare = view_of(Score), view_of(Compare)

    def check(bad: Path) -> None:
        path = str(uploaded(bad))
        options = [getattr(DEFAULTS, name) for name in OPTIONS]
        assert str(show_file(ME, "nli", path)[2])
        asked = (ME, "nli", *chosen(MODELS, FILE, path, precision="fp32"))
        *_, scored = score.score(asked_by(), *asked, [], *options)
        *_, compared = compare.compare_texts(asked_by(), *asked)
        for view, shown in ((score, scored), (compare, compared)):
            told = named(view, shown)
            assert "problem" in str(told.values()) or told["files"]
        given = {"challenge_file": path, "train": 2, "sizes": ["5"], "own_name": ""}
        with suppress(UserError):
            assert jobs_of(choices({"models": ["first"], "challenges": [], **given}))

    each_of(SOME, tmp_path, check)


FRAME = pd.DataFrame({"premise": ["A man runs.", "It rains."], "hypothesis": ["He moves.", "Sun."]})
SQUAD = {"data": [{"paragraphs": [{"context": "Ada swam.", "qas": [{"question": "Who?", "id": "1",
    "answers": [{"text": "Ada", "answer_start": 0}]}]}]}]}  # fmt: skip
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
Read = Callable[[Path], object]
"""What opens a file; it raises UserError where it refuses it."""


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


def predict(path: Path) -> str:
    """Predict by the model in a folder."""
    texts = ("--premise", "A man runs.", "--hypothesis", "He moves.")
    return command("pair", "--model", path.parent, *texts)


def report(path: Path) -> str:
    """Compare a check-up with a report."""
    return command("checkup", "first", "--against", path)


WEIGHTS = torch.nn.Linear(1, 1)
TRAINING: Any = (SimpleNamespace(model=WEIGHTS), torch.optim.Adam(WEIGHTS.parameters()), {})
READERS: dict[str, tuple[Callable[[Path], object], Read]] = {
    "a.json": (text(FRAME.to_json(orient="records")), read_table),
    "b.json": (text(FRAME.to_json()), read_table),
    "a.xlsx": (lambda path: FRAME.to_excel(path, index=False), read_table),
    "a.arrow": (arrow, read_table),
    "a.feather": (FRAME.to_feather, read_table),
    "a.csv.zst": (
        lambda path: path.write_bytes(pa.Codec("zstd").compress(b"a,b\nc,d\n", asbytes=True)),
        read_table,
    ),
    "squad.json": (
        text(json.dumps(SQUAD)), lambda path: command("distractors", path, "--out", "out.jsonl")
    ),
    "set/state.json": (
        text('{"_data_files": [{"filename": "data.arrow"}]}'),
        lambda path: read_table(path.parent),
    ),
    "report.json": (first_of(REFERENCES, "da*.json"), report),
    "mine.toml": (
        first_of(Path(grammar.__file__).parent, "dative.toml"),
        lambda path: command("templates", "mine", "--n", "2", "--out", "out.csv"),
    ),
    "run.json": (first_of(gallery.FOLDER, "da-*.json"), gallery.read),
    STATE: (
        text('{"identity": {}, "rows": 1, "sizes": {}, "state": {}}'),
        lambda path: read_unfinished(path.parent),
    ),
    "checkpoint/state.json": (
        lambda path: save_checkpoint(*TRAINING, Checkpoint(1), path.parents[1]),
        lambda path: load_checkpoint(*TRAINING, path.parents[1]),
    ),
    **dict.fromkeys(
        ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"),
        (lambda path: None, predict),
    ),
}  # fmt: skip
"""By the name of the file: what writes one that is in order, and what opens it."""


@each("name", READERS)
def test_a_damaged_file_ends_in_a_sentence_of_ours(
    name: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, read = READERS[name]
    folder = tmp_path / "file"
    monkeypatch.setattr(grammar, "FOLDERS", [folder])

    def check(damage: str) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        grammar._read.cache_clear()
        path = folder / name
        shutil.copytree(model, folder) if read is predict else path.parent.mkdir(parents=True)
        make(path)
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
        assert refusal(read, path) or damage not in UNREADABLE

    check_each({damage: damage for damage in DAMAGES}, check)
    grammar._read.cache_clear()
