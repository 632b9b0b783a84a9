"""The training loop: seeded steps, batches of like length, early stopping, any loss."""

import math
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch.optim import Adagrad, Adam, AdamW, Optimizer

from finetune.training.frozen_layers import Encoded, encode, score
from finetune.training.loop import (
    OPTIMISERS,
    BestEpoch,
    MovingAverage,
    Schedule,
    Trainer,
    adamw,
    averaged,
    clip_gradients,
    epoch_batches,
    make_optimiser,
    take_step,
    train_epoch,
    train_epochs,
    trainable,
)
from finetune.training.losses import Loss, cross_entropy, entropic
from probe.models.architectures import ARCHITECTURES, DEFAULT, Recipe
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.stopping import Cancelled
from probe.tasks.nli import Pair
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import tiny_classifier
from tests.support.models.tiny_word_models import word_classifier, word_reader

PAIRS = tiny_pairs(22)


def weights(classifier: Classifier) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in classifier.model.state_dict().items()}


def trainer(classifier: Classifier, lr: float = 1e-3, recipe: Recipe = Recipe()) -> Trainer:
    return Trainer(classifier, recipe, make_optimiser(recipe, trainable(classifier), lr))


def encoded(classifier: Classifier) -> Encoded:
    return encode(classifier, PAIRS, 64, classifier.device)


def test_an_epoch_is_a_permutation_of_its_own_in_batches_of_like_length() -> None:
    for rows in (1, 22, 450):
        lengths = [row % 7 for row in range(rows)]
        batches = epoch_batches(lengths, 4, seed=0, epoch=1)
        assert sorted(row for batch in batches for row in batch) == list(range(rows))
        assert all(len(batch) <= 4 for batch in batches)
        assert epoch_batches(lengths, 4, 0, 1) == batches
        assert rows == 1 or epoch_batches(lengths, 4, 0, 2) != batches
    lengths = [(row * 37) % 100 for row in range(100)]  # 0 to 99, mixed
    for batch in epoch_batches(lengths, 10, 0, 0):
        in_batch = [lengths[row] for row in batch]
        assert max(in_batch) - min(in_batch) == 9


def test_each_step_of_an_epoch_has_its_own_rate_and_seed_and_can_be_stopped(model: str) -> None:
    by_hand, in_epoch, other = load(model), load(model), load(model)
    batches, rates = [[0, 1, 2], [3, 4], [5]], [1e-3, 1e-2, 1e-4]
    data, one, losses = encoded(by_hand), trainer(by_hand), []
    before = torch.get_rng_state()
    for number, (rows, rate) in enumerate(zip(batches, rates, strict=True)):
        for group in one.optimiser.param_groups:
            group["lr"] = rate
        losses.append(take_step(one, *data.batch(rows), 70 + number))
    assert list(train_epoch(trainer(in_epoch), batches, rates, data.batch, 70)) == losses
    assert torch.equal(before, torch.get_rng_state())
    list(train_epoch(trainer(other), batches, rates, data.batch, 71))
    same = [
        all(torch.equal(value, weights(one)[name]) for name, value in weights(by_hand).items())
        for one in (in_epoch, other)
    ]
    assert same == [True, False]  # dropout is drawn from the seed
    answers = iter([False, True])
    steps = train_epoch(one, batches, rates, data.batch, 0, lambda: next(answers))
    next(steps)
    with pytest.raises(Cancelled):
        next(steps)


def test_epochs_end_without_a_gain_and_tell_the_rate_how_many_brought_none(
    classifier: Classifier,
) -> None:
    data = encoded(classifier)
    asked: list[tuple[float, int]] = []

    def rate(passed: float, without_gain: int) -> float:
        asked.append((passed, without_gain))
        return 1e-12  # too small to change a prediction

    best = BestEpoch()
    schedule = Schedule(range(5, 20), 11, 0, rate, patience=3)
    measure = partial(score, classifier, data)
    rows = list(train_epochs(trainer(classifier), data, measure, schedule, best))
    assert [row.epoch for row in rows] == [5, 6, 7, 8]
    assert (best.epoch, best.dev) == (5, rows[0].dev)
    assert asked == [
        (0.0, 0), (0.5, 0), (1.0, 0), (1.5, 0), (2.0, 1), (2.5, 1), (3.0, 2), (3.5, 2),
    ]  # fmt: skip


def test_the_loop_takes_another_loss_and_a_second_batch_without_labels(model: str) -> None:
    labelled, unlabelled = PAIRS[:4], tuple(Pair(p.premise, p.hypothesis) for p in PAIRS[4:8])

    def entropy(loss: Loss, rows: int) -> float:
        classifier = load(model)
        data = encode(classifier, (*labelled, *unlabelled), 64, classifier.device)
        with torch.no_grad():  # sure of one label, so that there is entropy to gain
            classifier.model.get_parameter("classifier.bias")[0] += 3.0
        run = replace(trainer(classifier), loss=loss)
        list(train_epoch(run, [list(range(rows))] * 5, [1e-2] * 5, data.batch, 0))
        answers = torch.tensor(classifier.probabilities(unlabelled))
        return float(torch.distributions.Categorical(answers).entropy().mean())

    most = entropy(entropic(10.0), 8)
    assert most == pytest.approx(math.log(3), abs=0.02)  # the largest there is
    assert entropy(cross_entropy, 4) < most - 0.04


@each("optimiser", OPTIMISERS)
def test_after_a_step_a_model_answers_in_bf16_by_its_new_weights(
    classifier: Classifier, optimiser: str
) -> None:
    training, data = trainer(classifier, 0.1, Recipe(optimiser)), encoded(classifier)
    before = classifier.unscaled(data, "bf16")
    take_step(training, *data.batch(range(8)), seed=0)
    after = classifier.unscaled(data, "bf16")
    with_a_new_copy = replace(classifier).unscaled(data, "bf16")
    assert not torch.equal(before, after)
    assert torch.equal(after, with_a_new_copy)


NAME = "start.bias"


def test_averages_follow_the_weights_and_stand_in_for_them_only_within() -> None:
    model = word_reader("bidaf").model
    start = {name: torch.zeros_like(weight) for name, weight in model.named_parameters()}
    average = MovingAverage(0.9, start)
    with torch.no_grad():
        model.get_parameter(NAME).fill_(1.0)
    average.update(model, 1)
    early = average.weights[NAME].item()
    assert early == pytest.approx(9 / 11)  # a decay of 2 / 11: early steps move it faster
    average.update(model, 1_000)
    late = average.weights[NAME].item()
    assert late == pytest.approx(0.9 * 9 / 11 + 0.1)
    for within, value in ((average, late), (None, 1.0)):
        with averaged(model, within):
            assert model.get_parameter(NAME).item() == value
        assert model.get_parameter(NAME).item() == 1.0
    assert average.weights[NAME].item() == late


DA, BERT = word_classifier("da"), tiny_classifier("bert")


@each(
    "classifier, kind, batch, clipped",
    # each value at most 5; the norm at most 10; the norm at most 1
    [
        (DA, Adagrad, 64, [5.0, 5.0]),
        (word_classifier("esim"), Adam, 32, [6.0, 8.0]),
        (word_classifier("esim_char"), Adam, 32, [6.0, 8.0]),
        (BERT, AdamW, 32, [0.6, 0.8]),
    ],
)
def test_a_model_is_trained_as_it_was(
    classifier: Classifier, kind: type[Optimizer], batch: int, clipped: list[float]
) -> None:
    recipe, weight = classifier.architecture.recipe, torch.nn.Parameter(torch.zeros(2))
    assert type(make_optimiser(recipe, [weight], 0.1)) is kind
    assert recipe.batch == batch
    weight.grad = torch.tensor([30.0, 40.0])
    clip_gradients(recipe, [weight])
    torch.testing.assert_close(weight.grad, torch.tensor(clipped), atol=1e-5, rtol=1e-5)


def test_every_recipe_can_be_carried_out_and_starts_without_a_memory() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    for row in (DEFAULT, *ARCHITECTURES.values()):
        optimiser = make_optimiser(row.recipe, [weight], row.recipe.lr)
        assert {group["lr"] for group in optimiser.param_groups} == {row.recipe.lr}
    decayed, kept = adamw(trainable(BERT), 1e-3, 0.01).param_groups  # no biases, no norms
    assert (decayed["weight_decay"], kept["weight_decay"]) == (0.01, 0.0)
    assert {weight.ndim for weight in kept["params"]} == {1}
    for _ in range(2):
        optimiser = make_optimiser(DA.architecture.recipe, [weight], 0.1)
        weight.data.fill_(1.0)
        weight.grad = torch.ones(1)
        optimiser.step()
        # AdaGrad's first step is the rate, whatever the gradient; a second one would be 0.7 of it
        assert weight.item() == pytest.approx(0.9)
