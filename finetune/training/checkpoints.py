"""Models and unfinished trainings on disk."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import load_file, save_file
from safetensors.torch import load_model as load_tied
from safetensors.torch import save_model as save_tied
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from finetune.training.loop import Diverged, Trainee, Weights, require_finite
from probe.errors import TrainingError, reading
from probe.models.classifier import Classifier
from probe.models.library import AnyModel
from probe.models.outputs import is_merged
from probe.models.weights import pairs_hash
from probe.tasks.task import Example

Options = Mapping[str, object]
WEIGHTS = "model.safetensors"
NAMED = ("lr", "epochs", "batch", "max_tokens", "seed", "precision", "freeze_word_embeddings")
OPTIONS = {
    **{name: f"--{name.replace('_', '-')}" for name in (*NAMED, "teacher_weight", "fall")},
    **{"model": "--model", "data": "--train", "teachers": "--teacher"},
}
"""By what options a training begins; all else comes with a preset."""
CHECKPOINT, NEW, OLD = "checkpoint", "checkpoint.new", "checkpoint.old"
"""Folders of a checkpoint, of the one that is being written, and of the one that it replaces."""
PART = ("a checkpoint", "delete it to begin anew", TrainingError)
"""What is said of one that is damaged, as `reading` takes it."""


def save_model(classifier: Classifier, out: Path) -> None:
    """Write weights (fp16 safetensors), config with our label names and the task, tokenizer."""
    model = classifier.model
    model.config.task = classifier.task.name
    if not is_merged(classifier.order):  # finer outputs keep their names
        names: list[str] = list(classifier.order)
        model.config.id2label = dict(enumerate(names))
        model.config.label2id = {name: index for index, name in enumerate(names)}
    save_weights(model, classifier.tokenizer, out)


def save_weights(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, out: Path) -> None:
    """Write weights (fp16 safetensors), config with the model's class, and tokenizer.

    Raises Diverged for weights that are no finite numbers.
    """
    require_finite(model)
    out.mkdir(parents=True, exist_ok=True)
    model.config.architectures = [type(model).__name__]  # not the encoder's that it began as
    model.config.save_pretrained(out)
    half = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    weights = out / WEIGHTS
    save_file(half, weights, metadata={"format": "pt"})
    weights.chmod(0o644)  # safetensors makes files that only their owner reads
    tokenizer.save_pretrained(out)


@contextmanager
def kept_unless_diverged(out: Path) -> Iterator[None]:
    """Remove the best epoch's model where the training diverges behind it: it is not finished."""
    try:
        yield
    except Diverged:
        for name in ("config.json", WEIGHTS):
            (out / name).unlink(missing_ok=True)
        raise


def model_files(model: AnyModel) -> dict[str, bytes]:
    """Return a model's files by name, to be saved on another machine than the worker's."""
    with TemporaryDirectory() as folder:
        if isinstance(model, Classifier):
            save_model(model, Path(folder))
        else:
            save_weights(model.model, model.tokenizer, Path(folder))
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def save_checkpoint(
    classifier: Trainee,
    optimiser: torch.optim.Optimizer,
    options: Options,
    step: int,
    out: Path,
    averages: Weights | None = None,
    scores: Sequence[float] = (),
) -> None:
    """Replace the checkpoint in `out`; a crash leaves the old one complete.

    `averages` of the weights and the `scores` of earlier epochs are what `averages_and_scores`
    returns.
    """
    new, current, old = (out / name for name in (NEW, CHECKPOINT, OLD))
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    save_tied(classifier.model, str(new / "weights.safetensors"))
    moments = {
        f"{index}.{name}": value
        for index, state in optimiser.state_dict()["state"].items()
        for name, value in state.items()
    }
    save_file(moments, new / "optimiser.safetensors")
    save_file(dict(averages or {}), new / "averages.safetensors")
    state = {"step": step, "recipe": options, "scores": list(scores)}
    (new / "state.json").write_text(json.dumps(state, indent=1))
    if current.exists():
        shutil.rmtree(old, ignore_errors=True)
        current.rename(old)
    new.rename(current)
    shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(
    classifier: Trainee, optimiser: torch.optim.Optimizer, options: Options, out: Path
) -> int:
    """Load the checkpoint in `out`, if any, and return the step to go on from.

    Raises TrainingError where it was made with other options, data or of another model.
    """
    folder = newest_checkpoint(out)
    if folder is None:
        return 0
    with reading(str(folder), *PART):
        saved = json.loads((folder / "state.json").read_text())
        moments = load_file(folder / "optimiser.safetensors")
    check_same(saved["recipe"], json.loads(json.dumps(options)), out)
    with reading(str(folder), *PART):
        try:
            load_tied(classifier.model, folder / "weights.safetensors")
        except RuntimeError as problem:  # other weights, or of other shapes
            raise TrainingError(
                f"{folder} was made of another model; name another folder with --out"
            ) from problem
    state = optimiser.state_dict()
    state["state"] = {}
    for key, value in moments.items():
        index, name = key.split(".")
        state["state"].setdefault(int(index), {})[name] = value
    optimiser.load_state_dict(state)
    return int(saved["step"])


def begun_with(trainee: Trainee, examples: Sequence[Example]) -> dict[str, str]:
    """Return hashes of what a training begins with, by the names that `check_same` gives them."""
    weights = hashlib.sha256()
    for name, value in trainee.model.state_dict().items():
        weights.update(name.encode())
        weights.update(value.contiguous().cpu().reshape(-1).view(torch.uint8).numpy())
    return {"model": weights.hexdigest(), "data": pairs_hash(examples)}


def check_same(before: Options, now: Options, out: Path) -> None:
    """Refuse to go on with a training that was begun with something else. Raises TrainingError."""
    first, second = _leaves(before), _leaves(now)
    told = {
        OPTIONS.get(name.rpartition(".")[2], "--preset"): name
        for name in {**second, **first}
        if first.get(name) != second.get(name)
    }
    if told:
        others = [f"{option}{_was(first, second, name)}" for option, name in told.items()]
        raise TrainingError(
            f"{out} holds a training that was begun with another {', another '.join(others)}; name "
            "another folder with --out, or give the same again to go on"
        )


def _leaves(values: Options) -> dict[str, object]:
    """Return options by name, those within another as `recipe.lr`."""
    found: dict[str, object] = {}
    for name, value in values.items():
        within = _leaves(value) if isinstance(value, Mapping) else {}
        found |= {f"{name}.{inner}": each for inner, each in within.items()} or {name: value}
    return found


def _was(before: Options, now: Options, name: str) -> str:
    """Say what an option was and is; hashes tell nobody anything."""
    if name not in before:
        return " (an earlier version did not note which)"
    plain = name in now and isinstance(now[name], int | float) and "." not in name
    return f" ({before[name]:g}, now {now[name]:g})" if plain else ""


def averages_and_scores(out: Path) -> tuple[Weights, list[float]]:
    """Return those of the checkpoint in `out`, none where there is no checkpoint."""
    folder = newest_checkpoint(out)
    if folder is None:
        return {}, []
    with reading(str(folder), *PART):
        scores = json.loads((folder / "state.json").read_text())["scores"]
        return load_file(folder / "averages.safetensors"), list(map(float, scores))


def newest_checkpoint(out: Path) -> Path | None:
    """Return the folder of the newest whole checkpoint in `out`, if any."""
    folders = (out / name for name in (CHECKPOINT, OLD))
    return next((folder for folder in folders if (folder / "state.json").exists()), None)
