"""Averages of weights: by hand, and in place of the weights for a while."""

import pytest
import torch

from finetune.training.optimisers import MovingAverage, averaged
from tests.support.models.tiny_word_readers import word_reader

NAME = "start.bias"


def test_early_steps_move_the_average_faster_and_later_ones_by_the_decay() -> None:
    model = word_reader("bidaf").model
    start = {name: torch.zeros_like(weight) for name, weight in model.named_parameters()}
    average = MovingAverage(0.9, start)
    with torch.no_grad():
        model.get_parameter(NAME).fill_(1.0)
    average.update(model, 1)
    assert average.weights[NAME].item() == pytest.approx(9 / 11)  # a decay of 2 / 11
    average.update(model, 1_000)
    assert average.weights[NAME].item() == pytest.approx(0.9 * 9 / 11 + 0.1)


def test_averages_stand_in_for_the_weights_only_within() -> None:
    model = word_reader("bidaf").model
    before = model.get_parameter(NAME).detach().clone()
    average = MovingAverage(0.9, {NAME: torch.full((1,), 7.0)})
    with averaged(model, average):
        assert model.get_parameter(NAME).item() == 7.0
    with averaged(model, None):
        assert torch.equal(model.get_parameter(NAME), before)
    assert torch.equal(model.get_parameter(NAME), before)
    assert average.weights[NAME].item() == 7.0
