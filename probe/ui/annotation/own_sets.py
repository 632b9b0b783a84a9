"""Ask people, for who makes a set: draw the texts, hand out the link, read the results."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import gradio as gr
from markupsafe import Markup

from probe.data.reading import labelled
from probe.errors import ArgumentError, UserError
from probe.limits import visitor_bounds
from probe.runs.access import ModelAccess
from probe.runs.store import Store
from probe.surveys.annotation_results import results, write_files
from probe.surveys.annotation_set import (
    AnnotationSet,
    create_set,
    draw_items,
    mode_for,
    modes_for,
    set_control,
)
from probe.surveys.survey import change_survey, end_survey, own_survey, own_surveys
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.transforms.registry import choice, presets, ready
from probe.ui.annotation.shown import no_set, one_set, own_sets
from probe.ui.events import CHANGING, CHOSEN, EACH, PRESSED, QUIET, cell_of, in_turn, scroll_to
from probe.ui.html.elements import NOTHING, alert, hint, join, note
from probe.ui.html.shared_link import copy_script
from probe.ui.links import address_for_others
from probe.ui.measure.choice import BUNDLED, Asked
from probe.ui.page import Page
from probe.ui.visitors.visitor_files import fresh_folder, own_file

ABOUT = (
    "Let a class judge the texts that models are asked about: are they still language, and what "
    "would people answer? The papers asked workers; here you hand out a link."
)
MAX_EACH = 100
"""Texts of each change at most: what the paper had of each."""
DRAWING: dict[str, Any] = {"concurrency_id": "annotate", "concurrency_limit": 2, **QUIET}
NAMED = """() => window.writeAddress({
  set: document.querySelector("#annotate-one [data-set]")?.dataset.set,
})"""
"""Keeps in the address which set is shown."""
COPIED = f"""element.addEventListener("click", ({{ target }}) => {{
  if (target.closest("[data-cell=copy]")) ({copy_script("annotate-one")})();
}});"""
Shown = list[Any]  # Any: markup, or one of gradio's updates


@dataclass(frozen=True)
class OwnSets:
    """What the buttons of who makes sets do.

    They return what is told, the set that is shown, and the list of sets; None stays as it is.
    `address` is by which others reach the app, and what is to be said of it.
    """

    store: Store
    models: ModelAccess

    def show(
        self, visitor: str, which: str, address: tuple[str, str], model: str = "", told: object = ""
    ) -> Shown:
        """Show a set of one's own and the list of them; without one how sets are made."""
        try:
            surveys = own_surveys(self.store, visitor)
            sets = [each for each in surveys if each.kind == "annotation"]
            listed, shown = own_sets(self.store, sets, which), no_set()
            if which:
                shown = self._shown(visitor, which, address, model)
        except UserError as trouble:
            return [alert(trouble), gr.skip(), gr.skip()]
        return [told or NOTHING, shown, listed]

    def _shown(self, visitor: str, which: str, address: tuple[str, str], model: str) -> Markup:
        annotated = AnnotationSet(own_survey(self.store, visitor, which))
        classifier = self.models.get(visitor, model, annotated.task) if model else None
        found = results(self.store, annotated, classifier)
        names = self.models.names(visitor, annotated.task)
        return one_set(self.store, annotated, found, names, model, address)

    def make(self, address: tuple[str, str], *values: Any) -> Iterator[Shown]:
        """Draw the texts of a set, change by change, and store it; then show it with its link.

        `values` are those of the choice, then the question, the changes, and how many of each.
        """
        try:
            *chosen, mode_name, transforms, each = values
            asked = Asked.read(*chosen)
            visitor, task = asked.visitor, asked.task
            mode, count = mode_for(task, mode_name), int(each or 0)
            if not transforms:
                raise ArgumentError("choose at least one change of the texts")
            if not 1 <= count <= MAX_EACH:
                raise ArgumentError(f"of each change there can be 1 to {MAX_EACH} texts")
            examples, origin = self._examples(asked)
            yield [note("Drawing the texts …"), gr.skip(), gr.skip()]
            classifier = self.models.get(visitor, asked.model, task)
            items, checks = draw_items(
                task, mode, examples, transforms, count, classifier, asked.seed
            )
            drawn = create_set(
                *(self.store, visitor, task, mode, [*items, *checks]),
                source=origin,
                seed=asked.seed,
            )
        except UserError as trouble:
            yield [alert(trouble), gr.skip(), gr.skip()]
            return
        yield self.show(visitor, drawn.survey.id, address)

    def _examples(self, asked: Asked) -> tuple[Sequence[Any], str]:
        """Return the examples to draw from, and where they are from. Raises FileError."""
        if asked.source == BUNDLED:
            return bundled_examples(asked.task), "the bundled examples"
        file = own_file(asked.visitor, asked.file)
        read = labelled(file, asked.task, asked.reading, bounds=visitor_bounds())
        return read.examples, file.name

    def press(self, visitor: str, cell: str, address: tuple[str, str]) -> Shown:
        """Do what a button or a list of a set reports: verb, set, control text and model.

        Of a list comes what was chosen, after "=".
        """
        verb, which, item, rest = (*cell.split("|", 3), "", "", "")[:4]
        model, _, chosen = rest.rpartition("=") if verb == "control" else (rest, "", "")
        own, store = (visitor, which), self.store
        acts: dict[str, Callable[[], object]] = {
            "count": lambda: NOTHING,
            "beside": lambda: NOTHING,
            "show": lambda: change_survey(store, *own, shown=True),
            "hide": lambda: change_survey(store, *own, shown=False),
            "end": lambda: end_survey(store, *own),
            "control": lambda: set_control(store, *own, item, chosen),
            "files": lambda: self._files(*own, model),
        }
        try:
            if verb not in acts:
                raise ArgumentError("there is no such button")
            told = acts[verb]()
        except UserError as trouble:
            return [alert(trouble), gr.skip(), gr.skip()]
        return self.show(visitor, which, address, model.removeprefix("="), told)

    def _files(self, visitor: str, which: str, model: str) -> Markup:
        """Write votes, items and results as files of the visitor; return the links to them."""
        annotated = AnnotationSet(own_survey(self.store, visitor, which))
        classifier = self.models.get(visitor, model, annotated.task) if model else None
        write_files(self.store, annotated, classifier, folder := fresh_folder(visitor))
        link = Markup('<a download href="{}">{}</a>')
        files = (
            link.format(f"gradio_api/file={quote(str(path))}", path.name)
            for path in sorted(folder.iterdir(), reverse=True)
        )
        return Markup('<p class="fine" role="status">Take away: {}</p>').format(
            join(files, Markup(" · "))
        )


def build(page: Page) -> None:
    """Put the view together."""
    own = OwnSets(page.core.store, page.core.models)
    gr.HTML(hint(ABOUT), padding=False)
    inputs, make = _build_form(page)
    told = gr.HTML(padding=False, elem_id="annotate-trouble")
    one = gr.HTML(
        no_set(), padding=False, elem_id="annotate-one", js_on_load=PRESSED + CHOSEN + COPIED
    )
    gr.HTML(Markup('<h2 class="title small">Your sets</h2>'), padding=False)
    listed = gr.HTML(padding=False, js_on_load=PRESSED, elem_id="annotate-sets")
    shown = [told, one, listed]

    def make_one(request: gr.Request, *values: Any) -> Iterator[Shown]:
        yield from own.make(address_for_others(request), *values)

    def show(visitor: str, request: gr.Request) -> Shown:
        return own.show(visitor, request.query_params.get("set", ""), address_for_others(request))

    def open_one(event: gr.EventData, visitor: str, request: gr.Request) -> Shown:
        return own.show(visitor, cell_of(event), address_for_others(request))

    def press(event: gr.EventData, visitor: str, request: gr.Request) -> Shown:
        if cell_of(event) == "copy":  # the browser alone has something to do
            return [gr.skip()] * 3
        return own.press(visitor, cell_of(event), address_for_others(request))

    made = make.click(make_one, inputs, shown, **DRAWING)
    turn = in_turn("annotate-set")
    opened = listed.click(open_one, page.owner, shown, **EACH, **turn)
    for event in (made, opened):
        event.then(None, js=NAMED, **QUIET).then(None, js=scroll_to("annotate-one"), **QUIET)
    one.click(press, page.owner, shown, **EACH, **turn)
    one.select(press, page.owner, shown, **EACH, **turn)
    page.on_show(show, page.owner, shown)


def _build_form(page: Page) -> tuple[list[Any], gr.Button]:
    """Lay out what a set is made of; return its fields and the button that makes it."""
    with gr.Column(elem_classes="card", elem_id="annotate-form"):
        with gr.Row():
            mode = gr.Radio(
                _modes(NLI), value=_modes(NLI)[0][1], label="People are asked",
                elem_id="annotate-mode", elem_classes="seg",
            )  # fmt: skip
            each = gr.Number(
                4, label=f"Texts of each change, 1 to {MAX_EACH}", precision=0, minimum=1,
                maximum=MAX_EACH, elem_id="annotate-each", min_width=210, scale=0,
            )  # fmt: skip
            make = gr.Button(
                "Make the set", variant="primary", elem_id="annotate-make", min_width=130, scale=0,
                interactive=False,
            )  # fmt: skip
        transforms = gr.Dropdown(
            _changes(NLI), value=_first(NLI), multiselect=True, label="Changes to the texts",
            elem_id="annotate-transforms", **CHANGING,
        )  # fmt: skip
        page.shared.allow(make)

    def offer(task_name: str) -> list[Any]:
        """Offer what the task has."""
        task = task_named(task_name)
        return [
            gr.Radio(choices=_modes(task), value=_modes(task)[0][1]),
            gr.Dropdown(choices=_changes(task), value=_first(task)),
        ]

    page.on_open(offer, page.task, [mode, transforms])
    return [*page.shared.inputs, mode, transforms, each], make


def _modes(task: Task) -> list[tuple[str, str]]:
    return [(mode.title, mode.name) for mode in modes_for(task)]


def _changes(task: Task) -> list[tuple[str, str | int | float]]:
    return [(choice(name), name) for name in ready(task)]


def _first(task: Task) -> list[str]:
    """Return the changes that are chosen at first: word salad, or distractors."""
    named = presets(task)
    return list(named.get("Distractors") or named["Word salad"])
