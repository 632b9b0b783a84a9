"""For who holds the link to a set: a batch of texts, and an answer to each."""

from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import SurveyError, UserError
from probe.runs.store import Store
from probe.surveys.annotation_results import results
from probe.surveys.annotation_set import (
    BATCH,
    annotation_set,
    next_batch,
    sent_batches,
    shown_texts,
    submit_batch,
)
from probe.surveys.survey import MAX_NICKNAME, has_joined, join
from probe.ui.annotation.shown import results_shown
from probe.ui.events import PRESSED, QUIET, cell_of, in_turn, scroll_to
from probe.ui.html import elements
from probe.ui.html.elements import NOTHING, alert, told
from probe.ui.links import code_in
from probe.ui.page import Page

MAX_ANSWERS = 5
"""Answers of a mode at most; what is chosen is told by its number."""
KEPT = Markup(
    '<p class="fine">Kept: your answers and the nickname, until the set is deleted. Do not give '
    "your name: the teacher sees the nickname beside your answers. "
    '<a href="mine?kind=answers">What is kept, and how to delete it</a></p>'
)
HEAD = Markup(
    '<p class="tiny soft batch">batch {}</p><h2 class="title">{}</h2><p class="soft">{}</p>'
)
CARD = Markup('<h3 class="number">{}</h3>{}')
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
DRAFT = """const name = "nli-clinic-answers", send = document.getElementById("annotate-send");
  const at = location.search + send?.querySelector("[data-cell]")?.dataset.cell;"""
KEEP = f"""(...given) => {{
  {DRAFT}
  localStorage.setItem(name, JSON.stringify([at, given]));
}}"""
"""Keeps what is chosen in the browser until it is sent: a phone drops a page that is not seen."""
RESTORE = f"""(...given) => {{
  {DRAFT}
  const [then, kept] = JSON.parse(localStorage.getItem(name) ?? "[]");
  return then === at ? kept : given;
}}"""
Shown = list[Any]  # Any: markup, values and gradio's updates
STAYS = [gr.skip()] * (4 + 2 * BATCH)


def answered(
    store: Store, visitor: str, code: str, number: str | None = None, nickname: str = "",
    *chosen: int | None,
) -> Shown:  # fmt: skip
    """Store the answers to a batch of the set of a link's code, if one was sent; show the next one.

    Who opens the link takes part. Returns what is told, what is asked, the nickname, what sends,
    and the results; then for each text what is shown of it and its answers to choose from.
    """
    try:
        annotated = annotation_set(store, code)
        survey = annotated.survey
        if nickname or not has_joined(store, survey, visitor):
            join(store, survey, visitor, nickname)
        if number is not None:
            if not number.isdecimal() or int(number) >= len(annotated.batches):
                raise SurveyError("there is no such batch; open the link again")
            items, said = annotated.batches[int(number)], dict(enumerate(annotated.answers))
            answers = {
                item: said[answer]
                for item, answer in zip(items, chosen, strict=False)
                if answer is not None and answer in said
            }
            submit_batch(store, annotated, visitor, int(number), answers)
        batch = None if survey.ended else next_batch(store, annotated, visitor)
        done = sent_batches(store, annotated, visitor)
    except UserError as trouble:
        return [alert(trouble), *STAYS]
    results_of = results_shown(annotated, results(store, annotated)) if survey.shown else NOTHING
    thanks = f"Thank you: {done} batch{'es' * (done != 1)} sent. " if done else ""
    if batch is None:
        results_are = "stands below" if survey.shown else "will be shown by the teacher"
        thanks += f"Nothing is left for you here. What people said {results_are}."
    ids = () if batch is None else annotated.batches[batch]
    choices = [(answer, number) for number, answer in enumerate(annotated.answers)]
    question = annotated.mode.question(annotated.task)
    parts: Shown = []
    for place in range(BATCH):
        card, there = NOTHING, place < len(ids)
        if there:
            shown = shown_texts(annotated.task, annotated.mode, annotated.items[ids[place]])
            number_of = f"Text {place + 1} of {max(map(len, annotated.batches))}"
            card = CARD.format(number_of, elements.shown_texts(shown))
        radio = gr.Radio(choices=choices, value=None, label=question, visible=there)
        parts += [gr.HTML(card, visible=there), radio]
    return [
        told(thanks) if thanks else NOTHING,
        NOTHING
        if batch is None
        else HEAD.format(done + 1, survey.title, annotated.mode.instructions),
        gr.Textbox(visible=batch is not None),
        NOTHING if batch is None else SEND.format(batch),
        results_of + KEPT,
        *parts,
    ]


def build_guest(page: Page) -> None:
    """Put the page of who holds a link together."""
    store, parts = page.core.store, list[Any]()
    with gr.Column(elem_id="annotate-answer"):
        said = gr.HTML(padding=False, elem_id="annotate-told")
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
    shown, radios = [said, head, nickname, send, found, *parts], parts[1::2]

    def open_link(visitor: str, request: gr.Request) -> Shown:
        """Show the set of the link."""
        return answered(store, visitor, code_in(request.query_params))

    def send_batch(event: gr.EventData, visitor: str, request: gr.Request, *given: Any) -> Shown:
        return answered(store, visitor, code_in(request.query_params), cell_of(event), *given)

    given = [nickname, *radios]
    opened = page.on_open(open_link, page.owner, shown, **in_turn("annotate"))
    opened.then(None, given, given, js=RESTORE, **QUIET)
    gr.on([part.input for part in given], None, given, None, js=KEEP, **QUIET)
    sent = send.click(send_batch, [page.owner, *given], shown, **QUIET)
    sent.success(None, None, None, js=scroll_to("annotate-answer"), **QUIET)
