"""Fine-tune an encoder into a classifier, with checkpoints that a training resumes from."""

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from transformers import BatchEncoding

from finetune.training.checkpoints import begun_with, load_checkpoint, save_checkpoint, save_model
from finetune.training.loop import (
    Trainee,
    Trainer,
    epoch_batches,
    make_optimiser,
    train_epoch,
    trainable,
)
from finetune.training.losses import Loss, admissible, cross_entropy, soft_cross_entropy
from probe.errors import TrainingError
from probe.models.architectures import Recipe
from probe.models.classifier import Classifier, Precision
from probe.models.library import load
from probe.models.text_model import TokenRows
from probe.statistics import accuracy
from probe.tasks.task import Example


def load_teachers(names: Sequence[str], student: Classifier) -> list[Classifier]:
    """Load the models that the student learns from: folders, bundled names or hub ids.

    Raises ModelError, and TrainingError for a model that gives other answers than the student.
    """
    teachers = [load(name) for name in names]
    for name, teacher in zip(names, teachers, strict=True):
        if (teacher.task, teacher.labels) != (student.task, student.labels):
            raise TrainingError(
                f"a model that answers {', '.join(student.labels)} cannot learn from {name!r}, "
                f"which answers {', '.join(teacher.labels)}"
            )
    return teachers


def mean_probabilities(
    teachers: Sequence[Classifier], examples: Sequence[Example], precision: Precision
) -> torch.Tensor:
    """Return the mean of the teachers' probabilities.  # (examples, labels)

    Teachers that read texts alike have them tokenised once.
    """
    tokens: dict[Hashable, TokenRows] = {}
    answers = []
    for teacher in teachers:
        reading = _reading(teacher)
        if reading not in tokens:
            tokens[reading] = teacher.token_rows(examples)
        answers.append(torch.tensor(teacher.probabilities_of(tokens[reading], precision)))
    return torch.stack(answers).mean(0).float()


def _reading(model: Classifier) -> Hashable:
    """Return what decides the tokens that a model reads of a text."""
    tokenizer = model.tokenizer
    fast = getattr(tokenizer, "backend_tokenizer", None)
    words = fast.to_str() if fast else model  # without a fast tokenizer none is known to be alike
    kind = model.model.config.model_type
    return words, tuple(tokenizer.model_input_names), kind, model.max_tokens


def soft_targets(
    taught: torch.Tensor,  # (examples, labels), probabilities
    admitted: torch.Tensor,  # (examples, labels), true where admissible
    weight: float,
) -> torch.Tensor:
    """Mix what teachers say, with this weight, and the gold labels.  # (examples, labels)

    Where gold admits several labels their shares are the teachers'; an example without gold has
    the teachers' probabilities alone.
    """
    gold = taught.clamp(min=torch.finfo(taught.dtype).tiny) * admitted
    gold = gold / gold.sum(1, keepdim=True)
    return torch.where(admitted.any(1, keepdim=True), weight * taught + (1 - weight) * gold, taught)


@dataclass(frozen=True)
class TrainingOptions:
    """How to train. `warmup` is a share of all steps; after it the rate falls linearly to zero.

    Word embeddings that are frozen stay those of the encoder, which several models can share.
    `teachers` are the models whose mean probabilities weigh `teacher_weight` beside the gold label.
    """

    lr: float = 1.5e-4
    epochs: int = 1
    batch: int = 32
    weight_decay: float = 0.01
    warmup: float = 0.06
    clip: float = 1.0
    max_tokens: int = 96
    seed: int = 0
    precision: Precision = "auto"
    freeze_word_embeddings: bool = False
    teachers: tuple[str, ...] = ()
    teacher_weight: float = 0.5


@dataclass(frozen=True)
class Progress:
    """The state of a training; `accuracy` maps a dev set's name to its accuracy when measured."""

    step: int
    steps: int
    loss: float
    pairs_per_second: float
    accuracy: dict[str, float]


def train(
    classifier: Classifier,
    examples: Sequence[Example],
    options: TrainingOptions,
    out: Path,
    dev: Mapping[str, Sequence[Example]] | None = None,
    every: int = 1000,
) -> Iterator[Progress]:
    """Train in place and yield progress every `every` steps, having saved a checkpoint.

    A checkpoint in `out` that was begun with the same is resumed; at the end the model is in `out`
    as fp16 safetensors. Examples without a gold label are learnt from teachers alone. Raises
    TrainingError where the checkpoint was begun with something else, a teacher gives other answers
    or the training diverges, and ModelError.
    """
    begun = begun_with(classifier, examples)
    tokens = classifier.token_rows(examples, min(options.max_tokens, classifier.max_tokens))
    targets, loss = admissible(examples, classifier.task, classifier.labels), cross_entropy
    if teachers := load_teachers(options.teachers, classifier):
        taught = mean_probabilities(teachers, examples, options.precision)
        targets, loss = soft_targets(taught, targets, options.teacher_weight), soft_cross_entropy

    def load(rows: Sequence[int]) -> tuple[BatchEncoding, torch.Tensor]:
        return tokens.padded(rows), targets[rows]

    def measure() -> dict[str, float]:
        return {name: _accuracy(classifier, rows, options) for name, rows in (dev or {}).items()}

    yield from train_steps(
        classifier, tokens.lengths, load, measure, options, begun, out, every, loss
    )
    save_model(classifier, out)


def train_steps(
    trainee: Trainee,
    lengths: Sequence[int],
    load: Callable[[Sequence[int]], tuple[BatchEncoding, torch.Tensor]],
    measure: Callable[[], dict[str, float]],
    options: TrainingOptions,
    begun: Mapping[str, str],
    out: Path,
    every: int = 1000,
    loss: Loss = cross_entropy,
) -> Iterator[Progress]:
    """Take all steps of a training and yield progress as `train` does, with what `measure` says.

    `lengths` are those of the examples, by which batches are put together; `load` returns the
    inputs and targets of some; `begun` is what `begun_with` says. Raises TrainingError where the
    checkpoint was begun with something else, where there are no examples, and Diverged.
    """
    if not lengths:
        raise TrainingError("the training files hold no example that can be trained on")
    if options.freeze_word_embeddings:
        trainee.model.get_input_embeddings().requires_grad_(False)
    batches = [
        rows
        for epoch in range(options.epochs)
        for rows in epoch_batches(lengths, options.batch, options.seed, epoch)
    ]
    rates = [
        options.lr * schedule(step, len(batches), options.warmup) for step in range(len(batches))
    ]
    settings = {"weight_decay": options.weight_decay}
    recipe = Recipe("adamw", options.lr, clip_norm=options.clip, settings=settings)
    optimiser = make_optimiser(recipe, trainable(trainee), options.lr)
    trainer = Trainer(trainee, recipe, optimiser, options.precision, loss)
    same = {**asdict(options), **begun}
    start = load_checkpoint(trainee, trainer.optimiser, same, out)
    interval_start, examples_seen, average = time.monotonic(), 0, 0.0
    seed = options.seed * 1_000_003 + start
    losses = train_epoch(trainer, batches[start:], rates[start:], load, seed)
    for step, last in enumerate(losses, start + 1):
        average = 0.98 * average + 0.02 * last if average else last
        examples_seen += len(batches[step - 1])
        if step % every == 0 or step == len(batches):
            speed = examples_seen / (time.monotonic() - interval_start)
            save_checkpoint(trainee, trainer.optimiser, same, step, out)
            yield Progress(step, len(batches), average, speed, measure())
            interval_start, examples_seen = time.monotonic(), 0


def _accuracy(
    classifier: Classifier, examples: Sequence[Example], options: TrainingOptions
) -> float:
    labels = [prediction.label for prediction in classifier.predict(examples, options.precision)]
    return accuracy(classifier.task, labels, examples)


def schedule(step: int, steps: int, warmup: float) -> float:
    """Return the factor on the learning rate at this step: up to one, then down to zero."""
    rising = max(1, round(warmup * steps))
    return min((step + 1) / rising, max(0.0, (steps - step) / max(1, steps - rising)))
