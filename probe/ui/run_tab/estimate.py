"""About how long what a form asks for takes, said beside its button."""

import gradio as gr
from markupsafe import Markup

MEASURING = Markup('<p class="fine">Measuring how long it takes …</p>')


def build_estimate(elem_id: str) -> gr.HTML:
    """Lay out the place of an estimate, which is still being made."""
    return gr.HTML(MEASURING, elem_id=elem_id, padding=False)
