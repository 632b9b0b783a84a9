"""How a model's logits become its answer, as numbers in its config.

The temperature divides the logits (Guo et al. 2017). Below a threshold of confidence the answer is
that the input is invalid (Gupta et al. 2021, section 5).
"""

import math
from typing import Any

from probe.errors import ModelError

TEMPERATURE, INVALID_BELOW = "calibration_temperature", "invalid_below"
"""The entries of the config; `temperature` alone is transformers' own, for generated text."""


def read_temperature(config: Any) -> float:  # Any: transformers' configs take any attribute
    """Return a config's temperature, 1 where it has none. Raises ModelError for no such number."""
    value = _number(config, TEMPERATURE, 1.0)
    if value <= 0:
        raise ModelError(f"{TEMPERATURE} in the config must be above 0, and is {value}")
    return value


def read_invalid_below(config: Any) -> float:  # Any: as above
    """Return a config's threshold, 0 where it has none. Raises ModelError for no share."""
    value = _number(config, INVALID_BELOW, 0.0)
    if not 0 <= value <= 1:
        raise ModelError(f"{INVALID_BELOW} in the config must be from 0 to 1, and is {value}")
    return value


def write_temperature(config: Any, temperature: float) -> None:  # Any: as above
    """Keep a temperature in a config."""
    setattr(config, TEMPERATURE, temperature)


def write_invalid_below(config: Any, threshold: float) -> None:  # Any: as above
    """Keep a threshold in a config."""
    setattr(config, INVALID_BELOW, threshold)


def check_answer_rule(config: Any) -> None:  # Any: as above
    """Raise ModelError where a config's numbers cannot be used."""
    read_temperature(config)
    read_invalid_below(config)


def _number(config: Any, name: str, default: float) -> float:  # Any: as above
    value = getattr(config, name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ModelError(f"{name} in the config is no number: {value!r}")
    return float(value)
