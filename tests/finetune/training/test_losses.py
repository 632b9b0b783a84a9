"""Losses are functions of logits and targets."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy as torch_cross_entropy

from finetune.training.losses import (
    Loss,
    admissible,
    against,
    balanced_last,
    cross_entropy,
    divergence_from_uniform,
    entropic,
    focal,
    product_of_experts,
    read_loss,
    reweighted,
    smoothed,
    soft_cross_entropy,
)
from probe.errors import TrainingError
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, Pair
from probe.tasks.task import INVALID, Label, Task
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.property_settings import STEADY

LOGITS = arrays(np.float64, (4, 3), elements=st.floats(-20, 20))
TARGETS = torch.eye(3, dtype=torch.bool)[[0, 1, 2, 0]]
HALF = torch.tensor([[2.0, 1.0, 1.0]]).log()  # probabilities 1/2, 1/4, 1/4
ROWS = torch.tensor([[2.0, -1.0, 0.5], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])


@each(
    "task, labels, expected",  # of a pair with each gold label: which outputs are right
    [
        (
            NLI,
            (*LABELS, INVALID),
            {
                **{"entailment": "1000", "neutral": "0100", "contradiction": "0010"},
                **{"non-entailment": "0110", INVALID: "0001", None: "0000"},
            },
        ),
        (NLI_TWO_WAY, (), {"entailment": "10", "neutral": "01", "contradiction": "01"}),
    ],
)
def test_a_gold_label_admits_what_it_holds_for(
    task: Task, labels: tuple[Label, ...], expected: dict[Label | None, str]
) -> None:
    rows = admissible([Pair("A b.", "C d.", gold) for gold in expected], task, labels).tolist()
    assert ["".join(str(int(right)) for right in row) for row in rows] == [*expected.values()]


def test_a_loss_is_torchs_or_worked_by_hand() -> None:
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -40.0], [1.0, 1.0, 1.0]])
    for order in (LABELS, ("contradiction", "entailment", "neutral")):
        numbers = torch.tensor([order.index(pair.gold) for pair in tiny_pairs(3) if pair.gold])
        loss = cross_entropy(logits, admissible(tiny_pairs(3), replace(NLI, labels=order)))
        torch.testing.assert_close(loss, torch_cross_entropy(logits, numbers))
    # what is not entailment makes a half
    half = cross_entropy(HALF, torch.tensor([[False, True, True]]))
    assert float(half) == pytest.approx(math.log(2))
    focused = focal(2.0)(HALF, torch.tensor([[True, False, False]]))
    assert float(focused) == pytest.approx(0.25 * math.log(2))  # (1 - 1/2)² log 2


@STEADY
@given(LOGITS, st.floats(0, 1))
def test_label_smoothing_is_torchs_and_uniform_is_the_least_entropic(
    values: NDArray[np.float64], epsilon: float
) -> None:
    logits = torch.from_numpy(values)
    theirs = torch_cross_entropy(logits, torch.tensor([0, 1, 2, 0]), label_smoothing=epsilon)
    torch.testing.assert_close(smoothed(epsilon)(logits, TARGETS), theirs)
    assert float(divergence_from_uniform(torch.zeros_like(logits))) == pytest.approx(0, abs=1e-7)
    assert float(divergence_from_uniform(logits)) >= -1e-7


def slope(loss: Loss, logits: list[float], target: list[bool]) -> torch.Tensor:
    values = torch.tensor([logits], requires_grad=True)
    loss(values, torch.tensor([target])).backward()
    assert values.grad is not None
    return values.grad


def test_slopes_are_finite_and_lead_to_less_certainty_alone() -> None:
    for gamma in (0.0, 0.5, 1.0, 2.0):  # of a certain answer too
        assert slope(focal(gamma), [200.0, 0.0, 0.0], [True, False, False]).isfinite().all()
    assert slope(entropic(1.0), [1.0, 1.0, 1.0], [False] * 3).abs().max() < 1e-7
    start = torch.tensor([3.0, 0.0, 0.0])
    after = start - slope(entropic(1.0), start.tolist(), [False] * 3)[0]
    assert float(after.softmax(0).max()) < float(start.softmax(0).max())


def test_rows_weigh_alike_or_each_kind_of_them_does() -> None:
    first, rest = ROWS[:1], ROWS[1:]
    unlabelled = torch.tensor([[True, False, False], [False] * 3, [False] * 3])
    known, unsure = cross_entropy(first, unlabelled[:1]), 0.1 * divergence_from_uniform(rest)
    torch.testing.assert_close(entropic(0.1)(ROWS, unlabelled), (known + 2 * unsure) / 3)
    torch.testing.assert_close(entropic(0.1, kinds_alike=True)(ROWS, unlabelled), known + unsure)
    last = torch.tensor([[True, False, False], [False, False, True], [False, False, True]])
    wanted = (cross_entropy(first, last[:1]) + cross_entropy(rest, last[1:])) / 2
    torch.testing.assert_close(balanced_last(ROWS, last), wanted)


GOLD = torch.tensor([[True, False, False]])
WEAK = torch.tensor([[0.5, 0.25, 0.25]])


def test_losses_against_a_weak_model_are_worked_by_hand() -> None:
    alone, together = torch.zeros(1, 3), HALF  # 1/2, 1/4, 1/4 squared: 4/6, 1/6, 1/6
    targets = against(GOLD, WEAK)
    assert float(product_of_experts(alone, targets)) == pytest.approx(math.log(2))
    assert float(product_of_experts(together, targets)) == pytest.approx(math.log(1.5))
    rows = torch.cat([HALF, torch.tensor([[1.0, 1.0, 2.0]]).log()])  # 1/2 and 1/4 of the first
    weak = torch.tensor([[0.75, 0.125, 0.125], [0.25, 0.5, 0.25]])
    weighed = reweighted(rows, against(GOLD.expand(2, 3), weak))
    assert float(weighed) == pytest.approx((0.25 * math.log(2) + 0.75 * math.log(4)) / 1)
    # of a label of two the weak model has both shares: a row counts what is left
    two = torch.tensor([[True, True, False]])
    assert float(product_of_experts(alone, against(two, WEAK))) == pytest.approx(-math.log(0.75))
    softened = against(GOLD, WEAK, taught=WEAK)  # square roots of 1/2, 1/4, 1/4
    wanted = torch.tensor([[math.sqrt(0.5), 0.5, 0.5]]) / (1 + math.sqrt(0.5))
    torch.testing.assert_close(softened, wanted)
    nothing_known = against(torch.zeros_like(GOLD), WEAK, taught=WEAK)
    torch.testing.assert_close(nothing_known, WEAK)


def test_what_the_weak_model_is_sure_of_is_not_learnt() -> None:
    sure = torch.tensor([[1 - 2e-4, 1e-4, 1e-4]])
    mistaken = sure.flip(1)
    logits = torch.tensor([[0.3, 0.1, 0.0], [0.3, 0.1, 0.0]], requires_grad=True)
    targets = against(GOLD.expand(2, 3), torch.cat([sure, mistaken]))
    for loss in (product_of_experts, reweighted):
        logits.grad = None
        loss(logits, targets).backward()
        assert logits.grad is not None
        known, unknown = logits.grad.norm(dim=1).tolist()
        assert known < 1e-3 * unknown
    # of a teacher all labels are asked for alike
    torch.testing.assert_close(
        against(GOLD, sure, WEAK), torch.full((1, 3), 1 / 3), atol=1e-3, rtol=0
    )


@each(
    "text, taught, weak",
    [
        ("poe", False, False),
        ("plain", False, True),
        ("focal:2", False, True),
        ("poe", True, True),
        ("reweight", True, True),
        ("regularise", False, True),
        ("regularise", True, False),
        ("poe:2", False, True),
    ],
)
def test_a_loss_against_a_weak_model_needs_what_it_learns_from(
    text: str, taught: bool, weak: bool
) -> None:
    with pytest.raises(TrainingError, match=r"--weak|--teacher"):
        read_loss(text, taught, weak)
    assert read_loss("regularise", taught=True, weak=True) is soft_cross_entropy
