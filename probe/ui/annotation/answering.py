"""For who holds the link to a set: a batch of texts, and an answer to each."""

from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import SurveyError, UserError
from probe.runs.store import Store
from probe.surveys.annotation_results import results
from probe.surveys.annotation_set import (
    BATCH,
    AnnotationSet,
    annotation_set,
    next_batch,
    sent_batches,
    submit_batch,
)
from probe.surveys.survey import MAX_NICKNAME, has_joined, join
from probe.ui.annotation.shown import instructions, results_shown, text_card, thanks
from probe.ui.events import PRESSED, QUIET, cell_of, in_turn, scroll_to
from probe.ui.html.elements import NOTHING, alert
from probe.ui.links import code_in
from probe.ui.page import Page

MAX_ANSWERS = 5
"""Answers of a mode at most; what is chosen is told by its number."""
KEPT = Markup(
    '<p class="fine">Kept: your answers and the nickname, until the set is deleted. Do not give '
    "your name: the teacher sees the nickname beside your answers. "
    '<a href="mine?kind=answers">What is kept, and how to delete it</a></p>'
)
SEND = Markup(
    '<div class="strip"><span class="grow"></span><span class="tiny soft left" role="status">'
    '</span><button type="button" class="btn primary" data-cell="{}">Send</button></div>'
)
COUNTING = """const all = document.getElementById("annotate-answer");
const count = () => {
  const texts = [...all.querySelectorAll("fieldset")]
    .filter(each => each.checkVisibility() && !each.querySelector(":checked")).length;
  const left = all.querySelector("#annotate-send .left");
  const words = texts ? `${texts} text${texts > 1 ? "s" : ""} left` : "";
  if (left && left.textContent !== words) left.textContent = words;
};
all.addEventListener("change", count);
new MutationObserver(count).observe(all, { childList: true, subtree: true });"""
"""Says how many texts have no answer yet."""
Shown = list[Any]  # Any: markup, values and gradio's updates
STAYS = 2 * BATCH


@dataclass(frozen=True)
class Answering:
    """What a respondent's button does.

    They return what is told, what is asked, the nickname, what sends, and the results; then for
    each text of a batch what is shown of it and its answers to choose from.
    """

    store: Store

    def open(self, visitor: str, code: str) -> Shown:
        """Show a batch of the set of a link's code; who opens it takes part."""
        try:
            annotated = annotation_set(self.store, code)
            if not has_joined(self.store, annotated.survey, visitor):
                join(self.store, annotated.survey, visitor)
            return self._next(annotated, visitor)
        except UserError as trouble:
            return [alert(trouble), *[gr.skip()] * (4 + STAYS)]

    def send(
        self, visitor: str, code: str, number: str, nickname: str, *chosen: int | None
    ) -> Shown:
        """Store the answers to a batch and show the next one; what is missing is said."""
        try:
            annotated = annotation_set(self.store, code)
            if not number.isdecimal() or int(number) >= len(annotated.batches):
                raise SurveyError("there is no such batch; open the link again")
            items, said = annotated.batches[int(number)], dict(enumerate(annotated.answers))
            answers = {
                item: said[answer]
                for item, answer in zip(items, chosen, strict=False)
                if answer is not None and answer in said
            }
            if nickname:
                join(self.store, annotated.survey, visitor, nickname)
            submit_batch(self.store, annotated, visitor, int(number), answers)
            return self._next(annotated, visitor)
        except UserError as trouble:
            return [alert(trouble), *[gr.skip()] * (4 + STAYS)]

    def _next(self, annotated: AnnotationSet, visitor: str) -> Shown:
        done, survey = sent_batches(self.store, annotated, visitor), annotated.survey
        batch = None if survey.ended else next_batch(self.store, annotated, visitor)
        found = NOTHING
        if survey.shown:
            found = results_shown(annotated, results(self.store, annotated))
        return [
            thanks(done, batch is not None, survey.shown),
            NOTHING if batch is None else instructions(annotated, done),
            gr.Textbox(visible=batch is not None),
            NOTHING if batch is None else SEND.format(batch),
            found + KEPT,
            *_items(annotated, batch),
        ]


def _items(annotated: AnnotationSet, batch: int | None) -> Shown:
    """Return the texts of a batch, each with its answers to choose from."""
    ids = () if batch is None else annotated.batches[batch]
    choices = [(answer, number) for number, answer in enumerate(annotated.answers)]
    question = annotated.mode.question(annotated.task)
    shown: Shown = []
    for place in range(BATCH):
        there = place < len(ids)
        card = text_card(annotated, annotated.items[ids[place]], place + 1) if there else NOTHING
        shown += [
            gr.HTML(card, visible=there),
            gr.Radio(choices=choices, value=None, label=question, visible=there),
        ]
    return shown


def build_guest(page: Page) -> None:
    """Put the page of who holds a link together."""
    answer, parts = Answering(page.core.store), list[Any]()
    with gr.Column(elem_id="annotate-answer"):
        told = gr.HTML(padding=False, elem_id="annotate-told")
        head = gr.HTML(padding=False, elem_id="annotate-head")
        with gr.Column(elem_id="annotate-batch"):
            for place in range(BATCH):
                with gr.Column(elem_classes="card"):
                    text = gr.HTML(padding=False, visible=False)
                    radio = gr.Radio(
                        list(range(MAX_ANSWERS)), label="Answer", visible=False,
                        elem_id=f"annotate-answer-{place + 1}", elem_classes="seg",
                    )  # fmt: skip
                parts += [text, radio]
            nickname = gr.Textbox(
                "", label="A nickname, or none", max_length=MAX_NICKNAME, visible=False,
                elem_id="annotate-nickname",
            )  # fmt: skip
        send = gr.HTML(padding=False, elem_id="annotate-send", js_on_load=PRESSED + COUNTING)
        found = gr.HTML(padding=False, elem_id="annotate-shown")
    shown, radios = [told, head, nickname, send, found, *parts], parts[1::2]

    def open_link(visitor: str, request: gr.Request) -> Shown:
        """Show the set of the link."""
        return answer.open(visitor, code_in(request.query_params))

    def send_batch(event: gr.EventData, visitor: str, request: gr.Request, *given: Any) -> Shown:
        return answer.send(visitor, code_in(request.query_params), cell_of(event), *given)

    page.on_open(open_link, page.owner, shown, **in_turn("annotate"))
    sent = send.click(send_batch, [page.owner, nickname, *radios], shown, **QUIET)
    sent.success(None, None, None, js=scroll_to("annotate-answer"), **QUIET)
