"""The temperature that logits are divided by, a number in a config (Guo et al. 2017)."""

import math
from typing import Any

from probe.errors import ModelError

NAME = "calibration_temperature"
"""The entry of the config; `temperature` is transformers' own, for generated text."""


def read_temperature(config: Any) -> float:  # Any: transformers' configs take any attribute
    """Return a config's temperature, 1 where it has none. Raises ModelError for no such number."""
    value = getattr(config, NAME, 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelError(f"{NAME} in the config is no number: {value!r}")
    if not 0 < value < math.inf:
        raise ModelError(f"{NAME} in the config must be above 0, and is {value}")
    return float(value)


def write_temperature(config: Any, temperature: float) -> None:  # Any: as above
    """Keep a temperature in a config."""
    setattr(config, NAME, temperature)
