"""The experiments, by kind."""

from collections.abc import Mapping

from finetune.experiments.inoculation.experiment import INOCULATION
from probe.runs.experiment import Experiment, register

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.kind: experiment for experiment in (INOCULATION,)
}


def register_experiments() -> None:
    """Make the experiments known to the run system."""
    for experiment in EXPERIMENTS.values():
        register(experiment)
