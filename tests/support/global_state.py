"""Whether something touches the random state that a whole process shares."""

import random
from collections.abc import Callable

import numpy as np
import torch

ATTEMPTS = 20
"""Another thread may touch the state meanwhile: gradio's queue does as long as an app serves."""


def leaves_global_chance_alone(action: Callable[[], object]) -> bool:
    """Whether an action can run without a change of random's, numpy's and torch's global state."""
    return any(_unchanged(action) for _ in range(ATTEMPTS))


def _unchanged(action: Callable[[], object]) -> bool:
    python, arrays, tensors = random.getstate(), np.random.get_state()[1], torch.get_rng_state()
    action()
    return (
        random.getstate() == python
        and np.array_equal(np.random.get_state()[1], arrays)
        and torch.equal(torch.get_rng_state(), tensors)
    )
