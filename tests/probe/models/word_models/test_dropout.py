"""Dropout by random bytes: chances, scale, and where it does nothing."""

import pytest
import torch

from probe.models.word_models.layers import ByteDropout


def test_a_share_is_zeroed_and_the_mean_stays() -> None:
    values = torch.ones(100, 1001, requires_grad=True)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dropped = ByteDropout(0.25).train()(values)
    assert dropped.detach().unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert (dropped == 0).float().mean().item() == pytest.approx(0.25, abs=0.01)
    assert (dropped[:, 0] == 0).float().mean().item() == pytest.approx(0.25, abs=0.2)
    (gradient,) = torch.autograd.grad(dropped.sum(), values)
    assert torch.equal(gradient, dropped)


def test_every_element_of_eight_is_drawn_alike() -> None:
    """The eight bytes of a drawn number, its highest among them, have the same chance."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dropped = ByteDropout(0.5).train()(torch.ones(10_000, 8))
    shares = (dropped == 0).float().mean(0).tolist()
    assert shares == pytest.approx([0.5] * 8, abs=0.02)


@pytest.mark.parametrize("layer", [ByteDropout(0.5).eval(), ByteDropout(0.0).train()])
def test_outside_training_and_at_rate_zero_nothing_changes(layer: ByteDropout) -> None:
    values = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    assert layer(values) is values
