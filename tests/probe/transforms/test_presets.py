"""Presets: groups of transforms by task, and what is chosen at first."""

from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from probe.transforms.registry import first_choice, presets, ready
from tests.support.each import each

GUPTA = {"sort", "reverse", "shuffle", "copysort"}
GUPTA |= {"drop", "repeat", "replace", "copyone", "pbsmt"}
TASKS = [NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT]


def test_word_salad_is_what_gupta_et_al_made() -> None:
    assert set(presets(NLI)["Word salad"]) == GUPTA


def test_one_text_has_no_other_to_copy() -> None:
    assert set(presets(SENTIMENT)["Word salad"]) == GUPTA - {"copysort", "copyone"}


def test_a_preset_that_would_be_empty_is_not_offered() -> None:
    named = ["A first look", "Word salad", "Heuristics", "Stress tests", "Everything", "None"]
    assert list(presets(NLI)) == named
    assert "Heuristics" not in presets(PARAPHRASE_IDENTIFICATION)


@each("task", TASKS)
def test_everything_is_all_that_is_ready_and_none_is_nothing(task: Task) -> None:
    assert presets(task)["Everything"] == tuple(ready(task))
    assert presets(task)["None"] == ()


@each("task", TASKS)
def test_order_importance_and_negation_are_chosen_at_first(task: Task) -> None:
    assert first_choice(task) == ("sort", "shuffle", "drop", "negation")
    assert set(presets(task)["A first look"]) == set(first_choice(task))
