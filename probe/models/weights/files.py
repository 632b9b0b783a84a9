"""The files that hold a model's weights: one, several, or one that models share.

A `model.safetensors.index.json` says which file holds which weight, as `save_pretrained` writes it
for large models. The bundled encoders name one file for their word embeddings,
`../word_embeddings/...`, so that these lie on disk once. `probe.models.weights.shared` reads and
writes them.
"""

import json
import math
from pathlib import Path

from safetensors import SafetensorError, safe_open

from probe.errors import ModelError
from probe.models.errors import reading_part
from probe.settings import ASSETS

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
OWN = "model-own.safetensors"
"""The weights of a model that shares others."""
ADAPTER_WEIGHTS = "adapter_model.safetensors"
"""The weights of a LoRA adapter, which are added to another model's."""
SHARED_FOLDER = "word_embeddings"
"""The folder, beside the models' own, of what they share."""
VECTORS = ASSETS / "vectors"
"""The folder of the word vectors that the bundled word models share."""
READ_ERRORS = (OSError, RuntimeError, MemoryError, SafetensorError)
"""What safetensors raises for a file that is damaged or larger than any memory."""


def weight_files(folder: Path) -> list[Path]:
    """Return the files that hold a model's weights, none where there are none.

    Raises ModelError for an index that cannot be read or names files elsewhere on the disk.
    """
    folder = folder.resolve()
    whole = folder / WHOLE
    if whole.is_file():
        return [whole]
    if (folder / INDEX).is_file():
        return sorted(_named_file(folder, name) for name in set(_weight_map(folder).values()))
    adapter = [path for path in [folder / ADAPTER_WEIGHTS] if path.is_file()]
    return sorted(folder.glob("model-*.safetensors")) or adapter


def _weight_map(folder: Path) -> dict[str, str]:
    with reading_part(folder.name, folder / INDEX, "an index of weights"):
        names = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
        return {str(weight): str(file) for weight, file in names.items()}


def _named_file(folder: Path, name: str) -> Path:
    path = (folder / name).resolve()
    if path.parent not in (folder, folder.parent / SHARED_FOLDER):
        raise ModelError(f"{INDEX} of {folder.name!r} names a file of another folder: {name}")
    return path


def count_parameters(path: Path) -> int:
    """Count the weights from the safetensors header, without reading them."""
    with safe_open(path, framework="np") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118  # no dict
    return sum(math.prod(shape) for shape in shapes)
