"""What a training command refuses before it loads or trains anything, each with one sentence."""

import json
from pathlib import Path

import pytest

from finetune.training.checkpoints import CHECKPOINT
from tests.support.commands import call
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs


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


@pytest.mark.parametrize(
    "words",
    [
        (*command, option, value)
        for command, options in OPTIONS.items()
        for option, values in options.items()
        for value in values
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_a_value_that_trains_nothing_is_refused(
    words: tuple[object, ...], pairs: Path, tmp_path: Path
) -> None:
    assert refusal(*words, "--train", pairs, "--out", tmp_path / "out")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("train", "--model", "nosuch"), "there is no model or folder called 'nosuch'"),
        (("train", "--model", "."), "is no model: it has no config.json"),
        ((*TRAIN, "--teacher", "nosuch"), "there is no model or folder called 'nosuch'"),
        (("reader", "--model", "nosuch"), "there is no model or folder called 'nosuch'"),
        (("reader", "--model", "esim"), "is no reader: a esim model answers no question"),
        (("vectors", "--encoder", "nosuch"), "there is no model or folder called 'nosuch'"),
        (("vectors", "--encoder", "."), "is no model: it has no config.json"),
        ((*WORDS, "--more", "minilm_sst2"), "minilm_sst2 is no da"),
        ((*WORDS, "--more", "minilm"), "minilm is no da"),
        (("words", "--model", "esim", "--more", "esim_char"), "esim_char is no esim"),
        ((*WORD_READER, "--more", "minilm_reader"), "minilm_reader is no bidaf"),
    ],
)
def test_a_model_that_a_training_cannot_begin_with_is_refused(
    words: tuple[object, ...], sentence: str, pairs: Path, tmp_path: Path
) -> None:
    assert sentence in refusal(*words, "--train", pairs, "--out", tmp_path / "out")


@pytest.mark.parametrize("command", [TRAIN, READER, WORDS, WORD_READER], ids=lambda words: words[0])
def test_a_finished_model_is_not_written_over(
    command: tuple[str, ...], pairs: Path, tmp_path: Path
) -> None:
    out = tiny_bert(tmp_path / "out")
    before = {path: path.read_bytes() for path in out.iterdir()}
    sentence = refusal(*command, "--train", pairs, "--out", out)
    assert sentence == f"{out} holds a model already; name a new folder"
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_a_finished_training_is_gone_on_from(pairs: Path, tmp_path: Path) -> None:
    words = ("train", "--model", tiny_bert(tmp_path / "tiny"), "--train", pairs, "--out")
    out = tmp_path / "out"
    for _ in range(2):
        assert call(*words, out, "--epochs", 1).exit_code == 0
    assert (out / CHECKPOINT).is_dir()
    other = call(*words, out, "--epochs", 2)
    assert (other.exit_code, "was made with another recipe" in other.stderr) == (2, True)
    sentence = refusal(*WORDS, "--train", pairs, "--out", out)  # which has no checkpoints
    assert sentence.endswith("holds a model already; name a new folder")


def test_texts_without_labels_need_a_teacher(pairs: Path, tmp_path: Path) -> None:
    sentence = refusal(*TRAIN, "--train", pairs, "--unlabelled", pairs, "--out", tmp_path / "out")
    assert sentence == "--unlabelled needs a --teacher, whose answers are learnt"


def test_a_teacher_of_another_task_is_refused(pairs: Path, tmp_path: Path) -> None:
    ended = call(*TRAIN, "--teacher", "minilm_sst2", "--train", pairs, "--out", tmp_path / "out")
    assert (ended.exit_code, ended.stderr) == (
        2,
        "error: a model that answers entailment, neutral, contradiction cannot learn from "
        "'minilm_sst2', which answers positive, negative\n",
    )


def test_too_small_a_training_file_is_refused(pairs: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.jsonl"
    one.write_text(pairs.read_text().splitlines()[0])
    ended = call(*WORDS, "--train", one, "--out", tmp_path / "out")
    assert (ended.exit_code, "held out to select epochs by" in ended.stderr) == (2, True)


def test_more_components_than_words_are_refused(pairs: Path, tmp_path: Path) -> None:
    words = ("vectors", "--encoder", tiny_bert(tmp_path / "tiny"), "--train", pairs)
    sentence = refusal(*words, "--size", 5000, "--out", tmp_path / "words")
    assert sentence.endswith("components, not 5000")
