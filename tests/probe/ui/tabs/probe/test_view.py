"""What Probe reads from its fields, a link or a file, and what a press on its tools brings."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import gradio as gr
import pytest
from markupsafe import Markup

from probe.analysis.smallest import WAYS
from probe.errors import FileError, OptionError
from probe.tasks.nli import NLI, Pair
from probe.tasks.reading import READING, Question, problem
from probe.tasks.sentiment import SENTIMENT, Review
from probe.tasks.task import offered_tasks
from probe.transforms.options import Options
from probe.transforms.registry import presets
from probe.ui.choices import BRING, model_choices, short_model_choices
from probe.ui.html.examination import FLIPS, flip_row
from probe.ui.links import link_to_view
from probe.ui.tabs.example_pairs import examples_of
from probe.ui.tabs.probe.answer import draw, full, preset_of, take_example
from probe.ui.tabs.probe.tab import models_of, values_of
from probe.ui.tabs.probe.view import (
    Opened,
    View,
    absent_tab,
    fields_of,
    file_text,
    label_at,
    names_a_view,
    open_link,
    parameters,
    read_file,
    read_view,
)
from tests.support.models.tiny_models import shared
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
    against="entailment",
)
OTHERS = {"label": None, "against": None, "options": Options(keep=0.3)}
REVIEW = replace(
    VIEW, task=SENTIMENT, example=Review("Fine.", "positive"), model="minilm_sst2", **OTHERS
)
PASSAGE = replace(
    VIEW,
    task=READING,
    example=Question("Who sat?", "Ann sat. Bo ran.", "Ann | Bo", answers=()),
    model="minilm_reader",
    **OTHERS,
)
SAID = {
    "task=poetry": "names the task 'poetry', which is not here; inference is shown",
    "model=nosuch": "names the model 'nosuch', which is not here; MiniLM answers instead",
    "model=a/b": "Settings, Your own model, loads it",
    "model=minilm_sst2": "minilm_sst2 answers another task, sentiment classification",
    "gold=perhaps": "right answer 'perhaps', which is not here; the task has entailment",
    "label=joy": "the label explained 'joy', which is not here",
    "against=joy": "the label it is set against 'joy', which is not here",
    "method=lime": "the method 'lime', which is not here; auto is used",
    "baseline=zero": "the baseline 'zero', which is not here; pad is used",
    'options={"speed": 1}': "options are not set: there is no option 'speed'",
    "options={": "The link's options are not set",
    "revision=abc": "names the revision of minilm 'abc', which is not here",
    **{
        f"seed={seed}": f"names the seed '{seed[:80]}"
        for seed in ("-1", "x", "1.5", "2147483648", "9" * 5000)
    },
}
"""What a link names and is not here, and what is said of it."""


def opened(query: dict[str, str]) -> Opened:
    """Open a link as a visitor does."""
    return open_link(page_models(), ME, query)


@pytest.mark.parametrize("view", [VIEW, REVIEW, PASSAGE], ids=lambda view: view.task.name)
def test_fields_a_link_and_a_file_each_hold_a_whole_view(view: View, tmp_path: Path) -> None:
    assert read_view(view.task.name, fields_of(view)) == view
    query = dict(parse_qsl(link_to_view(parameters(view))[3:], keep_blank_values=True))
    (path := tmp_path / "view.json").write_text(file_text(view), encoding="utf-8")
    for held in (query, read_file(path)):
        assert opened(held) == replace(opened(held), view=view, notices=())
    assert opened(parameters(replace(view, names=()))).view.names == ()
    assert set(values_of(opened(query))) > set(fields_of(view))


@pytest.mark.parametrize("named", SAID, ids=lambda named: named[:30])
def test_what_a_link_names_and_is_not_here_is_said(named: str) -> None:
    name, _, value = named.partition("=")
    (notice,) = opened({**parameters(VIEW), name: value}).notices
    assert SAID[named] in notice


def test_a_link_may_name_any_seed_of_the_field_and_no_option_of_another_task() -> None:
    seeds = {text: opened({"seed": text}).view.seed for text in ("7", "", "2147483647", "-1")}
    assert seeds == {"7": 7, "": 0, "2147483647": 2_147_483_647, "-1": 0}
    held = opened({"task": "sentiment", "options": '{"keep": 0.3, "antonym": "naik_code"}'})
    assert held.view.options == Options(keep=0.3)
    assert held.notices == (
        "The link sets the option antonym, which no change of this task has; it is left out.",
    )


def test_each_part_of_a_link_names_a_view_and_a_page_without_keeps_what_was_typed() -> None:
    parts = [*parameters(VIEW), "text", "text2", "revision", "grant"]
    assert [name for name in parts if not names_a_view({name: ""})] == []
    assert not names_a_view({"tab": "probe", "lesson": "word_salad"})
    assert absent_tab({}) == ()
    (said,) = absent_tab({"tab": "mend"})
    assert said == "The link names the place 'mend', which is not here; Probe is shown."
    shown = models_of(replace(opened({}), notices=(said,)))
    assert set(shown) == {"model", "notices"} and said[:22] in shown["notices"]
    names = [name for _, name in shown["model"].choices]
    assert "minilm" in names and names[-1] == BRING[1]


def test_a_seed_below_0_is_refused_and_a_place_that_a_task_has_not_is_no_label() -> None:
    VIEW.check()
    with pytest.raises(OptionError, match="a whole number from 0, and -3 is below it"):
        replace(VIEW, seed=-3).check()
    assert [label_at(SENTIMENT, place) for place in ("0", "2", "")] == ["positive", None, None]


@pytest.mark.parametrize("held", ["[1]", "no json", '{"task": 1}', "[" * 100_000])
def test_a_file_that_holds_no_view_is_refused(held: str, tmp_path: Path) -> None:
    path = tmp_path / "view.json"
    path.write_text(held, encoding="utf-8")
    with pytest.raises(FileError, match="holds no view of Probe"):
        read_file(path)


def test_examples_and_presets_of_each_task_come_with_right_answers_and_names() -> None:
    assert (
        take_example(NLI.name, None) == {"answer": gr.skip()}
        and preset_of(NLI, ["sort", "negation"]) is None
    )
    brought = take_example(NLI.name, "A new detail")
    assert (brought["text_2"].split()[0], brought["gold"], brought["answer"]) == ("The", "1", "")
    assert take_example(SENTIMENT.name, "Irony")["text_2"] == ""
    asked = take_example(READING.name, "How many?")
    assert (asked["gold"], asked["answer"]) == ("", "65") and "65" in asked["text_2"]
    for task in offered_tasks():
        examples = examples_of(task)
        golds = {example.gold for example in examples.values()}
        assert 4 <= len(examples) <= 6 and len(golds) > 1, task
        assert task.has_spans or golds <= set(task.labels), task
        assert not (task.has_spans and any(map(problem, examples.values()))), task
        assert [preset_of(task, list(held)) for held in presets(task).values()] == [*presets(task)]
        first, *others = [draw(task.name) for _ in range(4)]
        assert first["example"] is None and any(other != first for other in others), task


def test_the_smallest_changes_are_looked_for_of_the_example_and_of_what_was_made_of_it() -> None:
    for name, number, text in (("", "", PAIR.hypothesis), ("sort", "1", "& It froze rained .")):
        row = flip_row(name, number)
        assert f'data-transform="{name}" data-number="{number}{FLIPS}"' in row
        shown = full(shared(), VIEW, name, f"{number}{FLIPS}")
        assert all(way.title in shown for way in WAYS.values()), name
        assert str(Markup.escape(text)) in shown or "Nothing" in shown, name
    assert "no longer chosen" in full(shared(), VIEW, "reverse", "1")


def test_a_folder_is_called_by_its_last_part_unless_two_are() -> None:
    called = {"minilm": "MiniLM", "a/b": "a/b", "/a/lm?prompt=cloze": "lm?prompt=cloze"}
    twins = {name: name for name in ("/a/last", "/b/last")}
    both = {name: title for title, name in short_model_choices([*called, *twins])[:-1]}
    assert both == called | twins
    whole = {name: title for title, name in model_choices([*called, *twins])[:-1]}
    assert whole == called | twins | {"minilm": "MiniLM · minilm"}
