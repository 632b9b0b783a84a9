"""The files of a model: read, checked, hashed, fetched, shared with other models and written.

Hashes name what a result was computed from: SHA-256 in hex.
"""

import hashlib
import json
import math
import os.path
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil  # type: ignore[import-untyped]  # has no types
from huggingface_hub import DryRunFileInfo, snapshot_download
from huggingface_hub.errors import DryRunError
from safetensors import safe_open

from probe.errors import FileError, ModelError, writing
from probe.hub import access, asking, make_room
from probe.models.errors import SeveralCheckpoints, reading_part
from probe.settings import ASSETS
from probe.tasks.task import Example, example_json, task_of_example

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
OWN = "model-own.safetensors"
"""The weights of a model that shares others."""
ADAPTER_WEIGHTS = "adapter_model.safetensors"
"""The weights of a LoRA adapter, which are added to another model's."""
SHARED_FOLDER = "word_embeddings"
"""The folder, beside the models' own, of what they share."""
VECTORS = ASSETS / "vectors"
"""The folder of the word vectors that the bundled word models share."""


def weight_files(folder: Path) -> list[Path]:
    """Return the files that hold a model's weights, none where there are none.

    Raises ModelError for an index that cannot be read or names files elsewhere on the disk.
    """
    folder = folder.resolve()
    if (folder / WHOLE).is_file():
        return [folder / WHOLE]
    if not (folder / INDEX).is_file():
        adapter = [path for path in [folder / ADAPTER_WEIGHTS] if path.is_file()]
        return sorted(folder.glob("model-*.safetensors")) or adapter
    with reading_part(folder.name, folder / INDEX, "an index of weights"):
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
        names = {str(file) for file in index.values()}
    for name in names:
        if (folder / name).resolve().parent not in (folder, folder.parent / SHARED_FOLDER):
            raise ModelError(f"{INDEX} of {folder.name!r} names a file of another folder: {name}")
    return sorted((folder / name).resolve() for name in names)


def has_weights(folder: Path) -> bool:
    """Whether weights lie in a folder, and not pointers of Git LFS to them; none is opened."""
    return any(path.stat().st_size > POINTER_BYTES for path in folder.glob("*.safetensors"))


MODEL_FILE_PATTERNS = (
    *("config.json", "adapter_config.json", "tokenizer*.json", "special_tokens_map.json"),
    *("added_tokens.json", "vocab.*", "merges.txt", "*.model", "chat_template.jinja"),
)
"""The files of a model's folder that its predictions depend on."""


def pairs_hash(examples: Iterable[Example]) -> str:
    """Return the hash of texts, gold labels and what else answers depend on, in their order.

    Ids do not count.
    """
    digest = hashlib.sha256()
    for example in examples:
        task = task_of_example(example)
        known = {field.name for field in fields(task.example)} - {*task.fields, "gold", "id"}
        further = [value for name, value in example_json(example).items() if name in known]
        row = json.dumps([*task.texts(example).values(), example.gold, *further])
        digest.update(row.encode() + b"\n")
    return digest.hexdigest()


def model_hash(folder: Path) -> str:
    """Return the hash over the names and bytes of a model's weights, config and tokenizer.

    What it shares with other models, weights or word vectors, counts too. Raises ModelError where
    there are no weights.
    """
    kept = [path for each in MODEL_FILE_PATTERNS for path in folder.glob(each) if path.is_file()]
    files = {path.name: path for path in kept}
    weights = {os.path.relpath(path, folder): path for path in weight_files(folder)}
    if not weights:
        raise ModelError(f"there are no weights (.safetensors) in {folder.name}")
    files |= weights | {f"vectors/{path.name}": path for path in _shared_vectors(folder)}
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\n{file_hash(files[name])}\n".encode())
    return digest.hexdigest()


def weights_hash(folder: Path) -> str:
    """Return the hash over the bytes of a model's weights alone, and of the vectors that it shares.

    It names the weights that a table was made with: other words in the config change no figure.
    """
    hashes = map(file_hash, (*weight_files(folder), *_shared_vectors(folder)))
    return hashlib.sha256("".join(f"{each}\n" for each in hashes).encode()).hexdigest()


def network_hash(model: "PreTrainedModel") -> str:
    """Return the hash over the kind, the names and the values of a loaded network's weights."""
    import torch

    digest = hashlib.sha256(str(model.config.model_type).encode())
    for name, value in sorted(model.state_dict().items()):
        digest.update(f"{name}\n".encode())
        raw = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        digest.update(raw.numpy().data)
    return digest.hexdigest()


def _shared_vectors(folder: Path) -> list[Path]:
    """Return the file of word vectors that the config names, if any: it lies in no model's."""
    if not (folder / CONFIG).is_file():
        return []
    name = json.loads((folder / CONFIG).read_text(encoding="utf-8")).get("vectors")
    path = VECTORS / f"{name}.safetensors"
    return [path] if name and path.is_file() else []


def file_hash(path: Path) -> str:
    """Return the hash of a file's bytes, read a piece at a time."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


FETCHED = [*MODEL_FILE_PATTERNS, WHOLE, "model-*.safetensors", INDEX, ADAPTER_WEIGHTS, "tokenizer*"]
UNREACHED = (
    "was not fetched before; try again where there is a network, or name a folder that holds it"
)


def several_files(name: str, files: Iterable[str]) -> ModelError:
    """Return the question which of several GGUF files is meant."""
    return ModelError(
        f"{name!r} holds several GGUF files; name one of them behind it, {name}/FILE: "
        f"{', '.join(sorted(files))}"
    )


def fetch(name: str, revision: str | None, max_bytes: int, file: str = "") -> tuple[Path, str]:
    """Return the folder of a hub's model and its commit; files on disk are not fetched again.

    `max_bytes` is the largest size of its weights. Of a model without safetensors its GGUF file is
    fetched; `file` names one of several. Raises ModelError.
    """
    asked: dict[str, Any] = {"revision": revision, **access()}  # Any: each has a type of its own
    patterns = [file] if file else [*FETCHED, "*.gguf"]
    with asking("model", name, revision, UNREACHED, ModelError):
        try:
            files: list[DryRunFileInfo] = snapshot_download(
                name, **asked, allow_patterns=patterns, dry_run=True
            )
        except DryRunError:  # off the network the model may have been fetched before
            files = []
        if not file and files:
            whole = [each for each in files if each.filename.endswith(".gguf")]
            if any(each.filename.endswith(".safetensors") for each in files):
                files, patterns = [each for each in files if each not in whole], FETCHED
            elif len(whole) > 1:
                raise several_files(name, [each.filename for each in whole])
        ends = (".safetensors", ".gguf")
        size = sum(each.file_size or 0 for each in files if each.filename.endswith(ends))
        if size > max_bytes:
            raise ModelError(too_large_message(name, size, max_bytes))
        new = sum(each.file_size or 0 for each in files if each.will_download)
        make_room("model", name, new, ModelError)
        folder = Path(snapshot_download(name, **asked, allow_patterns=patterns))
    return folder, folder.name


def free_memory_bytes() -> int:
    """Return the number of free bytes of memory."""
    return int(psutil.virtual_memory().available)


def too_large_message(name: str, size: int, free: int) -> str:
    """Return the sentence for weights of `size` bytes that `free` bytes do not hold."""
    return (
        f"the model {name!r} does not fit: its weights take {size / 1e9:,.1f} GB, and "
        f"{free / 1e9:,.1f} GB of memory are free"
    )


CONFIG, ADAPTER, TOKENIZER = "config.json", "adapter_config.json", "tokenizer_config.json"
BYTES_PER_WEIGHT = 4  # models are loaded in fp32; a bf16 copy comes when it is asked for
POINTER = b"version https://git-lfs.github.com/spec/"
POINTER_BYTES = 1024
"""Of a pointer of Git LFS, at most: it has three lines."""
PICKLE = "a pickle such as {file} may run code when it is opened, so it is refused"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
UNREAD: Mapping[str, str] = {
    **dict.fromkeys(
        ("*.onnx", "onnx/*.onnx"),
        "{file} is an ONNX graph, of which no importance can be taken; take the model that it was "
        "made of",
    ),
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
    files = sorted(path for path in folder.glob("*") if path.is_file())
    for path in (path for path in files if path.stat().st_size <= POINTER_BYTES):
        if path.read_bytes().startswith(POINTER):
            raise ModelError(
                f"{path.name} of {name!r} is a pointer of Git LFS and not the file itself; run git "
                "lfs pull where it was cloned"
            )
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


def _no_model(name: str, folder: Path) -> ModelError:
    """Return the error for a folder without a config, with what it holds in the place of one."""
    begin = f"{name!r} is no model: it has no {CONFIG}"
    several = trainer_checkpoints(folder)[::-1]
    if not several:
        return ModelError(begin + "".join(f"; {what}" for what in _unread(folder)[:1]))
    told = [f"{each.folder} ({each.best})" if each.best else str(each.folder) for each in several]
    return SeveralCheckpoints(
        f"{begin}, and holds what a training saved on its way; name one, the latest first: "
        f"{', '.join(told)}",
        [str(each.folder) for each in several],
    )


TRAINER_STATE = "trainer_state.json"
"""What transformers' Trainer notes in each checkpoint."""


@dataclass(frozen=True)
class TrainerCheckpoint:
    """A model that a training kept on its way; `step` is -1 in a folder that does not say which.

    `best` says by what the Trainer calls it the best, "" of others and where it was not asked to
    choose; `epoch` is None where it does not say.
    """

    folder: Path
    step: int
    epoch: float | None = None
    best: str = ""


def trainer_checkpoints(folder: Path) -> list[TrainerCheckpoint]:
    """Return the models in the `checkpoint-*` of a folder by their steps.

    Which of them is the best stands in the state of the newest.
    """

    def step(checkpoint: Path) -> tuple[int, str]:
        written = checkpoint.name.rpartition("-")[2]
        return (int(written) if written.isdecimal() else -1), written

    def state(checkpoint: Path) -> dict[str, Any]:  # Any: JSON values
        try:  # a checkpoint that lacks it is one all the same
            values = json.loads((checkpoint / TRAINER_STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return values if isinstance(values, dict) else {}

    found = [path for path in folder.glob("checkpoint-*") if (path / CONFIG).is_file()]
    states = {path: state(path) for path in sorted(found, key=step)}
    last = next(reversed(states.values()), {})
    best = str(last.get("best_model_checkpoint") or "").replace("\\", "/").rpartition("/")[2]
    metric, told = last.get("best_metric"), "the best"
    if isinstance(metric, int | float):
        rows = [item for row in last.get("log_history") or () for item in row.items()]
        by = next((f" by {measure}" for measure, value in rows if value == metric), "")
        told += f"{by}, {metric:.4g}"
    return [
        TrainerCheckpoint(path, step(path)[0], noted.get("epoch"), told * (path.name == best))
        for path, noted in states.items()
    ]


def _unread(folder: Path) -> list[str]:
    """Return what is to be said of weights in another form."""
    return [
        what.format(file=path.name)
        for pattern, what in UNREAD.items()
        for path in sorted(folder.glob(pattern))
        if not OF_A_TRAINING.fullmatch(path.name)
    ]


def check_weights(name: str, folder: Path) -> None:
    """Refuse a folder without safetensors, or with more than memory holds. Raises ModelError.

    Files are opened only where memory would be short if each weight took a byte of them.
    """
    files = weight_files(folder)
    if not files:
        others = _unread(folder)
        reason = f", and {others[0]}" if others else ""
        raise ModelError(f"the model {name!r} has no safetensors weights{reason}")
    free = free_memory_bytes()
    if BYTES_PER_WEIGHT * sum(path.stat().st_size for path in files if path.exists()) <= free:
        return
    needed = BYTES_PER_WEIGHT * sum(read_sizes(name, files))
    if needed > free:
        raise ModelError(too_large_message(name, needed, free))


def read_sizes(name: str, files: Iterable[Path]) -> list[int]:
    """Return the number of weights in each file of a model, by its header alone.

    Raises ModelError for a damaged one.
    """
    sizes = []
    for path in files:
        with reading_part(name, path), safe_open(path, framework="np") as file:
            shapes = [file.get_slice(key).get_shape() for key in file.keys()]  # noqa: SIM118  # no dict
            sizes.append(sum(map(math.prod, shapes)))
    return sizes


def read_weights(folder: Path) -> dict[str, "Tensor"]:
    """Return all weights of a model by name, shared ones too. Raises ModelError."""
    from safetensors.torch import load_file

    return {k: weight for path in weight_files(folder) for k, weight in load_file(path).items()}


def share_weights(folder: Path, shared: str) -> int:
    """Let a model's folder take the weights of a file of the shared folder beside it.

    Return how many bytes that saves. Raises ModelError where the file is not there, where the model
    shares already, or where its own values, as fp16, are others.
    """
    import torch
    from safetensors.torch import load_file

    path = folder.resolve().parent / SHARED_FOLDER / shared
    if path.parent.name != SHARED_FOLDER or not path.is_file():
        raise ModelError(f"there is no {SHARED_FOLDER}/{shared} beside {str(folder)!r}")
    with reading_part(SHARED_FOLDER, path):
        other = load_file(path)
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


def export_model(folder: Path, out: Path) -> None:
    """Write a model into a new folder that holds all of its weights, in one file.

    What a training keeps beside them is left out. Raises FileError where the folder is there
    already or cannot be written, and ModelError, also for an adapter, which is no whole model.
    """
    if out.exists():
        raise FileError(f"{out} is there already; name a new folder")
    read_config(folder.name, folder)
    check_weights(folder.name, folder)
    other = ("*.safetensors", INDEX, "checkpoint*", "trainer_state.json", "runs", *PICKLES)
    with writing(out):
        shutil.copytree(folder, out, ignore=shutil.ignore_patterns(*other))
        write_weights(read_weights(folder), out / WHOLE)


def write_weights(weights: dict[str, "Tensor"], path: Path) -> None:
    """Write weights as safetensors that everybody may read."""
    from safetensors.torch import save_file

    save_file(weights, path, metadata={"format": "pt"})
    path.chmod(0o644)  # safetensors makes files that only their owner reads
