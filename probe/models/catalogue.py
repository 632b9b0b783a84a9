"""Which models there are, and how one is loaded: safetensors only, no remote code."""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from probe.labels import LABELS, Label, LabelError, label_order
from probe.models.classifier import Classifier
from probe.pairs import ASSETS

disable_progress_bar()  # transformers draws one for weights that load in a blink


class ModelError(Exception):
    """A model that cannot be used; the message is for the person."""


@dataclass(frozen=True)
class Entry:
    """A model on disk. `source` is bundled or inoculated; `size` is in bytes."""

    name: str
    folder: Path
    source: str
    size: int
    parameters: int


def home() -> Path:
    """Return the folder for what the app writes: runs, inoculated models, exports."""
    default = ASSETS.parent / "var"
    return Path(os.environ.get("NLI_CLINIC_HOME", default)).expanduser().resolve()


def shelves() -> dict[str, Path]:
    """Return the folders whose sub-folders are models."""
    return {"bundled": ASSETS / "models", "inoculated": home() / "models"}


def entries() -> Iterator[Entry]:
    """Yield the models on disk, bundled ones first, the newest inoculated first."""
    for source, shelf in shelves().items():
        folders = [path for path in shelf.glob("*/model.safetensors") if path.is_file()]
        newest = source == "inoculated"
        key = (lambda path: -path.stat().st_mtime) if newest else (lambda path: path.parent.name)
        for weights in sorted(folders, key=key):
            try:
                parameters = _parameters(weights)
            except SafetensorError:
                continue  # half written, or Git LFS left its pointer: no model to choose
            size = weights.stat().st_size
            yield Entry(weights.parent.name, weights.parent, source, size, parameters)


def _parameters(weights: Path) -> int:
    """Count the weights from the safetensors header, without reading them."""
    with safe_open(weights, framework="pt") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118  # no dict
    return sum(math.prod(shape) for shape in shapes)


def find(name: str) -> str:
    """Return the folder of a model on disk, or the name itself: a folder or a hub id."""
    known = {entry.name: entry.folder for entry in entries()}
    return str(known.get(name, name))


def require(name: str) -> None:
    """Refuse a name that is not on disk, so that a page's visitor opens no other folder.

    Raises ModelError.
    """
    known = [entry.name for entry in entries()]
    if name not in known:
        raise ModelError(f"there is no model called {name!r} here; there are: {', '.join(known)}")


def load(name: str, order: tuple[Label, ...] | None = None) -> Classifier:
    """Load a bundled or inoculated model, a local folder, or a model of the hub by its id.

    `order` overrides the label order of the config. Raises ModelError with a sentence.
    """
    place = find(name)
    local = Path(place).is_dir()
    if not local and ("/" not in place or Path(place).is_absolute()):
        known = ", ".join(entry.name for entry in entries()) or "none"
        raise ModelError(f"there is no model or folder called {name!r}; on this disk: {known}")
    try:
        config = AutoConfig.from_pretrained(place, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
        model, report = AutoModelForSequenceClassification.from_pretrained(
            place,
            config=config,
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as problem:
        raise ModelError(
            f"the model {name!r} cannot be loaded: {_first_line(problem)}"
        ) from problem
    try:
        order = order or label_order(config.id2label)
    except LabelError as problem:
        raise ModelError(f"the model {name!r} cannot be read: {problem}") from problem
    if config.num_labels != len(LABELS) or sorted(order) != sorted(LABELS):
        raise ModelError(f"the model {name!r} has {config.num_labels} outputs, not three")
    if report["missing_keys"]:  # transformers fills them with chance
        missing = ", ".join(sorted(report["missing_keys"])[:3])
        raise ModelError(f"the model {name!r} is not a trained classifier: it lacks {missing}")
    return Classifier(name, model.eval().to(device()), tokenizer, tuple(order), device())


def device() -> torch.device:
    """Return where models run: the GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def start_from_encoder(place: str) -> Classifier:
    """Load an encoder and put a fresh three-way head on it, drawn from a fixed seed."""
    labels = dict(enumerate(LABELS))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModelForSequenceClassification.from_pretrained(
            place,
            id2label=labels,
            label2id={label: index for index, label in labels.items()},
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
        )
    tokenizer = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
    return Classifier(Path(place).name, model.eval().to(device()), tokenizer, LABELS, device())


def _first_line(problem: Exception) -> str:
    return (str(problem).strip() or type(problem).__name__).splitlines()[0]
