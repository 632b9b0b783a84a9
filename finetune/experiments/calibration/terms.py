"""The words of calibration for the glossary."""

from collections.abc import Mapping

from finetune.experiments.calibration.plan import METHODS
from probe.tasks.task import Task
from probe.terms import Term, Titled

WORDS: Mapping[str, Term] = {
    "calibration": Term(
        "Calibration",
        "Whether a model is right as often as it is sure: of answers given with 80 %, 80 in 100.",
    ),
    "calibration-error": Term(
        "Expected calibration error",
        "The distance between confidence and accuracy in 15 bins by confidence, weighted by their "
        "answers; chance alone gives some of it, the more the fewer there are.",
    ),
    "brier-score": Term(
        "Brier score", "The squared distance of the probabilities from certainty of the gold label."
    ),
    "log-loss": Term(
        "Log loss",
        "Minus the logarithm of the gold label's probability; being sure and wrong costs most.",
    ),
}


def calibration_terms(task: Task) -> dict[str, Titled]:
    """Return the terms by id; they are the same for every task."""
    methods = {
        term.title.lower().replace(" ", "-"): term
        for name, term in METHODS.items()
        if name != "baseline"
    }
    return {**WORDS, **methods}
