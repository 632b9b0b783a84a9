"""What the Probe tab answers: a pair predicted, explained and transformed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup, escape

from probe.analysis.examination import examine
from probe.analysis.methods import BaselineToken, Method
from probe.errors import UserError
from probe.models.classifier import Classifier
from probe.runs.model_access import ModelAccess
from probe.tasks.examples import random_example
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.task import Label
from probe.transforms import REGISTRY, Options
from probe.transforms.availability import missing, ready
from probe.transforms.presets import FIRST
from probe.transforms.registry import FAMILIES
from probe.ui.answers.answering import answering
from probe.ui.answers.request_limits import check_pair, check_transforms
from probe.ui.answers.shared_answers import SharedAnswers, model_key
from probe.ui.api.arguments import MAX_WHOLE
from probe.ui.html.elements import NOTHING, alert, join, sheet
from probe.ui.html.probe import answer, rows, table
from probe.ui.panels import options
from probe.ui.tabs.example_pairs import EXAMPLES

UNKNOWN = "not known"


def by_family() -> dict[str, list[str]]:
    """Return the transforms of each family that can run here."""
    able = ready(NLI)
    return {
        family: [name for name in able if REGISTRY[name].family == family] for family in FAMILIES
    }


def not_available() -> Markup:
    """Say which transforms cannot run here, and what would have to be done."""
    names_by_reason: dict[str, list[str]] = {}
    for name, entry in REGISTRY.items():
        if reason := missing(entry):
            names_by_reason.setdefault(reason, []).append(name)
    return join(
        Markup('<p class="fine off"><b>Not available here:</b> {}. {}</p>').format(
            ", ".join(names), reason
        )
        for reason, names in names_by_reason.items()
    )


@answering("answer_seconds")
def update(
    models: ModelAccess,
    answers: SharedAnswers,
    visitor: str,
    premise: str,
    hypothesis: str,
    model: str,
    gold: str,
    seed: float | None,
    explain: str,
    method: Method,
    baseline: BaselineToken,
    everything: bool,
    chains: Sequence[str],
    *rest: Any,  # Any: a list of names for each family, then the options' values
) -> tuple[Markup, Markup]:
    """Answer one event: the verdict with its tokens; the result rows, or one table of all."""
    chosen, values = rest[: len(FAMILIES)], rest[len(FAMILIES) :]
    names = ready(NLI) if everything else [name for group in chosen for name in group]
    try:
        question = Question(
            Pair(premise, hypothesis, as_label(gold)),
            (*names, *chains),
            int(seed or 0),
            options.read(values),
            method,
            baseline,
            as_label(explain),
            everything,
        )
        check_pair(question.pair)
        check_transforms(question.names)
        classifier = models.get(visitor, model)
        key = model_key(classifier), question
        verdict, results = answers.get(key, lambda: answered(classifier, question))
    except UserError as trouble:
        return alert(trouble), NOTHING
    return verdict, results


@dataclass(frozen=True)
class Question:
    """What is asked about a pair; `label` is the one explained, `everything` asks for one table."""

    pair: Pair
    names: tuple[str, ...]
    seed: int
    options: Options
    method: Method
    baseline: BaselineToken
    label: Label | None
    everything: bool


def answered(classifier: Classifier, question: Question) -> tuple[Markup, Markup]:
    """Answer a question; raises what `examine` raises."""
    examination = examine(
        classifier,
        question.pair,
        question.names,
        question.seed,
        question.options,
        question.method,
        question.baseline,
        question.label,
    )
    results = (
        sheet(table(examination), "all transforms") if question.everything else rows(examination)
    )
    return answer(examination), results


def as_label(text: str) -> Label | None:
    """Return a chosen label, None where none is."""
    return next((label for label in LABELS if label == text), None)


def open_page(models: ModelAccess, visitor: str, query: Mapping[str, str]) -> list[Any]:
    """Read a permalink, or begin with the first example."""
    premise, hypothesis = next(iter(EXAMPLES.values()))
    names = query["transforms"].split(",") if "transforms" in query else FIRST
    known, wanted = models.names(visitor), query.get("model", "")
    model = wanted if wanted in known else next(iter(known), None)
    if wanted and model != wanted:
        named = escape(repr(wanted))  # gradio shows it as HTML
        gr.Warning(f"The link names the model {named}, which is not here; {model} answers instead.")
    return [
        query.get("premise", premise),
        query.get("hypothesis", hypothesis),
        gr.Dropdown(choices=known, value=model),
        as_label(query.get("gold", "")) or UNKNOWN,
        seed_in(query.get("seed", "")),
        [name for name in names if "+" in name],
        *([name for name in names if name in group] for group in by_family().values()),
    ]


def seed_in(text: str) -> int:
    """Return the seed of a permalink, 0 where it names none that the field takes."""
    return int(text) if text.isdecimal() and len(text) < len(str(MAX_WHOLE)) else 0


def draw(count: int) -> tuple[int, str, str, str]:
    """Return the next random bundled pair."""
    pair = random_example(NLI, count)
    return count + 1, pair.premise, pair.hypothesis, pair.gold or UNKNOWN


def take_example(name: str | None) -> tuple[Any, Any, Any]:  # Any: gradio's own mark to skip
    """Return an example, where one is chosen; its gold label is for the person to say."""
    return (*EXAMPLES[name], UNKNOWN) if name else (gr.skip(), gr.skip(), gr.skip())


def swap(premise: str, hypothesis: str) -> tuple[str, str, str]:
    """Return the two texts in each other's place; the gold label is another then."""
    return hypothesis, premise, UNKNOWN
