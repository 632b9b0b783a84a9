"""The words of inoculation for the glossary: its outcomes, its measures, what they speak of."""

from collections.abc import Mapping

from finetune.experiments.inoculation.outcomes import MEASURES, OUTCOMES
from probe.tasks.task import Task
from probe.terms import Term, Titled

WORDS: Mapping[str, Term] = {
    "inoculation": Term(
        "Inoculation",
        "Training a model a little further on a few examples that fool it, to see why they do "
        "(Liu et al. 2019).",
    ),
    "challenge": Term(
        "Challenge", "Examples that fool models in one way, such as texts with a negation added."
    ),
    "original-set": Term(
        "Original set", "Ordinary examples of the task, like those that the model was trained on."
    ),
    "phenomenon": Term(
        "Phenomenon", "What a challenge is meant to test, such as negation, numbers or word order."
    ),
    "artefact": Term(
        "Artefact",
        "A trait of a set that gives its labels away to a model that understands nothing.",
    ),
    "learning-rate": Term(
        "Learning rate", "How far one step of training moves a model; several are tried."
    ),
}


def inoculation_terms(task: Task) -> dict[str, Titled]:
    """Return the terms by id; they are the same for every task."""
    measures = {term.title.lower().replace(" ", "-"): term for term in MEASURES.values()}
    outcomes = {
        f"outcome-{key.replace('_', '-')}": Term(words.name, words.summary)
        for key, words in OUTCOMES.items()
    }
    return {**WORDS, **measures, **outcomes}
