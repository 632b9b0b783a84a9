"""The training of BiDAF and QANet: what is learnt, what is kept, rates, and resuming."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner

import finetune.training.word_readers as word_readers
from finetune.cli.main import app
from finetune.training.reader import mean_f1
from finetune.training.recipes import WORD_READERS, ReaderPreset
from finetune.training.word_readers import held_out, rate, train, untrained
from probe.errors import TrainingError
from probe.models.library import answers_with_spans, load_reader
from probe.tasks.reading import Span
from tests.support.files.questions import asked as asked_question
from tests.support.models.tiny_word_readers import QUESTIONS, word_reader

KINDS = pytest.mark.parametrize("kind", list(WORD_READERS))


def preset(kind: str, **changes: object) -> ReaderPreset:
    """Return a preset's training for a tiny model."""
    known = WORD_READERS[kind]["small"]
    recipe = replace(known.recipe, lr=1e-2, batch=4)
    return replace(known, **{"settings": {}, "recipe": recipe, "epochs": 3, **changes})


@pytest.fixture(autouse=True)
def every_third(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_readers, "PASSAGES_PER_HELD_OUT", 3)


@pytest.mark.parametrize(("name", "weights"), [("bidaf", 1_204_145), ("qanet", 224_565)])
def test_an_untrained_small_reader_is_the_same_again_and_leaves_chance_alone(
    name: str, weights: int
) -> None:
    before = torch.get_rng_state()
    one, other = untrained(name, "small"), untrained(name, "small")
    assert torch.equal(torch.get_rng_state(), before)
    pairs = zip(one.model.parameters(), other.model.parameters(), strict=True)
    assert all(torch.equal(first, second) for first, second in pairs)
    assert sum(weight.numel() for weight in one.model.parameters()) == weights


def test_the_presets_are_those_of_the_configurations() -> None:
    """Liu et al. 2019's AllenNLP files."""
    bidaf, qanet = (WORD_READERS[name]["allennlp"] for name in ("bidaf", "qanet"))
    facts = [(it.recipe.lr, it.recipe.batch, it.epochs, it.patience) for it in (bidaf, qanet)]
    assert facts == [(1e-3, 40, 20, 10), (1e-3, 25, 50, 10)]
    assert bidaf.recipe.settings == {"betas": (0.9, 0.9)}
    assert qanet.recipe.settings == {"betas": (0.8, 0.999), "eps": 1e-7, "weight_decay": 2e-7}
    assert (bidaf.halve_patience, bidaf.recipe.average) == (2, None)
    assert (qanet.halve_patience, qanet.recipe.average) == (None, 0.9999)
    assert bidaf.recipe.clip_norm == qanet.recipe.clip_norm == 5.0


def test_a_passage_is_held_out_with_all_its_questions() -> None:
    questions = [
        asked_question(f"passage {n}", f"question {m}?", (Span("passage", 0),), "")
        for n in range(300)
        for m in range(2)
    ]
    kept = [question for question in questions if held_out(question)]
    assert len({question.passage for question in kept}) * 2 == len(kept)
    assert 140 < len(kept) < 260  # one in three of 600


def test_the_third_epoch_in_a_row_without_a_gain_halves_the_rate() -> None:
    bidaf = WORD_READERS["bidaf"]["allennlp"]
    assert rate(bidaf, [0.5, 0.4, 0.5]) == 1e-3
    assert rate(bidaf, [0.5, 0.4, 0.5, 0.3]) == 0.5e-3
    assert rate(bidaf, [0.5, 0.4, 0.5, 0.3, 0.4, 0.4]) == 0.5e-3
    assert rate(bidaf, [0.5, 0.4, 0.5, 0.3, 0.4, 0.4, 0.4]) == 0.25e-3
    assert rate(bidaf, [0.5, 0.4, 0.6, 0.3, 0.4]) == 1e-3
    assert rate(WORD_READERS["qanet"]["allennlp"], [0.5] * 9) == 1e-3


def test_a_falling_rate_ends_at_zero() -> None:
    falling = preset("bidaf", epochs=4, fall=True)
    assert [rate(falling, [0.1] * done, 0.5) for done in range(4)] == pytest.approx(
        [8.75e-3, 6.25e-3, 3.75e-3, 1.25e-3]
    )


@KINDS
def test_four_questions_are_learnt_by_heart(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_readers, "held_out", lambda question: question.id == "again")
    four = [question for question in QUESTIONS if question.id.endswith("-park")]
    questions = [*four, *(replace(question, id="again") for question in four)]
    by_heart = preset(kind, epochs=30, patience=30, halve_patience=None)
    faster = replace(by_heart, recipe=replace(by_heart.recipe, lr=2e-2))
    rows = list(train(word_reader(kind), faster, questions, tmp_path))
    assert max(row.dev for row in rows) == 1.0
    assert min(row.loss for row in rows) < 0.5 < rows[0].loss


@KINDS
def test_the_best_epoch_is_what_stays(kind: str, tmp_path: Path) -> None:
    reader, kept = word_reader(kind), [question for question in QUESTIONS if held_out(question)]
    assert kept
    rows = list(train(reader, preset(kind), QUESTIONS, tmp_path))
    best = max(row.dev for row in rows)
    assert mean_f1(reader, kept, "fp32") == pytest.approx(best)
    assert mean_f1(load_reader(str(tmp_path)), kept, "fp32") == pytest.approx(best)


@KINDS
def test_a_training_that_was_broken_off_ends_as_if_it_had_not_been(
    kind: str, tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    rows = list(train(word_reader(kind), preset(kind), QUESTIONS, whole))
    again = train(word_reader(kind), preset(kind), QUESTIONS, broken)
    first = next(again)
    again.close()
    rest = list(train(word_reader(kind), preset(kind), QUESTIONS, broken))
    facts = [(row.epoch, row.loss, row.dev, row.lr) for row in rows]
    assert [(row.epoch, row.loss, row.dev, row.lr) for row in (first, *rest)] == facts
    for name in ("model.safetensors", "checkpoint/weights.safetensors"):
        assert (whole / name).read_bytes() == (broken / name).read_bytes()


def test_another_training_is_not_resumed(tmp_path: Path) -> None:
    list(train(word_reader("bidaf"), preset("bidaf", epochs=1), QUESTIONS, tmp_path))
    with pytest.raises(TrainingError, match="begun with another --epochs"):
        next(train(word_reader("bidaf"), preset("bidaf"), QUESTIONS, tmp_path))


def test_a_finished_training_is_only_read(tmp_path: Path) -> None:
    list(train(word_reader("bidaf"), preset("bidaf"), QUESTIONS, tmp_path))
    reader = word_reader("bidaf")
    assert list(train(reader, preset("bidaf"), QUESTIONS, tmp_path)) == []
    stored = load_reader(str(tmp_path)).model.state_dict()
    assert all(
        torch.equal(value, stored[name]) for name, value in reader.model.state_dict().items()
    )


def test_epochs_without_a_gain_end_it(tmp_path: Path) -> None:
    recipe = replace(preset("bidaf").recipe, lr=1e-12)
    still = preset("bidaf", recipe=recipe, epochs=9, patience=2)
    assert len(list(train(word_reader("bidaf"), still, QUESTIONS, tmp_path))) == 3


def test_time_ends_it_after_an_epoch(tmp_path: Path) -> None:
    rows = train(word_reader("bidaf"), preset("bidaf"), QUESTIONS, tmp_path, minutes=0.0)
    assert len(list(rows)) == 1


def test_the_command_trains_a_reader_from_a_file(tmp_path: Path) -> None:
    path, out = tmp_path / "train.jsonl", tmp_path / "out"
    lines = [
        {"context": one.passage, "question": one.question, "answers": [one.answers[0].text]}
        for one in QUESTIONS
    ]
    lines += [{"context": "", "question": "Who?", "answers": []}]
    path.write_text("\n".join(map(json.dumps, lines)))
    words = ["word-reader", "--model", "qanet", "--preset", "small", "--train", str(path)]
    more = ["--batch", "4", "--epochs", "1", "--fall", "--correction", "1", "--out", str(out)]
    done = CliRunner().invoke(app, [*words, *more])
    assert done.exit_code == 0, done.output
    assert "12 questions, 1 left out" in done.output
    assert "epoch 1" in done.output
    assert answers_with_spans(str(out))
    assert load_reader(str(out)).predict(QUESTIONS[:1])
    again = tmp_path / "again"
    done = CliRunner().invoke(
        app, [*words, "--more", str(out), "--lr", "1e-9", *more[:5], "--out", str(again)]
    )
    assert done.exit_code == 0, done.output
    first, second = (load_file(folder / "model.safetensors") for folder in (out, again))
    for name, weight in first.items():
        torch.testing.assert_close(second[name], weight, atol=1e-3, rtol=1e-3)


def test_an_unknown_preset_is_refused(tmp_path: Path) -> None:
    words = ["word-reader", "--model", "bidaf", "--preset", "paper", "--train", "x", "--out"]
    done = CliRunner().invoke(app, [*words, str(tmp_path / "out")])
    assert done.exit_code != 0
    assert "there is no 'bidaf' with 'paper'" in done.output
