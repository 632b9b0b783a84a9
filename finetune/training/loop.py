"""Fine-tune an encoder into an NLI model: the whole loop, with checkpoints it resumes from."""

import json
import random
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch.nn.utils import clip_grad_norm_
from transformers import BatchEncoding

from probe.errors import TrainingError
from probe.metrics import accuracy
from probe.models.classifier import Classifier, Precision, autocast, text_lengths
from probe.tasks.task import Example, Task


@dataclass(frozen=True)
class Recipe:
    """How to train. `warmup` is a share of all steps; after it the rate falls linearly to zero."""

    lr: float = 1.5e-4
    epochs: int = 1
    batch: int = 32
    weight_decay: float = 0.01
    warmup: float = 0.06
    clip: float = 1.0
    max_tokens: int = 96
    seed: int = 0
    precision: Precision = "auto"


@dataclass(frozen=True)
class Progress:
    """Where the training stands; `accuracy` maps a dev set's name to accuracy when measured."""

    step: int
    steps: int
    loss: float
    pairs_per_second: float
    accuracy: dict[str, float]


def adamw(
    weights: Sequence[torch.nn.Parameter], lr: float, weight_decay: float = Recipe.weight_decay
) -> torch.optim.AdamW:
    """Return AdamW over weights; biases and layer norms are not decayed."""
    return torch.optim.AdamW(
        [
            {"params": [w for w in weights if w.ndim > 1], "weight_decay": weight_decay},
            {"params": [w for w in weights if w.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=lr,
        fused=True,
    )


def trainable(classifier: Classifier) -> list[torch.nn.Parameter]:
    """Return the weights that take a gradient."""
    return [weight for weight in classifier.model.parameters() if weight.requires_grad]


def update(
    classifier: Classifier,
    optim: torch.optim.Optimizer,
    inputs: BatchEncoding,
    allowed: torch.Tensor,  # (batch, labels), see `admissible`
    clip: Callable[[Iterable[torch.nn.Parameter]], object],
    precision: Precision,
    seed: int,
) -> float:
    """Take one step and return the mean loss. `seed` fixes the dropout of this step alone."""
    classifier.model.train()
    with torch.random.fork_rng(), autocast(classifier.device, precision):
        torch.manual_seed(seed)
        value = loss(classifier.logits(inputs), allowed.to(classifier.device))
    value.backward()
    clip(trainable(classifier))
    optim.step()
    optim.zero_grad()
    classifier.model.eval()
    return float(value.detach())


def loss(
    logits: torch.Tensor,  # (batch, labels)
    allowed: torch.Tensor,  # (batch, labels)
) -> torch.Tensor:
    """Return minus the log of what the model gives to the admissible labels together, mean.

    Cross-entropy where one label is admissible; non-entailment admits two of three.
    """
    reached = logits.masked_fill(~allowed, -torch.inf).logsumexp(1)
    return (logits.logsumexp(1) - reached).mean()


def admissible(examples: Sequence[Example], task: Task) -> torch.Tensor:
    """Return which of the task's labels match the gold; none where there is no gold.

    # (examples, labels)
    """
    rows = {gold: task.admissible(gold) for gold in {example.gold for example in examples}}
    return torch.tensor([rows[example.gold] for example in examples])


def epoch_batches(lengths: Sequence[int], batch: int, seed: int, epoch: int) -> list[list[int]]:
    """Shuffle rows, then group like lengths within stretches of fifty batches."""
    rng = random.Random(f"{seed}|{epoch}")
    rows = list(range(len(lengths)))
    rng.shuffle(rows)
    batches = []
    for start in range(0, len(rows), batch * 50):
        stretch = sorted(rows[start : start + batch * 50], key=lambda row: lengths[row])
        batches += [stretch[i : i + batch] for i in range(0, len(stretch), batch)]
    rng.shuffle(batches)
    return batches


def schedule(step: int, steps: int, warmup: float) -> float:
    """Return the factor on the learning rate at this step: up to one, then down to zero."""
    rising = max(1, round(warmup * steps))
    return min((step + 1) / rising, max(0.0, (steps - step) / max(1, steps - rising)))


def train(
    classifier: Classifier,
    pairs: Sequence[Example],
    recipe: Recipe,
    out: Path,
    dev: Mapping[str, Sequence[Example]] | None = None,
    every: int = 1000,
) -> Iterator[Progress]:
    """Train in place and yield progress every `every` steps, having saved a checkpoint.

    A checkpoint left in `out` by the same recipe is continued; at the end the model lies
    in `out` as fp16 safetensors. Raises ValueError when the checkpoint has another recipe.
    """
    lengths = text_lengths(classifier.task, pairs)
    plan = [
        (epoch, rows)
        for epoch in range(recipe.epochs)
        for rows in epoch_batches(lengths, recipe.batch, recipe.seed, epoch)
    ]
    optim = adamw(trainable(classifier), recipe.lr, recipe.weight_decay)
    clip = partial(clip_grad_norm_, max_norm=recipe.clip)
    start = load_checkpoint(classifier, optim, recipe, out)
    began, seen, loss = time.monotonic(), 0, 0.0
    for step in range(start, len(plan)):
        for group in optim.param_groups:
            group["lr"] = recipe.lr * schedule(step, len(plan), recipe.warmup)
        chosen = [pairs[row] for row in plan[step][1]]
        value = update(
            classifier,
            optim,
            classifier.encode(chosen, recipe.max_tokens),
            admissible(chosen, classifier.task),
            clip,
            recipe.precision,
            recipe.seed * 1_000_003 + step,
        )
        loss = 0.98 * loss + 0.02 * value if loss else value
        seen += len(chosen)
        if (step + 1) % every == 0 or step + 1 == len(plan):
            speed = seen / (time.monotonic() - began)
            save_checkpoint(classifier, optim, recipe, step + 1, out)
            scores = {
                name: accuracy(
                    classifier.task,
                    [said.label for said in classifier.predict(rows, recipe.precision)],
                    rows,
                )
                for name, rows in (dev or {}).items()
            }
            yield Progress(step + 1, len(plan), loss, speed, scores)
            began, seen = time.monotonic(), 0
    save_model(classifier, out)


def save_model(classifier: Classifier, out: Path) -> None:
    """Write weights (fp16 safetensors), config with our label names and the task, tokenizer."""
    out.mkdir(parents=True, exist_ok=True)
    model = classifier.model
    model.config.task = classifier.task.name
    names: list[str] = list(classifier.order)
    model.config.id2label = dict(enumerate(names))
    model.config.label2id = {name: index for index, name in enumerate(names)}
    model.config.save_pretrained(out)
    half = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    weights = out / "model.safetensors"
    save_file(half, weights, metadata={"format": "pt"})
    weights.chmod(0o644)  # safetensors writes for its owner alone
    classifier.tokenizer.save_pretrained(out)


def save_checkpoint(
    classifier: Classifier, optim: torch.optim.Optimizer, recipe: Recipe, step: int, out: Path
) -> None:
    """Replace the checkpoint in `out`; a crash half-way leaves the old one whole."""
    fresh, old = out / "checkpoint.new", out / "checkpoint"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    weights = {name: value.contiguous() for name, value in classifier.model.state_dict().items()}
    save_file(weights, fresh / "weights.safetensors")
    moments = {
        f"{index}.{name}": value
        for index, state in optim.state_dict()["state"].items()
        for name, value in state.items()
    }
    save_file(moments, fresh / "optimiser.safetensors")
    note = {"step": step, "recipe": asdict(recipe)}
    (fresh / "state.json").write_text(json.dumps(note, indent=1))
    shutil.rmtree(old, ignore_errors=True)
    fresh.rename(old)


def load_checkpoint(
    classifier: Classifier, optim: torch.optim.Optimizer, recipe: Recipe, out: Path
) -> int:
    """Load the checkpoint in `out`, if any, and return the step to go on from."""
    folder = out / "checkpoint"
    if not (folder / "state.json").exists():
        return 0
    note = json.loads((folder / "state.json").read_text())
    if note["recipe"] != asdict(recipe):
        raise TrainingError(f"{folder} was made with another recipe: {note['recipe']}")
    classifier.model.load_state_dict(load_file(folder / "weights.safetensors"))
    state = optim.state_dict()
    state["state"] = {}
    for key, value in load_file(folder / "optimiser.safetensors").items():
        index, name = key.split(".")
        state["state"].setdefault(int(index), {})[name] = value
    optim.load_state_dict(state)
    return int(note["step"])
