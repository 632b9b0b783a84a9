"""The My data tab: all that belongs to a visitor, and deleting it."""

from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from probe.errors import RunError, UserError
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.events import EACH, PRESSED, QUIET, cell_of, in_turn
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.html.my_data import answer, question, question_of_all, tables
from probe.ui.page import Page
from probe.ui.tab_outputs import TabOutputs
from probe.ui.visitors.belongings import KINDS, belongings, delete, delete_all

ABOUT = (
    "All that this app keeps of you, where “you” is this browser: it holds a secret by which the "
    "app knows your files, runs and models again. Another browser, or this one once its data is "
    "cleared, does not see them. Nobody else sees them either, except by the links that you give."
)
EVERYTHING = "everything"
GONE = "it is not there any more"


@dataclass
class Outputs(TabOutputs):
    """What the page shows, in the order of the tab's outputs; what is not given stays."""

    tables: Any = field(default_factory=gr.skip)  # Any: markup, or one of gradio's updates
    told: Any = field(default_factory=gr.skip)
    asked: Any = field(default_factory=gr.skip)
    question: Any = field(default_factory=gr.skip)
    pending: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class Handlers:
    """What the buttons do; each returns `Outputs` in their order."""

    store: Store
    engine: Engine

    def show(self, visitor: str) -> list[Any]:
        """List what belongs to the visitor."""
        return self._shown(visitor, "").outputs

    def ask(self, visitor: str, pressed: str) -> list[Any]:
        """Ask before what was pressed is deleted; `pressed` is a kind and an id, or everything."""
        try:
            rows = belongings(self.store, visitor)
            if pressed == EVERYTHING:
                words = question_of_all(rows)
            else:
                name, _, which = pressed.partition(":")
                row = next((row for row in rows.get(name, ()) if row.id == which), None)
                if row is None:
                    raise RunError(GONE)
                words = question(KINDS[name], row.name)
        except UserError as trouble:
            return self._shown(visitor, str(trouble), wrong=True).outputs
        asked = gr.Column(visible=True)
        return Outputs(told=NOTHING, asked=asked, question=words, pending=pressed).outputs

    def confirm(self, visitor: str, pending: str) -> list[Any]:
        """Delete what was asked about."""
        name, _, which = pending.partition(":")
        try:
            if pending == EVERYTHING:
                delete_all(self.store, self.engine, visitor)
            else:
                delete(self.store, self.engine, visitor, name, which)
        except UserError as trouble:
            return self._shown(visitor, str(trouble), wrong=True).outputs
        return self._shown(visitor, "Done.").outputs

    def keep(self) -> list[Any]:
        """Delete nothing."""
        return Outputs(told=NOTHING, asked=gr.Column(visible=False), pending="").outputs

    def _shown(self, visitor: str, words: str, wrong: bool = False) -> Outputs:
        told = alert(words) if wrong else answer(words)
        try:
            shown = tables(belongings(self.store, visitor))
        except UserError as trouble:
            shown, told = NOTHING, alert(trouble)
        return Outputs(shown, told, gr.Column(visible=False), NOTHING, "")


def build(page: Page) -> None:
    """Put the tab together; it is filled when it is opened."""
    handlers = Handlers(page.core.store, page.core.engine)
    gr.HTML(note(ABOUT), padding=False)
    told = gr.HTML(elem_id="my-data-told", padding=False)
    with gr.Column(visible=False, elem_id="my-data-question", elem_classes="card") as asked:
        question_shown = gr.HTML(padding=False)
        with gr.Row(elem_classes="tools"):
            yes = gr.Button("Yes", variant="stop", size="sm", min_width=90, elem_id="my-data-yes")
            no = gr.Button("No, keep it", size="sm", min_width=90, elem_id="my-data-no")
    listed = gr.HTML(elem_id="my-data", js_on_load=PRESSED, padding=False)
    with gr.Row(elem_classes="tools"):
        everything = gr.Button(
            "Delete everything of mine", scale=0, size="sm", min_width=220, elem_id="my-data-all"
        )
    # on the page: what is deleted is what its question names, whatever the app has forgotten
    pending = gr.Textbox("", visible=False, label="what the question is about")
    shown = [listed, told, asked, question_shown, pending]

    def press(event: gr.EventData, visitor: str) -> list[Any]:
        return handlers.ask(visitor, cell_of(event))

    def ask_all(visitor: str) -> list[Any]:
        return handlers.ask(visitor, EVERYTHING)

    page.on_show(handlers.show, page.owner, shown)
    listed.click(press, page.owner, shown, **EACH, **in_turn("my-data"))
    everything.click(ask_all, page.owner, shown, **QUIET)
    yes.click(handlers.confirm, [page.owner, pending], shown, **QUIET)
    no.click(handlers.keep, None, shown, **QUIET)
