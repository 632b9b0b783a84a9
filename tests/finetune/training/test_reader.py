"""A reader's training: the answer's tokens, the loss, a small set that is learnt, and resuming."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from finetune.cli.main import app
from finetune.training.encoder import TrainingOptions
from finetune.training.reader import examples_of, mean_f1, start_from_encoder, train
from probe.models.library import load_reader
from probe.models.reader import Place, Reader, tokens_of
from probe.tasks.reading import Span
from tests.support.files.questions import asked
from tests.support.models.tiny_reader import tiny_reader

NAMES = ("man", "woman", "boy", "girl", "teacher", "baker", "driver", "farmer")
PLACES = ("park", "shop", "school", "church")
QUESTIONS = [
    asked(f"The {name} sat in the {place}.", "Who sat?", (Span(name, 4),), f"{name}-{place}")
    for name in NAMES
    for place in PLACES
]
OPTIONS = TrainingOptions(lr=3e-3, epochs=6, batch=8, warmup=0.1, precision="fp32")


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """A reader of random weights."""
    return start_from_encoder(str(tiny_reader(tmp_path / "start")))


def test_an_answer_has_the_tokens_that_it_covers() -> None:
    places: list[Place] = [None, None, (0, 3), (4, 7), (8, 12), None]
    assert tokens_of(places, 4, 12) == (3, 4)
    assert tokens_of(places, 5, 11) == (3, 4)
    assert tokens_of(places, 8, 18) is None
    assert tokens_of(places, 40, 48) is None


def test_each_example_spells_its_answer(reader: Reader) -> None:
    assert list(examples_of(reader, asked("The man sat.", "Who sat?", (), "1"))) == []
    for question in QUESTIONS:
        ((window, first, last),) = examples_of(reader, question)
        start, end = window.places[first], window.places[last]
        assert start and end
        assert question.passage[start[0] : end[1]] == question.answers[0].text


def test_a_small_set_is_learnt_and_the_finished_reader_can_be_loaded(
    reader: Reader, tmp_path: Path
) -> None:
    out = tmp_path / "trained"
    before = mean_f1(reader, QUESTIONS, "fp32")
    rows = list(train(reader, QUESTIONS, OPTIONS, out, {"same": QUESTIONS}, every=8))
    assert rows[-1].accuracy["same"] > 0.9 > before
    answers = load_reader(str(out)).predict(QUESTIONS[:4])
    assert [answer.label for answer in answers] == ["man"] * 4


def test_a_training_that_was_broken_off_ends_as_if_it_had_not_been(
    reader: Reader, tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    list(train(reader, QUESTIONS, OPTIONS, whole, every=8))
    steps = train(start_from_encoder(str(tmp_path / "start")), QUESTIONS, OPTIONS, broken, every=8)
    next(steps)
    steps.close()
    list(train(start_from_encoder(str(tmp_path / "start")), QUESTIONS, OPTIONS, broken, every=8))
    assert (whole / "model.safetensors").read_bytes() == (broken / "model.safetensors").read_bytes()


def test_the_command_trains_a_reader_from_a_file(tmp_path: Path) -> None:
    lines = [
        f'{{"context": "{one.passage}", "question": "{one.question}", "answers": '
        f'["{one.answers[0].text}"]}}\n'
        for one in QUESTIONS[:16]
    ]
    path = tmp_path / "train.jsonl"
    path.write_text("".join(lines) + '{"context": "", "question": "Who?", "answers": []}\n')
    words = ["reader", "--model", str(tiny_reader(tmp_path / "start")), "--train", str(path)]
    out = str(tmp_path / "out")
    done = CliRunner().invoke(app, [*words, "--dev", str(path), "--epochs", "1", "--out", out])
    assert done.exit_code == 0, done.output
    assert "16 questions, 1 left out" in done.output
    assert "train F1" in done.output
    assert load_reader(out).predict(QUESTIONS[:1])
