"""The experiments, by kind."""

from collections.abc import Mapping

from finetune.experiments.calibration.experiment import CALIBRATION
from finetune.experiments.calibration.terms import calibration_terms
from finetune.experiments.generalisation.experiment import GENERALISATION
from finetune.experiments.generalisation.terms import generalisation_terms
from finetune.experiments.inoculation.experiment import INOCULATION
from finetune.experiments.inoculation.terms import inoculation_terms
from finetune.experiments.mitigation.experiment import MITIGATION
from finetune.experiments.mitigation.terms import mitigation_terms
from finetune.experiments.transfer.experiment import TRANSFER
from finetune.experiments.transfer.terms import transfer_terms
from probe import experiments, glossary
from probe.runs.experiment import Experiment, register

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.kind: experiment
    for experiment in (INOCULATION, GENERALISATION, CALIBRATION, MITIGATION, TRANSFER)
}


def register_experiments() -> None:
    """Make the experiments known to the run system, and their words to the glossary.

    Those of `probe` too: who changes models also looks at them.
    """
    experiments.register_experiments()
    for experiment in EXPERIMENTS.values():
        register(experiment)
    glossary.register("inoculation", "Inoculation", inoculation_terms)
    glossary.register("generalisation", "Generalisation", generalisation_terms)
    glossary.register("calibration", "Calibration", calibration_terms)
    glossary.register("mitigation", "Invalid inputs", mitigation_terms)
    glossary.register("transfer", "Transfer", transfer_terms)
