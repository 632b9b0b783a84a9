"""The words of generalisation for the glossary: its conditions, its outcomes, its measures."""

from collections.abc import Mapping

from finetune.experiments.generalisation.conditions import GRIDS
from finetune.experiments.generalisation.verdict import OUTCOMES
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.terms import Term, Titled

WORDS: Mapping[str, Term] = {
    "generalisation": Term(
        "Generalisation",
        "Doing well on examples of another kind than those that were trained on (Rozen et al. "
        "2019).",
    ),
    "condition": Term(
        "Condition",
        "One kind of example of a phenomenon, such as simple sentences or numbers from 30 to 49.",
    ),
    "loss-away": Term(
        "Loss away from what was seen",
        "How many points of accuracy a model has less on another condition than on that which it "
        "was trained on.",
    ),
}


def generalisation_terms(task: Task) -> dict[str, Titled]:
    """Return the terms by id; what varies in templates is inference's."""
    outcomes = {
        f"generalisation-{name.replace('_', '-')}": Term(words.name, words.summary)
        for name, words in OUTCOMES.items()
    }
    varied = {f"vary-{name}": Term(f"Vary: {g.title}", g.summary) for name, g in GRIDS.items()}
    return {**WORDS, **outcomes, **(varied if task is NLI else {})}
