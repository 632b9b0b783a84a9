"""The glossary: nothing registered lacks a title and a sentence, in each task's own words."""

import pytest

from probe.analysis.importance import METHODS
from probe.baselines import BASELINES
from probe.glossary import SECTIONS, glossary, register
from probe.models.bundled import BUNDLED
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, offered_tasks
from probe.templates import kinds
from probe.terms import Term, Titled
from probe.transforms import REGISTRY
from tests.support.glossary import require_plain, undefined


def terms(task: Task) -> dict[str, Titled]:
    """Return all terms for a task, by id."""
    return {id: term for section in glossary(task).values() for id, term in section.items()}


def test_every_term_of_a_task_has_a_title_and_one_short_sentence_of_words_that_are_defined() -> (
    None
):
    for task in offered_tasks():
        found = terms(task)
        require_plain(found)
        assert undefined(found) == [], task.name
        assert len(found) == sum(map(len, glossary(task).values())), task.name  # ids are unique
        assert set(found) >= {*task.fields, *task.labels}, task.name
    require_plain({f"model-{name}": model for name, model in BUNDLED.items()})


def test_everything_registered_for_inference_is_a_term() -> None:
    there = set(terms(NLI))
    of_nli = {name for name, entry in REGISTRY.items() if entry.suits(NLI)}
    assert there >= {*of_nli, *METHODS, "agreement", "confidence", "accuracy"}
    assert there >= {f"baseline-{name}" for name in BASELINES}
    assert there >= {f"templates-{kind}" for kind in kinds(NLI)}
    assert "model-minilm" in there


def test_a_task_has_only_its_own_terms_and_those_of_packages_above(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not set(terms(SENTIMENT)) & {"copysort", "baseline-majority", "rule-flip", "premise"}
    assert {"templates-word_order", "text2"} <= set(terms(PARAPHRASE_IDENTIFICATION))
    monkeypatch.setattr("probe.glossary.SECTIONS", dict(SECTIONS))
    register("above", "From above", lambda task: {"cure": Term("Cure", f"It cures {task.unit}s.")})
    assert glossary(SENTIMENT)["above"]["cure"].summary == "It cures texts."
