"""Fine-tune an encoder into a classifier or a reader, with checkpoints that can be resumed.

Of a reader each end of the right span is chosen among the tokens of a window of the passage.
"""

import hashlib
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from transformers import BatchEncoding

from finetune.training.checkpoints import (
    Checkpoint,
    begun_with,
    load_checkpoint,
    save_checkpoint,
    save_model,
)
from finetune.training.data import changed_texts
from finetune.training.frozen_layers import TENSOR_CACHE, encode, weights_hash
from finetune.training.loop import (
    Trainer,
    TrainingData,
    epoch_batches,
    make_optimiser,
    train_epoch,
    trainable,
)
from finetune.training.losses import admissible, against, read_loss
from finetune.training.recipes import PLAIN, Preset
from finetune.training.starter import keep_model
from finetune.training.weak import weak_probabilities, weak_right, weak_words
from probe.errors import TrainingError, write_whole
from probe.models.architectures import Recipe
from probe.models.checkpoint import READER, read_checkpoint, that_answers
from probe.models.classifier import Classifier, Model, Precision, Prediction, resolve
from probe.models.library import Trainee, load
from probe.models.prediction import TEXTS_CHANGED
from probe.models.reader import Reader, Window, tokens_of
from probe.models.text_model import TokenRows
from probe.models.weights import pairs_hash
from probe.statistics import accuracy
from probe.stopping import Stop, cancelled_by, never
from probe.tasks.reading import Question, best, token_f1
from probe.tasks.task import Example

if TYPE_CHECKING:
    from finetune.training.dynamics import Dynamics  # reads files too, which no worker needs

    KeepDynamics = Callable[[Sequence[Any], Classifier], Dynamics]  # Any: the task's own dataclass


def mean_probabilities(
    teachers: Sequence[Classifier], examples: Sequence[Example], precision: Precision
) -> torch.Tensor:
    """Return the mean of the teachers' probabilities.  # (examples, labels)

    Teachers that read texts alike have them tokenised once.
    """
    tokens: dict[Hashable, TokenRows] = {}  # by what decides the tokens that a model reads
    answers = []
    for teacher in teachers:
        tokenizer, kind = teacher.tokenizer, teacher.model.config.model_type
        fast = getattr(tokenizer, "backend_tokenizer", None)
        words = fast.to_str() if fast else teacher  # without one none is known to be alike
        reading = words, tuple(tokenizer.model_input_names), kind, teacher.max_tokens
        if reading not in tokens:
            tokens[reading] = teacher.token_rows(examples)
        answers.append(torch.tensor(teacher.probabilities_of(tokens[reading], precision)))
    return torch.stack(answers).mean(0).float()


ANSWERS = "answers"
"""The folder of the teachers' answers, where none is named."""
ANSWERED_TOGETHER = 2048
"""Examples of a file of answers: a minute or two of a teacher of BERT's size on a core."""


def kept_probabilities(
    teachers: Sequence[Classifier],
    examples: Sequence[Example],
    precision: Precision,
    folder: Path,
) -> torch.Tensor:
    """Return `mean_probabilities`, of which each part is kept as a file in `folder`.

    So no part is answered again after a break, or for another training with this folder: the files
    are named by hashes of the teachers, their precision and the examples.  # (examples, labels)
    """
    asked = " ".join([resolve(precision), *map(weights_hash, teachers)])
    answers = []
    for start in range(0, len(examples) or 1, ANSWERED_TOGETHER):
        part = examples[start : start + ANSWERED_TOGETHER]
        name = hashlib.sha256(f"{asked} {pairs_hash(part)}".encode()).hexdigest()
        path = folder / f"{name}.npy"
        if not path.exists():
            np.save(content := BytesIO(), mean_probabilities(teachers, part, precision).numpy())
            write_whole(path, content.getvalue())
        answers.append(torch.from_numpy(np.load(path)))
    return torch.cat(answers)


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


TRAINED_HEADS = ("ForSequenceClassification", "ForQuestionAnswering")
"""What the config of a trained model names, and that of an encoder does not."""


def learnt_texts(
    model: Trainee,
    examples: Sequence[Any],
    how: "TrainingOptions | Preset",
    seed: int,
    tell: Callable[[str], None],
) -> tuple[Any, ...]:  # Any: the task's own dataclass
    """Return `changed_texts`, tell how many, and note in the config by what. Raises as they do.

    Raises TrainingError besides where teachers or a weak model answer: they answer whole texts.
    """
    if how.weak:
        raise TrainingError("a weak model tells the short cuts of whole texts: leave it out")
    if how.teachers:
        raise TrainingError("texts that a transform changes keep their labels: leave out teachers")
    changed, words = changed_texts(examples, model.task, how.transform, seed)
    config = model.model.config
    tell(words)
    heads = [head for name in config.architectures or () for head in TRAINED_HEADS if head in name]
    if heads or hasattr(config, "epochs_done"):
        tell("note: what this begins with was trained before, maybe on whole texts")
    setattr(config, TEXTS_CHANGED, how.transform)
    return changed


def learnt_targets(
    student: Classifier,
    examples: Sequence[Example],
    how: "TrainingOptions | Preset",
    precision: Precision,
    folder: Path,
    seed: int,
    tell: Callable[[str], None],
) -> torch.Tensor:
    """Return what is learnt beside gold labels: `soft_targets` of teachers, or `against` a model.

    # (examples, labels), or as `against` says
    Teachers are named as models are, and their answers kept in `folder`; how often the weak model
    is right is told. Raises ModelError, and TrainingError for a teacher that gives other answers
    than the student, or where there can be no weak model.
    """
    admitted = admissible(examples, student.task, student.labels)
    weak = None
    if how.weak:
        weak = weak_probabilities(how.weak, examples, student.task, student.labels, seed)
        tell(weak_words(how.weak, *weak_right(weak, admitted)))
        if not how.teachers:
            return against(admitted, weak)
    teachers = [load(name) for name in how.teachers]
    for name, teacher in zip(how.teachers, teachers, strict=True):
        if (teacher.task, teacher.labels) != (student.task, student.labels):
            raise TrainingError(
                f"a model that answers {', '.join(student.labels)} cannot learn from {name!r}, "
                f"which answers {', '.join(teacher.labels)}"
            )
    taught = kept_probabilities(teachers, examples, precision, folder)
    if weak is not None:
        return against(admitted, weak, taught)
    return soft_targets(taught, admitted, how.teacher_weight)


@dataclass(frozen=True)
class TrainingOptions:
    """How to train. `warmup` is a share of all steps; after it the rate falls linearly to zero.

    Word embeddings that are frozen stay those of the encoder, which several models can share.
    `teachers` are the models whose mean probabilities weigh `teacher_weight` beside the gold label.
    `transform` changes each text before it is learnt, "" for none, and `loss` is one of
    `losses.NAMED`, or of `losses.AGAINST` the model of `recipes.WEAK` that `weak` names.
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
    transform: str = ""
    loss: str = PLAIN
    weak: str = ""


@dataclass(frozen=True)
class Progress:
    """The state of a training; `accuracy` maps a dev set's name to its accuracy when measured."""

    step: int
    steps: int
    loss: float
    pairs_per_second: float
    accuracy: dict[str, float]


def train(
    model: Trainee,
    examples: Sequence[Any],  # Any: the task's own dataclass
    options: TrainingOptions,
    out: Path,
    dev: Mapping[str, Sequence[Any]] | None = None,
    every: int = 1000,
    answers: Path | None = None,
    tell: Callable[[str], None] = lambda words: None,
    starter: bool = False,
    dynamics: "KeepDynamics | None" = None,
) -> Iterator[Progress]:
    """Train in place and yield progress every `every` steps, having saved a checkpoint.

    A checkpoint in `out` that was begun with the same is resumed; at the end the model is in `out`
    as fp16 safetensors, for a `starter` at each checkpoint too. Examples without a gold label are
    learnt from teachers alone, whose answers are kept in the folder `answers`, by default one in
    `out`. A reader learns each question's first answer, from the windows that hold it whole. How
    many texts a transform changes is told. Of a classifier `dynamics` keeps what each row gets
    while an epoch is trained. Raises TrainingError where the checkpoint was begun with something
    else, a teacher gives other answers, nothing can be trained on or the training diverges, and
    ModelError.
    """
    same = {**asdict(options), **begun_with(model, examples), "dynamics": dynamics is not None}
    loss = read_loss(options.loss, bool(options.teachers), bool(options.weak))
    if options.transform:
        examples = learnt_texts(model, examples, options, options.seed, tell)
    data: TrainingData
    if isinstance(model, Reader):
        data = EncodedQuestions(model, tuple(examples))
    else:
        longest = min(options.max_tokens, model.max_tokens)
        data = encode(model, examples, longest, torch.device("cpu"))
        if options.teachers or options.weak:
            kept = options.precision, answers or out / ANSWERS, options.seed, tell
            data = replace(data, targets=learnt_targets(model, examples, options, *kept))
    lengths = data.lengths
    if not lengths:
        raise TrainingError("the training files hold no example that can be trained on")
    if options.freeze_word_embeddings:
        model.model.get_input_embeddings().requires_grad_(False)
    batches = [
        rows
        for epoch in range(options.epochs)
        for rows in epoch_batches(lengths, options.batch, options.seed, epoch)
    ]
    steps = len(batches)
    rates = [options.lr * schedule(step, steps, options.warmup) for step in range(steps)]
    settings = {"weight_decay": options.weight_decay}
    recipe = Recipe("adamw", options.lr, clip_norm=options.clip, settings=settings)
    optimiser = make_optimiser(recipe, trainable(model), options.lr)
    trainer = Trainer(model, recipe, optimiser, options.precision, loss)
    reached, epoch_steps = load_checkpoint(model, optimiser, same, out), steps // options.epochs
    start, kept_logits = reached.step, None
    if dynamics and isinstance(model, Classifier):
        kept_logits = dynamics(examples, model)
        kept_logits.resume(reached.dynamics, start // epoch_steps)
        trainer = replace(trainer, seen=kept_logits.see)
        tell(kept_logits.words)
    interval_start, examples_seen, average = time.monotonic(), 0, 0.0
    seed = options.seed * 1_000_003 + start
    losses = train_epoch(trainer, batches[start:], rates[start:], data.batch, seed)
    for step, last in enumerate(losses, start + 1):
        average = 0.98 * average + 0.02 * last if average else last
        examples_seen += len(batches[step - 1])
        if kept_logits and step % epoch_steps == 0:
            kept_logits.write(step // epoch_steps - 1)
        noted = kept_logits.kept if kept_logits else {}
        if step % every == 0 or step == steps:
            speed = examples_seen / (time.monotonic() - interval_start)
            save_checkpoint(model, optimiser, same, Checkpoint(step, dynamics=noted), out)
            scores = {
                name: dev_score(model, rows, options.precision)
                for name, rows in (dev or {}).items()
            }
            if starter:
                keep_model(model, out, step, options.epochs * step / steps, scores)
            yield Progress(step, steps, average, speed, scores)
            interval_start, examples_seen = time.monotonic(), 0
        elif kept_logits and step % epoch_steps == 0:  # so that no epoch is written twice
            save_checkpoint(model, optimiser, same, Checkpoint(step, dynamics=noted), out)
    save_model(model, out)


def schedule(step: int, steps: int, warmup: float) -> float:
    """Return the factor on the learning rate at this step: up to one, then down to zero."""
    rising = max(1, round(warmup * steps))
    return min((step + 1) / rising, max(0.0, (steps - step) / max(1, steps - rising)))


def start_reader(path: str) -> Reader:
    """Load an encoder, or a reader, to train; an encoder gets a head from a fixed seed."""
    read = read_checkpoint(
        path, Path(path), READER, to_train=True, num_labels=2, ignore_mismatched_sizes=True
    )
    name, notes = Path(path).name, read.notes
    return that_answers(Reader(name, read.model, read.tokenizer, notes=notes))


def dev_score(model: Trainee, examples: Sequence[Any], precision: Precision) -> float:
    """Return the accuracy on examples, of a reader the mean F1.  # Any: as above"""
    labels = [answer.label for answer in model.predict(examples, precision)]
    if not isinstance(model, Reader):
        return accuracy(model.task, labels, examples)
    answered = zip(labels, examples, strict=True)
    return fmean(best(label, question.references, token_f1) for label, question in answered)


@dataclass(frozen=True)
class EncodedQuestions:
    """Questions as the windows of their passages that hold the first answer, to train on."""

    reader: Reader
    questions: tuple[Question, ...]

    @cached_property
    def examples(self) -> list[tuple[Window, int, int]]:
        """The windows, each with the first and the last token of the right answer in it."""
        return [
            (window, *found)
            for question in self.questions
            if question.answers and not self.reader.too_long(question)
            for window in self.reader.windows(question)
            for start, text in [(question.answers[0].start, question.answers[0].text)]
            if (found := tokens_of(window.in_passage, start, start + len(text)))
        ]

    @cached_property
    def lengths(self) -> list[int]:
        """Tokens of each window."""
        return [len(window.places) for window, _, _ in self.examples]

    def first(self, rows: int) -> "EncodedQuestions":
        """Return the first questions alone."""
        return replace(self, questions=self.questions[:rows])

    def batch(self, rows: Sequence[int]) -> tuple[BatchEncoding, torch.Tensor]:
        """Return the inputs of some windows, and the tokens that are right as first and as last.

        # (2 * rows, tokens)
        """
        inputs = self.reader.collate([self.examples[row][0] for row in rows])
        places = [self.examples[row][end] for end in (1, 2) for row in rows]
        targets = torch.zeros(len(places), inputs["input_ids"].shape[1], dtype=torch.bool)
        targets[torch.arange(len(places)), torch.tensor(places)] = True
        return inputs, targets


def answered(
    model: Model, examples: Sequence[Any], precision: Precision, stop: Stop
) -> list[Prediction]:
    """Return a model's answers. Raises Cancelled between two batches.  Any: of its task's class"""
    with cancelled_by(stop):
        return model.predict(examples, precision)


def rightly(
    model: Model, examples: Sequence[Any], precision: Precision, stop: Stop
) -> tuple[float, ...]:
    """Return 1 for each answer that is right, 0 for others. Raises Cancelled.  # Any: as above"""
    answers = answered(model, examples, precision, stop)
    return tuple(
        float(example.gold is not None and model.task.matches(answer.label, example.gold))
        for answer, example in zip(answers, examples, strict=True)
    )


@dataclass(frozen=True)
class PreparedReader:
    """A reader whose weights are all trained; see `finetune.trials.trial.Trainable`."""

    whole: Reader
    precision: Precision

    @property
    def recipe(self) -> Recipe:
        """That of its architecture."""
        return self.whole.architecture.recipe

    @property
    def trained(self) -> Reader:
        """What is trained: all of it."""
        return self.whole

    def encoded(
        self, examples: tuple[Question, ...], max_tokens: int, stop: Stop = never
    ) -> EncodedQuestions:
        """Return questions to train on. A long passage is not cut but read in windows."""
        return EncodedQuestions(self.whole, examples)

    def learnt(self, data: EncodedQuestions, stop: Stop = never) -> tuple[float, ...]:
        """Return the F1 of the answer to each question as the reader is. Raises Cancelled."""
        return self._scores(data.questions, stop)

    def scorer(
        self, examples: tuple[Question, ...], stop: Stop = never
    ) -> Callable[[bool], tuple[float, ...]]:
        """Return what answers questions and gives the F1 of each answer. It raises Cancelled."""

        def scores(untrained: bool) -> tuple[float, ...]:
            if not untrained:
                return self._scores(examples, stop)
            asked = hashlib.sha256(repr(examples).encode()).hexdigest()
            values: torch.Tensor = TENSOR_CACHE.get(
                (weights_hash(self.whole), self.precision, asked),
                lambda: torch.tensor(self._scores(examples, stop), dtype=torch.float64),
            )
            return tuple(values.tolist())

        return scores

    def _scores(self, questions: Sequence[Question], stop: Stop) -> tuple[float, ...]:
        answers, task = answered(self.whole, questions, self.precision, stop), self.whole.task
        return tuple(
            task.score(answer.label, question.gold or "")
            for question, answer in zip(questions, answers, strict=True)
        )
