"""A LoRA adapter merged into the model that it was trained on (Hu et al. 2021), through peft."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import PreTrainedModel

from probe.errors import ModelError
from probe.models.errors import reading_part
from probe.models.loading import loading
from probe.models.weights.files import ADAPTER_WEIGHTS
from probe.models.weights.folder import ADAPTER, read_json

INSIDE = "base_model.model."
"""What peft puts before the names of a model's own parts."""


def adapter_options(name: str, folder: Path) -> dict[str, Any]:  # Any: settings of a config
    """Return what the base model's config must be told: the outputs that the adapter's head has.

    Raises ModelError for an adapter of another kind, or one that cannot be read here.
    """
    settings = read_json(name, folder / ADAPTER)
    kind, purpose = settings.get("peft_type"), settings.get("task_type")
    if kind != "LORA" or purpose != "SEQ_CLS":
        raise ModelError(
            f"the adapter {name!r} is of the kind {kind} for {purpose}; only LORA for SEQ_CLS, "
            "which classifies texts, can be merged"
        )
    if not (folder / ADAPTER_WEIGHTS).is_file():
        raise ModelError(f"the adapter {name!r} has no safetensors weights ({ADAPTER_WEIGHTS})")
    try:
        import peft  # noqa: F401
    except ImportError as problem:
        raise ModelError(
            f"the model {name!r} is a LoRA adapter, and to merge it the package peft is needed: "
            "pip install peft"
        ) from problem
    sizes = [len(value) for value in _head(folder).values() if value.ndim == 2]
    names = read_json(name, folder / "config.json").get("id2label") or {}
    labels = {int(at): str(label) for at, label in names.items()}
    if not sizes:
        return {}
    return {"id2label": labels} if len(labels) == min(sizes) else {"num_labels": min(sizes)}


def _head(folder: Path) -> dict[str, torch.Tensor]:
    """Return the parts of a model that an adapter replaces as a whole, by their names in it."""
    with reading_part(folder.name, folder / ADAPTER_WEIGHTS):
        weights = load_file(folder / ADAPTER_WEIGHTS)
    return {
        name.removeprefix(INSIDE): value for name, value in weights.items() if "lora_" not in name
    }


def merged(
    name: str, model: PreTrainedModel, random: set[str], folder: Path, base: str
) -> PreTrainedModel:
    """Return a model with an adapter merged in. `random` are parts that its files do not have.

    Raises ModelError where such a part, as the head, does not come from the adapter either.
    """
    from peft import PeftModel

    head = _head(folder)
    lost = [] if head else read_json(name, folder / ADAPTER).get("modules_to_save") or []
    lacking = [*sorted(random - set(head)), *lost]
    if lacking:
        raise ModelError(
            f"the adapter {name!r} lacks {lacking[0]}, which {base} does not have either or which "
            "was trained with it, so that its answers would be chance; save it again with its head "
            '(modules_to_save, such as ["classifier"])'
        )
    with loading:
        whole: Any = PeftModel.from_pretrained(model, str(folder))
    result: PreTrainedModel = whole.merge_and_unload()
    for part, value in head.items():
        if not torch.equal(result.state_dict()[part].cpu(), value.to(result.dtype)):
            raise ModelError(f"the part {part} of the adapter {name!r} was not taken over by peft")
    return result
