"""A model's folder, looked at before it is believed: safetensors only, no code of its own."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # has no types
import torch
from safetensors import SafetensorError, safe_open
from transformers import (
    CONFIG_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from probe.errors import ModelError
from probe.models.architectures import architecture
from probe.models.errors import needs_code, refusal
from probe.models.hub import too_heavy
from probe.models.pair_encoding import restore_post_processor
from probe.models.word_models import decomposable, esim  # noqa: F401  # the Auto classes learn of them

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.onnx")
VOCABULARIES = ("tokenizer.json", "vocab.*", "*.model")
UNREADABLE = (OSError, RuntimeError, MemoryError, SafetensorError)
"""What safetensors raises for a file that is damaged or larger than any memory."""


@dataclass(frozen=True)
class Read:
    """A model in eval mode and full precision, its tokenizer, and the names of its outputs."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    outputs: tuple[str, ...]


def read(name: str, folder: Path, device: torch.device) -> Read:
    """Read a sequence classifier. Raises ModelError for whatever else lies in the folder."""
    _check_kind(name, _config(name, folder))
    _check_weights(name, folder)
    if not any(path for kind in VOCABULARIES for path in folder.glob(kind)):
        # transformers would make up an empty one
        raise ModelError(f"the model {name!r} has no vocabulary, such as a tokenizer.json")
    place, options = str(folder), {"trust_remote_code": False, "local_files_only": True}
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(place, **options)
        model, report = AutoModelForSequenceClassification.from_pretrained(
            place, dtype=torch.float32, use_safetensors=True, output_loading_info=True, **options
        )
        model = model.eval().to(device)
        if architecture(model.config.model_type).own_post_processor:
            restore_post_processor(tokenizer, folder)
    except Exception as problem:  # a stranger's folder: transformers raises what it stumbles over
        raise refusal(name, problem) from problem
    if report["missing_keys"]:  # transformers fills them with chance
        missing = ", ".join(sorted(report["missing_keys"])[:3])
        raise ModelError(
            f"the model {name!r} is no trained sequence classifier: it lacks {missing}"
        )
    labels = model.config.id2label
    return Read(model, tokenizer, tuple(str(labels[index]) for index in sorted(labels)))


def _config(name: str, folder: Path) -> dict[str, Any]:
    """Read config.json; Any: JSON values."""
    path = folder / "config.json"
    if not path.is_file():
        raise ModelError(f"{name!r} is no model: it has no config.json")
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise refusal(name, problem) from problem
    if not isinstance(found, dict):
        raise ModelError(f"{name!r} is no model: its config.json is no table")
    return found


def _check_kind(name: str, config: dict[str, Any]) -> None:
    kind = str(config.get("model_type", ""))
    if kind not in CONFIG_MAPPING:
        if "auto_map" in config:
            raise ModelError(needs_code(name))
        raise ModelError(f"the model {name!r} is of a kind that is not known here: {kind!r}")
    if CONFIG_MAPPING[kind] not in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        raise ModelError(
            f"the model {name!r} is no sequence classifier: a {kind} model classifies no text"
        )


def _check_weights(name: str, folder: Path) -> None:
    if not (folder / "model.safetensors").is_file() and not _parts(folder):
        pickled = sorted(path.name for kind in PICKLES for path in folder.glob(kind))
        if pickled:
            raise ModelError(
                f"the model {name!r} has no safetensors weights, and a pickle such as "
                f"{pickled[0]} may run code when it is opened, so it is refused"
            )
        raise ModelError(f"the model {name!r} has no safetensors weights")
    try:
        needed = sum(4 * parameters(path) for path in weights(folder))
    except UNREADABLE as problem:
        raise refusal(name, problem) from problem
    if needed > room():
        raise ModelError(too_heavy(name, needed, room()))


def weights(folder: Path) -> list[Path]:
    """Return the files that hold the weights: one, or the parts of a large model."""
    whole = folder / "model.safetensors"
    return [whole] if whole.is_file() else _parts(folder)


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("model-*.safetensors"))


def parameters(path: Path) -> int:
    """Count the weights from the safetensors header, without reading them."""
    with safe_open(path, framework="pt") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118  # no dict
    return sum(math.prod(shape) for shape in shapes)


def room() -> int:
    """Return the bytes of memory that are free."""
    return int(psutil.virtual_memory().available)
