"""What a link to Measure opens, what it says of things that are not here, and what is lacking."""

from html import unescape
from pathlib import Path

import pytest
from starlette.datastructures import QueryParams

from probe.errors import FileError
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.task import Task, offered_tasks
from probe.transforms.options import DEFAULTS, OPTIONS
from probe.transforms.registry import first_choice
from probe.ui.links import link_to_measure
from probe.ui.measure.choice import NO_TEXTS, ONE, Asked, Link, read_link, share, sources
from probe.ui.measure.compare import Compare
from probe.ui.measure.score import link_values
from probe.ui.panels import options
from probe.ui.visitors.visitor_files import bundled_copy, open_upload, own_file
from tests.support.cases import each
from tests.support.pages.choices import chosen
from tests.support.pages.views import named, pressed, view_of
from tests.support.pages.visitors import ME, YOU, page_models, uploaded

KNOWN = ["da", "minilm", "esim"]


def opened(link: str, task: Task = NLI, known: list[str] = KNOWN, visitor: str = ME) -> Link:
    return read_link(visitor, task, known, QueryParams(link.rpartition("?")[2]))


def test_without_a_link_the_usual_model_is_scored_and_the_next_one_compared_with_it() -> None:
    usual = first_choice(NLI)
    assert opened("") == Link(("minilm",), "bundled", {}, changes=usual)
    assert opened("view=compare") == Link(("minilm", "da"), "bundled", {}, changes=usual)


def test_a_link_is_read_as_it_was_made() -> None:
    texts = {"text1": "Who?", "text2": "Who is it?"}
    link = link_to_measure("compare", PARAPHRASE_IDENTIFICATION, ["a", "b"], texts="one", **texts)
    read = opened(link, PARAPHRASE_IDENTIFICATION, ["a", "b", "c"])
    usual = first_choice(PARAPHRASE_IDENTIFICATION)
    assert read == Link(("a", "b"), "one", texts, ready=True, changes=usual)
    given = chosen(KNOWN[:2], ONE, texts=["A dog barks.", "It rains."], long="windows", seed=7)
    shown = share(page_models(), "compare", "", {}, ME, "nli", *given)
    shared = opened(unescape(shown.partition('value="')[2].partition('"')[0]))
    assert (shared.models, shared.source, shared.seed, shared.long) == (
        *(("da", "minilm"), ONE, 7, "windows"),
    )
    assert shared.texts == {"premise": "A dog barks.", "hypothesis": "It rains."} and shared.ready


@each(
    ("link", "words"),
    [
        ("models=minilm,gone&texts=bundled", "no model called that here for inference"),
        ("models=da,esim&texts=file:gone", "on a file that is not here"),
        ("models=da,esim&on=sky", "which is not known here"),
        ("texts=bundled&long=pages", "names the long 'pages', which is not here"),
        ("texts=bundled&seed=x", "names the seed 'x', which is not a number"),
        ("texts=bundled&changes=gone,sort", "names the change 'gone', which is not here; it is"),
        ("texts=bundled&changes=addsent", "addsent is not for the task nli"),
        ("texts=bundled&transforms=sort&options={}{", "link's options are not set"),
        ('texts=bundled&options={"keep_first_half": true}', "which no change of this task has"),
        ("texts=bundled&precision=half", "names the precision 'half', which is not here"),
    ],
)
def test_what_a_link_names_and_is_not_here_is_said(link: str, words: str) -> None:
    read = opened(link)
    assert any(words in notice for notice in read.notices) and not read.ready


@each("task", offered_tasks())
def test_changes_are_as_their_link_says_and_link_to_themselves(task: Task) -> None:
    assert opened("", task).changes == first_choice(task)
    for names in (["drop+shuffle", "sort"], ["reverse"], []):
        usual = {name: options.shown(name, getattr(DEFAULTS, name)) for name in OPTIONS}
        said = link_values(task, names, "saliency", *(usual | {"keep": 0.25, "pin": "."}).values())
        read = opened(link_to_measure("score", task, ["da"], **said), task)
        assert (read.changes, read.notices) == (tuple(names), ())
        assert read.options.changed == {"keep": 0.25, "pin": (".",)}
        assert read.importance == "saliency"


def test_a_link_that_says_too_little_asks_nothing() -> None:
    assert not opened("texts=one&premise=A dog barks.").ready
    assert not opened("models=da,esim").ready


def test_an_upload_is_opened_again_by_its_visitor_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    path = tmp_path / "mine.csv"
    path.write_text("premise,hypothesis\nA dog barks.,A dog is loud.\n")
    place = own_file(ME, uploaded(path))
    link = f"texts=file:{place.parent.name}"
    assert opened(link).file == place and opened(link).ready
    assert opened(link, visitor=YOU).file is None and opened(link, visitor=YOU).notices


@each("task", offered_tasks())
def test_the_bundled_texts_of_a_task_are_a_file_that_everybody_may_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: Task
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    asked = Asked.read(ME, task.name, *chosen(["any"]))
    source = open_upload(YOU, str(asked.file), asked.reading)
    assert f"app's {len(source)} " in sources(task)[0][0]
    assert list(asked.columns_in(source).texts) == list(task.fields)
    assert asked.file == bundled_copy(task)


@each(("source", "words"), [*NO_TEXTS.items(), (ONE, "this takes more than one pair")])
def test_what_is_lacking_is_said(source: str, words: str) -> None:
    with pytest.raises(FileError, match=words.partition(":")[0]):
        _ = Asked.read(ME, "nli", *chosen(["da"], source)).file
    with pytest.raises(FileError, match="choose a model first"):
        _ = Asked.read(ME, "nli", *chosen([])).model


@each(
    "cell",
    ["", "two|0|1", "key|0", "|0|1|1|differ", "key|0|0|1|x", f"{'0' * 32}/{'0' * 22}|0|1|1|x"],
)
def test_nothing_that_is_pressed_before_a_comparison_shows_pairs(cell: str) -> None:
    view = view_of(Compare)
    assert 'role="alert"' in named(view, view.press(pressed(cell)))["rows"]
