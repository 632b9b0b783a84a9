"""What a model's folder holds, and what stands in the place of a model: each has its sentence."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probe.errors import ModelError
from probe.models.errors import SeveralCheckpoints, reading_part
from probe.models.hub import free_memory_bytes, too_large_message
from probe.models.weights.files import count_parameters, weight_files

CONFIG, ADAPTER, TOKENIZER = "config.json", "adapter_config.json", "tokenizer_config.json"
BYTES_PER_WEIGHT = 4  # models are loaded in fp32; a bf16 copy comes when it is asked for
POINTER = b"version https://git-lfs.github.com/spec/"
POINTER_BYTES = 1024
"""Of a pointer of Git LFS, at most: it has three lines."""
PICKLE = "a pickle such as {file} may run code when it is opened, so it is refused"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
UNREAD: Mapping[str, str] = {
    "*.gguf": "{file} is GGUF, which is for llama.cpp alone; take the model that it was made of",
    "*.onnx": "{file} is an ONNX graph, of which no importance can be taken; take the model that "
    "it was made of",
    "onnx/*.onnx": "{file} is an ONNX graph, of which no importance can be taken; take the model "
    "that it was made of",
    "*.h5": "{file} is TensorFlow's; save it with PyTorch as safetensors",
    "*.msgpack": "{file} is Flax's; save it with PyTorch as safetensors",
    **dict.fromkeys(PICKLES, PICKLE),
}
"""What is said of weights in another form, by the pattern of their file's name."""
OF_A_TRAINING = re.compile(r"(training_args|optimizer|scheduler|scaler|rng_state).*")
"""Files that transformers' Trainer writes beside the weights."""


def read_json(name: str, path: Path) -> dict[str, Any]:  # Any: JSON values
    """Read a file of a model, {} where it is not there. Raises ModelError where it is no table."""
    if not path.exists():
        return {}
    with reading_part(name, path, "JSON"):
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(values, dict):
        raise ModelError(f"{name!r} is no model: its {path.name} is no table")
    return values


def read_config(name: str, folder: Path) -> dict[str, Any]:  # Any: as above
    """Read config.json, which names the architecture. Raises ModelError."""
    _check_pointers(name, folder)
    if not (folder / CONFIG).is_file():
        raise _no_model(name, folder)
    config = read_json(name, folder / CONFIG)
    if not config.get("model_type"):
        raise ModelError(
            f"the {CONFIG} of {name!r} has no model_type, so that it does not say of which "
            'architecture the model is; add the line that the original has, such as "model_type": '
            '"bert"'
        )
    return config


def _check_pointers(name: str, folder: Path) -> None:
    """Refuse files whose content was not fetched. Raises ModelError."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file() and path.stat().st_size <= POINTER_BYTES:
            with path.open("rb") as file:
                if file.read(len(POINTER)) == POINTER:
                    raise ModelError(
                        f"{path.name} of {name!r} is a pointer of Git LFS and not the file itself; "
                        "run git lfs pull where it was cloned"
                    )


def _no_model(name: str, folder: Path) -> ModelError:
    """Return the error for a folder without a config, with what it holds in the place of one."""
    begin = f"{name!r} is no model: it has no {CONFIG}"
    steps = [path for path in folder.glob("checkpoint-*") if (path / CONFIG).is_file()]
    if not steps:
        return ModelError(begin + "".join(f"; {what}" for what in _unread(folder)[:1]))
    latest = sorted(steps, key=_step, reverse=True)
    paths = [str(folder / path.name) for path in latest]
    return SeveralCheckpoints(
        f"{begin}, and holds what a training saved on its way; name one, the latest first: "
        f"{', '.join(paths)}",
        paths,
    )


def _step(checkpoint: Path) -> tuple[int, str]:
    """Return the step after which a checkpoint was saved; names without one come first."""
    written = checkpoint.name.rpartition("-")[2]
    return (int(written) if written.isdecimal() else -1), written


def _unread(folder: Path) -> list[str]:
    """Return what is to be said of weights in another form."""
    return [
        what.format(file=path.name)
        for pattern, what in UNREAD.items()
        for path in sorted(folder.glob(pattern))
        if not OF_A_TRAINING.fullmatch(path.name)
    ]


def check_weights(name: str, folder: Path) -> None:
    """Refuse a folder without safetensors, or with more than memory holds. Raises ModelError."""
    files = weight_files(folder)
    if not files:
        others = _unread(folder)
        reason = f", and {others[0]}" if others else ""
        raise ModelError(f"the model {name!r} has no safetensors weights{reason}")
    needed = 0
    for path in files:
        with reading_part(name, path):
            needed += BYTES_PER_WEIGHT * count_parameters(path)
    free = free_memory_bytes()
    if needed > free:
        raise ModelError(too_large_message(name, needed, free))
