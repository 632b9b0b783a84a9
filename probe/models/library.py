"""Which models there are, and how one is loaded: safetensors only, no remote code."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from probe.errors import LabelError, ModelError
from probe.models.checkpoint import UNREADABLE, parameters, read, room
from probe.models.classifier import Classifier
from probe.models.errors import UnclearLabels
from probe.models.hub import fetch
from probe.models.label_check import check_labels
from probe.settings import ASSETS, settings
from probe.tasks.nli import LABELS, WAYS, Gold, label_order

DEFAULT = "minilm"
"""The model that is chosen when nobody has chosen one."""
disable_progress_bar()  # transformers draws one for weights that load in a blink
set_verbosity_error()  # and prints tables of weights; what a person needs is in our sentences


@dataclass(frozen=True)
class Entry:
    """A model on disk. `source` is bundled or inoculated; `size` is in bytes."""

    name: str
    folder: Path
    source: str
    size: int
    parameters: int


def model_folders() -> dict[str, Path]:
    """Return the folders whose sub-folders are models."""
    return {"bundled": ASSETS / "models", "inoculated": settings().home / "models"}


def entries() -> Iterator[Entry]:
    """Yield the models on disk: the default one, bundled ones, the newest inoculated first."""
    for source, folder_of_models in model_folders().items():
        folders = [path for path in folder_of_models.glob("*/model.safetensors") if path.is_file()]
        newest = source == "inoculated"
        key = (lambda path: -path.stat().st_mtime) if newest else _by_name
        for weights in sorted(folders, key=key):
            try:
                count = parameters(weights)
            except UNREADABLE:
                continue  # half written, or Git LFS left its pointer: no model to choose
            size = weights.stat().st_size
            yield Entry(weights.parent.name, weights.parent, source, size, count)


def _by_name(weights: Path) -> tuple[bool, str]:
    return weights.parent.name != DEFAULT, weights.parent.name


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


def load(name: str, order: tuple[Gold, ...] | None = None) -> Classifier:
    """Load a bundled or inoculated model, a folder, or a hub's model as owner/name[@revision].

    `order` overrides the label order of the config. Raises ModelError with a sentence, and
    UnclearLabels where the config does not say the order and none is given.
    """
    folder, revision = place(name)
    found = read(name, folder, device())
    count = len(found.outputs)
    if count not in WAYS:
        raise ModelError(f"the model {name!r} has {count} outputs, not three, nor two")
    if order and sorted(order) != sorted(WAYS[count]):
        wanted = ", ".join(WAYS[count])
        raise ModelError(f"the model {name!r} has {count} outputs; order these labels: {wanted}")
    made = Classifier(name, found.model, found.tokenizer, WAYS[count], device(), revision)
    return replace(made, order=order or _order(made, found.outputs))


def _order(classifier: Classifier, outputs: Sequence[str]) -> tuple[Gold, ...]:
    """Read the order from the names of the outputs. Raises UnclearLabels with what seems best."""
    try:
        return label_order(dict(enumerate(outputs)))
    except LabelError as problem:
        label_check = check_labels(classifier)
        told = f"{label_check.best} of {label_check.of} plain pairs right"
        raise UnclearLabels(classifier.name, outputs, label_check.suggestion, told) from problem


def place(name: str) -> tuple[Path, str | None]:
    """Return a model's folder, and its commit where it is a hub's. Raises ModelError."""
    found = Path(find(name))
    if found.is_dir():
        return found, None
    if "/" not in name or found.is_absolute():
        known = ", ".join(entry.name for entry in entries()) or "none"
        raise ModelError(f"there is no model or folder called {name!r}; on this disk: {known}")
    repository, _, revision = name.partition("@")
    return fetch(repository, revision or None, room())


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
