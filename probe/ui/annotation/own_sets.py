"""Ask people, for who makes a set: draw the texts, hand out the link, read the results."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.data.names import stem_of
from probe.data.reading import labelled
from probe.errors import ArgumentError, SurveyError, UserError
from probe.limits import visitor_bounds
from probe.models.library import AnyModel
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
from probe.surveys.rounds import (
    CONFIRMED,
    FEWEST_TRAINED,
    Round,
    start_round,
    tries,
    write_round,
    write_tries,
)
from probe.surveys.survey import change_survey, end_survey, own_survey, own_surveys
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.transforms.registry import choice, presets, ready
from probe.ui.annotation.fooling import SECONDS, one_round
from probe.ui.annotation.shown import no_set, one_set, own_sets
from probe.ui.answers.answering import in_steps
from probe.ui.events import (
    CHANGING,
    CHOSEN,
    EACH,
    EMPTY,
    PRESSED,
    QUIET,
    cell_of,
    in_turn,
    scroll_to,
)
from probe.ui.html.elements import NOTHING, alert, card, hint, meter, moving, saved, told
from probe.ui.html.shared_link import copy_script
from probe.ui.links import address_for_others, link_to_own_challenge
from probe.ui.measure.choice import BUNDLED, FOLDED, Asked
from probe.ui.page import Page
from probe.ui.visitors.visitor_files import fresh_folder, own_file, upload_like

ABOUT = (
    "Let a class judge the texts that models are asked about: are they still language, and what "
    "would people answer? Or let it write texts that fool the model. You hand out a link."
)
FOOL, FOOL_TITLE = "fool", "Fool the model"
"""What people are asked beside the questions of `MODES`: to write texts themselves."""
MAX_EACH = 100
"""Texts of each change at most: what the paper had of each."""
DRAWING: dict[str, Any] = {"concurrency_id": "annotate", "concurrency_limit": 2, **QUIET}
SHOWN = f"""() => setTimeout(() => {{
  const set = document.querySelector("#annotate-one [data-set]")?.dataset.set;
  if (!set) return;
  window.writeAddress({{ set }});
  {FOLDED}
}})"""
"""Keeps in the address which set is shown; the choice is folded where one is."""
SHOWN_FIRST = f"() => {{ ({SHOWN})(); ({scroll_to('annotate-one', after=1)})(); }}"
"""The same, and brings it into sight."""
LIVE = """(owner) => {
  const round = document.querySelector("#annotate-one [data-round]");
  return round?.checkVisibility() ? [owner, round.dataset.round] : new Promise(() => {});
}"""
"""Looks again at the round that is shown, where one is."""
TAKEN = "() => document.querySelector('#annotate-trouble :is(a[download], a[data-go])')?.click()"
"""Begins a download, or goes where a press leads."""
GO = Markup('<p class="card" role="status"><a data-go href="{}">{}</a></p>')
COPIED = f"""element.addEventListener("click", ({{ target }}) => {{
  if (target.closest("[data-cell=copy]")) ({copy_script("annotate-one")})();
}});"""
STOP = Markup('<button type="button" class="btn" data-cell="stop">Stop</button>')
STAYS = [gr.skip()] * 2
Shown = list[Any]  # Any: markup, or one of gradio's updates


@dataclass(frozen=True)
class OwnSets:
    """What the buttons of who makes sets do.

    They return what is told, the set that is shown, and the list of sets.
    """

    store: Store
    models: ModelAccess

    def show(
        self, visitor: str, request: gr.Request, which: str, model: str = "", told: object = NOTHING
    ) -> Shown:
        """Show a set of one's own and the list of them; without one how sets are made."""
        try:
            surveys = own_surveys(self.store, visitor)
            sets = [each for each in surveys if each.kind != "lesson"]
            shown, survey = no_set(), own_survey(self.store, visitor, which) if which else None
            if survey and survey.kind == "round":
                shown = one_round(self.store, Round(survey), request)
            elif survey:
                annotated = AnnotationSet(survey)
                found = results(self.store, annotated, self._beside(visitor, annotated, model))
                names = self.models.names(visitor, annotated.task)
                address = address_for_others(request)
                shown = one_set(self.store, annotated, found, names, model, address)
            return [told, shown, own_sets(self.store, sets, which)]
        except UserError as trouble:
            return [alert(trouble), *STAYS]

    def look(self, visitor: str, which: str, request: gr.Request) -> object:
        """Show again a round that others go on with."""
        try:
            return one_round(self.store, Round(own_survey(self.store, visitor, which)), request)
        except UserError as trouble:
            return alert(trouble)

    def _beside(self, visitor: str, annotated: AnnotationSet, model: str) -> AnyModel | None:
        return self.models.get(visitor, model, annotated.task) if model else None

    def make(self, request: gr.Request, *values: Any) -> Iterator[Shown]:
        """Draw the texts of a set, change by change, and store it; then show it with its link.

        `values` are those of the choice, then the question, the changes, how many of each, and of a
        round whether texts are given.
        """
        try:
            *chosen, mode_name, transforms, each, given = values
            asked = Asked.read(*chosen)
            visitor, task = asked.visitor, asked.task
            if mode_name == FOOL:
                if len(asked.models) > 1:
                    raise ArgumentError("choose one model: a round is against one alone")
                yield [moving("Reading the texts …"), *STAYS]
                self.models.get(visitor, asked.model, task)
                texts = self._labelled(asked, "pool")[0] if given and task.source else ()
                begun = start_round(self.store, visitor, task, asked.model, texts, seed=asked.seed)
                yield self.show(visitor, request, begun.survey.id)
                return
            mode, count = mode_for(task, mode_name), int(each or 0)
            if not transforms:
                raise ArgumentError("choose at least one change of the texts")
            if not 1 <= count <= MAX_EACH:
                raise ArgumentError(f"of each change there can be 1 to {MAX_EACH} texts")
            yield [moving("Reading the texts …"), *STAYS]
            examples, origin = self._labelled(asked)
            classifier = self.models.get(visitor, asked.model, task)
            drawing = draw_items(task, mode, examples, transforms, count, classifier, asked.seed)
            for drawn in in_steps("file_minutes", drawing):
                words = f"Drawing the texts: {100 * drawn.share:.0f} % of the changes are made."
                far = meter("of the changes made", drawn.share) + told(words)
                yield [card(far + STOP), *STAYS]
            made = create_set(
                *(self.store, visitor, task, mode, [*drawn.items, *drawn.controls]),
                source=origin,
                seed=asked.seed,
            )
        except UserError as trouble:
            yield [alert(trouble), *STAYS]
            return
        yield self.show(visitor, request, made.survey.id)

    def _labelled(self, asked: Asked, split: str = "") -> tuple[Sequence[Any], str]:
        """Return the chosen texts and where they come from; of bundled ones a split or all."""
        if asked.source == BUNDLED:
            return bundled_examples(asked.task, split), "the bundled examples"
        file = own_file(asked.visitor, asked.file)
        read = labelled(file, asked.task, asked.reading, bounds=visitor_bounds())
        return read.examples, file.name

    def press(self, visitor: str, request: gr.Request, cell: str) -> Iterator[Shown]:
        """Do what a button or a list of a set reports: verb, set, control text and model.

        Of a list comes what was chosen, after "=".
        """
        verb, which, item, rest = (*cell.split("|", 3), "", "", "")[:4]
        model, _, chosen = rest.rpartition("=") if verb == "control" else (rest, "", "")
        model, own, store = model.removeprefix("="), (visitor, which), self.store
        acts: dict[str, Callable[[], object]] = {
            "count": lambda: NOTHING,
            "beside": lambda: NOTHING,
            "show": lambda: change_survey(store, *own, shown=True),
            "hide": lambda: change_survey(store, *own, shown=False),
            "end": lambda: end_survey(store, *own),
            "control": lambda: set_control(store, *own, item, chosen),
            "files": lambda: self._files(*own, model),
            "train": lambda: self._to_train(*own),
        }
        if model:
            yield [moving("The model answers the texts …"), *STAYS]
        try:
            if verb not in acts:
                raise ArgumentError("there is no such button")
            done = acts[verb]() or NOTHING
        except UserError as trouble:
            yield [alert(trouble), *STAYS]
            return
        yield self.show(visitor, request, which, model, done)

    def _files(self, visitor: str, which: str, model: str) -> Markup:
        """Write what people said or wrote as files of the visitor; say where they are."""
        survey = own_survey(self.store, visitor, which)
        if survey.kind == "round":
            write_round(self.store, Round(survey), folder := fresh_folder(visitor, taken=True))
            return saved(sorted(folder.iterdir(), reverse=True))
        annotated = AnnotationSet(survey)
        classifier = self._beside(visitor, annotated, model)
        write_files(self.store, annotated, classifier, folder := fresh_folder(visitor, taken=True))
        return saved(sorted(folder.iterdir(), reverse=True))

    def _to_train(self, visitor: str, which: str) -> Markup:
        """Let Train take what two others have confirmed for what the model fails on."""
        wanted = Round(own_survey(self.store, visitor, which, "round"))
        task, written = wanted.task, tries(self.store, which)
        ready = sum(each.status == CONFIRMED for each in written)
        if ready < FEWEST_TRAINED:
            raise SurveyError(
                f"Train begins with {FEWEST_TRAINED} confirmed {task.unit}s, half to be trained on "
                f"and half to be tested on; here are {ready}"
            )
        name = f"fool-{stem_of(Path(wanted.model))}-{which}.jsonl"
        path = write_tries(wanted, written, fresh_folder(visitor, taken=True) / name)
        upload = upload_like(visitor, path).parent.name
        link = link_to_own_challenge(upload, wanted.model, task)
        return GO.format(link, f"Train on the {ready} confirmed {task.unit}s")


def build(page: Page) -> None:
    """Put the view together."""
    own = OwnSets(page.core.store, page.core.models)
    gr.HTML(hint(ABOUT), padding=False)
    inputs, make = _build_form(page)
    looked = gr.Textbox("", label="round", visible=False)
    timer = gr.Timer(SECONDS)
    trouble = gr.HTML(padding=False, elem_id="annotate-trouble", js_on_load=PRESSED)
    one = gr.HTML(
        no_set(), padding=False, elem_id="annotate-one", js_on_load=PRESSED + CHOSEN + COPIED
    )
    gr.HTML(Markup('<h2 class="title small">Your sets and rounds</h2>'), padding=False)
    listed = gr.HTML(padding=False, js_on_load=PRESSED, elem_id="annotate-sets")
    shown = [trouble, one, listed]

    def make_one(request: gr.Request, *values: Any) -> Iterator[Shown]:
        yield from own.make(request, *values)

    def show(visitor: str, request: gr.Request) -> Shown:
        return own.show(visitor, request, request.query_params.get("set", ""))

    def open_one(event: gr.EventData, visitor: str, request: gr.Request) -> Shown:
        return own.show(visitor, request, cell_of(event))

    def press(event: gr.EventData, visitor: str, request: gr.Request) -> Iterator[Shown]:
        if cell_of(event) == "copy":  # the browser alone has something to do
            yield [gr.skip(), *STAYS]
        else:
            yield from own.press(visitor, request, cell_of(event))

    made = make.click(make_one, inputs, shown, **DRAWING)
    trouble.click(None, None, trouble, js=EMPTY, cancels=[made], **QUIET)
    turn = in_turn("annotate-set")
    opened = listed.click(open_one, page.owner, shown, **EACH, **turn)
    for event in (made, opened):
        event.then(None, js=SHOWN_FIRST, **QUIET)
    for pressed in (one.click, one.select):
        done = pressed(press, page.owner, shown, **EACH, **turn)
        done.then(None, js=TAKEN, **QUIET)
    timer.tick(own.look, [page.owner, looked], one, js=LIVE, **turn)
    page.on_open(show, page.owner, shown).then(None, js=SHOWN, **QUIET)
    page.on_return(show, page.owner, shown).then(None, js=SHOWN, **QUIET)


def _build_form(page: Page) -> tuple[list[Any], gr.Button]:
    """Lay out what a set is made of; return its fields and the button that makes it."""
    with gr.Column(elem_classes="card", elem_id="annotate-form"):
        with gr.Row():
            mode = gr.Radio(
                asked_of(NLI), value=asked_of(NLI)[0][1], label="People are asked",
                elem_id="annotate-mode", elem_classes="seg",
            )  # fmt: skip
            each = gr.Number(
                4, label=f"Texts of each change, 1 to {MAX_EACH}", precision=0, minimum=1,
                maximum=MAX_EACH, elem_id="annotate-each", min_width=210, scale=0,
            )  # fmt: skip
            make = gr.Button(
                "Make the link", variant="primary", elem_id="annotate-make", min_width=150, scale=0,
                interactive=False,
            )  # fmt: skip
        transforms = gr.Dropdown(
            _changes(NLI), value=_first(NLI), multiselect=True, label="Changes to the texts",
            elem_id="annotate-transforms", **CHANGING,
        )  # fmt: skip
        given = gr.Checkbox(
            True, label=_giving(NLI), container=False, elem_id="annotate-given", min_width=160
        )
        page.shared.allow(make)

    def offer(task_name: str) -> list[Any]:
        """Offer what the task has."""
        task = task_named(task_name)
        return [
            gr.Radio(choices=asked_of(task), value=asked_of(task)[0][1]),
            gr.Dropdown(choices=_changes(task), value=_first(task)),
            gr.Checkbox(label=_giving(task), visible=bool(task.source)),
        ]

    page.on_open(offer, page.task, [mode, transforms, given])
    return [*page.shared.inputs, mode, transforms, each, given], make


def asked_of(task: Task) -> list[tuple[str, str]]:
    """Return what people can be asked: about texts, or where a task has labels for texts."""
    modes = [(mode.title, mode.name) for mode in modes_for(task)]
    return [*modes, (FOOL_TITLE, FOOL)] if task.labels else modes


def _giving(task: Task) -> str:
    """Return the words of the choice whether a text is given to write to."""
    return f"Give each a {task.title_of(task.source or '').lower()} of the texts above"


def _changes(task: Task) -> list[tuple[str, str | int | float]]:
    return [(choice(name), name) for name in ready(task)]


def _first(task: Task) -> list[str]:
    """Return the changes that are chosen at first: word salad, or distractors."""
    named = presets(task)
    return list(named.get("Distractors") or named["Word salad"])
