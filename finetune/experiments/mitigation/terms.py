"""The words of mitigation for the glossary."""

from collections.abc import Mapping

from finetune.experiments.mitigation.plan import METHODS
from probe.tasks.task import Task
from probe.terms import Term, Titled

IDS = {"threshold": "threshold", "entropic": "entropic-regularisation", "invalid": "invalid-class"}
WORDS: Mapping[str, Term] = {
    "invalid": Term(
        "Invalid", "What a repaired model says of a text that is no example of its task."
    ),
    "collapse": Term(
        "Collapse", "A training that ends with a model which gives every text the same answer."
    ),
}


def mitigation_terms(task: Task) -> dict[str, Titled]:
    """Return the terms by id; they are the same for every task."""
    methods = {IDS[name]: term for name, term in METHODS.items() if name in IDS}
    return {**WORDS, **methods}
