"""What a training command refuses before it loads or trains anything, each with one sentence."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from finetune.training.checkpoints import CHECKPOINT
from tests.support.cases import failures
from tests.support.commands import call
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs
from tests.support.models.tiny_reader import tiny_reader


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"premise": pair.premise, "hypothesis": pair.hypothesis, "label": pair.gold}
        for pair in tiny_pairs(6)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def refusal(*words: object) -> str:
    """Return the one sentence that a command ends with."""
    ended = call(*words)
    assert (ended.exit_code, ended.stdout) == (2, ""), ended.output
    (line,) = ended.stderr.splitlines()
    return line.removeprefix("error: ")


TRAIN = ("train", "--model", "minilm")
READER = ("reader", "--model", "minilm")
WORDS = ("words", "--model", "da")
WORD_READER = ("word-reader", "--model", "bidaf")
VECTORS = ("vectors", "--encoder", "minilm")
OPTIONS = {
    TRAIN: {
        "--batch": [0], "--lr": ["nan", "-1", "0", "inf"], "--epochs": [0], "--max-tokens": [0],
        "--dev-size": [0], "--threads": [0, -1], "--seed": [-1], "--teacher-weight": [-1, 2, "nan"],
    },
    READER: {"--batch": [0], "--lr": ["nan", "-1"], "--every": [0], "--threads": [0]},
    WORDS: {
        "--batch": [-1, 0], "--lr": ["nan", "-1", "0"], "--correction": [-1],
        "--minutes": ["nan", "-1"], "--vectors": ["nosuch"], "--device": ["nosuch"],
        "--threads": [0],
    },
    WORD_READER: {"--lr": ["nan"], "--vectors": ["nosuch"], "--minutes": ["nan"]},
    VECTORS: {"--size": [0], "--words": [1]},
}  # fmt: skip


def test_a_value_that_trains_nothing_is_refused(pairs: Path, tmp_path: Path) -> None:
    def refused(*words: object) -> None:
        assert refusal(*words, "--train", pairs, "--out", tmp_path / "out")

    cases = [
        (*command, option, value)
        for command, options in OPTIONS.items()
        for option, values in options.items()
        for value in values
    ]
    assert failures(refused, cases) == {}


NO_BEGINNING: dict[tuple[str, ...], str] = {
    ("train", "--model", "nosuch"): "there is no model or folder called 'nosuch'",
    ("train", "--model", "."): "is no model: it has no config.json",
    (*TRAIN, "--teacher", "nosuch"): "there is no model or folder called 'nosuch'",
    ("reader", "--model", "nosuch"): "there is no model or folder called 'nosuch'",
    ("reader", "--model", "esim"): "is no reader: a esim model answers no question",
    ("vectors", "--encoder", "nosuch"): "there is no model or folder called 'nosuch'",
    ("vectors", "--encoder", "."): "is no model: it has no config.json",
    (*WORDS, "--more", "minilm_sst2"): "minilm_sst2 is no da",
    (*WORDS, "--more", "minilm"): "minilm is no da",
    ("words", "--model", "esim", "--more", "esim_char"): "esim_char is no esim",
    (*WORD_READER, "--more", "minilm_reader"): "minilm_reader is no bidaf",
}


def test_a_model_that_a_training_cannot_begin_with_is_refused(pairs: Path, tmp_path: Path) -> None:
    def refused(words: tuple[str, ...], sentence: str) -> None:
        assert sentence in refusal(*words, "--train", pairs, "--out", tmp_path / "out")

    assert failures(refused, NO_BEGINNING.items()) == {}


def test_a_finished_model_is_not_written_over(pairs: Path, tmp_path: Path) -> None:
    out = tiny_bert(tmp_path / "out")
    before = {path: path.read_bytes() for path in out.iterdir()}
    for command in (TRAIN, READER, WORDS, WORD_READER):
        sentence = refusal(*command, "--train", pairs, "--out", out)
        assert sentence == f"{out} holds a model already; name another folder with --out"
    assert {path: path.read_bytes() for path in out.iterdir()} == before


QUESTIONS = [
    {"context": f"The {name} sat in the park.", "question": "Who sat?", "answers": [name]}
    for name in ("man", "woman", "boy", "girl")
]


def words_of(command: str, folder: Path, pairs: Path) -> dict[str, object]:
    """Return the options of a short training."""
    if command == "train":
        return {"--model": tiny_bert(folder / "tiny"), "--train": pairs, "--lr": 1e-3}
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    return {"--model": tiny_reader(folder / "tiny"), "--train": file, "--lr": 1e-3}


def flat(options: Mapping[str, object]) -> tuple[object, ...]:
    """Return options as a command line has them."""
    return tuple(word for each in options.items() for word in each)


@pytest.mark.parametrize("command", ["train", "reader"])
def test_a_training_goes_on_with_what_it_was_begun_with_alone(
    command: str, pairs: Path, tmp_path: Path
) -> None:
    same = {**words_of(command, tmp_path, pairs), "--epochs": 1}
    out = tmp_path / "out"
    assert call(command, *flat(same), "--out", out).exit_code == 0
    again = call(command, *flat(same), "--out", out)
    assert (again.exit_code, again.stdout.splitlines()[-1]) == (
        0,
        f"{out} was trained to its end before, with the same data and options: nothing is left to "
        "train; name another folder with --out to train anew",
    )
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    fewer, lines = tmp_path / "fewer.jsonl", Path(str(same["--train"])).read_text().splitlines()
    fewer.write_text("\n".join(lines[:-1]))
    for option, other in {"--train": fewer, "--epochs": 2, "--lr": 2e-3, "--seed": 1}.items():
        ended = call(command, *flat({**same, option: other}), "--out", out)
        assert (ended.exit_code, f"begun with another {option}" in ended.stderr) == (2, True), (
            option
        )
        assert "name another folder with --out" in ended.stderr
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("command", ["train", "reader"])
def test_a_training_that_diverges_ends_with_a_sentence_and_keeps_no_model(
    command: str, pairs: Path, tmp_path: Path
) -> None:
    words, out = words_of(command, tmp_path, pairs), tmp_path / "out"
    weights = Path(str(words["--model"])) / "model.safetensors"
    broken = load_file(weights)
    (embeddings,) = (name for name in broken if name.endswith("word_embeddings.weight"))
    known = AutoTokenizer.from_pretrained(weights.parent)("A man walks.")["input_ids"]
    unseen = sorted(set(range(len(broken[embeddings]))) - set(known))
    broken[embeddings][unseen] = float("nan")  # the example of a model that is opened has none
    save_file(broken, weights, metadata={"format": "pt"})
    ended = call(command, *flat(words), "--out", out)
    assert ended.exit_code == 2, ended.output
    assert "the loss became nan at a learning rate of" in ended.stderr
    assert "--lr" in ended.stderr
    assert not [path for path in out.rglob("*") if path.name in ("config.json", CHECKPOINT)]


def test_other_trainings_that_cannot_be_are_refused(pairs: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.jsonl"
    one.write_text(pairs.read_text().splitlines()[0])
    vectors = ("vectors", "--encoder", tiny_bert(tmp_path / "tiny"), "--train", pairs)
    for words, sentence in [
        (
            (*TRAIN, "--train", pairs, "--unlabelled", pairs),
            "--unlabelled needs a --teacher, whose answers are learnt",
        ),
        (
            (*TRAIN, "--train", pairs, "--teacher", "minilm_sst2"),
            "a model that answers entailment, neutral, contradiction cannot learn from "
            "'minilm_sst2', which answers positive, negative",
        ),
        ((*WORDS, "--train", one), "held out to select epochs by"),
        ((*vectors, "--size", 5000), "components, not 5000"),
    ]:
        ended = call(*words, "--out", tmp_path / "out")
        assert (ended.exit_code, sentence in ended.stderr) == (2, True), ended.output
