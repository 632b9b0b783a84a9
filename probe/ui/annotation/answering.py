"""For who holds the link to a set: a batch of texts, and an answer to each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import UserError
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
from probe.ui.html.elements import NOTHING, alert
from probe.ui.tab_outputs import TabOutputs

MAX_ANSWERS = 5
"""Answers of a mode at most; what is chosen is told by its number."""


@dataclass
class AnswerOutputs(TabOutputs):
    """What a respondent sees, in the order of the outputs; what is not given stays."""

    whole: Any = field(default_factory=gr.skip)  # Any: markup, values and gradio's updates
    head: Any = field(default_factory=gr.skip)
    joining: Any = field(default_factory=gr.skip)
    batch: Any = field(default_factory=gr.skip)
    number: Any = field(default_factory=gr.skip)
    told: Any = field(default_factory=gr.skip)
    results: Any = field(default_factory=gr.skip)
    items: Sequence[Any] = ()

    @property
    def outputs(self) -> list[Any]:
        """The values in their order: an HTML and a radio for each text of a batch at the end."""
        shown = [self.whole, self.head, self.joining, self.batch, self.number, self.told]
        return [*shown, self.results, *(self.items or [gr.skip()] * (2 * BATCH))]


@dataclass(frozen=True)
class Answering:
    """What a respondent's buttons do."""

    store: Store

    def open(self, visitor: str, code: str) -> AnswerOutputs:
        """Show the set of a link's code: what is asked, and a nickname to begin with."""
        try:
            annotated = annotation_set(self.store, code)
            if has_joined(self.store, annotated.survey, visitor):
                return self._next(annotated, visitor)
        except UserError as trouble:
            return AnswerOutputs(whole=gr.Column(visible=True), head=alert(trouble))
        return AnswerOutputs(
            whole=gr.Column(visible=True),
            head=instructions(annotated),
            joining=gr.Column(visible=True),
            batch=gr.Column(visible=False),
            told=NOTHING,
        )

    def begin(self, visitor: str, survey_id: str, nickname: str) -> list[Any]:
        """Take part from now on, under a nickname or none, and show the first batch."""
        try:
            annotated = annotation_set(self.store, survey_id)
            join(self.store, annotated.survey, visitor, nickname or "")
            return self._next(annotated, visitor).outputs
        except UserError as trouble:
            return AnswerOutputs(told=alert(trouble)).outputs

    def send(self, visitor: str, survey_id: str, number: str, *chosen: int | None) -> list[Any]:
        """Store the answers to a batch and show the next one; what is missing is said."""
        try:
            annotated = annotation_set(self.store, survey_id)
            items = annotated.batches[int(number)]
            said = dict(enumerate(annotated.answers))
            answers = {
                item: said[choice]
                for item, choice in zip(items, chosen, strict=False)
                if choice is not None and choice in said
            }
            submit_batch(self.store, annotated, visitor, int(number), answers)
            return self._next(annotated, visitor).outputs
        except UserError as trouble:
            return AnswerOutputs(told=alert(trouble)).outputs

    def _next(self, annotated: AnnotationSet, visitor: str) -> AnswerOutputs:
        done = sent_batches(self.store, annotated, visitor)
        batch = None if annotated.survey.ended else next_batch(self.store, annotated, visitor)
        found = NOTHING
        if annotated.survey.shown:
            found = results_shown(annotated, results(self.store, annotated))
        return AnswerOutputs(
            whole=gr.Column(visible=True),
            head=instructions(annotated, done),
            joining=gr.Column(visible=False),
            batch=gr.Column(visible=batch is not None),
            number="" if batch is None else str(batch),
            told=thanks(done, batch is not None, annotated.survey.shown),
            results=found,
            items=_items(annotated, batch),
        )


def _items(annotated: AnnotationSet, batch: int | None) -> list[Any]:
    """Return the texts of a batch, each with its answers to choose from."""
    ids = () if batch is None else annotated.batches[batch]
    choices = [(answer, number) for number, answer in enumerate(annotated.answers)]
    shown: list[Any] = []
    for place in range(BATCH):
        there = place < len(ids)
        card = text_card(annotated, annotated.items[ids[place]], place + 1) if there else NOTHING
        shown += [
            gr.HTML(card, visible=there),
            gr.Radio(
                choices=choices,
                value=None,
                label=annotated.mode.question(annotated.task),
                visible=there,
            ),
        ]
    return shown


def build_answering() -> tuple[AnswerOutputs, gr.Textbox, list[gr.Radio], gr.Button, gr.Button]:
    """Lay out a batch; return it with the nickname, the radios, and the buttons to begin, send."""
    shown = AnswerOutputs()
    with gr.Column(visible=False, elem_id="annotate-answer") as shown.whole:
        shown.head = gr.HTML(padding=False, elem_id="annotate-head")
        with gr.Column(
            visible=False, elem_classes="card", elem_id="annotate-join"
        ) as shown.joining:
            nickname = gr.Textbox(
                "",
                label="A nickname, or nothing",
                info="The teacher sees it beside your answers. Do not give your name.",
                max_length=MAX_NICKNAME,
                elem_id="annotate-nickname",
            )
            begin = gr.Button("Begin", variant="primary", elem_id="annotate-begin", min_width=0)
        with gr.Column(visible=False, elem_id="annotate-batch") as shown.batch:
            parts: list[Any] = []
            for place in range(BATCH):
                with gr.Column(elem_classes="card"):
                    text = gr.HTML(padding=False)
                    radio = gr.Radio(
                        list(range(MAX_ANSWERS)),
                        label="Answer",
                        elem_id=f"annotate-answer-{place + 1}",
                        elem_classes="seg",
                    )
                parts += [text, radio]
            send = gr.Button("Send", variant="primary", elem_id="annotate-send", min_width=0)
        shown.told = gr.HTML(padding=False, elem_id="annotate-told")
        shown.number = gr.Textbox("", label="batch", visible=False)
        shown.results = gr.HTML(Markup(""), padding=False, elem_id="annotate-shown")
    shown.items = parts
    return shown, nickname, parts[1::2], begin, send
