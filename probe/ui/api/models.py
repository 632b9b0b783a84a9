"""The endpoint over HTTP for a model of one's own."""

from typing import Any

import gradio as gr

from probe.errors import ModelError
from probe.models.library import LoadedModel
from probe.runs.access import ModelAccess
from probe.tasks.nli import NLI
from probe.tasks.task import Task, read_labels
from probe.ui.answers.answering import answering
from probe.ui.api.arguments import Name, Token
from probe.ui.api.endpoint import endpoint, over_http
from probe.ui.api.example import task_of


@over_http()
def build(models: ModelAccess) -> None:
    """Add `/load_model`."""

    @endpoint
    def load_model(
        model: Name, labels: Name = "", owner: Token = "", task: Name = "", template: Name = ""
    ) -> dict[str, Any]:
        """Load a hub's model or a folder, so that /probe and /batch can be asked for it.

        Anybody who names it can use it from then on.

        Args:
            model: owner/name, owner/name@revision, or the full path of a folder.
            labels: What each of its outputs means, in their order, with commas between; or guess.
            owner: The token of one's own runs, which /inoculate returns.
            task: nli, paraphrase, sentiment or reading; if empty, that of a model on disk, or nli.
            template: How a decoder reads its texts as one, such as {premise} {hypothesis}.
        """
        asked = task_of(models, owner, task, model)
        return load_json(models, owner, model, labels, asked, template)

    gr.api(load_model, api_name="load_model", concurrency_id="load")


def load_json(
    models: ModelAccess, owner: str, model: str, labels: str, task: Task = NLI, template: str = ""
) -> dict[str, Any]:
    """Load a model of a task; return what was loaded, and under which name it can be asked."""
    loaded = open_own(models, owner, model, labels, task, template)
    label_check, classifier = loaded.label_check, loaded.model
    return {
        "model": classifier.name,
        "model_revision": classifier.revision,
        "labels": list(classifier.order),
        "plain_pairs_right": label_check.correct if label_check else None,
        "plain_pairs": label_check.n if label_check else None,
        "warning": "; ".join(loaded.warnings),
    }


@answering("file_minutes")  # a model may be fetched from the hub
def open_own(
    models: ModelAccess,
    visitor: str,
    name: str | None,
    labels: str | None,
    task: Task = NLI,
    template: str | None = "",
) -> LoadedModel:
    """Load what a visitor named for a task. Raises ModelError or LabelError."""
    model = (name or "").strip()
    if not model:
        raise ModelError("say which model: a hub's owner/name, or a folder")
    return models.open(visitor, model, read_labels(labels or "", task), task, template or "")
