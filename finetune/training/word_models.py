"""Word vectors distilled from an encoder, and word models and readers trained from them.

Early stopping, the best epoch and the halving of the rate are decided by examples held out of the
training file, by premise or passage; dev sets are only measured.
"""

import math
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load_file
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
)

from finetune.training.checkpoints import (
    WEIGHTS,
    Checkpoint,
    begun_with,
    kept_unless_diverged,
    load_checkpoint,
    save_checkpoint,
    save_model,
)
from finetune.training.encoder import (
    ANSWERS,
    EncodedQuestions,
    dev_score,
    learnt_targets,
    learnt_texts,
)
from finetune.training.frozen_layers import Encoded, encode
from finetune.training.loop import (
    BestEpoch,
    Epoch,
    Schedule,
    Trainer,
    TrainingData,
    average_of,
    averaged,
    make_optimiser,
    train_epochs,
    trainable,
)
from finetune.training.losses import read_loss
from finetune.training.recipes import WORD_MODELS, WORD_READERS, Preset
from probe.errors import TrainingError
from probe.models.architectures import architecture
from probe.models.checkpoint import loading
from probe.models.classifier import Classifier, Precision
from probe.models.library import Trainee
from probe.models.reader import Reader
from probe.models.weights import VECTORS
from probe.models.word_models import bidaf, decomposable, esim, qanet  # noqa: F401  # registers them with the Auto classes
from probe.models.word_models.layers import shared_table
from probe.models.word_models.word_tokenizer import SPECIAL, splitter, word_tokenizer
from probe.tasks.nli import LABELS, NLI

if TYPE_CHECKING:
    from finetune.training.encoder import KeepDynamics

COMPONENT_RMS = 0.4
"""Root mean square of a component, as in GloVe's 840B vectors, which the configurations expect."""


def vocabulary(texts: Iterable[str], size: int, lower: bool = True) -> list[str]:
    """Return SPECIAL and the most frequent words, `size` in all; ties by code point."""
    normalizer, pre_tokenizer = splitter(lower)
    counts: Counter[str] = Counter()
    for text in texts:
        words = pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(text))
        counts.update(word for word, _ in words)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return [*SPECIAL, *[word for word in ranked if word not in SPECIAL][: size - len(SPECIAL)]]


@torch.inference_mode()
def embed_words(words: Sequence[str], encoder: str, batch: int = 256) -> torch.Tensor:
    """Return the mean of the encoder's last states over each word's sub-words.  # (words, width)"""
    with loading:
        tokenizer = AutoTokenizer.from_pretrained(encoder, trust_remote_code=False)
        model = AutoModel.from_pretrained(
            encoder, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
        ).eval()
    rows = []
    for start in range(0, len(words), batch):
        inputs = tokenizer(list(words[start : start + batch]), padding=True, return_tensors="pt")
        states = model(**inputs).last_hidden_state  # (batch, sub-words, width)
        mask = inputs["attention_mask"][..., None]
        rows.append((states * mask).sum(1) / mask.sum(1))
    return torch.cat(rows)


def reduce_by_pca(vectors: torch.Tensor, size: int) -> tuple[torch.Tensor, float]:
    """Centre, keep the `size` directions of most variance, scale to COMPONENT_RMS; in float64.

    Returns vectors (words, size) and the share of the variance that they explain. Raises
    TrainingError where there are fewer directions.
    """
    if size > min(vectors.shape):
        words, width = vectors.shape
        raise TrainingError(
            f"{words} words and an encoder of width {width} give at most {min(words, width)} "
            f"components, not {size}"
        )
    centred = vectors.double() - vectors.double().mean(0)
    variances, directions = torch.linalg.eigh(centred.T @ centred)  # ascending
    components = directions[:, -size:].flip(1)  # (width, size)
    peaks = components.gather(0, components.abs().argmax(0, keepdim=True))
    projected = centred @ (components * peaks.sign())  # the sign of a direction is arbitrary
    scaled = projected * (COMPONENT_RMS / projected.pow(2).mean().sqrt())
    return scaled.float(), float(variances[-size:].sum() / variances.sum())


def with_special(vectors: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """Put rows for SPECIAL first: zeros for padding, random the others, as AllenNLP does."""
    generator = torch.Generator().manual_seed(seed)
    rows = COMPONENT_RMS * torch.randn(len(SPECIAL), vectors.shape[1], generator=generator)
    rows[0] = 0.0
    return torch.cat([rows, vectors])


HELD_OUT = 28
"""One premise or passage in 28 is held out with its examples: 4,953 pairs of the 142,858."""


def held_out(text: str) -> bool:
    """Whether the examples with this premise or passage are held out to select epochs by."""
    return zlib.crc32(text.encode()) % HELD_OUT == 0


def untrained(
    name: str,
    preset: str,
    vectors: str = "words",
    correction: int = 0,
    own: bool = False,
    seed: int = 0,
) -> Trainee:
    """Return an untrained model on the shared vectors; the same seed gives the same weights.

    `correction` is the rank of the trained correction added to them; with `own` the vectors are
    copied into the model and trained. Raises KeyError for a name that is neither in WORD_MODELS nor
    in WORD_READERS, and TrainingError where there are no such vectors.
    """
    reads = name in WORD_READERS
    kind = WORD_READERS[name] if reads else WORD_MODELS[name]
    auto: Any = AutoModelForSequenceClassification  # Any: two of transformers' Auto classes
    labels: dict[str, object] = {
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: index for index, label in enumerate(LABELS)},
    }
    if reads:
        auto, labels = AutoModelForQuestionAnswering, {}
    known = sorted(path.stem for path in VECTORS.glob("*.txt"))
    if vectors not in known:
        raise TrainingError(f"there are no word vectors {vectors!r}; there are: {', '.join(known)}")
    words = (VECTORS / f"{vectors}.txt").read_text(encoding="utf-8").split("\n")[:-1]
    table = shared_table(vectors)
    config = AutoConfig.for_model(
        kind.model_type,
        vocab_size=len(words),
        word_size=table.shape[1],
        vectors="" if own else vectors,
        correction=correction,
        **{**kind.presets[preset].settings, **kind.settings, **labels},
    )
    with loading, torch.random.fork_rng():
        torch.manual_seed(seed)
        model: PreTrainedModel = auto.from_config(config).eval()
    if own:
        model.get_parameter(architecture(kind.model_type).word_table).data.copy_(table)
    lower = all(word == word.lower() for word in words[len(SPECIAL) :])
    tokenizer = word_tokenizer(words, lower, reads or bool(kind.settings.get("characters")))
    if reads:
        return Reader(name, model, tokenizer)
    return Classifier(name, model, tokenizer, NLI, LABELS)


def without_gain(scores: Sequence[float]) -> int:
    """Return how many epochs have passed since the best one."""
    return len(scores) - 1 - scores.index(max(scores)) if scores else 0


def rate(preset: Preset, scores: Sequence[float], passed: float = 0.0, steps: int = 1) -> float:
    """Return the learning rate behind epochs of these dev scores, of so many steps each.

    So many epochs have passed, with a fraction inside one.
    """
    lr = preset.recipe.lr
    if preset.warmup:
        lr *= min(1.0, (passed * steps + 1) / preset.warmup)
    if preset.fall:
        return lr * (1 - passed / preset.epochs)
    if preset.halve_patience is None:
        return lr
    best, waited, halvings = -1.0, 0, 0
    for each in scores:
        best, waited = (each, 0) if each > best else (best, waited + 1)
        if waited > preset.halve_patience:
            halvings, waited = halvings + 1, 0
    return lr * 0.5**halvings


def train(
    model: Trainee,
    preset: Preset,
    examples: Sequence[Any],  # Any: the task's own dataclass
    out: Path,
    seed: int = 0,
    minutes: float = 600.0,
    precision: Precision = "fp32",
    every: int = 200,
    answers: Path | None = None,
    tell: Callable[[str], None] = lambda words: None,
    dynamics: "KeepDynamics | None" = None,
) -> Iterator[Epoch]:
    """Train in place and yield epochs; the best one so far lies in `out` as fp16 safetensors.

    The dev score of an Epoch is that of what is held out. No epoch begins that would end after
    `minutes`. At the end the model has the best epoch's weights. For how many epochs it was trained
    is kept in its config (`epochs_done`), and a later training continues the count: an epoch's
    number determines its batches and dropout, which must not repeat. A checkpoint is saved every
    `every` steps and behind each epoch, and one in `out` of the same options is resumed. Teachers'
    answers are kept as in the training of an encoder, and a transform changes what is held out, by
    its whole text, as what is learnt. Of a classifier `dynamics` keeps what each row that is learnt
    gets while an epoch is trained. Raises TrainingError where the checkpoint was begun with
    something else, a teacher gives other answers or there is nothing to train on or held out,
    ModelError, and Diverged.
    """
    start, network, reads = time.monotonic(), model.model, isinstance(model, Reader)
    loss = read_loss(preset.loss, bool(preset.teachers), bool(preset.weak))
    deadline = start + 60 * minutes
    parts: tuple[list[int], list[int]] = ([], [])  # rows of examples
    for row, each in enumerate(examples):
        parts[held_out(each.passage if reads else each.premise)].append(row)
    learnt, dev = (tuple(examples[row] for row in part) for part in parts)
    dev = tuple(each for each in dev if reads or each.gold)
    if preset.transform:
        learnt, dev = (learnt_texts(model, part, preset, seed, tell) for part in (learnt, dev))
    data: TrainingData
    if isinstance(model, Reader):
        data = EncodedQuestions(model, learnt)
    else:
        data = encode(model, learnt, preset.max_tokens, model.device)
    left = len(data.lengths)
    if not (left and dev):
        raise TrainingError(
            f"of the training files {left} examples are left to train on and {len(dev)} are held "
            "out to select epochs by; it takes some of each, so give larger files"
        )
    optimiser = make_optimiser(preset.recipe, trainable(model), preset.recipe.lr)
    own = {"seed": seed, "precision": precision, "dynamics": dynamics is not None}
    begun = asdict(preset) | own | begun_with(model, examples)
    first = getattr(network.config, "epochs_done", 0) + 1
    reached = load_checkpoint(model, optimiser, begun, out)
    scores, done = list(reached.scores), len(reached.scores)
    beside = preset.teachers or preset.weak
    if beside and isinstance(data, Encoded) and isinstance(model, Classifier):
        kept = precision, answers or out / ANSWERS, seed, tell
        targets = learnt_targets(model, examples, preset, *kept)[parts[0]].to(model.device)
        data = replace(data, targets=targets)
    average = average_of(preset.recipe, network, reached.averages)
    steps, logits = math.ceil(left / preset.recipe.batch), None
    if dynamics and isinstance(model, Classifier):
        logits = dynamics(learnt, model)
        logits.resume(reached.dynamics, done)
        tell(logits.words)

    def keep(step: int) -> None:
        if step % every == 0:
            averages, seen = average.weights if average else {}, logits.kept if logits else {}
            checkpoint = Checkpoint(step, averages, scores, seen)
            save_checkpoint(model, optimiser, begun, checkpoint, out)

    schedule = Schedule(
        range(first + done, first + preset.epochs),
        preset.recipe.batch,
        seed,
        lambda passed, _: rate(preset, scores, done + passed, steps),
        preset.epochs,
    )
    best = BestEpoch(max(scores, default=-1.0))
    trainer = Trainer(model, preset.recipe, optimiser, precision, loss, average)
    if logits:
        trainer = replace(trainer, seen=logits.see)
    measure = partial(dev_score, model, dev, precision)
    epochs = train_epochs(trainer, data, measure, schedule, best, taken=reached.step, keep=keep)
    with kept_unless_diverged(out):
        while without_gain(scores) < preset.patience and (epoch := next(epochs, None)):
            network.config.epochs_done = epoch.epoch
            if best.epoch == epoch.epoch:
                with averaged(network, average):
                    save_model(model, out)
            scores.append(epoch.dev)
            if logits:
                logits.write(epoch.epoch - first)
            keep(0)
            yield epoch
            end = time.monotonic()
            if 2 * end - start > deadline:
                break
            start = end
    network.load_state_dict(best.weights or load_file(out / WEIGHTS))
