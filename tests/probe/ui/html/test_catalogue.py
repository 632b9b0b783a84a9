"""The catalogue: a card for each transform of a task, in the task's words; and the glossary."""

import pytest

from finetune.trials.planning import register_experiments
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, offered_tasks
from probe.transforms import REGISTRY
from probe.transforms.registry import ready
from probe.ui.html.glossary import shown_glossary
from probe.ui.tabs.catalogue import described
from tests.support.pages.markup import Reading, require_ours

WITHOUT_MODEL = "Its example needs a model of this task, and none is here."
each_task = pytest.mark.parametrize("task", offered_tasks(), ids=lambda task: task.name)


@pytest.fixture(scope="module")
def shown() -> dict[str, Reading]:
    """The catalogue of each task, without a model."""
    return {task.name: require_ours(described(task, None)) for task in offered_tasks()}


@each_task
def test_every_transform_of_a_task_has_a_card(task: Task, shown: dict[str, Reading]) -> None:
    ids = [attributes.get("id", "") for _, attributes in shown[task.name].elements]
    assert {f"term-{name}" for name in REGISTRY if REGISTRY[name].suits(task)} <= set(ids)
    assert not {f"term-{name}" for name in REGISTRY if not REGISTRY[name].suits(task)} & set(ids)
    named = [id for id in ids if id]
    assert len(named) == len(set(named))


@each_task
def test_every_link_of_the_page_leads_to_a_part_of_it(
    task: Task, shown: dict[str, Reading]
) -> None:
    values = shown[task.name].attributes
    ids = {value for name, value in values if name == "id"}
    assert {value[1:] for name, value in values if name == "href"} <= ids


@each_task
def test_most_transforms_change_the_tasks_example(task: Task, shown: dict[str, Reading]) -> None:
    assert shown[task.name].text.count(f"This {task.unit} stays as it is") == 0
    needing = [name for name in ready(task) if "model" in REGISTRY[name].needs]
    assert shown[task.name].text.count(WITHOUT_MODEL) == len(needing)


def test_cards_speak_the_words_of_the_task(shown: dict[str, Reading]) -> None:
    text = shown[SENTIMENT.name].text
    assert "Puts the words of the text in alphabetical order." in text
    assert "hypothesis" not in text.split("Glossary")[0].replace("hypothesis_only", "").lower()
    assert "Second text" in shown[PARAPHRASE_IDENTIFICATION.name].text


def test_a_card_says_what_happens_to_the_label(shown: dict[str, Reading]) -> None:
    words = "The label flips: Entailment becomes non-entailment, contradiction becomes entailment"
    labels = [value for name, value in shown[NLI.name].attributes if name == "aria-label"]
    assert any(label.startswith(words) for label in labels)
    assert "Compared with entailment" in shown[NLI.name].text


def test_terms_can_be_linked_to() -> None:
    register_experiments()
    reading = require_ours(shown_glossary(NLI))
    ids = {value for name, value in reading.attributes if name == "id"}
    assert {"term-agreement", "term-gold-label", "term-outcome-1", "term-neutral"} <= ids
