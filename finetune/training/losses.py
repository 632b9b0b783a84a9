"""Losses: functions of logits and targets, (batch, labels) each, that return the mean of a batch.

Targets say which labels are admissible. A row that admits none has no gold label: a loss with a
second batch (entropy on other pairs) takes that batch as such rows.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import torch

from finetune.training.recipes import PLAIN
from probe.errors import TrainingError
from probe.tasks.task import Example, Label, Task

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def cross_entropy(
    logits: torch.Tensor,  # (batch, labels)
    targets: torch.Tensor,  # (batch, labels), true where admissible
) -> torch.Tensor:
    """Return minus the log of the probability of all admissible labels together, mean.

    Plain cross-entropy where one label is admissible; non-entailment admits two of three. Infinite
    where a row admits none.
    """
    return _surprise(logits, targets).mean()


def soft_cross_entropy(
    logits: torch.Tensor,  # (batch, labels)
    targets: torch.Tensor,  # (batch, labels), probabilities
) -> torch.Tensor:
    """Return the cross entropy of the targets with the model's probabilities, mean."""
    return torch.nn.functional.cross_entropy(logits, targets)


def product_of_experts(
    logits: torch.Tensor,  # (batch, labels)
    targets: torch.Tensor,  # (batch, 2, labels), see `against`
) -> torch.Tensor:
    """Return the cross entropy of model and weak model together, their probabilities multiplied.

    Of a row that the weak model is sure of, and right about, the model has nothing to learn (Clark
    et al. 2019; Mahabadi et al. 2020; the residual of He et al. 2019). It answers alone.
    """
    gold, weak = targets.unbind(1)
    return cross_entropy(logits.log_softmax(1) + weak.log(), gold.bool())


def reweighted(
    logits: torch.Tensor,  # (batch, labels)
    targets: torch.Tensor,  # (batch, 2, labels), see `against`
) -> torch.Tensor:
    """Return the cross entropy, each row weighing what the weak model lacks of certainty.

    The weight is 1 less its probability of the gold label; the mean is by weight, as in the code of
    Clark et al. 2019.
    """
    gold, weak = targets.unbind(1)
    weights = 1 - (weak * gold).sum(1)
    total = weights.sum().clamp(min=torch.finfo(weights.dtype).tiny)
    return (weights * _surprise(logits, gold.bool())).sum() / total


def against(
    admitted: torch.Tensor,  # (examples, labels), true where admissible
    weak: torch.Tensor,  # (examples, labels), probabilities
    taught: torch.Tensor | None = None,  # (examples, labels), probabilities
) -> torch.Tensor:
    """Return the targets of a loss against a weak model: both, or softened ones of a teacher.

    # (examples, 2, labels), or with a teacher (examples, labels)
    Its probabilities are raised to 1 less the weak model's of the gold label, so that the surer
    that is, the less is asked for (confidence regularisation, Utama et al. 2020, section 3.2).
    """
    if taught is None:
        return torch.stack([admitted.to(weak.dtype), weak], 1)
    sure = (weak * admitted).sum(1, keepdim=True)
    return ((1 - sure) * taught.clamp(min=torch.finfo(taught.dtype).tiny).log()).softmax(1)


def smoothed(epsilon: float) -> Loss:
    """Return label smoothing: 1 - epsilon of the cross entropy, epsilon of that to all labels.

    The right label has its part of epsilon too, as in the code of Gupta et al. 2021 and in torch.
    """
    return lambda logits, targets: (
        (1 - epsilon) * cross_entropy(logits, targets) - epsilon * logits.log_softmax(1).mean()
    )


def focal(gamma: float) -> Loss:
    """Return the focal loss, (1 - p) ** gamma times the cross entropy (Lin et al. 2017).

    Rows of which the model is sure count less; without the weights of classes, as in Gupta et al.
    """
    return partial(_focal, gamma)


NAMED: Mapping[str, tuple[Callable[[float], Loss], float, float]] = {
    PLAIN: (lambda _: cross_entropy, 0.0, math.inf),
    "smoothing": (smoothed, 0.1, 1.0),
    "focal": (focal, 2.0, math.inf),
}
"""The losses that a model may be trained with, each with the paper's number and what that stays
below."""
AGAINST: Mapping[str, Loss] = {
    "poe": product_of_experts,
    "reweight": reweighted,
    "regularise": soft_cross_entropy,
}
"""The losses against a weak model, the last with a teacher; their targets are `against` it."""


def read_loss(text: str, taught: bool = False, weak: bool = False) -> Loss:
    """Read a loss of `NAMED` by its name, and its number behind a colon, or one of `AGAINST`.

    What is `taught` by models has the cross entropy of their probabilities, and no other. Raises
    TrainingError.
    """
    if weak is not (text in AGAINST):
        raise TrainingError(
            f"a weak model (--weak) and a loss against it ({', '.join(AGAINST)}) need each other"
        )
    if text in AGAINST:
        if taught is not (text == "regularise"):
            raise TrainingError(
                "regularise softens what a --teacher says; poe and reweight learn without one"
            )
        return AGAINST[text]
    if taught and text != PLAIN:
        raise TrainingError(f"teachers are learnt from by their probabilities, not by {text!r}")
    name, _, given = text.partition(":")
    known = ", ".join((*NAMED, *AGAINST))
    if name not in NAMED:
        raise TrainingError(f"there is no loss {name!r}; there are: {known}")
    loss, usual, below = NAMED[name]
    try:
        number = float(given) if given else usual
    except ValueError:
        number = math.nan
    if not 0 <= number < below or (given and name == PLAIN):
        raise TrainingError(
            f"the loss {text!r} is none of {known}, with a number behind a colon such as focal:2, "
            "for smoothing from 0 to below 1"
        )
    return soft_cross_entropy if taught else loss(number)


def entropic(weight: float, kinds_alike: bool = False) -> Loss:
    """Return the cross entropy of the labelled rows and `weight` times KL(uniform || p) of others.

    Each row counts once, as in the code of Gupta et al. 2021, or with `kinds_alike` each kind: the
    more broken texts stand beside whole ones, the stronger the same weight is by rows. The paper
    prints a plus before the entropy of invalid rows, which would make the model surer of them;
    its code takes the divergence, as here.
    """
    return partial(_entropic, weight, kinds_alike)


def balanced_last(
    logits: torch.Tensor,  # (batch, labels)
    targets: torch.Tensor,  # (batch, labels), true where admissible
) -> torch.Tensor:
    """Return the mean of two cross entropies: of rows of the last label, and of all others.

    So a class with many more rows than the others together weighs no more than they do. Cross
    entropy where a batch has rows of one kind only.
    """
    last = targets[:, -1]
    parts = [
        cross_entropy(logits[rows], targets[rows]) for rows in (last, ~last) if bool(rows.any())
    ]
    return torch.stack(parts).mean()


def divergence_from_uniform(
    logits: torch.Tensor,  # (batch, labels)
) -> torch.Tensor:
    """Return KL(uniform || p) = -log K - mean over labels of log p, mean; 0 where p is uniform."""
    labels = torch.tensor(float(logits.shape[1]), device=logits.device)
    return (-labels.log() - logits.log_softmax(1).mean(1)).mean()


def _surprise(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return minus the log of the probability of each row's admissible labels.  # (batch,)"""
    admitted = logits.masked_fill(~targets, -torch.inf).logsumexp(1)
    return logits.logsumexp(1) - admitted


def _focal(gamma: float, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    surprise = _surprise(logits, targets)
    wrong = (1 - (-surprise).exp()).clamp(min=0)
    # at p = 1 the power has no gradient for gamma below 1, and none is needed
    factor = wrong.clamp(min=torch.finfo(wrong.dtype).tiny) ** gamma
    return (factor * surprise).mean()


def _entropic(
    weight: float, kinds_alike: bool, logits: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    labelled = targets.any(1)
    loss = logits.sum() * 0.0  # of a batch without such rows
    if labelled.any():
        share = 1 if kinds_alike else labelled.float().mean()
        loss = loss + share * cross_entropy(logits[labelled], targets[labelled])
    if not labelled.all():
        share = 1 if kinds_alike else (~labelled).float().mean()
        loss = loss + share * weight * divergence_from_uniform(logits[~labelled])
    return loss


def admissible(
    examples: Sequence[Example], task: Task, labels: Sequence[Label] = ()
) -> torch.Tensor:
    """Return which of the labels, by default the task's, match the gold; none where there is none.

    # (examples, labels)
    """
    rows = {gold: task.admissible(gold, labels) for gold in {example.gold for example in examples}}
    return torch.tensor([rows[example.gold] for example in examples])
