"""The Catalogue tab: every transform with its facts, its code and an example computed live."""

from functools import partial

import gradio as gr
from markupsafe import Markup

from probe.analysis.transformed import transform_all
from probe.errors import UserError
from probe.models.classifier import Classifier
from probe.runs.model_access import ModelAccess
from probe.tasks.nli import NLI, Pair
from probe.transforms.availability import ready
from probe.ui.answers.answering import answering
from probe.ui.answers.request_limits import check_pair
from probe.ui.answers.shared_answers import SharedAnswers, model_key
from probe.ui.choices import refresh_models
from probe.ui.html.catalogue import catalogue
from probe.ui.html.elements import alert, note
from probe.ui.page import Page

PREMISE = "Maria sold 48 tickets for the evening concert, and the old hall was full."
HYPOTHESIS = "Maria quickly sold the tickets, and her success filled the large hall."


@answering("answer_seconds")
def show(
    models: ModelAccess,
    answers: SharedAnswers,
    visitor: str,
    premise: str,
    hypothesis: str,
    model: str,
    seed: float | None,
) -> Markup:
    """Show every transform, applied to this pair."""
    pair = Pair(premise, hypothesis)
    try:
        check_pair(pair)
        classifier = models.get(visitor, model)
        key = model_key(classifier), pair, int(seed or 0)
        (shown,) = answers.get(key, lambda: (applied(classifier, pair, int(seed or 0)),))
    except UserError as trouble:
        return alert(trouble)
    return shown


def applied(classifier: Classifier, pair: Pair, seed: int) -> Markup:
    """Apply every transform to a pair; raises what `transform_all` raises."""
    before = classifier.predict([pair])
    transformed = transform_all(classifier, [pair], before, ready(NLI), seed)
    return catalogue({name: rows[0] for name, rows in transformed.items()})


def build(page: Page) -> None:
    """Put the tab together; it is filled when it is opened."""
    with gr.Row():
        premise = gr.Textbox(PREMISE, label="Premise", lines=2, scale=4, min_width=260)
        hypothesis = gr.Textbox(HYPOTHESIS, label="Hypothesis", lines=2, scale=4, min_width=260)
        model = gr.Dropdown(
            page.core.models.names(""), label="Model", allow_custom_value=True, min_width=140
        )
        seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
        go = gr.Button("Apply all", elem_id="apply-all", min_width=90)
    listed = gr.HTML(note("Every transform is being applied to this pair."), elem_id="catalogue")
    gr.on(
        [page.tab.select, go.click, premise.submit, hypothesis.submit],
        partial(show, page.core.models, SharedAnswers()),
        [page.owner, premise, hypothesis, model, seed],
        listed,
        concurrency_id="probe",
        api_visibility="private",
        show_progress="minimal",
    )
    refresh_models(page, model)
