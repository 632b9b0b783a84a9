"""Repairs of a tiny model that last long enough to be stopped, by their kind."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from finetune.trials.calibration import Plan as CalibrationPlan
from finetune.trials.calibration import run_request as calibration_request
from finetune.trials.mitigation import Plan as MitigationPlan
from finetune.trials.mitigation import run_request as mitigation_request
from finetune.trials.transfer import Plan as TransferPlan
from finetune.trials.transfer import run_request as transfer_request
from probe.runs.models import named_model_hash
from probe.runs.run import RunRequest
from tests.support.runs.clean_source import TRAINING, clean_source

LONG = replace(TRAINING, epochs=15, batch=2)
SOURCE = clean_source()


def _calibration(model: str) -> RunRequest:
    plan = CalibrationPlan(model, LONG, ("smoothing", "focal"), (12,), (0,), tests=2)
    return calibration_request(plan, SOURCE, artefacts={"model": named_model_hash(model)})


def _mitigation(model: str) -> RunRequest:
    plan = MitigationPlan(
        model, LONG, ("invalid", "entropic"), (12,), (0,), tests=2, transforms=("sort", "drop")
    )
    return mitigation_request(plan, SOURCE, artefacts={"model": named_model_hash(model)})


def _transfer(model: str) -> RunRequest:
    plan = TransferPlan(model, LONG, ("sort", "drop"), (12,), (0,), tests=2)
    return transfer_request(plan, SOURCE, artefacts={"model": named_model_hash(model)})


REQUESTS: Mapping[str, Callable[[str], RunRequest]] = {
    "calibration": _calibration,
    "mitigation": _mitigation,
    "transfer": _transfer,
}
