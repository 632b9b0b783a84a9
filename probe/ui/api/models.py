"""The endpoint over HTTP for a model of one's own."""

from typing import Any

import gradio as gr

from probe.errors import ModelError, UserError
from probe.models.user_models import LoadedModel
from probe.runs.model_access import ModelAccess
from probe.tasks.task import read_labels


def build(models: ModelAccess) -> None:
    """Add `/load_model`."""

    def load_model(model: str, labels: str = "") -> dict[str, Any]:
        """Load a hub's model or a folder, so that /probe and /batch can be asked for it."""
        return load_json(models, model, labels)

    gr.api(load_model, api_name="load_model", concurrency_id="load")


def load_json(models: ModelAccess, model: str, labels: str) -> dict[str, Any]:
    """Load a model; return what was loaded, and under which name it can be asked."""
    try:
        loaded = open_own(models, "", model, labels)
    except UserError as trouble:
        raise gr.Error(str(trouble)) from trouble
    label_check, classifier = loaded.label_check, loaded.classifier
    return {
        "model": classifier.name,
        "model_revision": classifier.revision,
        "labels": list(classifier.order),
        "plain_pairs_right": label_check.correct if label_check else None,
        "plain_pairs": label_check.n if label_check else None,
        "warning": loaded.warning or loaded.doubt,
    }


def open_own(
    models: ModelAccess, visitor: str, name: str | None, labels: str | None
) -> LoadedModel:
    """Load what a visitor named. Raises ModelError or LabelError."""
    model = (name or "").strip()
    if not model:
        raise ModelError("say which model: a hub's owner/name, or a folder")
    return models.open(visitor, model, read_labels(labels or ""))
