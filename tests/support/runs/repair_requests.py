"""Repairs of a tiny model that last long enough to be stopped, by their kind."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from finetune.trials import calibration, mitigation, transfer
from probe.runs.models import named_model_hash
from probe.runs.run import RunRequest
from tests.support.runs.clean_source import TRAINING, clean_source

LONG, SHORT = replace(TRAINING, epochs=15, batch=2), ("sort", "drop")
FEW: dict[str, Any] = {"sizes": (12,), "seeds": (0,), "tests": 2}
MENDED = mitigation.Plan("", LONG, ("invalid", "entropic"), transforms=SHORT, **FEW)


def _request(kind: Any, plan: Any, model: str) -> RunRequest:  # Any: of each kind
    request: RunRequest = kind.TRIALS.request(
        replace(plan, model=model), clean_source(), artefacts={"model": named_model_hash(model)}
    )
    return request


REQUESTS: Mapping[str, Callable[[str], RunRequest]] = {
    "calibration": partial(
        _request, calibration, calibration.Plan("", LONG, ("smoothing", "focal"), **FEW)
    ),
    "mitigation": partial(_request, mitigation, MENDED),
    "transfer": partial(_request, transfer, transfer.Plan("", LONG, SHORT, **FEW)),
}
