"""The experiments, by kind."""

from collections.abc import Mapping

from finetune.trials import calibration, inoculation, mitigation, transfer
from finetune.trials.calibration import CALIBRATION
from finetune.trials.generalisation import GENERALISATION, generalisation_terms
from finetune.trials.inoculation import INOCULATION
from finetune.trials.mitigation import MITIGATION
from finetune.trials.transfer import TRANSFER
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
    glossary.register("inoculation", "Inoculation", lambda task: inoculation.WORDS)
    glossary.register("generalisation", "Generalisation", generalisation_terms)
    glossary.register("calibration", "Calibration", lambda task: calibration.WORDS)
    glossary.register("mitigation", "Invalid inputs", lambda task: mitigation.WORDS)
    glossary.register("transfer", "Transfer", lambda task: transfer.WORDS)
