"""The experiments, by kind."""

from collections.abc import Mapping

from finetune.trials.calibration import CALIBRATION, calibration_terms
from finetune.trials.generalisation import GENERALISATION, generalisation_terms
from finetune.trials.inoculation import INOCULATION, inoculation_terms
from finetune.trials.mitigation import MITIGATION, mitigation_terms
from finetune.trials.transfer import TRANSFER, transfer_terms
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
