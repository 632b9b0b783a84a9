"""Word vectors, and the training of word models and readers: what is learnt, kept and resumed."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner

import finetune.training.word_models as word_models
from finetune.cli.main import app
from finetune.training.reader import mean_f1
from finetune.training.recipes import DA, ESIM, WORD_MODELS, WORD_READERS, Preset
from finetune.training.word_models import (
    COMPONENT_RMS,
    embed_words,
    held_out,
    rate,
    reduce_by_pca,
    train,
    train_reader,
    untrained,
    untrained_reader,
    with_special,
)
from probe.errors import TrainingError
from probe.models.architectures import Recipe
from probe.models.classifier import Classifier
from probe.models.library import load, load_reader
from probe.models.word_models.layers import shared_table
from probe.tasks.nli import LABELS, Pair
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs
from tests.support.models.tiny_word_models import word_classifier
from tests.support.models.tiny_word_readers import QUESTIONS, word_reader


def test_a_word_is_the_mean_of_its_sub_words(tmp_path: Path) -> None:
    place = str(tiny_bert(tmp_path))
    alone, with_padding = (
        embed_words(words, place) for words in (["dogs"], ["dogs", "unexpectedly"])
    )
    assert alone.shape == (1, 32)
    assert alone[0].tolist() == pytest.approx(with_padding[0].tolist(), abs=1e-5)


def test_pca_keeps_the_direction_of_most_variance() -> None:
    points = torch.tensor([[3.0, 4.0], [-3.0, -4.0], [0.4, -0.3], [-0.4, 0.3]])
    reduced = reduce_by_pca(points + 7, 1)  # lengths 5, 5 along (3, 4); 0.5, 0.5 across it
    assert reduced.explained == pytest.approx(50 / 50.5)
    scale = COMPONENT_RMS / math.sqrt(50 / 4)
    expected = [5 * scale, -5 * scale, 0, 0]
    assert reduced.vectors.flatten().tolist() == pytest.approx(expected, abs=1e-6)


def test_padding_is_zero_and_the_other_special_words_are_random() -> None:
    table = with_special(torch.ones(2, 50))
    assert table.shape == (5, 50)
    assert table[0].abs().sum() == 0
    assert not torch.equal(table[1], table[2])
    assert torch.equal(table, with_special(torch.ones(2, 50)))


@each("model, preset", [(name, each) for name in WORD_MODELS for each in ("allennlp", "paper")])
def test_an_untrained_model_reads_the_shared_vectors_and_leaves_chance_alone(
    model: str, preset: str
) -> None:
    before = torch.get_rng_state()
    one, other = untrained(model, preset), untrained(model, preset)
    assert torch.equal(torch.get_rng_state(), before)
    assert one.model.config.num_labels == 3
    assert one.order == LABELS
    pairs = [Pair("A dog runs.", "An animal moves.")]
    assert one.probabilities(pairs).tolist() == other.probabilities(pairs).tolist()
    assert "table" not in " ".join(dict(one.model.named_parameters()))


def test_vectors_of_its_own_begin_as_the_shared_ones() -> None:
    model = untrained("da", "allennlp", own=True).model
    table = model.get_parameter("words.table")
    assert table.requires_grad
    assert torch.equal(table, shared_table("words").float())


def test_the_presets_are_those_of_the_configurations() -> None:
    """Liu et al. 2019's AllenNLP files, and Parikh et al. 2016, Chen et al. 2017."""
    facts = {
        f"{family} {kind}": (
            it.recipe.lr,
            it.recipe.batch,
            it.epochs,
            it.patience,
            it.halve_patience,
        )
        for family, presets in {"da": DA, "esim": ESIM}.items()
        for kind, it in presets.items()
    }
    assert facts["da allennlp"] == (0.01, 64, 140, 20, None)
    assert facts["da paper"][:2] == (0.05, 4)
    assert facts["esim allennlp"] == (4e-4, 32, 75, 5, 0)
    assert facts["esim paper"] == (4e-4, 32, 75, 7, None)


def preset(lr: float = 0.1, **changes: object) -> Preset:
    recipe = Recipe("adagrad", lr, batch=8, clip_norm=None)
    facts: dict[str, Any] = {"epochs": 3, "patience": 9, **changes}
    return Preset({}, recipe, **facts)


@pytest.fixture(autouse=True)
def every_third(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "premise_is" not in request.node.name:
        monkeypatch.setattr(word_models, "HELD_OUT", 3 if "reader" in request.node.name else 4)


def test_a_premise_is_held_out_with_all_its_pairs() -> None:
    pairs = [Pair(f"premise {n}", f"hypothesis {m}") for n in range(2000) for m in range(2)]
    kept = [pair for pair in pairs if held_out(pair.premise)]
    assert len({pair.premise for pair in kept}) * 2 == len(kept)
    assert 100 < len(kept) < 190  # one in 28 of 4,000


def fresh(seed: int = 0) -> Classifier:
    return word_classifier("esim", seed)


def test_training_is_the_same_again_and_leaves_chance_alone(tmp_path: Path) -> None:
    before = torch.get_rng_state()
    first = list(train(fresh(), preset(), tiny_pairs(60), tmp_path / "a"))
    again = list(train(fresh(), preset(), tiny_pairs(60), tmp_path / "b"))
    assert torch.equal(torch.get_rng_state(), before)
    assert [(row.loss, row.dev) for row in first] == [(row.loss, row.dev) for row in again]
    assert first[-1].loss < first[0].loss


def test_the_best_epoch_is_what_stays(tmp_path: Path) -> None:
    classifier, pairs = fresh(), tiny_pairs(60)
    rows = list(train(classifier, preset(epochs=4), pairs, tmp_path))
    kept = [pair for pair in pairs if held_out(pair.premise)]
    right = sum(
        row.label == pair.gold for row, pair in zip(classifier.predict(kept), kept, strict=True)
    )
    assert right / len(kept) == max(row.dev for row in rows)
    assert load(str(tmp_path)).predict(kept[:1])[0].label in LABELS


def test_without_a_gain_the_rate_halves_and_patience_ends_it(tmp_path: Path) -> None:
    still = preset(lr=1e-9, epochs=20, patience=3, halve_patience=0)
    rows = list(train(fresh(), still, tiny_pairs(60), tmp_path))
    assert [row.lr for row in rows] == [1e-9, 1e-9, 5e-10, 2.5e-10]


def test_a_falling_rate_ends_near_zero(tmp_path: Path) -> None:
    still = preset(lr=1e-9, epochs=4, fall=True, halve_patience=None)
    rows = list(train(fresh(), still, tiny_pairs(60), tmp_path))
    assert [row.lr for row in rows] == pytest.approx([1e-9, 0.75e-9, 0.5e-9, 0.25e-9])


def test_going_on_meets_no_epochs_chance_twice(tmp_path: Path) -> None:
    once = preset(lr=1e-9, epochs=1)  # weights stay, so that a loss tells the chance of its epoch
    first = next(train(fresh(), once, tiny_pairs(60), tmp_path / "first"))
    kept, repeated = load(str(tmp_path / "first")), load(str(tmp_path / "first"))
    repeated.model.config.epochs_done = 0
    same = next(train(repeated, once, tiny_pairs(60), tmp_path / "same"))
    again = next(train(kept, once, tiny_pairs(60), tmp_path / "again"))
    assert (first.epoch, same.epoch, again.epoch) == (1, 1, 2)
    assert 5 * abs(first.loss - same.loss) < abs(first.loss - again.loss)  # fp16 moves it a little


def test_time_ends_it_after_an_epoch(tmp_path: Path) -> None:
    assert len(list(train(fresh(), preset(), tiny_pairs(60), tmp_path, minutes=0.0))) == 1


KINDS = each("kind", WORD_READERS)


def reader_preset(kind: str, **changes: object) -> Preset:
    """Return a preset's training for a tiny model."""
    known = WORD_READERS[kind]["small"]
    recipe = replace(known.recipe, lr=1e-2, batch=4)
    return replace(known, **{"settings": {}, "recipe": recipe, "epochs": 3, **changes})


@each("name, weights", [("bidaf", 1_204_145), ("qanet", 224_565)])
def test_an_untrained_small_reader_is_the_same_again_and_leaves_chance_alone(
    name: str, weights: int
) -> None:
    before = torch.get_rng_state()
    one, other = untrained_reader(name, "small"), untrained_reader(name, "small")
    assert torch.equal(torch.get_rng_state(), before)
    pairs = zip(one.model.parameters(), other.model.parameters(), strict=True)
    assert all(torch.equal(first, second) for first, second in pairs)
    assert sum(weight.numel() for weight in one.model.parameters()) == weights


def test_the_readers_presets_are_those_of_the_configurations() -> None:
    """Liu et al. 2019's AllenNLP files."""
    bidaf, qanet = (WORD_READERS[name]["allennlp"] for name in ("bidaf", "qanet"))
    facts = [(it.recipe.lr, it.recipe.batch, it.epochs, it.patience) for it in (bidaf, qanet)]
    assert facts == [(1e-3, 40, 20, 10), (1e-3, 25, 50, 10)]
    assert bidaf.recipe.settings == {"betas": (0.9, 0.9)}
    assert qanet.recipe.settings == {"betas": (0.8, 0.999), "eps": 1e-7, "weight_decay": 2e-7}
    assert (bidaf.halve_patience, bidaf.recipe.average) == (2, None)
    assert (qanet.halve_patience, qanet.recipe.average) == (None, 0.9999)
    assert bidaf.recipe.clip_norm == qanet.recipe.clip_norm == 5.0


def test_the_third_epoch_in_a_row_without_a_gain_halves_the_rate() -> None:
    bidaf = WORD_READERS["bidaf"]["allennlp"]
    assert rate(bidaf, [0.5, 0.4, 0.5]) == 1e-3
    assert rate(bidaf, [0.5, 0.4, 0.5, 0.3]) == 0.5e-3
    assert rate(bidaf, [0.5, 0.4, 0.5, 0.3, 0.4, 0.4]) == 0.5e-3
    assert rate(bidaf, [0.5, 0.4, 0.5, 0.3, 0.4, 0.4, 0.4]) == 0.25e-3
    assert rate(bidaf, [0.5, 0.4, 0.6, 0.3, 0.4]) == 1e-3
    assert rate(WORD_READERS["qanet"]["allennlp"], [0.5] * 9) == 1e-3


def test_a_falling_rate_ends_at_zero() -> None:
    falling = reader_preset("bidaf", epochs=4, fall=True)
    assert [rate(falling, [0.1] * done, done + 0.5) for done in range(4)] == pytest.approx(
        [8.75e-3, 6.25e-3, 3.75e-3, 1.25e-3]
    )


@KINDS
def test_four_questions_are_learnt_by_heart(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_models, "held_out", lambda passage: passage.endswith(" "))
    four = [question for question in QUESTIONS if question.id.endswith("-park")]
    questions = [*four, *(replace(each, passage=f"{each.passage} ") for each in four)]
    by_heart = reader_preset(kind, epochs=30, patience=30, halve_patience=None)
    faster = replace(by_heart, recipe=replace(by_heart.recipe, lr=2e-2))
    rows = list(train_reader(word_reader(kind), faster, questions, tmp_path))
    assert max(row.dev for row in rows) == 1.0
    assert min(row.loss for row in rows) < 0.5 < rows[0].loss


@KINDS
def test_the_readers_best_epoch_is_what_stays(kind: str, tmp_path: Path) -> None:
    reader, kept = (
        word_reader(kind),
        [question for question in QUESTIONS if held_out(question.passage)],
    )
    assert kept
    rows = list(train_reader(reader, reader_preset(kind), QUESTIONS, tmp_path))
    best = max(row.dev for row in rows)
    assert mean_f1(reader, kept, "fp32") == pytest.approx(best)
    assert mean_f1(load_reader(str(tmp_path)), kept, "fp32") == pytest.approx(best)


@KINDS
def test_a_training_that_was_broken_off_ends_as_if_it_had_not_been(
    kind: str, tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    rows = list(train_reader(word_reader(kind), reader_preset(kind), QUESTIONS, whole))
    again = train_reader(word_reader(kind), reader_preset(kind), QUESTIONS, broken)
    first = next(again)
    again.close()
    rest = list(train_reader(word_reader(kind), reader_preset(kind), QUESTIONS, broken))
    facts = [(row.epoch, row.loss, row.dev, row.lr) for row in rows]
    assert [(row.epoch, row.loss, row.dev, row.lr) for row in (first, *rest)] == facts
    for name in ("model.safetensors", "checkpoint/weights.safetensors"):
        assert (whole / name).read_bytes() == (broken / name).read_bytes()


def test_another_training_is_not_resumed(tmp_path: Path) -> None:
    list(train_reader(word_reader("bidaf"), reader_preset("bidaf", epochs=1), QUESTIONS, tmp_path))
    with pytest.raises(TrainingError, match="begun with another --epochs"):
        next(train_reader(word_reader("bidaf"), reader_preset("bidaf"), QUESTIONS, tmp_path))


def test_a_finished_training_is_only_read(tmp_path: Path) -> None:
    list(train_reader(word_reader("bidaf"), reader_preset("bidaf"), QUESTIONS, tmp_path))
    reader = word_reader("bidaf")
    assert list(train_reader(reader, reader_preset("bidaf"), QUESTIONS, tmp_path)) == []
    stored = load_reader(str(tmp_path)).model.state_dict()
    assert all(
        torch.equal(value, stored[name]) for name, value in reader.model.state_dict().items()
    )


def test_epochs_without_a_gain_end_it(tmp_path: Path) -> None:
    recipe = replace(reader_preset("bidaf").recipe, lr=1e-12)
    still = reader_preset("bidaf", recipe=recipe, epochs=9, patience=2)
    assert len(list(train_reader(word_reader("bidaf"), still, QUESTIONS, tmp_path))) == 3


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
