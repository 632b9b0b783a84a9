"""Train Decomposable Attention, ESIM and character-aware ESIM from word vectors.

Early stopping, the best epoch and the halving of the rate are decided by pairs held out of the
training file, by premise; dev sets are only measured.
"""

import time
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedModel

from finetune.training.checkpoints import kept_unless_diverged, save_model
from finetune.training.encoded import encode, score
from finetune.training.loop import BestEpoch, Epoch, Schedule, Trainer, train_epochs, trainable
from finetune.training.optimisers import make_optimiser
from finetune.training.recipes import WORD_MODELS, Preset
from finetune.training.word_vectors import words_of
from probe.errors import TrainingError
from probe.models.architectures import architecture
from probe.models.checkpoint import loading
from probe.models.classifier import Classifier, Precision
from probe.models.word_models import decomposable, esim  # noqa: F401  # registers them with the Auto classes
from probe.models.word_models.layers import shared_table
from probe.models.word_models.word_tokenizer import SPECIAL, word_tokenizer
from probe.tasks.nli import LABELS, NLI, Pair


def require_both(trained: Sequence[object], held_out: Sequence[object]) -> None:
    """Raise TrainingError where a training file is too small for one of the two."""
    if not (trained and held_out):
        raise TrainingError(
            f"of the training files {len(trained)} examples are left to train on and "
            f"{len(held_out)} are held out to select epochs by; it takes some of each, so give "
            "larger files"
        )


PREMISES_PER_HELD_OUT = 28
"""One premise in 28 is held out: 4,953 pairs of the 142,858."""


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
    word_model = WORD_MODELS[name]
    words = words_of(vectors)
    config = AutoConfig.for_model(
        word_model.model_type,
        **word_model.presets[preset].settings,
        **word_model.settings,
        vocab_size=len(words),
        word_size=shared_table(vectors).shape[1],
        vectors="" if own else vectors,
        correction=correction,
        id2label=dict(enumerate(LABELS)),
        label2id={label: index for index, label in enumerate(LABELS)},
    )
    with loading, torch.random.fork_rng():
        torch.manual_seed(seed)
        model: PreTrainedModel = AutoModelForSequenceClassification.from_config(config)
    if own:
        table = model.get_parameter(architecture(config.model_type).word_table)
        table.data.copy_(shared_table(vectors))
    lower = all(word == word.lower() for word in words[len(SPECIAL) :])
    tokenizer = word_tokenizer(words, lower, bool(word_model.settings.get("characters")))
    return Classifier(name, model.eval(), tokenizer, NLI, LABELS, torch.device("cpu"))


def held_out(pair: Pair) -> bool:
    """Whether a pair of the training file is held out to select epochs by."""
    return zlib.crc32(pair.premise.encode()) % PREMISES_PER_HELD_OUT == 0


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
    dev_pairs = [pair for pair in pairs if held_out(pair)]
    train_pairs = [pair for pair in pairs if not held_out(pair)]
    require_both(train_pairs, dev_pairs)
    dev = encode(classifier, dev_pairs, preset.max_tokens, classifier.device)
    data = encode(classifier, train_pairs, preset.max_tokens, classifier.device)
    optimiser = make_optimiser(preset.recipe, trainable(classifier), preset.recipe.lr)
    trainer, best = Trainer(classifier, preset.recipe, optimiser, precision), BestEpoch()
    first = getattr(classifier.model.config, "epochs_done", 0) + 1
    start = time.monotonic()
    measure = partial(score, classifier, dev, precision)
    with kept_unless_diverged(out):
        for epoch in train_epochs(trainer, data, measure, _schedule(preset, first, seed), best):
            classifier.model.config.epochs_done = epoch.epoch
            if best.epoch == epoch.epoch:
                save_model(classifier, out)
            yield epoch
            end = time.monotonic()
            if end + (end - start) > deadline:
                break
            start = end
    classifier.model.load_state_dict(best.weights)


def _schedule(preset: Preset, first: int, seed: int) -> Schedule:
    def rate(passed: float, without_gain: int) -> float:
        if preset.fall:
            return preset.recipe.lr * (1 - passed / preset.epochs)
        return preset.recipe.lr / 2**without_gain if preset.halve else preset.recipe.lr

    epochs = range(first, first + preset.epochs)
    return Schedule(epochs, preset.recipe.batch, seed, rate, preset.patience)
