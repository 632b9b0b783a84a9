"""One more class for what is no example of the task (Gupta et al. 2021, mitigation)."""

import math
from copy import deepcopy
from dataclasses import replace

import torch

from finetune.training.losses import cross_entropy
from probe.models.checkpoint import change_outputs
from probe.models.classifier import Classifier
from probe.tasks.task import INVALID


def with_invalid_class(classifier: Classifier) -> Classifier:
    """Return a copy whose model has one more output, `INVALID`; a model that has it keeps it.

    How the new output begins is not published. Here its weights are the mean of the others', so
    that its logit is the mean of theirs and no answer changes before training. Raises ModelError
    where the last layer of a model is not known.
    """
    model = deepcopy(classifier.model)
    if INVALID in classifier.order:
        return replace(classifier, model=model)
    order = (*classifier.order, INVALID)
    change_outputs(
        classifier.name, model, lambda rows: torch.cat([rows, rows.mean(0, keepdim=True)]), order
    )
    return replace(classifier, model=model.eval(), order=order)


START, STEPS = 1.5, 50
LOWEST, HIGHEST = 0.05, 20.0
"""Where every answer of a split is right, or none, the best temperature would be 0 or infinite."""


def fit_temperature(
    logits: torch.Tensor,  # (examples, labels)
    targets: torch.Tensor,  # (examples, labels), true where admissible
) -> float:
    """Return the temperature for unscaled logits, from LOWEST to HIGHEST."""
    exact = logits.detach().double()
    log_temperature = torch.tensor(math.log(START), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [log_temperature], max_iter=STEPS, line_search_fn="strong_wolfe", tolerance_change=1e-12
    )

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        bounded = log_temperature.clamp(math.log(LOWEST), math.log(HIGHEST))
        value = cross_entropy(exact / bounded.exp(), targets)
        value.backward()
        return value

    optimiser.step(loss)
    return min(HIGHEST, max(LOWEST, math.exp(float(log_temperature.detach()))))
