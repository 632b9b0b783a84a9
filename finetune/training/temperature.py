"""The temperature at which a model's log loss on a split is lowest (Guo et al. 2017).

Gupta et al.'s code takes one call of LBFGS with steps of 0.01 from 1.5, which may end before the
minimum, and applies the result only above 1. Here LBFGS searches along its direction until it
arrives, over the log of the temperature, so that it stays above 0, and a model that is not sure
enough is made surer.
"""

import math

import torch

from finetune.training.losses import cross_entropy

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
