"""A model's weights read, shared with other models, and written."""

import json
import shutil
from fnmatch import fnmatch
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from probe.errors import FileError, ModelError, writing
from probe.models.errors import reading_part
from probe.models.weights import (
    INDEX,
    OWN,
    PICKLES,
    SHARED_FOLDER,
    WHOLE,
    check_weights,
    read_config,
    weight_files,
)


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Return all weights of a model by name, shared ones too. Raises ModelError."""
    return {
        name: weight for path in weight_files(folder) for name, weight in load_file(path).items()
    }


def share_weights(folder: Path, shared: str) -> int:
    """Let a model's folder take the weights of a file of the shared folder beside it.

    Return how many bytes that saves. Raises ModelError where the file is not there, where the model
    shares already, or where its own values, as fp16, are others.
    """
    other = _shared_weights(folder, shared)
    if not (folder / WHOLE).is_file():
        shares = "shares weights already" if (folder / INDEX).is_file() else f"has no {WHOLE}"
        raise ModelError(f"the model {folder.name!r} {shares}")
    size = (folder / WHOLE).stat().st_size
    weights = read_weights(folder)
    for name, values in other.items():
        own = weights.pop(name, None)
        if own is None or not torch.equal(own.half(), values.half()):
            raise ModelError(
                f"{folder.name!r} cannot share {shared}: its {name} has other values; train it "
                "with --freeze-word-embeddings"
            )
    write_weights(weights, folder / OWN)
    places = dict.fromkeys(weights, OWN) | dict.fromkeys(other, f"../{SHARED_FOLDER}/{shared}")
    total = sum(value.nbytes for value in (*weights.values(), *other.values()))
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
    (folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    (folder / WHOLE).unlink()
    return size - (folder / OWN).stat().st_size


def _shared_weights(folder: Path, shared: str) -> dict[str, Tensor]:
    path = folder.resolve().parent / SHARED_FOLDER / shared
    if path.parent.name != SHARED_FOLDER or not path.is_file():
        raise ModelError(f"there is no {SHARED_FOLDER}/{shared} beside {str(folder)!r}")
    with reading_part(SHARED_FOLDER, path):
        return load_file(path)


def export_model(folder: Path, out: Path) -> None:
    """Write a model into a new folder that holds all of its weights, in one file.

    What a training keeps beside them is left out. Raises FileError where the folder is there
    already or cannot be written, and ModelError, also for an adapter, which is no whole model.
    """
    if out.exists():
        raise FileError(f"{out} is there already; name a new folder")
    read_config(folder.name, folder)
    check_weights(folder.name, folder)
    with writing(out):
        shutil.copytree(folder, out, ignore=_not_of_the_model)
        write_weights(read_weights(folder), out / WHOLE)


def _not_of_the_model(_: str, names: list[str]) -> list[str]:
    """Return the files of a folder that are weights, pickles, or steps of a training."""
    other = ("*.safetensors", INDEX, "checkpoint*", "trainer_state.json", "runs", *PICKLES)
    return [name for name in names if any(fnmatch(name, pattern) for pattern in other)]


def write_weights(weights: dict[str, Tensor], path: Path) -> None:
    """Write weights as safetensors that everybody may read."""
    save_file(weights, path, metadata={"format": "pt"})
    path.chmod(0o644)  # safetensors makes files that only their owner reads
