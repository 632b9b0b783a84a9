"""What a request may hold: each limit passed by one, through the page and over HTTP."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from probe.models.library import ModelCache
from probe.runs.access import ModelAccess
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.ui.answers.answering import SharedAnswers
from probe.ui.answers.file_line import FileLine
from probe.ui.api import files as batch_api
from probe.ui.api import files as compare_api
from probe.ui.api import models as probe_api
from probe.ui.html.examination import NO_ANSWER
from probe.ui.measure.choice import FILE, ONE
from probe.ui.measure.compare import Compare
from probe.ui.measure.score import Score
from probe.ui.panels import options
from probe.ui.tabs.probe import answer as probe_answer
from probe.ui.tabs.probe.view import fields_of, open_link
from tests.support.pages.choices import chosen
from tests.support.pages.views import asked_by, view_of

SETTINGS = {"MAX_TRANSFORMS": "2", "MAX_CHAIN": "3", "MAX_TEXT": "20"}
TEXT, LONG = "A man walks.", "x" * 21
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"names": ["sort", "reverse", "shuffle"]}, "3 transforms and chains at once are more than 2"),
    ({"names": ["sort+sort+sort+sort"]}, "sort+sort+sort+sort joins 4 transforms, more than 3"),
    ({"names": ["+".join(["sort"] * 90)]}, "joins 90 transforms, more than 3"),
    ({"premise": LONG}, "the premise has 21 characters, and at most 20 are read here"),
    ({"hypothesis": LONG}, "the hypothesis has 21 characters, and at most 20 are read here"),
]
OF_TEXTS = [each for each in REFUSED if "names" not in each[0]]
OF_NAMES = [each for each in REFUSED if "names" in each[0]]


@pytest.fixture
def models(home: Path, monkeypatch: pytest.MonkeyPatch) -> ModelAccess:
    """The models of an empty home, with low limits."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(f"NLI_CLINIC_{name}", value)
    return ModelAccess(ModelCache(), Store())


def endpoint(build: Callable[[ModelAccess], None], models: ModelAccess, name: str) -> Any:
    """Return what answers an endpoint."""
    with gr.Blocks() as page:
        build(models)
    return next(fn.fn for fn in page.fns.values() if fn.api_name == name)


@pytest.mark.parametrize(("asked", "sentence"), REFUSED)
def test_the_probe_tab_refuses(models: ModelAccess, asked: dict[str, Any], sentence: str) -> None:
    held = fields_of(open_link(models, "", {}).view)
    held |= {"text_1": asked.get("premise", TEXT), "text_2": asked.get("hypothesis", TEXT)}
    held["transforms"] = asked.get("names", [])
    shown = probe_answer.update(models, SharedAnswers(), "", NLI.name, **held)
    assert sentence in shown["verdict"] and sentence in shown["said"]
    assert shown["rows"] == NO_ANSWER


@pytest.mark.parametrize(("asked", "sentence"), REFUSED)
def test_probe_over_http_refuses(models: ModelAccess, asked: dict[str, Any], sentence: str) -> None:
    probe = endpoint(probe_api.build_probe, models, "probe")
    texts = asked.get("premise", TEXT), asked.get("hypothesis", TEXT)
    with pytest.raises(gr.Error, match=sentence.replace("+", r"\+")):
        probe(*texts, asked.get("names", []))


def test_probe_over_http_refuses_the_option_of_another_task(models: ModelAccess) -> None:
    probe = endpoint(probe_api.build_probe, models, "probe")
    asked = {"texts": {"text": "Fine."}, "task": "sentiment", "options": {"antonym": "naik_code"}}
    with pytest.raises(gr.Error, match="the option antonym is not for the task sentiment"):
        probe(**asked)


@pytest.mark.parametrize(("asked", "sentence"), OF_NAMES)
def test_the_batch_tab_refuses(models: ModelAccess, asked: dict[str, Any], sentence: str) -> None:
    with gr.Blocks():
        values = [control.value for control in options.build()]
    columns = ("premise", "hypothesis", None, None)
    given = chosen(["minilm"], FILE, "pairs.csv", columns, precision="fp32")
    view = view_of(Score, models.store)
    (shown,) = view.score(asked_by(), "", "nli", *given, asked["names"], "", *values)
    assert sentence in shown[view.parts.trouble]


@pytest.mark.parametrize(("asked", "sentence"), OF_NAMES)
def test_batch_over_http_refuses(models: ModelAccess, asked: dict[str, Any], sentence: str) -> None:
    batch = endpoint(lambda models: batch_api.build_batch(models, FileLine()), models, "batch")
    with pytest.raises(gr.Error, match=sentence.replace("+", r"\+")):
        batch(
            "pairs.csv", asked["names"], "minilm", 0, 0.5, "support", "fp32", {}, "", "nli", {}, {}
        )


def test_batch_over_http_refuses_the_option_of_another_task(models: ModelAccess) -> None:
    batch = endpoint(lambda models: batch_api.build_batch(models, FileLine()), models, "batch")
    given = ["sentiment", {}, {}]
    with pytest.raises(gr.Error, match="the option antonym is not for the task sentiment"):
        batch("a.csv", [], "", 0, 0.5, "support", "fp32", {"antonym": "naik_code"}, "", *given)


@pytest.mark.parametrize(("asked", "sentence"), OF_TEXTS)
def test_the_compare_tab_refuses(models: ModelAccess, asked: dict[str, Any], sentence: str) -> None:
    texts = asked.get("premise", TEXT), asked.get("hypothesis", TEXT)
    asking = "", "nli", *chosen(["minilm", "da"], ONE, texts=texts, precision="fp32")
    view = view_of(Compare, models.store)
    *_, shown = view.compare_texts(asked_by(), *asking)
    assert sentence in shown[view.parts.progress]


@pytest.mark.parametrize(("asked", "sentence"), OF_TEXTS)
def test_compare_pair_over_http_refuses(
    models: ModelAccess, asked: dict[str, Any], sentence: str
) -> None:
    compare_pair = endpoint(compare_api.build_compare, models, "compare_pair")
    texts = asked.get("premise", TEXT), asked.get("hypothesis", TEXT)
    with pytest.raises(gr.Error, match=sentence):
        compare_pair(*texts, ["minilm", "da"])
