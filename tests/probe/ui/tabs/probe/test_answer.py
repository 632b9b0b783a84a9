"""What a press on the Probe tab's tools brings."""

import gradio as gr
import pytest

from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING, problem
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, offered_tasks
from probe.transforms.registry import presets
from probe.ui.tabs.example_pairs import examples_of
from probe.ui.tabs.probe.answer import draw, name_preset, take_example, take_preset


def test_no_example_leaves_the_pair_as_it_is() -> None:
    assert take_example(NLI.name, None) == [gr.skip()] * 4


def test_an_example_brings_its_texts_and_the_place_of_its_gold_label() -> None:
    first, second, gold, span = take_example(NLI.name, "A new detail")
    assert (first.split()[0], second.split()[0], gold, span) == ("A", "The", "1", "")


def test_an_example_of_a_passage_brings_its_answer_as_a_text() -> None:
    question, passage, place, span = take_example(READING.name, "How many?")
    assert (place, span) == ("", "65")
    assert question.endswith("?") and span in passage


def test_an_example_of_one_text_empties_the_second_field() -> None:
    text, nothing, gold, span = take_example(SENTIMENT.name, "Irony")
    assert (text.split()[0], nothing, gold, span) == ("What", "", "1", "")


def test_a_random_example_is_another_each_time_and_has_no_title() -> None:
    first, second = draw(SENTIMENT.name, 0), draw(SENTIMENT.name, 1)
    assert (first[0], second[0]) == (1, 2)
    assert first[1] != second[1]
    assert first[-1] is None


@pytest.mark.parametrize("task", offered_tasks(), ids=lambda t: t.name)
def test_every_preset_is_named_by_what_it_holds(task: Task) -> None:
    for title in presets(task):
        assert name_preset(task.name, take_preset(task.name, title)) == title


def test_transforms_of_no_preset_have_no_name() -> None:
    assert name_preset(NLI.name, ["sort", "negation"]) is None


@pytest.mark.parametrize("task", [NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT], ids=lambda t: t.name)
def test_each_task_has_four_to_six_examples_with_gold_labels_of_its_own(task: Task) -> None:
    examples = examples_of(task)
    assert 4 <= len(examples) <= 6
    assert {example.gold for example in examples.values()} <= set(task.labels)
    assert len({example.gold for example in examples.values()}) > 1


def test_the_answers_of_the_example_passages_stand_in_them() -> None:
    examples = examples_of(READING)
    assert 4 <= len(examples) <= 6
    assert not any(map(problem, examples.values()))
