"""A view is one row of a place of PLACES; app.py only puts them together."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from app import GUESTS, PLACES
from probe.tasks.task import offered_tasks
from probe.ui.html.elements import note
from probe.ui.links import MOVED, moved
from probe.ui.page import Page, Place, View
from probe.ui.server.fair_queue import LONG_PAUSE, PROGRESS_PAUSE, queued
from probe.ui.server.serving import launch_options
from tests.support.checkout import imports
from tests.support.pages.built import built

ALLOWED = (
    *("probe.ui", "finetune.ui", "probe.models.library", "probe.runs", "probe.settings"),
    *("finetune.trials.planning", "probe.native_environment"),
    *("os", "sys", "signal", "atexit", "functools", "collections", "typing", "gc"),
)
"""What app.py may import: pages, stores, settings of the app and of torch's libraries, the
registration of experiments."""
LARGEST, PROBE = (350, 160), (150, 80)
"""How many components and events a page has at most."""
ENDPOINTS = """
probe load_model batch hub_dataset compare compare_pair map hans checkup
inoculate calibrate mitigate debias transfer generalise run cancel again data
"""
by_place = pytest.mark.parametrize("place", PLACES, ids=[place.title for place in PLACES])


@pytest.fixture(scope="module")
def blocks() -> gr.Blocks:
    """The whole app; no test changes it."""
    return built()


def parts(blocks: gr.Blocks, place: Place) -> list[dict[str, Any]]:
    """Return the components of a page."""
    config = blocks.get_config_file()
    own = set(config["page"][place.path]["components"])
    return [part for part in config["components"] if part["id"] in own]


def build_made_up(page: Page) -> None:
    """A view made up for this test."""
    text, shown = gr.Textbox(elem_id="made-up-text"), gr.HTML(elem_id="made-up")
    text.submit(note, text, shown)


def test_a_view_costs_one_module_and_one_row() -> None:
    added = View("made-up", "Made up", build_made_up)
    measure = replace(PLACES[2], views=(*PLACES[2].views, added))
    shown = parts(built(*PLACES[:2], measure), measure)
    titles = [part["props"]["label"] for part in shown if part["type"] == "tabitem"]
    assert titles == [view.title for view in measure.views]
    assert {"made-up", "made-up-text"} <= {part["props"].get("elem_id") for part in shown}


@by_place
def test_a_place_has_its_own_components_alone_and_the_same_without_the_others(
    blocks: gr.Blocks, place: Place
) -> None:
    shown = parts(blocks, place)
    others = [parts(blocks, other) for other in PLACES if other is not place]
    assert not {part["id"] for part in shown} & {part["id"] for each in others for part in each}
    kinds = Counter(part["type"] for part in shown)
    assert kinds == Counter(part["type"] for part in parts(built(place), place))
    assert kinds["tabitem"] == (len(place.views) if len(place.views) > 1 else 0)


@by_place
def test_a_page_is_headed_by_the_places_and_the_tasks(blocks: gr.Blocks, place: Place) -> None:
    (head,) = (part for part in parts(blocks, place) if part["props"].get("elem_id") == "header")
    links = re.findall(r'href="([^"]*)"( aria-current="page")?>([^<]+)<', head["props"]["value"])
    tasks = [
        (f"{place.path or './'}?task={task.name}", "", task.choice) for task in offered_tasks()
    ]
    here = {place.path: ' aria-current="page"'}
    bar = [(each.path or "./", here.get(each.path, ""), each.title) for each in PLACES]
    assert [link for link in links if link[0] != "#content"] == [*bar[:-1], *tasks, *tasks, bar[-1]]


def test_who_follows_a_link_to_a_set_or_a_class_gets_a_page_without_places(
    blocks: gr.Blocks,
) -> None:
    for place in GUESTS:
        (head,) = (
            each for each in parts(blocks, place) if each["props"].get("elem_id") == "header"
        )
        assert re.findall(r'href="([^"]*)"', head["props"]["value"]) == ["#content", "./"]


def test_no_page_is_larger_than_its_bound(blocks: gr.Blocks) -> None:
    pages = blocks.get_config_file()["page"]
    sizes = {
        path: (len(page["components"]), len(page["dependencies"])) for path, page in pages.items()
    }
    assert {place.path for place in (*PLACES, *GUESTS)} < set(sizes)
    for path, size in sizes.items():
        assert all(map(int.__le__, size, LARGEST if path else PROBE)), (path, size)


def test_every_older_link_leads_to_a_place_and_a_view_that_there_is() -> None:
    there = {place.path: place for place in PLACES}
    for tab, (path, shown) in MOVED.items():
        place = there.get(path)
        assert place, tab
        for key, name in shown.items():
            views = [view.name for view in place.views]
            assert len(views) == 1 or (key == place.key and name in views), tab
        address = moved(
            {"tab": tab, "task": "sentiment", "text": "A & b", "view": "no", "aim": "no"}
        )
        assert address and address.startswith(path or "./?")
        assert "task=sentiment&text=A+%26+b" in address and "tab=" not in address
    assert moved({}) is moved({"tab": "nosuch"}) is None
    assert moved({"tab": "annotate", "task": "nli", "set": "M3"}) == "set?M3"
    assert moved({"tab": "learn", "class": "K7", "step": "2"}) == "class?K7&step=2"


def test_the_app_imports_pages_stores_and_settings() -> None:
    assert [name for name in imports("app.py") if not name.startswith(ALLOWED)] == []


def test_the_queue_rests_and_gradio_still_asks_how_long() -> None:
    queue = queued(built(PLACES[-1]))._queue
    rests = {"sleep_when_free": LONG_PAUSE, "progress_update_sleep_when_free": PROGRESS_PAUSE}
    code = (Path(gr.__file__).parent / "queueing.py").read_text(encoding="utf-8")
    for name, pause in rests.items():
        assert getattr(queue, name) == pause
        assert f"asyncio.sleep(self.{name})" in code


def test_no_run_of_an_endpoint_is_recorded() -> None:
    assert launch_options()["run_history"] is False


def test_every_endpoint_has_its_name_and_its_parameters_are_described(blocks: gr.Blocks) -> None:
    events = blocks.fns.values()
    names = {event.api_name for event in events if event.fn and event.api_visibility == "public"}
    assert names == set(ENDPOINTS.split())
    described = {
        (name, parameter["parameter_name"]): parameter["python_type"]["description"]
        for name, endpoint in blocks.get_api_info()["named_endpoints"].items()
        for parameter in endpoint["parameters"]
    }
    assert described["/hans", "n"] == "How many pairs each sub-case has."
    assert described["/batch", "file"].startswith("A table of examples")
    assert [place for place, words in described.items() if not words] == []


def test_an_event_that_may_be_told_again_has_one_answer(blocks: gr.Blocks) -> None:
    """Else each of two has the other sent again, for ever (`Page.mark_of`)."""
    answers: dict[tuple[int | None, str], list[str | None]] = {}
    for event in blocks.fns.values():
        for target in event.targets if event.fn and event.trigger_mode != "once" else ():
            answers.setdefault(target, []).append(f"{event.api_name} {event.trigger_mode}")
    shared = [
        names
        for (part, _), names in answers.items()
        if part is not None  # what comes after another answer has no other listeners
        if len(names) > 1 and "always_last" in " ".join(names)
    ]
    assert len(answers) > 30 and shared == []


def test_no_choice_and_no_press_of_a_part_is_dropped(blocks: gr.Blocks) -> None:
    """What is chosen while an answer is made is answered, and a press by what was pressed."""
    events = [event for event in blocks.fns.values() if event.fn]
    choices = {"input", "select", "change", "upload", "release"}
    dropped = [
        event.api_name
        for event in events
        if event.trigger_mode == "once" and choices & {name for _, name in event.targets}
    ]
    assert dropped == []
    of_parts = [
        event.trigger_mode
        for event in events
        if event.collects_event_data
        and event.api_name != "send_batch"  # one that is sent is not sent again meanwhile
        and not any(isinstance(blocks.blocks[part], gr.Button) for part, _ in event.targets)
    ]
    assert set(of_parts) == {"multiple"}


@pytest.mark.parametrize(
    ("drawn", "line"),
    [(("train-results",), "look-train"), (("checkup-results",), "look-checkup")],
    ids=["Train", "Check-up"],
)
def test_nothing_that_draws_overtakes_what_was_asked_for_later(
    blocks: gr.Blocks, drawn: tuple[str, ...], line: str
) -> None:
    shown = {one for one in blocks.blocks.values() if one.elem_id in drawn}
    drawing = [event for event in blocks.fns.values() if shown & set(event.outputs)]
    assert len(drawing) > 5
    assert {(event.concurrency_id, event.concurrency_limit) for event in drawing} == {(line, 1)}


def test_a_press_of_score_is_dropped_while_one_is_answered(blocks: gr.Blocks) -> None:
    named = {name: part.elem_id for name, part in blocks.blocks.items()}
    pressed = [
        (event.trigger_mode, {named[part] for part, _ in event.targets if part in named})
        for event in blocks.fns.values()
        if event.fn
    ]
    assert [each for each in pressed if "score" in each[1]] == [("once", {"score"})]


def test_what_takes_a_while_shows_it_and_what_does_not_holds_up_nothing(blocks: gr.Blocks) -> None:
    slow, quick = [], []
    for event in blocks.fns.values():
        if event.show_progress == "minimal":
            slow.append((event.show_progress_on is None or event.show_progress_on, event.name))
        private = event.fn and event.api_visibility == "private"
        if private and event.show_progress == "hidden" and not event.name.startswith("load_ex"):
            quick.append((event.show_progress_on, event.name))  # load_example is gradio's own
    assert len(slow) > 1 and [name for shown, name in slow if not shown] == []
    assert len(quick) > 100 and [name for shown, name in quick if shown != []] == []
