"""Look up: an entry for each change, template, rule and word of a task, in the task's words."""

import re

from finetune.trials.planning import register_experiments
from probe.baselines import baselines_for
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, offered_tasks
from probe.templates import kinds
from probe.transforms import REGISTRY
from probe.transforms.registry import ready
from probe.ui.tabs.look_up import described, made_of, words_of
from tests.support.pages.markup import Reading, require_ours

WITHOUT_MODEL = "Its example needs a model of this task, and none is here."


def reading(task: Task) -> Reading:
    """Return what is shown of a task without a model."""
    return require_ours(described(task, made_of(task, None)))


def test_everything_of_a_task_has_an_entry_with_a_way_to_try_it() -> None:
    for task in offered_tasks():
        shown = reading(task)
        ids = [attributes.get("id", "") for _, attributes in shown.elements]
        entries = [id for id in ids if id]
        suited = {name for name, entry in REGISTRY.items() if entry.suits(task)}
        meant = suited | {f"templates-{kind}" for kind in kinds(task)}
        meant |= {f"baseline-{name}" for name in baselines_for(task)}
        assert {f"term-{name}" for name in meant} <= set(entries), task.name
        assert not {f"term-{name}" for name in set(REGISTRY) - suited} & set(entries), task.name
        assert len(entries) == len(set(entries)), task.name
        tried = re.findall(r"(?:Probe|Measure|Train) it", shown.text)
        assert len(tried) >= len(entries), task.name
        assert shown.text.count(f"This {task.unit} stays as it is") == 0, task.name
        needing = [name for name in ready(task) if "model" in REGISTRY[name].needs]
        assert shown.text.count(WITHOUT_MODEL) == len(needing), task.name


def test_before_the_transforms_are_applied_their_entries_stand_there() -> None:
    text = require_ours(described(NLI, None)).text
    assert "Sort the words" in text and "Its example is being made" in text


def test_entries_speak_the_words_of_the_task() -> None:
    text = reading(SENTIMENT).text
    assert "Puts the words of the text in alphabetical order." in text
    before = text.split("What the words on these pages mean")[0]
    assert "Second text" in reading(PARAPHRASE_IDENTIFICATION).text
    assert "premise" not in before.lower()


def test_an_entry_says_what_happens_to_the_label() -> None:
    shown = reading(NLI)
    words = "The label flips: Entailment becomes non-entailment, contradiction becomes entailment"
    labels = [value for name, value in shown.attributes if name == "aria-label"]
    assert any(label.startswith(words) for label in labels)
    assert "Compared with entailment" in shown.text


def test_the_words_that_newcomers_stumble_over_have_a_definition_and_an_example() -> None:
    register_experiments()
    rows = {row.id: row for row in words_of(NLI)}
    for id in ("nli", "gold-label", "fp32", "baseline", "agreement", "neutral", "rule-flip"):
        assert rows[id].summary and rows[id].example, id
    assert rows["gradient_x_input"].tries[0][1].endswith("method=gradient_x_input")
    assert rows["outcome-1"].tries == (("Train it", "train?aim=inoculate&task=nli"),)
