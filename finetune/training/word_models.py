"""Word vectors distilled from an encoder, and word models and readers trained from them.

Early stopping, the best epoch and the halving of the rate are decided by examples held out of the
training file, by premise or passage; dev sets are only measured. A reader's epochs end with a
checkpoint to resume from.
"""

import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

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
    averages_and_scores,
    begun_with,
    kept_unless_diverged,
    load_checkpoint,
    save_checkpoint,
    save_model,
    save_weights,
)
from finetune.training.encoded import encode, score
from finetune.training.loop import (
    BestEpoch,
    Epoch,
    Schedule,
    Trainer,
    average_of,
    averaged,
    make_optimiser,
    train_epochs,
    trainable,
)
from finetune.training.reader import EncodedQuestions, mean_f1
from finetune.training.recipes import WORD_MODELS, WORD_READERS, Preset
from probe.errors import TrainingError
from probe.models.architectures import architecture
from probe.models.checkpoint import loading
from probe.models.classifier import Classifier, Precision
from probe.models.reader import Reader
from probe.models.weights import VECTORS
from probe.models.word_models import bidaf, decomposable, esim, qanet  # noqa: F401  # registers them with the Auto classes
from probe.models.word_models.layers import shared_table
from probe.models.word_models.word_tokenizer import (
    SPECIAL,
    WordTokenizer,
    splitter,
    word_tokenizer,
)
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.reading import Question

COMPONENT_RMS = 0.4
"""Root mean square of a component, as in GloVe's 840B vectors, which the configurations expect."""


@dataclass(frozen=True)
class Reduced:
    """Vectors (words, size) by PCA and the share of the variance that they explain."""

    vectors: torch.Tensor
    explained: float


def words_of(vectors: str) -> list[str]:
    """Return the words of assets/vectors/NAME.txt. Raises TrainingError where it is not there."""
    known = sorted(path.stem for path in VECTORS.glob("*.txt"))
    if vectors not in known:
        raise TrainingError(f"there are no word vectors {vectors!r}; there are: {', '.join(known)}")
    return (VECTORS / f"{vectors}.txt").read_text(encoding="utf-8").split("\n")[:-1]


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


def reduce_by_pca(vectors: torch.Tensor, size: int) -> Reduced:
    """Centre, keep the `size` directions of most variance, scale to COMPONENT_RMS; in float64.

    Raises TrainingError where there are fewer directions.
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
    return Reduced(scaled.float(), float(variances[-size:].sum() / variances.sum()))


def with_special(vectors: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """Put rows for SPECIAL first: zeros for padding, random the others, as AllenNLP does."""
    generator = torch.Generator().manual_seed(seed)
    rows = COMPONENT_RMS * torch.randn(len(SPECIAL), vectors.shape[1], generator=generator)
    rows[0] = 0.0
    return torch.cat([rows, vectors])


def require_both(trained: Sequence[object], held_out: Sequence[object]) -> None:
    """Raise TrainingError where a training file is too small for one of the two."""
    if not (trained and held_out):
        raise TrainingError(
            f"of the training files {len(trained)} examples are left to train on and "
            f"{len(held_out)} are held out to select epochs by; it takes some of each, so give "
            "larger files"
        )


HELD_OUT = 28
"""One premise or passage in 28 is held out with its examples: 4,953 pairs of the 142,858."""


def held_out(text: str) -> bool:
    """Whether the examples with this premise or passage are held out to select epochs by."""
    return zlib.crc32(text.encode()) % HELD_OUT == 0


def _network(
    auto: Any,  # Any: one of transformers' Auto classes
    model_type: str,
    vectors: str,
    correction: int,
    seed: int,
    characters: bool,
    own: bool,
    settings: Mapping[str, Any],  # Any: of the config
) -> tuple[PreTrainedModel, WordTokenizer]:
    """Return an untrained network and its tokenizer; the same seed gives the same weights."""
    words, table = words_of(vectors), shared_table(vectors)
    config = AutoConfig.for_model(
        model_type,
        vocab_size=len(words),
        word_size=table.shape[1],
        vectors="" if own else vectors,
        correction=correction,
        **settings,
    )
    with loading, torch.random.fork_rng():
        torch.manual_seed(seed)
        model: PreTrainedModel = auto.from_config(config)
    if own:
        model.get_parameter(architecture(model_type).word_table).data.copy_(table)
    lower = all(word == word.lower() for word in words[len(SPECIAL) :])
    return model.eval(), word_tokenizer(words, lower, characters)


def untrained(
    name: str,
    preset: str,
    vectors: str = "words",
    correction: int = 0,
    own: bool = False,
    seed: int = 0,
) -> Classifier:
    """Return an untrained model on the shared vectors; the same seed gives the same weights.

    `correction` is the rank of the trained correction added to them; with `own` the vectors are
    copied into the model and trained. Raises KeyError for a name that is not in WORD_MODELS, and
    TrainingError where there are no such vectors.
    """
    kind = WORD_MODELS[name]
    numbers = {label: index for index, label in enumerate(LABELS)}
    names = {"id2label": dict(enumerate(LABELS)), "label2id": numbers}
    model, tokenizer = _network(
        AutoModelForSequenceClassification,
        kind.model_type,
        vectors,
        correction,
        seed,
        bool(kind.settings.get("characters")),
        own,
        {**kind.presets[preset].settings, **kind.settings, **names},
    )
    return Classifier(name, model, tokenizer, NLI, LABELS, torch.device("cpu"))


def untrained_reader(
    name: str, preset: str, vectors: str = "words", correction: int = 0, seed: int = 0
) -> Reader:
    """Return an untrained reader, as `untrained` does; names are those of WORD_READERS."""
    settings = WORD_READERS[name][preset].settings
    auto = AutoModelForQuestionAnswering
    return Reader(
        name,
        *_network(auto, name, vectors, correction, seed, True, False, settings),
        torch.device("cpu"),
    )


def rate(preset: Preset, scores: Sequence[float], passed: float = 0.0) -> float:
    """Return the learning rate behind epochs of these dev scores, when so many have passed."""
    if preset.fall:
        return preset.recipe.lr * (1 - passed / preset.epochs)
    if preset.halve_patience is None:
        return preset.recipe.lr
    best, waited, halvings = -1.0, 0, 0
    for each in scores:
        best, waited = (each, 0) if each > best else (best, waited + 1)
        if waited > preset.halve_patience:
            halvings, waited = halvings + 1, 0
    return preset.recipe.lr * 0.5**halvings


def train(
    classifier: Classifier,
    preset: Preset,
    pairs: Sequence[Pair],
    out: Path,
    seed: int = 0,
    minutes: float = 600.0,
    precision: Precision = "fp32",
) -> Iterator[Epoch]:
    """Train in place and yield epochs; the best one so far lies in `out` as fp16 safetensors.

    The dev set of an Epoch are the held-out pairs. No epoch begins that would end after `minutes`.
    At the end the classifier has the best epoch's weights. The number of epochs a model has been
    trained for is kept in its config (`epochs_done`), and a later training continues the count:
    an epoch's number determines its batches and dropout, which must not repeat. Raises
    TrainingError where there are no pairs to train on or none are held out, and Diverged.
    """
    deadline = time.monotonic() + 60 * minutes
    dev_pairs = [pair for pair in pairs if held_out(pair.premise)]
    train_pairs = [pair for pair in pairs if not held_out(pair.premise)]
    require_both(train_pairs, dev_pairs)
    dev = encode(classifier, dev_pairs, preset.max_tokens, classifier.device)
    data = encode(classifier, train_pairs, preset.max_tokens, classifier.device)
    optimiser = make_optimiser(preset.recipe, trainable(classifier), preset.recipe.lr)
    trainer, best = Trainer(classifier, preset.recipe, optimiser, precision), BestEpoch()
    first = getattr(classifier.model.config, "epochs_done", 0) + 1
    measure = partial(score, classifier, dev, precision)
    scores: list[float] = []
    start = time.monotonic()
    with kept_unless_diverged(out):
        for epoch in train_epochs(
            trainer, data, measure, _schedule(preset, first, seed, scores), best
        ):
            classifier.model.config.epochs_done = epoch.epoch
            if best.epoch == epoch.epoch:
                save_model(classifier, out)
            scores.append(epoch.dev)
            yield epoch
            end = time.monotonic()
            if end + (end - start) > deadline:
                break
            start = end
    classifier.model.load_state_dict(best.weights)


def _schedule(preset: Preset, first: int, seed: int, scores: list[float]) -> Schedule:
    """Return the epochs from `first` on; whoever runs them appends their dev scores."""
    done = len(scores)
    return Schedule(
        range(first, first + preset.epochs - done),
        preset.recipe.batch,
        seed,
        lambda passed, _: rate(preset, scores, done + passed),
        preset.patience,
    )


def train_reader(
    reader: Reader,
    preset: Preset,
    questions: Sequence[Question],
    out: Path,
    seed: int = 0,
    minutes: float = 600.0,
    precision: Precision = "fp32",
) -> Iterator[Epoch]:
    """Train in place and yield epochs as `train` does; the dev score is F1 on held-out questions.

    A checkpoint in `out` of the same options is resumed. Raises TrainingError where the checkpoint
    was begun with something else, where there are no examples to train on or no questions held
    out, and Diverged.
    """
    start, dev = time.monotonic(), [each for each in questions if held_out(each.passage)]
    deadline = start + 60 * minutes
    data = EncodedQuestions(reader, tuple(each for each in questions if not held_out(each.passage)))
    require_both(data.examples, dev)
    options = _options(preset, seed, precision) | begun_with(reader, questions)
    optimiser = make_optimiser(preset.recipe, trainable(reader), preset.recipe.lr)
    load_checkpoint(reader, optimiser, options, out)
    averages, scores = averages_and_scores(out)
    average = average_of(preset.recipe, reader.model, averages)
    trainer = Trainer(reader, preset.recipe, optimiser, precision, average=average)
    measure, best = partial(mean_f1, reader, dev, precision), BestEpoch(max(scores, default=-1.0))
    schedule = replace(_schedule(preset, len(scores) + 1, seed, scores), patience=preset.epochs)
    with kept_unless_diverged(out):
        for epoch in train_epochs(trainer, data, measure, schedule, best):
            if best.epoch == epoch.epoch:
                with averaged(reader.model, average):
                    save_weights(reader.model, reader.tokenizer, out)
            scores.append(epoch.dev)
            kept = None if average is None else average.weights
            save_checkpoint(reader, optimiser, options, epoch.epoch, out, kept, scores)
            yield epoch
            end = time.monotonic()
            without_gain = len(scores) - 1 - scores.index(max(scores))
            if without_gain >= preset.patience or 2 * end - start > deadline:
                break
            start = end
    reader.model.load_state_dict(load_file(out / "model.safetensors"))


def _options(preset: Preset, seed: int, precision: Precision) -> dict[str, Any]:  # Any: JSON values
    """Return what a checkpoint must have been made with beside model and data, as JSON has it."""
    recipe = asdict(preset.recipe)
    recipe["settings"] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in preset.recipe.settings.items()
    }
    options = asdict(preset) | {"recipe": recipe, "seed": seed, "precision": precision}
    return {name: value for name, value in options.items() if name != "max_tokens"}  # of pairs
