"""What the Probe tab reads from a link or a file, and what it says of what is not here."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import gradio as gr
import pytest

from probe.errors import FileError, OptionError
from probe.tasks.nli import NLI, Pair
from probe.tasks.reading import READING, Question
from probe.tasks.sentiment import SENTIMENT, Review
from probe.tasks.task import Task
from probe.transforms.options import DEFAULTS, OPTIONS, Options
from probe.ui.links import link_to_view
from probe.ui.panels.options import shown
from probe.ui.tabs.probe.fields import MODEL, NOTICES, models_of, values_of
from probe.ui.tabs.probe.view import (
    View,
    absent_tab,
    file_text,
    label_at,
    names_a_view,
    open_link,
    parameters,
    place_of,
    read_file,
    read_view,
)
from tests.support.pages.visitors import ME, page_models

PAIR = Pair("Snow fell.", "It rained & froze.", "contradiction")
VIEW = View(
    NLI,
    PAIR,
    "minilm",
    ("sort", "drop+shuffle"),
    7,
    Options(keep=0.3, senses="first", pin=(".",)),
    "occlusion",
    "mask",
    "neutral",
)


@pytest.mark.parametrize(("text", "seed"), [("7", 7), ("", 0), ("2147483647", 2_147_483_647)])
def test_a_link_has_a_seed_that_the_field_takes(text: str, seed: int) -> None:
    opened = open_link(page_models(), ME, {"seed": text})
    assert opened.view.seed == seed
    assert opened.notices == ()


@pytest.mark.parametrize("text", ["-1", "x", "1.5", "2147483648", "9" * 5000])
def test_another_seed_of_a_link_is_said_to_be_none(text: str) -> None:
    opened = open_link(page_models(), ME, {"seed": text})
    assert opened.view.seed == 0
    (notice,) = opened.notices
    assert f"names the seed '{text[:80]}" in notice
    assert notice.endswith("which is not a number from 0 to 2,147,483,647; 0 is used.")


def test_a_link_reproduces_its_view() -> None:
    link = link_to_view(parameters(VIEW))
    opened = open_link(page_models(), ME, dict(parse_qsl(link[1:], keep_blank_values=True)))
    assert opened.view == VIEW
    assert opened.notices == ()


@pytest.mark.parametrize("name", [*parameters(VIEW), "text", "text2", "revision", "grant"])
def test_each_part_of_a_link_names_a_view(name: str) -> None:
    assert names_a_view({name: ""})


def test_a_page_that_no_link_fills_keeps_what_was_typed_while_it_opened() -> None:
    assert not names_a_view({"tab": "probe", "lesson": "word_salad"})
    opened = open_link(page_models(), ME, {})
    values = models_of(opened)
    assert len(values) == len(values_of(opened))
    kept = [value for at, value in enumerate(values[:NOTICES]) if at != MODEL]
    assert all(value == gr.skip() for value in kept)
    assert ("MiniLM", "minilm") in values[MODEL].choices
    assert values[NOTICES] == ""


def test_a_tab_that_the_page_has_not_is_said() -> None:
    assert absent_tab({}) == ()
    (said,) = absent_tab({"tab": "mend"})
    assert said == "The link names the tab 'mend', which is not here; Probe is shown."
    opened = replace(open_link(page_models(), ME, {}), notices=(said,))
    assert "names the tab" in models_of(opened)[NOTICES]


def test_a_seed_below_0_is_refused() -> None:
    VIEW.check()
    with pytest.raises(OptionError, match="a whole number from 0, and -3 is below it"):
        replace(VIEW, seed=-3).check()


def test_a_link_without_transforms_chooses_none() -> None:
    query = parameters(replace(VIEW, names=()))
    assert open_link(page_models(), ME, query).view.names == ()


def test_a_file_reproduces_its_view(tmp_path: Path) -> None:
    path = tmp_path / "view.json"
    path.write_text(file_text(VIEW), encoding="utf-8")
    assert open_link(page_models(), ME, read_file(path)).view == VIEW


@pytest.mark.parametrize("held", ["[1]", "no json", '{"task": 1}', "[" * 100_000])
def test_a_file_that_holds_no_view_is_refused(held: str, tmp_path: Path) -> None:
    path = tmp_path / "view.json"
    path.write_text(held, encoding="utf-8")
    with pytest.raises(FileError, match="holds no view of the Probe tab"):
        read_file(path)


def test_a_link_to_nothing_begins_with_an_example_whose_answer_is_known() -> None:
    opened = open_link(page_models(), ME, {"task": "sentiment"})
    assert opened.view.task is SENTIMENT
    assert opened.view.example.gold
    assert opened.notices == ()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("task", "poetry", "names the task 'poetry', which is not here; inference is shown"),
        ("model", "nosuch", "names the model 'nosuch', which is not here; MiniLM answers instead"),
        ("model", "a/b", "Settings, Your own model, loads it"),
        ("gold", "perhaps", "right answer 'perhaps', which is not here; the task has entailment"),
        ("label", "joy", "the label explained 'joy', which is not here"),
        ("method", "lime", "the method 'lime', which is not here; auto is used"),
        ("baseline", "zero", "the baseline 'zero', which is not here; pad is used"),
        ("options", '{"speed": 1}', "options are not set: there is no option 'speed'"),
        ("options", "{", "The link's options are not set"),
        ("revision", "abc", "names the revision of minilm 'abc', which is not here"),
    ],
)
def test_what_a_link_names_and_is_not_here_is_said(name: str, value: str, sentence: str) -> None:
    opened = open_link(page_models(), ME, {**parameters(VIEW), name: value})
    (notice,) = opened.notices
    assert sentence in notice


def test_an_option_that_only_another_task_has_is_said_and_left_out() -> None:
    query = {"task": "sentiment", "options": '{"keep": 0.3, "antonym": "naik_code"}'}
    opened = open_link(page_models(), ME, query)
    assert opened.view.options == Options(keep=0.3)
    (notice,) = opened.notices
    assert notice == (
        "The link sets the option antonym, which no change of this task has; it is left out."
    )


def test_a_model_of_another_task_is_said_to_be_one() -> None:
    query = {"task": "sentiment", "text": "Fine.", "model": "minilm"}
    (notice,) = open_link(page_models(), ME, query).notices
    assert notice.startswith("minilm answers another task, natural language inference")


@pytest.mark.parametrize(
    ("task", "label"), [(NLI, "neutral"), (SENTIMENT, "negative"), (NLI, None)]
)
def test_a_label_is_found_again_by_its_place(task: Task, label: str | None) -> None:
    assert label_at(task, place_of(task, label)) == label


def test_a_place_that_a_task_has_not_is_no_label() -> None:
    assert label_at(SENTIMENT, "2") is None


def test_the_fields_of_one_text_are_read_as_it() -> None:
    held = parameters(
        replace(VIEW, task=SENTIMENT, example=Review("Fine.", "positive"), label=None)
    )
    assert held["text"] == "Fine."
    assert "premise" not in held
    values = [shown(name, getattr(DEFAULTS, name)) for name in OPTIONS]
    fields = "sentiment", "m", "0", "", 0, "", "saliency", "pad", "cut", []
    with_fields = read_view(*fields, "Fine.", "", *values)
    assert with_fields.example == Review("Fine.", "positive")


def test_the_view_of_a_passage_holds_its_answer() -> None:
    question = Question("Who sat?", "Ann sat. Bo ran.", "Ann | Bo", answers=())
    usual = {"label": None, "options": Options(keep=0.3)}
    view = replace(VIEW, task=READING, example=question, model="minilm_reader", **usual)
    opened = open_link(page_models(), ME, parameters(view))
    assert (opened.view, opened.notices) == (view, ())
    values = [shown(name, getattr(DEFAULTS, name)) for name in OPTIONS]
    fields = "reading", "m", "", "Ann | Bo", 0, "", "saliency", "pad", "cut", []
    assert read_view(*fields, "Who sat?", "Ann sat. Bo ran.", *values).example == question
