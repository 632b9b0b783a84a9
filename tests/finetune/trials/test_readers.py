"""Readers are inoculated as classifiers are: cells, sets from files, counter-tests, the command."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from finetune.training.checkpoints import model_files
from finetune.training.data import Asked, read_pairs
from finetune.training.encoder import PreparedReader
from finetune.training.loop import (
    BestEpoch,
    MovingAverage,
    Schedule,
    Trainer,
    make_optimiser,
    train_epochs,
    trainable,
)
from finetune.trials.challenges import (
    COUNTER_TESTS,
    UserFiles,
    make_sets,
    read_sets,
    sets_of,
)
from finetune.trials.datasets import Sets, SourceData
from finetune.trials.inoculation import BASE, Cell, Plan, Point, check, nested
from finetune.trials.trial import prepare_any, run_cell
from probe.errors import ExperimentError, FileError, LimitError
from probe.limits import Bounds
from probe.models.library import load_any, load_reader
from probe.models.reader import Reader
from probe.stopping import Cancelled
from probe.tasks.reading import READING, Question
from tests.support.commands import call
from tests.support.models.tiny_reader import tiny_reader
from tests.support.models.tiny_word_readers import QUESTIONS, word_reader

LEARNT, TESTED = tuple(QUESTIONS[:6]), tuple(QUESTIONS[6:])
SETS = Sets(LEARNT, TESTED, LEARNT, TESTED, counter_tests={"addsent_first": LEARNT}, task=READING)
ALTERABLE = [replace(each, question="Who sat in the largest park?") for each in QUESTIONS]
SOURCE = SourceData(LEARNT, tuple(ALTERABLE[6:]), tuple(ALTERABLE[:6]), READING)
PLAN = Plan("tiny", "addsent", (2, 6), (1e-2,), (0,), batch=3, max_epochs=4, task="reading")
CELL = Cell(6, 1e-2, 0)


def row(question: Question, **more: object) -> dict[str, object]:
    """Return a question as a row of a file."""
    answers = [{"text": each.text, "start": each.start} for each in question.answers]
    texts = {"context": question.passage, "question": question.question}
    return {"id": question.id, **texts, "answers": answers, **more}


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def cell_of(reader: Reader, cell: Cell, sets: Sets = SETS, plan: Plan = PLAN) -> Point:
    """Run a cell to its end."""
    *_, point = run_cell(plan, sets, cell, reader)
    assert isinstance(point, Point)
    return point


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """A reader of random weights."""
    return load_reader(str(tiny_reader(tmp_path / "reader")))


def test_a_cell_trains_a_reader_and_scores_it_by_f1() -> None:
    for kind in ("bidaf", "qanet"):
        before = cell_of(word_reader(kind), BASE)
        reader = word_reader(kind)
        after = cell_of(reader, CELL)
        answers = zip(reader.predict(TESTED), TESTED, strict=True)
        expected = [READING.score(each.label, question.gold or "") for each, question in answers]
        assert after.challenge_right == tuple(expected), kind  # of the best epoch's weights
        assert (after.best_epoch, after.dev) > (0, before.dev), kind
        assert list(after.counter_tests) == ["addsent_first"]
        assert len(after.counter_tests["addsent_first"]) == len(LEARNT)


def test_what_is_kept_of_an_average_is_the_average() -> None:
    reader = word_reader("qanet")
    ready = prepare_any(reader, "full", "fp32")
    average = MovingAverage(
        0.9, {name: weight.detach().clone() for name, weight in reader.model.named_parameters()}
    )
    recipe, seen = reader.architecture.recipe, list[torch.Tensor]()
    trainer = Trainer(
        reader, recipe, make_optimiser(recipe, trainable(reader), 1e-2), average=average
    )
    name, best = next(iter(average.weights)), BestEpoch()

    def measure() -> float:
        seen.append(reader.model.get_parameter(name).detach().clone())
        return 1.0

    schedule = Schedule(range(1, 2), 3, 0, lambda *_: 1e-2, 1)
    list(train_epochs(trainer, ready.encoded(LEARNT, 128), measure, schedule, best))
    assert torch.equal(seen[0], average.weights[name])
    assert torch.equal(best.weights[name], average.weights[name])
    assert not torch.equal(reader.model.get_parameter(name), average.weights[name])


def test_an_encoder_is_inoculated_kept_and_stopped_and_has_no_fast_mode(
    reader: Reader, tmp_path: Path
) -> None:
    with pytest.raises(Cancelled):
        PreparedReader(reader, "fp32").scorer(TESTED, lambda: True)(False)
    with pytest.raises(ExperimentError, match="no fast mode; choose full"):
        prepare_any(reader, "fast", "fp32")
    with pytest.raises(ExperimentError, match="no fast mode; choose full"):
        check(replace(PLAN, mode="fast"), SETS)
    point = cell_of(reader, replace(CELL, lr=3e-3), plan=replace(PLAN, lrs=(3e-3,)))
    assert (point.epochs, len(point.original_right)) == (4, len(TESTED))
    assert all(0 <= score <= 1 for score in point.original_right)
    for name, content in model_files(reader).items():
        (tmp_path / name).write_bytes(content)
    kept = load_any(str(tmp_path))
    answers = [[each.label for each in one.predict(TESTED)] for one in (kept, reader)]
    assert answers[0] == answers[1]


def test_few_questions_are_about_passages_of_their_own() -> None:
    same = [replace(each, id=f"{each.id}-{at}") for at in range(3) for each in LEARNT]
    drawn = nested(same, 0, 18, READING)
    for turn in range(3):
        passages = [each.passage for each in drawn[6 * turn : 6 * turn + 6]]
        assert len(set(passages)) == 6
    assert nested(same, 0, 4, READING) == drawn[:4]


def test_an_original_counts_only_where_nothing_was_added(tmp_path: Path) -> None:
    first, second = LEARNT[:2]
    file = write(
        tmp_path / "adversarial.jsonl",
        [
            row(first, base_id=first.id, adversarial=False),
            row(replace(first, id="1a"), base_id=first.id, adversarial=True),
            row(replace(first, id="1b"), base_id=first.id, adversarial=True),
            row(second, base_id=second.id, adversarial=False),
            row(replace(second, id="none", answers=()), adversarial=False),
        ],
    )
    read = read_pairs(file, READING)
    assert [(each.id, each.base) for each in read] == [
        ("1a", first.id), ("1b", first.id), (second.id, second.id),
    ]  # fmt: skip
    assert read[0].answers == first.answers
    with pytest.raises(LimitError, match=r"row 1 of adversarial\.jsonl: the question has"):
        read_pairs(file, READING, Asked(bounds=Bounds(max_text=5)))
    empty = write(tmp_path / "empty.jsonl", [row(replace(first, answers=()))])
    with pytest.raises(FileError, match="no question with an answer"):
        read_pairs(empty, READING)


def test_one_file_is_divided_by_passage_or_by_its_column(tmp_path: Path) -> None:
    source = SourceData(LEARNT, TESTED, (), READING)
    twice = [row(replace(each, id=f"{each.id}-{at}")) for each in QUESTIONS for at in range(2)]
    drawn = sets_of(
        "mine", source, UserFiles(challenge=write(tmp_path / "one.jsonl", twice), train=12)
    )
    sides = [
        {each.passage for each in part} for part in (drawn.challenge_train, drawn.challenge_test)
    ]
    assert not sides[0] & sides[1]
    parts = [row(each, split="train" if at < 5 else "test") for at, each in enumerate(QUESTIONS)]
    split = sets_of("mine", source, UserFiles(challenge=write(tmp_path / "split.jsonl", parts)))
    assert [len(split.challenge_train), len(split.challenge_test)] == [5, 7]
    assert split.counter_tests == {}


def test_what_a_test_file_is_about_is_not_trained_on(tmp_path: Path) -> None:
    made = make_sets("addsent", SOURCE)
    assert tuple(made.counter_tests) == COUNTER_TESTS["addsent"]
    in_front, added = made.counter_tests["addsent_first"][0], made.challenge_test[0]
    assert in_front.passage.endswith(TESTED[0].passage)
    assert added.passage.startswith(TESTED[0].passage)
    asked = made.challenge_train
    assert asked
    tests = write(tmp_path / "test.jsonl", [row(LEARNT[0])])
    sets = sets_of("addsent", SOURCE, UserFiles(challenge_test=tests))
    assert [each.id for each in sets.challenge_test] == [LEARNT[0].id]
    assert {each.id for each in asked} - {each.id for each in sets.challenge_train} == {
        LEARNT[0].id
    }
    named = read_sets("addsent", UserFiles(challenge_test=tests), READING)
    assert named.challenge_test == sets.challenge_test
    assert named.challenge_train  # of the bundled questions


def test_the_command_inoculates_a_reader(tmp_path: Path, home: Path) -> None:
    rows = [row(each, split="train" if at < 5 else "test") for at, each in enumerate(QUESTIONS)]
    file, out = write(tmp_path / "mine.jsonl", rows), home / "out"
    original = write(tmp_path / "original.jsonl", [row(each) for each in QUESTIONS])
    result = call(
        "inoculate", "--model", tiny_reader(tmp_path / "tiny"), "--challenge", "mine",
        "--challenge-file", file, "--original", original, "--sizes", "2,all", "--max-epochs", "1",
        "--out", out, "--in-process",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["measure"], summary["plan"]["task"]) == ("F1", "reading")
    assert summary["plan"]["sizes"] == [2, 5]
    assert "F1 on the challenge" in (out / "curve.svg").read_text()
