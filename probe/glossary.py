"""The glossary: every title and sentence of the registries for a task, under one set of ids.

Packages above register sections of their own. An id is also the anchor on the page, `#term-ID`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from probe.analysis.importance import METHODS
from probe.baselines import BASELINES, baselines_for
from probe.models.library import entries
from probe.statistics import MEASURES
from probe.tasks.nli import LABEL_RULES
from probe.tasks.task import Task
from probe.templates import kinds
from probe.templates.grammar import grammar
from probe.terms import Term, Titled
from probe.transforms.registry import FAMILIES, REGISTRY, summary_of

WORDS: Mapping[str, Term] = {
    "gold-label": Term(
        "Gold label", "The answer that people gave; a model is right where it says the same."
    ),
    "token": Term("Token", "A word or a piece of a word, as the model reads the text."),
    "importance": Term(
        "Importance", "How much a token speaks for or against an answer, by one of several methods."
    ),
    "gradient": Term(
        "Gradient",
        "How an answer would shift if the numbers that stand for a token moved a little.",
    ),
    "loss": Term("Loss", "How wrong a model's answer is, as a number that training makes smaller."),
    "transform": Term(
        "Transform", "A change of a text by a fixed rule, such as sorting its words."
    ),
    "chain": Term(
        "Chain",
        "Transforms one after another, their names joined by +: drop+sort drops, then sorts.",
    ),
    "word-salad": Term(
        "Word salad",
        "Words that make no sense together; a model that understood the text would not keep its "
        "answer.",
    ),
    "default-label": Term(
        "Default label",
        "The answer that a mere copy of the other text would get; copies are compared with it.",
    ),
    "tautology": Term(
        "Tautology",
        'Words that are true whatever else is, such as "true is true"; they add nothing.',
    ),
    "synonym": Term("Synonym", "A word of the same meaning, here from the dictionary WordNet."),
    "word-antonym": Term(
        "Antonym", "A word of the opposite meaning, here from the dictionary WordNet."
    ),
    "phrase-based-translator": Term(
        "Phrase-based translator",
        "A program that turns one text into another, stretch by stretch, by counts of which "
        "phrases go together.",
    ),
    "transformer": Term(
        "Transformer", "A network that lets every token of a text look at every other one."
    ),
    "recurrent-network": Term(
        "Recurrent network",
        "A network that reads a text token by token and remembers what it read.",
    ),
    "heuristic": Term(
        "Heuristic",
        "A rule of thumb that is often right for the wrong reason, such as: shared words mean yes.",
    ),
    "rule-baseline": Term(
        "Rule baseline",
        "A rule that understands nothing; where it does as well as a model, the set is too easy.",
    ),
    "interval": Term(
        "95 % interval",
        "Where the true value most likely lies, given so few examples; more examples make it "
        "narrower.",
    ),
    "n": Term("n", "The number of examples that a figure is taken from."),
    "seed": Term(
        "Seed", "A number that fixes all chance: the same seed gives the same result again."
    ),
}
"""What several of the other sentences speak of."""


@dataclass(frozen=True)
class Section:
    """A part of the glossary: its title, and what gives its terms for a task, by id."""

    title: str
    terms: Callable[[Task], Mapping[str, Titled]]


SECTIONS: dict[str, Section] = {}
"""The sections by name, in the order in which they are shown."""


def register(name: str, title: str, terms: Callable[[Task], Mapping[str, Titled]]) -> None:
    """Add a section."""
    SECTIONS[name] = Section(title, terms)


def glossary(task: Task) -> dict[str, dict[str, Titled]]:
    """Return the terms by id and section for a task; a section without terms is left out."""
    found = {name: dict(section.terms(task)) for name, section in SECTIONS.items()}
    return {name: terms for name, terms in found.items() if terms}


def _task(task: Task) -> dict[str, Titled]:
    named = {name: task.title_of(name) for name in task.fields}
    named |= {label: label.capitalize() for label in task.golds}
    return {name: Term(title, task.meanings[name]) for name, title in named.items()}


def _measures(task: Task) -> dict[str, Titled]:
    return {**MEASURES, **{name.replace("_", "-"): each for name, each in task.groups.items()}}


def _label_rules(task: Task) -> dict[str, Titled]:
    suited = {entry.rule.name for entry in REGISTRY.values() if entry.suits(task)}
    rules = {name: rule for name, rule in LABEL_RULES.items() if name in suited}
    return {f"rule-{name.replace('_', '-')}": rule for name, rule in rules.items()}


def _families(task: Task) -> dict[str, Titled]:
    suited = {entry.family for entry in REGISTRY.values() if entry.suits(task)}
    return {f"family-{name}": FAMILIES[name] for name in FAMILIES if name in suited}


def _transforms(task: Task) -> dict[str, Titled]:
    suited = (entry for entry in REGISTRY.values() if entry.suits(task))
    return {entry.name: Term(entry.title, summary_of(entry, task)) for entry in suited}


def _models(task: Task) -> dict[str, Titled]:
    here = (entry for entry in entries() if entry.source == "bundled" and entry.task is task)
    return {f"model-{entry.name}": entry for entry in here}


def _methods(task: Task) -> dict[str, Titled]:
    return {str(name): term for name, term in METHODS.items()}


def _templates(task: Task) -> dict[str, Titled]:
    return {f"templates-{kind}": grammar(kind) for kind in kinds(task)}


def _baselines(task: Task) -> dict[str, Titled]:
    return {f"baseline-{name}": BASELINES[name] for name in baselines_for(task)}


register("task", "The task", _task)
register("measures", "What is measured", _measures)
register("words", "Words that are used here", lambda task: WORDS)
register("label-rules", "What happens to the gold label", _label_rules)
register("families", "Families of transforms", _families)
register("transforms", "Transforms", _transforms)
register("models", "Models", _models)
register("methods", "How importance is measured", _methods)
register("templates", "Templates", _templates)
register("baselines", "Rule baselines", _baselines)
