"""The endpoint over HTTP for a model of one's own."""

from typing import Any

import gradio as gr

from probe.errors import ModelError
from probe.models.cache import ModelCache
from probe.models.user_models import LoadedModel, require_open
from probe.tasks.task import read_labels
from probe.ui.api.arguments import Name
from probe.ui.api.endpoint import endpoint


def build(cache: ModelCache) -> None:
    """Add `/load_model`."""

    @endpoint
    def load_model(model: Name, labels: Name = "") -> dict[str, Any]:
        """Load a hub's model or a folder, so that /probe and /batch can be asked for it.

        Args:
            model: owner/name, owner/name@revision, or the full path of a folder.
            labels: What each of its outputs means, in their order, with commas between.
        """
        return load_json(cache, model, labels)

    gr.api(load_model, api_name="load_model", concurrency_id="load")


def load_json(cache: ModelCache, model: str, labels: str) -> dict[str, Any]:
    """Load a model; return what was loaded, and under which name it can be asked."""
    loaded = open_own(cache, model, labels)
    label_check, classifier = loaded.label_check, loaded.classifier
    return {
        "model": classifier.name,
        "model_revision": classifier.revision,
        "labels": list(classifier.order),
        "plain_pairs_right": label_check.correct if label_check else None,
        "plain_pairs": label_check.n if label_check else None,
        "warning": loaded.warning or loaded.doubt,
    }


def open_own(cache: ModelCache, name: str | None, labels: str | None) -> LoadedModel:
    """Load what a visitor named. Raises ModelError or LabelError."""
    model = (name or "").strip()
    if not model:
        raise ModelError("say which model: a hub's owner/name, or a folder")
    require_open(model)
    return cache.open(model, read_labels(labels or ""))
