"""Lessons that predict, run it live and show the paper's figure beside one's own.

gr.Walkthrough draws its steps in one line at the top and builds every step's components at once;
half a dozen lessons of six steps would be more than a hundred. Here one set of components shows any
step, and the steps are a list of buttons at the left.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.tasks.nli import NLI
from probe.tasks.task import task_named
from probe.ui.events import (
    CHANGING,
    EACH,
    GIVE_BACK,
    LAST,
    PRESSED,
    QUIET,
    cell_of,
    in_turn,
    scroll_to,
)
from probe.ui.lessons import sheets
from probe.ui.lessons.lesson import Lesson
from probe.ui.page import Page
from probe.ui.tabs.learn.teaching import ClassParts, follow_class, lay_out_class
from probe.ui.tabs.learn.view import ALL, MAX_CHOICES, Outputs, View, waiting

TO_ADDRESS = """link => {
  const said = new URL(link || "learn", document.baseURI).searchParams;
  const names = %s;
  window.writeAddress(Object.fromEntries(names.map(name => [name, said.get(name)])), true);
  const learn = document.getElementById("learn");
  if (learn.getBoundingClientRect().top < 0) learn.scrollIntoView();
}"""
TO_RESULT = scroll_to("learn-result", "nearest", after=100)
"""Brings what a press comes to into sight, its head where all of it has no room."""
"""Keeps in the address which step is shown; Back leads to the one before."""
NAMES, OF_GUESTS = ["lesson", "step", "task", "model"], ["step", "model"]
PRINT = "() => setTimeout(() => window.print(), 100)"


def build(page: Page, lessons: Sequence[Lesson], guests: bool = False) -> None:
    """Put the view together: for all, or for who follows the link to a class."""
    view = View(lessons, page.core)
    shown, printing, printed, parts = _layout(view)
    shown.kept = kept = page.memory
    follow_class(page, view, shown, parts, guests)
    to_address = TO_ADDRESS % (OF_GUESTS if guests else NAMES)
    asked = [page.task, shown.model, page.owner, kept]
    here = [shown.place, *asked]
    running = _run_on_press(view, shown, [*here, shown.guess])

    turn = in_turn("learn-view")

    def show_on(*triggers: Any, fn: Any, inputs: list[Any], **mode: Any) -> None:
        """Show another place; what is run at this one goes on for nobody."""
        went = gr.on(triggers, fn, inputs, shown.outputs, cancels=[running], **mode, **turn)
        went.then(None, shown.address, js=to_address, **QUIET)

    def go_to(event: gr.EventData, *given: Any) -> list[Any]:
        """Show the place whose button was pressed."""
        pressed = cell_of(event) or "all"
        return view.show(ALL if pressed == "all" else pressed, *given)

    show_on(shown.contents.click, shown.text.click, fn=go_to, inputs=asked, **EACH)
    show_on(shown.back.click, fn=partial(_move, view, -1), inputs=here)
    show_on(shown.onward.click, fn=partial(_move, view, 1), inputs=here)
    show_on(shown.model.input, fn=view.show, inputs=here, **LAST)
    if not guests:
        page.on_open(view.open_page, [page.task, page.owner, kept], shown.outputs, **turn)
    for button, answers in zip(printing, (False, True), strict=True):
        filled = button.click(
            partial(_to_print, view, answers), [shown.place, page.task], printed, **QUIET
        )
        filled.then(None, js=PRINT, **QUIET)


def _move(view: View, by: int, named: str, task: str, *given: Any) -> list[Any]:
    """Show the step before or after a place; after the last one all lessons."""
    place = view.find(named, task_named(task))
    if place is None or (by > 0 and place.last):
        return view.show(ALL, task, *given)
    return view.show(sheets.place_of(place.lesson, place.number + by), task, *given)


def _to_print(view: View, answers: bool, named: str, task: str) -> Markup:
    """Lay out the lesson for paper."""
    place = view.find(named, task_named(task))
    return sheets.to_print(place.lesson, place.task, answers) if place else Markup("")


def _run_on_press(view: View, shown: Outputs, inputs: list[Any]) -> Any:
    """Run the live part when it is asked for, once at a time; return the event that does."""
    heard = shown.run.click(waiting, None, [shown.result, shown.run], queue=False, **QUIET)
    heard.then(None, js=TO_RESULT, **QUIET)
    running = heard.then(
        view.run_step, inputs, shown.outputs, concurrency_id="learn", concurrency_limit=4, **QUIET
    )
    running.then(None, None, shown.run, js=GIVE_BACK, **QUIET)
    running.then(None, js=TO_RESULT, **QUIET)
    return running


def _layout(view: View) -> tuple[Outputs, list[gr.Button], gr.HTML, ClassParts]:
    """Lay out the steps at the left and a step at the right; at first all lessons are shown."""
    shown = Outputs(
        place=gr.Textbox(ALL, label="place", visible=False),
        address=gr.Textbox("", label="address", visible=False),
    )
    with gr.Row(elem_id="learn"):
        with gr.Column(scale=3, min_width=240, elem_id="learn-side"):
            shown.contents = gr.HTML(
                visible=False, padding=False, elem_id="learn-steps", js_on_load=PRESSED
            )
            with gr.Row(visible=False, elem_id="learn-printing") as shown.to_print:
                printing = [
                    gr.Button("Print", size="sm", min_width=80, elem_id="learn-print"),
                    gr.Button("Print with answers", size="sm", min_width=80),
                ]
        with gr.Column(scale=9, min_width=300):
            with gr.Column(elem_classes="card", elem_id="learn-card"):
                overview = sheets.overview(view.lessons, NLI)
                shown.text = gr.HTML(
                    overview, padding=False, elem_id="learn-text", js_on_load=PRESSED
                )
                # a step says what the numbers mean; the app takes no other, whatever it has shown
                numbers = list(range(MAX_CHOICES))
                shown.guess = gr.Radio(numbers, label="Guess", visible=False, elem_id="learn-guess")
                with gr.Row(elem_id="learn-live"):
                    shown.model = gr.Dropdown(
                        [], label="Model", visible=False, min_width=140, elem_id="learn-model",
                        **CHANGING,
                    )  # fmt: skip
                    shown.run = gr.Button(
                        visible=False, variant="primary", min_width=120, elem_id="learn-run"
                    )
            shown.result = gr.HTML(padding=False, elem_id="learn-result")
            with gr.Row(elem_id="learn-moves"):
                shown.back = gr.Button("Back", visible=False, min_width=80, elem_id="learn-back")
                shown.onward = gr.Button("Next", visible=False, min_width=80, elem_id="learn-next")
            parts = lay_out_class()
    printed = gr.HTML(padding=False, elem_id="learn-paper")
    return shown, printing, printed, parts
