"""The kinds of runs that look at models, by their names."""

from collections.abc import Mapping

from probe.checkup.experiment import CHECKUP
from probe.runs.experiment import Experiment, register
from probe.scoring.files import SCORING

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.kind: experiment for experiment in (CHECKUP, SCORING)
}


def register_experiments() -> None:
    """Make the kinds known to the run system."""
    for experiment in EXPERIMENTS.values():
        register(experiment)
