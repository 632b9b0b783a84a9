"""Models and unfinished trainings on disk."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from safetensors.torch import load_file, save_file
from safetensors.torch import load_model as load_tied
from safetensors.torch import save_model as save_tied
from torch.optim import Optimizer

from finetune.training.loop import Diverged, Weights, require_finite, weights_digest
from finetune.training.recipes import PLAIN
from probe.errors import TrainingError, reading
from probe.models.checkpoint import INSIDE
from probe.models.classifier import Classifier
from probe.models.library import Network, Trainee
from probe.models.outputs import is_merged
from probe.models.prompted import Prompted
from probe.models.prompts import ASKED, PROMPT
from probe.models.weights import ADAPTER_WEIGHTS, pairs_hash
from probe.tasks.task import Example

Options = Mapping[str, Any]  # Any: JSON values
WEIGHTS = "model.safetensors"
NAMED = ("lr", "epochs", "batch", "max_tokens", "seed", "precision", "freeze_word_embeddings")
LATER = {"transform": "", "loss": PLAIN, "weak": "", "dynamics": False}
"""What earlier trainings did not note, and what they did."""
OPTIONS = {
    **{name: f"--{name.replace('_', '-')}" for name in (*NAMED, "teacher_weight", "fall", *LATER)},
    **{"model": "--model", "data": "--train", "teachers": "--teacher"},
}
"""By what options a training begins; all else comes with a preset."""
CHECKPOINT, NEW, OLD = "checkpoint", "checkpoint.new", "checkpoint.old"
"""Folders of a checkpoint, of the one that is being written, and of the one that it replaces."""
DYNAMICS = "dynamics.safetensors"


def save_model(model: Network, out: Path) -> None:
    """Write weights (fp16 safetensors), config with the task and our label names, tokenizer.

    Of a language model only its adapters are written, with what says how it was asked. Raises
    Diverged for weights that are no finite numbers.
    """
    network = model.model
    require_finite(network)
    out.mkdir(parents=True, exist_ok=True)
    if isinstance(model, Prompted):
        _save_adapter(model, out)
        return
    config = network.config
    config.architectures = [type(network).__name__]  # not the encoder's that it began as
    if isinstance(model, Classifier):
        config.task = model.task.name
        if not is_merged(model.order):  # finer outputs keep their names
            config.id2label = dict(enumerate(model.order))
            config.label2id = {name: index for index, name in enumerate(model.order)}
    config.save_pretrained(out)
    half = {name: value.half().contiguous() for name, value in network.state_dict().items()}
    weights = out / WEIGHTS
    save_file(half, weights, metadata={"format": "pt"})
    weights.chmod(0o644)  # safetensors makes files that only their owner reads
    model.tokenizer.save_pretrained(out)


def _save_adapter(model: Prompted, out: Path) -> None:
    """Write the adapters, of what base they are, and in its config how the model was asked."""
    from peft import get_peft_model_state_dict

    network: Any = model.model
    weights = get_peft_model_state_dict(network)
    named = {f"{INSIDE}{name}": value.contiguous() for name, value in weights.items()}
    save_file(named, out / ADAPTER_WEIGHTS, metadata={"format": "pt"})
    (out / ADAPTER_WEIGHTS).chmod(0o644)  # safetensors makes files that only their owner reads
    network.peft_config["default"].save_pretrained(str(out))
    asked = replace(model.asking, task=model.task.name, prompt="")
    said = {"task": model.task.name, ASKED: asked.suffix, PROMPT: model.prompt.text}
    for name, value in said.items():
        setattr(network.config, name, value)
    network.config.architectures = [type(network).__name__]
    network.config.save_pretrained(out)


@contextmanager
def kept_unless_diverged(out: Path) -> Iterator[None]:
    """Remove the best epoch's model where the training diverges behind it: it is not finished."""
    try:
        yield
    except Diverged:
        for name in ("config.json", WEIGHTS):
            (out / name).unlink(missing_ok=True)
        raise


def model_files(model: Network) -> dict[str, bytes]:
    """Return a model's files by name, to be saved on another machine than the worker's."""
    with TemporaryDirectory() as folder:
        save_model(model, Path(folder))
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@dataclass(frozen=True)
class Checkpoint:
    """How far a training is: steps behind the last score, averages of weights, epochs' scores.

    `dynamics` are the logits of the running epoch, where they are kept.
    """

    step: int = 0
    averages: Weights = field(default_factory=dict)
    scores: Sequence[float] = ()
    dynamics: Weights = field(default_factory=dict)


def save_checkpoint(
    trainee: Trainee, optimiser: Optimizer, begun: Options, reached: Checkpoint, out: Path
) -> None:
    """Replace the checkpoint in `out`; a crash leaves the old one complete.

    `begun` is all that the training begins with, see `load_checkpoint`.
    """
    new, current, old = (out / name for name in (NEW, CHECKPOINT, OLD))
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    save_tied(trainee.model, str(new / "weights.safetensors"))
    moments = {
        f"{index}.{name}": value
        for index, state in optimiser.state_dict()["state"].items()
        for name, value in state.items()
    }
    save_file(moments, new / "optimiser.safetensors")
    save_file(reached.averages, new / "averages.safetensors")
    if reached.dynamics:
        save_file(reached.dynamics, new / DYNAMICS)
    state = {"step": reached.step, "recipe": begun, "scores": list(reached.scores)}
    (new / "state.json").write_text(json.dumps(state, indent=1))
    if current.exists():
        shutil.rmtree(old, ignore_errors=True)
        current.rename(old)
    new.rename(current)
    shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(
    trainee: Trainee, optimiser: Optimizer, begun: Options, out: Path
) -> Checkpoint:
    """Load the checkpoint in `out`, if any, into model and optimiser.

    Raises TrainingError where it was made with other options, data or of another model.
    """
    folder = newest_checkpoint(out)
    if folder is None:
        return Checkpoint()
    with reading(str(folder), "a checkpoint", "delete it to begin anew", TrainingError):
        saved = json.loads((folder / "state.json").read_text())
        moments = load_file(folder / "optimiser.safetensors")
        logits = load_file(folder / DYNAMICS) if (folder / DYNAMICS).exists() else {}
        averages = load_file(folder / "averages.safetensors")
        reached = Checkpoint(int(saved["step"]), averages, saved["scores"], logits)
        check_same(saved["recipe"], json.loads(json.dumps(begun)), out)
        try:
            load_tied(trainee.model, folder / "weights.safetensors")
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
    return reached


def begun_with(trainee: Trainee, examples: Sequence[Example]) -> dict[str, str]:
    """Return hashes of what a training begins with, by the names that `check_same` gives them."""
    return {"model": weights_digest(trainee.model), "data": pairs_hash(examples)}


def check_same(before: Options, now: Options, out: Path) -> None:
    """Refuse to go on with a training that was begun with something else. Raises TrainingError."""
    first, second = ({**LATER, **_leaves(each)} for each in (before, now))
    told: dict[str, str] = {}
    for name in {**second, **first}:
        was, new = first.get(name), second.get(name)
        if was != new:
            words = " (an earlier version did not note which)" if name not in first else ""
            if isinstance(was, int | float) and new is not None and "." not in name:
                words = f" ({was:g}, now {new:g})"  # hashes tell nobody anything
            told[OPTIONS.get(name.rpartition(".")[2], "--preset")] = words
    if told:
        others = ", another ".join(option + was for option, was in told.items())
        raise TrainingError(
            f"{out} holds a training that was begun with another {others}; name another folder "
            "with --out, or give the same again to go on"
        )


def _leaves(values: Options, within: str = "") -> dict[str, Any]:  # Any: JSON values
    """Return options by name, those within another as `recipe.lr`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        inner = isinstance(value, Mapping) and _leaves(value, f"{within}{name}.")
        found |= inner or {f"{within}{name}": value}
    return found


def newest_checkpoint(out: Path) -> Path | None:
    """Return the folder of the newest whole checkpoint in `out`, if any."""
    folders = (out / name for name in (CHECKPOINT, OLD))
    return next((folder for folder in folders if (folder / "state.json").exists()), None)
