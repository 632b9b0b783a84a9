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
from probe.terms import Term, Titled, Word
from probe.transforms.registry import FAMILIES, REGISTRY, summary_of

WORDS: Mapping[str, Word] = {
    "nli": Word(
        "NLI, natural language inference",
        "The task of saying whether a hypothesis follows from a premise, contradicts it, or not.",
        "“Nobody came” contradicts “900 people queued”.",
    ),
    "baseline": Word(
        "Baseline",
        "What a figure is compared with: a simple rule's, chance's, or that of unchanged texts.",
        "A model that is right on 36 % is no better than one that always answers neutral.",
    ),
    "baseline-token": Word(
        "Baseline token",
        "What stands for nothing where a method measures how much a token adds to an answer.",
        "Integrated gradients go from a text of such tokens to the real one.",
    ),
    "fp32": Word(
        "fp32 and bf16",
        "How exactly a model computes: with numbers of 32 bits, or faster with numbers of 16.",
        "A probability of 0.9873 may come out as 0.9883 in bf16; answers rarely change.",
    ),
    "gold-label": Word(
        "Gold label",
        "The answer that people gave; a model is right where it says the same.",
        "People called “A man sleeps ▸ A man runs” a contradiction, so this is its gold label.",
    ),
    "adversarial-writing": Word(
        "Adversarial writing",
        "People write what a model gets wrong, and others who have not seen the label confirm it.",
        "ANLI (Nie et al. 2020) was written so; in Ask people a round of Fool the model is.",
    ),
    "token": Word(
        "Token",
        "A word or a piece of a word, as the model reads the text.",
        "shipyard may be read as ship and ##yard: two tokens.",
    ),
    "importance": Word(
        "Importance",
        "How much a token speaks for or against an answer, by one of several methods.",
        "In “Nobody came” it is “Nobody” on which the answer contradiction hangs.",
    ),
    "gradient": Word(
        "Gradient",
        "How an answer would shift if the numbers that stand for a token moved a little.",
        "A steep one: a slightly other “not” would turn the answer round.",
    ),
    "loss": Word(
        "Loss",
        "How wrong a model's answer is, as a number that training makes smaller.",
        "0.01 where the right answer has 0.99, 2.3 where it has 0.10.",
    ),
    "transform": Word(
        "Transform",
        "A change of a text by a fixed rule, such as sorting its words.",
        "“The tenant paid the landlord” becomes “landlord paid tenant the the”.",
    ),
    "chain": Word(
        "Chain",
        "Transforms one after another, their names joined by +: drop+sort drops, then sorts.",
        "drop+sort, spelling+negation.",
    ),
    "word-salad": Word(
        "Word salad",
        "Words that make no sense together; a model that understood the text would not keep its "
        "answer.",
        "a ask at came for job nobody senna shipyard the to .",
    ),
    "default-label": Word(
        "Default label",
        "The answer that a mere copy of the other text would get; copies are compared with it.",
        "The premise put in place of the hypothesis follows from itself: entailment.",
    ),
    "tautology": Word(
        "Tautology",
        'Words that are true whatever else is, such as "true is true"; they add nothing.',
        "… and true is true.",
    ),
    "synonym": Word(
        "Synonym",
        "A word of the same meaning, here from the dictionary WordNet.",
        "“large” for “big”.",
    ),
    "word-antonym": Word(
        "Antonym",
        "A word of the opposite meaning, here from the dictionary WordNet.",
        "“small” for “big”.",
    ),
    "phrase-based-translator": Word(
        "Phrase-based translator",
        "A program that turns one text into another, stretch by stretch, by counts of which "
        "phrases go together.",
        "From premises that were contradicted it learns to write “nobody”.",
    ),
    "transformer": Word(
        "Transformer",
        "A network that lets every token of a text look at every other one.",
        "MiniLM, BERT and RoBERTa are such networks.",
    ),
    "recurrent-network": Word(
        "Recurrent network",
        "A network that reads a text token by token and remembers what it read.",
        "ESIM is one.",
    ),
    "heuristic": Word(
        "Heuristic",
        "A rule of thumb that is often right for the wrong reason, such as: shared words mean yes.",
        "All words of “The doctor saw the actor” stand in “The actor saw the doctor”.",
    ),
    "rule-baseline": Word(
        "Rule baseline",
        "A rule that understands nothing; where it does as well as a model, the set is too easy.",
        "Always the most frequent label; or the hypothesis alone.",
    ),
    "interval": Word(
        "95 % interval",
        "Where the true value most likely lies, given so few examples; more examples make it "
        "narrower.",
        "80 %, 75 to 85: of 240 texts.",
    ),
    "n": Word(
        "n",
        "The number of examples that a figure is taken from.",
        "n = 240.",
    ),
    "contrast-set": Word(
        "Contrast set",
        "An example and small edits of it, most of which change the right answer; who reads the "
        "text is right on all of them.",
        "“A man sleeps”, “A man does not sleep”, “Two men sleep”, each with its label.",
    ),
    "consistency": Word(
        "Consistency",
        "The share of contrast sets of which every example is answered rightly.",
        "Right on 90 % of the rows, and on all rows of 60 % of the sets.",
    ),
    "confusion": Word(
        "Confusion matrix",
        "How often each right answer was given as each answer: rows are right, columns given.",
        "Of 200 neutral texts 50 are called entailment.",
    ),
    "macro-f1": Word(
        "Macro F1",
        "The mean over the labels of F1, which is high where a label is found and not overused; "
        "a rare label counts as much as a frequent one.",
        "Always “neutral” on a set with nine neutral in ten: 90 % right, macro F1 32 %.",
    ),
    "competency": Word(
        "Competency problem",
        "A task in which no single word should tell the answer; a word that does gives it away.",
        "“nobody” stands in 200 texts, 150 of which are contradictions: z = 12.5 beside a third.",
    ),
    "near-duplicate": Word(
        "Near duplicate",
        "Two texts that share nearly all their short runs of words, as where a test set repeats "
        "what was trained on.",
        "“A man is sleeping.” and “The man is sleeping.”",
    ),
    "cartography": Word(
        "Cartography, data map",
        "Where the rows of a training set lie by what a model says of them while it is trained: "
        "easy, hard or ambiguous (Swayamdipta et al. 2020).",
        "The hardest rows are often those with a wrong label.",
    ),
    "map-measures": Word(
        "Confidence, variability, correctness of a row",
        "Mean and standard deviation of a row's right label's probability over the epochs, and the "
        "share of these in which it is right.",
        "0.5, 0.7 and 0.9 in three epochs: confidence 0.70, variability 0.16, correctness 1.",
    ),
    "smallest-change": Word(
        "Smallest change",
        "The fewest words to take out or to replace until the answer is another one.",
        "Without “not” the answer contradiction becomes entailment: one word.",
    ),
    "seed": Word(
        "Seed",
        "A number that fixes all chance: the same seed gives the same result again.",
        "Seed 0 shuffles a text the same way today and tomorrow.",
    ),
}
"""What several of the other sentences speak of."""


@dataclass(frozen=True)
class Section:
    """A part of the glossary: its title, and what gives its terms for a task, by id.

    `place` is the page on which they are met, such as train?aim=repair; "" is Probe.
    """

    title: str
    terms: Callable[[Task], Mapping[str, Titled]]
    place: str = ""


SECTIONS: dict[str, Section] = {}
"""The sections by name, in the order in which they are shown."""


def register(
    name: str, title: str, terms: Callable[[Task], Mapping[str, Titled]], place: str = ""
) -> None:
    """Add a section."""
    SECTIONS[name] = Section(title, terms, place)


def glossary(task: Task) -> dict[str, dict[str, Titled]]:
    """Return the terms by id and section for a task; a section without terms is left out."""
    found = {name: dict(section.terms(task)) for name, section in SECTIONS.items()}
    return {name: terms for name, terms in found.items() if terms}


def _task(task: Task) -> dict[str, Titled]:
    named = {name: task.title_of(name) for name in task.fields}
    named |= {label: label.capitalize() for label in task.golds}
    return {name: Term(title, task.meanings[name]) for name, title in named.items()}


def _measures(task: Task) -> dict[str, Titled]:
    measured = {name: each for name, each in MEASURES.items() if task.labels or name != "entropy"}
    return {**measured, **{name.replace("_", "-"): each for name, each in task.groups.items()}}


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
register("measures", "What is measured", _measures, "measure")
register("words", "Words that are used here", lambda task: WORDS)
register("label-rules", "What happens to the gold label", _label_rules)
register("families", "Families of transforms", _families)
register("transforms", "Transforms", _transforms)
register("models", "Models", _models)
register("methods", "How importance is measured", _methods)
register("templates", "Templates", _templates)
register("baselines", "Rule baselines", _baselines)
