"""Word vectors and the training of the word-level models."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

import finetune.training.word_models as word_models
from finetune.training.optimisers import clip_gradients
from finetune.training.recipes import DA, ESIM, WORD_MODELS, Preset
from finetune.training.word_models import held_out, train, untrained
from finetune.training.word_vectors import (
    COMPONENT_RMS,
    embed_words,
    reduce_by_pca,
    vocabulary,
    with_special,
)
from probe.models.architectures import Recipe
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.models.word_models.layers import shared_table
from probe.models.word_models.word_tokenizer import SPECIAL
from probe.tasks.nli import LABELS, Pair
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs
from tests.support.models.tiny_word_models import word_classifier


def test_the_vocabulary_is_the_most_frequent_words_ties_by_code_point() -> None:
    texts = ["The dog, the cat.", "a cat isn't the dog", "the b"]
    assert vocabulary(texts, 6) == [*SPECIAL, "the", "cat", "dog"]
    assert vocabulary(texts, 100, lower=False)[3:6] == ["the", "cat", "dog"]
    assert "The" in vocabulary(texts, 100, lower=False)


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


@pytest.mark.parametrize("model", WORD_MODELS)
@pytest.mark.parametrize("preset", ["allennlp", "paper"])
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
        name: (preset.recipe.lr, preset.recipe.batch, preset.epochs, preset.patience, preset.halve)
        for family, presets in {"da": DA, "esim": ESIM}.items()
        for kind, preset in presets.items()
        for name in [f"{family} {kind}"]
    }
    assert facts["da allennlp"] == (0.01, 64, 140, 20, False)
    assert facts["da paper"][:2] == (0.05, 4)
    assert facts["esim allennlp"] == (4e-4, 32, 75, 5, True)
    assert facts["esim paper"] == (4e-4, 32, 75, 7, False)


def test_clipping_follows_the_configurations() -> None:
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.tensor([30.0, 40.0])
    clip_gradients(ESIM["allennlp"].recipe, [weight])
    assert weight.grad.tolist() == pytest.approx([6.0, 8.0], rel=1e-4)  # norm 10
    clip_gradients(DA["allennlp"].recipe, [weight])
    assert weight.grad.tolist() == [5.0, 5.0]
    weight.grad = torch.tensor([30.0, 40.0])
    clip_gradients(DA["paper"].recipe, [weight])
    assert weight.grad.tolist() == [30.0, 40.0]


def preset(lr: float = 0.1, **changes: object) -> Preset:
    recipe = Recipe("adagrad", lr, batch=8, clip_norm=None)
    facts: dict[str, Any] = {"epochs": 3, "patience": 9, **changes}
    return Preset({}, recipe, **facts)


@pytest.fixture
def every_fourth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_models, "PREMISES_PER_HELD_OUT", 4)


def test_a_premise_is_held_out_with_all_its_pairs() -> None:
    pairs = [Pair(f"premise {n}", f"hypothesis {m}") for n in range(2000) for m in range(2)]
    kept = [pair for pair in pairs if held_out(pair)]
    assert len({pair.premise for pair in kept}) * 2 == len(kept)
    assert 100 < len(kept) < 190  # one in 28 of 4,000


def fresh(seed: int = 0) -> Classifier:
    return word_classifier("esim", seed)


@pytest.mark.usefixtures("every_fourth")
def test_training_is_the_same_again_and_leaves_chance_alone(tmp_path: Path) -> None:
    before = torch.get_rng_state()
    first = list(train(fresh(), preset(), tiny_pairs(60), tmp_path / "a"))
    again = list(train(fresh(), preset(), tiny_pairs(60), tmp_path / "b"))
    assert torch.equal(torch.get_rng_state(), before)
    assert [(row.loss, row.dev) for row in first] == [(row.loss, row.dev) for row in again]
    assert first[-1].loss < first[0].loss


@pytest.mark.usefixtures("every_fourth")
def test_the_best_epoch_is_what_stays(tmp_path: Path) -> None:
    classifier, pairs = fresh(), tiny_pairs(60)
    rows = list(train(classifier, preset(epochs=4), pairs, tmp_path))
    kept = [pair for pair in pairs if held_out(pair)]
    right = sum(
        row.label == pair.gold for row, pair in zip(classifier.predict(kept), kept, strict=True)
    )
    assert right / len(kept) == max(row.dev for row in rows)
    assert load(str(tmp_path)).predict(kept[:1])[0].label in LABELS


@pytest.mark.usefixtures("every_fourth")
def test_without_a_gain_the_rate_halves_and_patience_ends_it(tmp_path: Path) -> None:
    still = preset(lr=1e-9, epochs=20, patience=3, halve=True)
    rows = list(train(fresh(), still, tiny_pairs(60), tmp_path))
    assert [row.lr for row in rows] == [1e-9, 1e-9, 5e-10, 2.5e-10]


@pytest.mark.usefixtures("every_fourth")
def test_a_falling_rate_ends_near_zero(tmp_path: Path) -> None:
    still = preset(lr=1e-9, epochs=4, fall=True, halve=False)  # no gain changes nothing in it
    rows = list(train(fresh(), still, tiny_pairs(60), tmp_path))
    assert [row.lr for row in rows] == pytest.approx([1e-9, 0.75e-9, 0.5e-9, 0.25e-9])


@pytest.mark.usefixtures("every_fourth")
def test_going_on_meets_no_epochs_chance_twice(tmp_path: Path) -> None:
    once = preset(lr=1e-9, epochs=1)  # weights stay, so that a loss tells the chance of its epoch
    first = next(train(fresh(), once, tiny_pairs(60), tmp_path / "first"))
    kept, repeated = load(str(tmp_path / "first")), load(str(tmp_path / "first"))
    repeated.model.config.epochs_done = 0
    same = next(train(repeated, once, tiny_pairs(60), tmp_path / "same"))
    again = next(train(kept, once, tiny_pairs(60), tmp_path / "again"))
    assert (first.epoch, same.epoch, again.epoch) == (1, 1, 2)
    assert 5 * abs(first.loss - same.loss) < abs(first.loss - again.loss)  # fp16 moves it a little


@pytest.mark.usefixtures("every_fourth")
def test_time_ends_it_after_an_epoch(tmp_path: Path) -> None:
    assert len(list(train(fresh(), preset(), tiny_pairs(60), tmp_path, minutes=0.0))) == 1
