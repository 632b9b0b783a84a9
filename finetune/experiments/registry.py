"""The experiments, by kind."""

from collections.abc import Mapping

from finetune.experiments.generalisation.experiment import GENERALISATION
from finetune.experiments.generalisation.terms import generalisation_terms
from finetune.experiments.inoculation.experiment import INOCULATION
from finetune.experiments.inoculation.terms import inoculation_terms
from probe import glossary
from probe.runs.experiment import Experiment, register

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.kind: experiment for experiment in (INOCULATION, GENERALISATION)
}


def register_experiments() -> None:
    """Make the experiments known to the run system, and their words to the glossary."""
    for experiment in EXPERIMENTS.values():
        register(experiment)
    glossary.register("inoculation", "Inoculation", inoculation_terms)
    glossary.register("generalisation", "Generalisation", generalisation_terms)
