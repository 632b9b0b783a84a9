"""Runs of a tiny model that last long enough to be stopped, by their kind."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from finetune.trials import calibration, generalisation, mitigation, transfer
from probe.runs.models import named_model_hash
from probe.runs.run import RunRequest
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.runs.clean_source import TRAINING, clean_source

TOLD = {
    name: tuple(
        replace(pair, premise=f"{pair.premise} {at}", hypothesis=f"{name} {pair.hypothesis}")
        for at, pair in enumerate(tiny_pairs(60))
    )
    for name in ("now", "then")
}
CONDITIONS = generalisation.SourceData(tiny_pairs(12), TOLD)
GRID = generalisation.with_conditions(
    generalisation.Plan(
        "tiny", "mine", generalisation.FILE, (), (), (12,), (1e-3, 1e30), (0,), mode="full",
        tests=9, dev=3, batch=4, max_epochs=3, precision="fp32",
    ),
    CONDITIONS,
)  # fmt: skip
LONG, SHORT = replace(TRAINING, epochs=15, batch=2), ("sort", "drop")
FEW: dict[str, Any] = {"sizes": (12,), "seeds": (0,), "tests": 2}
LENGTHY = replace(GRID, lrs=(1e-3,), batch=1, max_epochs=20, patience=20)
MENDED = mitigation.Plan("", LONG, ("invalid", "entropic"), transforms=SHORT, **FEW)


def _request(kind: Any, plan: Any, data: Any, model: str) -> RunRequest:  # Any: of each kind
    request: RunRequest = kind.TRIALS.request(
        replace(plan, model=model), data, artefacts={"model": named_model_hash(model)}
    )
    return request


SOURCE, CALIBRATED = clean_source(), calibration.Plan("", LONG, ("smoothing", "focal"), **FEW)
REQUESTS: Mapping[str, Callable[[str], RunRequest]] = {
    generalisation.KIND: partial(_request, generalisation, LENGTHY, CONDITIONS),
    calibration.KIND: partial(_request, calibration, CALIBRATED, SOURCE),
    mitigation.KIND: partial(_request, mitigation, MENDED, SOURCE),
    transfer.KIND: partial(_request, transfer, transfer.Plan("", LONG, SHORT, **FEW), SOURCE),
}
