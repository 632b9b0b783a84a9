"""An inoculation with transformers' Trainer, as its documentation has a user write it.

https://huggingface.co/docs/transformers/training: tokenize with padding and truncation, arguments
with evaluation and saving each epoch, the best checkpoint at the end, early stopping, predict.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

import numpy as np
from torch.utils.data import Dataset
from transformers import (
    DataCollatorWithPadding,
    EarlyStoppingCallback,
    EvalPrediction,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Cell, Plan, Point, nested
from finetune.trials.trial import fresh
from probe.models.classifier import Classifier
from probe.tasks.nli import Pair

Padding = Literal["max_length", "longest"]
Rows = Dataset[dict[str, Any]]  # Any: lists of numbers and a number
SAMPLE_PAIRS = 32


@dataclass(frozen=True)
class Pace:
    """Seconds of the processor that one pair takes to train on and to predict."""

    train: float
    predict: float


def rows(classifier: Classifier, pairs: Sequence[Pair], padding: Padding) -> Rows:
    """Tokenise pairs, padded to the model's longest input or not padded."""
    encoded = classifier.tokenizer(
        [pair.premise for pair in pairs],
        [pair.hypothesis for pair in pairs],
        truncation=True,
        padding="max_length" if padding == "max_length" else False,
    )
    encoded_rows = [
        {name: encoded[name][row] for name in encoded} | {"labels": _label_number(classifier, pair)}
        for row, pair in enumerate(pairs)
    ]
    return cast(Rows, encoded_rows)  # a list has the length and the items that Trainer asks for


def _label_number(classifier: Classifier, pair: Pair) -> int:
    assert pair.gold  # only labelled pairs are trained on
    return classifier.order.index(pair.gold)


def accuracy(evaluation: EvalPrediction) -> dict[str, float]:
    """Return the share of correct predictions."""
    return {
        "accuracy": float((np.argmax(evaluation.predictions, -1) == evaluation.label_ids).mean())
    }


def trainer(
    classifier: Classifier,
    folder: str,
    train_rows: Rows,
    dev: Rows,
    padding: Padding,
    lr: float,
    epochs: int,
    patience: int,
) -> Trainer:
    """Return a Trainer with its defaults but for what belongs to the cell."""
    settings = TrainingArguments(
        folder,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",
        learning_rate=lr,
        num_train_epochs=epochs,
        **_common(classifier),
    )
    collator = DataCollatorWithPadding(classifier.tokenizer) if padding == "longest" else None
    new_trainer = Trainer(
        classifier.model,
        settings,
        data_collator=collator,
        train_dataset=train_rows,
        eval_dataset=dev,
        compute_metrics=accuracy,
        callbacks=[EarlyStoppingCallback(patience)],
    )
    new_trainer.remove_callback(PrinterCallback)  # prints each evaluation
    return new_trainer


def _common(classifier: Classifier) -> dict[str, Any]:  # Any: settings of several types
    """Return the batch size of the model's own training, and settings without output."""
    batch = classifier.architecture.recipe.batch
    return {
        "per_device_train_batch_size": batch,
        "per_device_eval_batch_size": batch,
        "report_to": "none",
        "disable_tqdm": True,
        "log_level": "error",
        "logging_strategy": "no",
        "dataloader_pin_memory": False,  # warns where there is no GPU
    }


def with_trainer(padding: Padding) -> Callable[[Plan, Sets, Cell, Classifier], Point]:
    """Return the function that runs a cell with Trainer."""

    def run(plan: Plan, sets: Sets, cell: Cell, classifier: Classifier) -> Point:
        start = time.monotonic()
        train_rows = rows(classifier, nested(sets.challenge_train, cell.seed, cell.size), padding)
        dev = rows(classifier, sets.original_dev, padding)
        with TemporaryDirectory() as folder:
            cell_trainer = trainer(
                classifier,
                folder,
                train_rows,
                dev,
                padding,
                cell.lr,
                plan.max_epochs,
                plan.patience,
            )
            cell_trainer.train()
        tested = [
            _correct(cell_trainer, rows(classifier, pairs, padding))
            for pairs in (sets.original_test, sets.challenge_test)
        ]
        return Point(
            cell,
            sum(tested[0]) / len(tested[0]),
            sum(tested[1]) / len(tested[1]),
            float(cell_trainer.state.best_metric or 0.0),
            round(cell_trainer.state.epoch or 0.0),
            0,
            time.monotonic() - start,
            "fp32",
            *tested,
        )

    return run


def _correct(trained: Trainer, pairs: Rows) -> tuple[bool, ...]:
    output = trained.predict(pairs)
    correct = np.argmax(cast(np.ndarray[Any, Any], output.predictions), -1) == output.label_ids
    return tuple(bool(row) for row in np.atleast_1d(correct))


def pace(classifier: Classifier, pairs: Sequence[Pair]) -> Pace:
    """Time a padded Trainer on a few pairs: one epoch without evaluation, one prediction."""
    copy = fresh(classifier)
    sample = rows(copy, pairs[:SAMPLE_PAIRS], "max_length")
    with TemporaryDirectory() as folder:
        settings = TrainingArguments(
            folder, num_train_epochs=1, save_strategy="no", **_common(copy)
        )
        plain_trainer = Trainer(copy.model, settings, train_dataset=sample)
        plain_trainer.remove_callback(PrinterCallback)
        start = time.process_time()
        plain_trainer.train()
        trained = time.process_time()
        plain_trainer.predict(sample)
        ended = time.process_time()
    return Pace((trained - start) / SAMPLE_PAIRS, (ended - trained) / SAMPLE_PAIRS)
