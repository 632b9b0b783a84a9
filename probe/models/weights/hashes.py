"""Hashes of models and pairs, by which a result names what it was computed from.

All are SHA-256 in hex.
"""

import hashlib
import json
import os.path
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probe.errors import ModelError
from probe.models.weights.files import VECTORS, weight_files
from probe.tasks.task import Example, Task, example_json, task_of_example

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MODEL_FILE_PATTERNS = (
    *("config.json", "adapter_config.json", "tokenizer*.json", "special_tokens_map.json"),
    *("added_tokens.json", "vocab.*", "merges.txt", "*.model"),
)
"""The files of a model's folder that its predictions depend on."""


def pairs_hash(examples: Iterable[Example]) -> str:
    """Return the hash of texts, gold labels and what else answers depend on, in their order.

    Ids do not count.
    """
    digest = hashlib.sha256()
    for example in examples:
        task = task_of_example(example)
        texts = task.texts(example).values()
        row = json.dumps([*texts, example.gold, *_further(task, example)])
        digest.update(row.encode() + b"\n")
    return digest.hexdigest()


def _further(task: Task, example: Example) -> list[Any]:  # Any: JSON
    """Return what the task's examples hold beside texts, gold label and id."""
    known = {field.name for field in fields(task.example)} - {*task.fields, "gold", "id"}
    return [value for name, value in example_json(example).items() if name in known]


def model_hash(folder: Path) -> str:
    """Return the hash over the names and bytes of a model's weights, config and tokenizer.

    What it shares with other models, weights or word vectors, counts too. Raises ModelError where
    there are no weights.
    """
    files = {
        path.name: path
        for pattern in MODEL_FILE_PATTERNS
        for path in folder.glob(pattern)
        if path.is_file()
    }
    weights = {os.path.relpath(path, folder): path for path in weight_files(folder)}
    if not weights:
        raise ModelError(f"there are no weights (.safetensors) in {folder.name}")
    files |= weights
    if shared := _shared_vectors(files):
        files[f"vectors/{shared.name}"] = shared
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\n{file_hash(files[name])}\n".encode())
    return digest.hexdigest()


def weights_hash(folder: Path) -> str:
    """Return the hash over the bytes of a model's weights alone, and of the vectors that it shares.

    It names the weights that a table was made with: other words in the config change no figure.
    """
    digest = hashlib.sha256()
    shared = _shared_vectors({path.name: path for path in folder.glob("config.json")})
    for path in (*weight_files(folder), *([shared] if shared else [])):
        digest.update(f"{file_hash(path)}\n".encode())
    return digest.hexdigest()


def network_hash(model: "PreTrainedModel") -> str:
    """Return the hash over the kind, the names and the values of a loaded network's weights."""
    import torch

    digest = hashlib.sha256(str(model.config.model_type).encode())
    for name, value in sorted(model.state_dict().items()):
        digest.update(f"{name}\n".encode())
        raw = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        digest.update(raw.numpy().data)
    return digest.hexdigest()


def _shared_vectors(files: dict[str, Path]) -> Path | None:
    """Return the word vectors that the config names, which lie in no model's folder."""
    if "config.json" not in files:
        return None
    name = json.loads(files["config.json"].read_text(encoding="utf-8")).get("vectors")
    path = VECTORS / f"{name}.safetensors"
    return path if name and path.is_file() else None


def file_hash(path: Path) -> str:
    """Return the hash of a file's bytes, read a piece at a time."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
