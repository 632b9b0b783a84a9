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

each_task = pytest.mark.parametrize("task", offered_tasks(), ids=lambda task: task.name)


def terms(task: Task) -> dict[str, Titled]:
    """Return all terms for a task, by id."""
    return {id: term for section in glossary(task).values() for id, term in section.items()}


@each_task
def test_every_term_has_a_title_and_one_short_sentence(task: Task) -> None:
    require_plain(terms(task))


@each_task
def test_no_sentence_uses_a_word_that_none_defines(task: Task) -> None:
    assert undefined(terms(task)) == []


@each_task
def test_no_two_terms_share_an_id(task: Task) -> None:
    assert len(terms(task)) == sum(map(len, glossary(task).values()))


@each_task
def test_every_field_and_label_of_a_task_is_a_term(task: Task) -> None:
    assert set(terms(task)) >= {*task.fields, *task.labels}


def test_everything_registered_for_inference_is_a_term() -> None:
    there = set(terms(NLI))
    of_nli = {name for name, entry in REGISTRY.items() if entry.suits(NLI)}
    assert there >= {*of_nli, *METHODS, "agreement", "confidence", "accuracy"}
    assert there >= {f"baseline-{name}" for name in BASELINES}
    assert there >= {f"templates-{kind}" for kind in kinds(NLI)}
    assert "model-minilm" in there


def test_a_bundled_model_has_its_words_before_its_weights() -> None:
    require_plain({f"model-{name}": model for name, model in BUNDLED.items()})


def test_a_task_has_only_its_own_terms() -> None:
    assert not set(terms(SENTIMENT)) & {"copysort", "baseline-majority", "rule-flip", "premise"}
    assert {"templates-word_order", "text2"} <= set(terms(PARAPHRASE_IDENTIFICATION))


def test_a_package_above_adds_a_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probe.glossary.SECTIONS", dict(SECTIONS))
    register("above", "From above", lambda task: {"cure": Term("Cure", f"It cures {task.unit}s.")})
    assert glossary(SENTIMENT)["above"]["cure"].summary == "It cures texts."
