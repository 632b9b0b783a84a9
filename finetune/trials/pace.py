"""How fast a model trains and predicts here: a short trial on a few of a run's own examples."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any

from finetune.training.encoded import encode, predictions
from finetune.training.frozen_layers import lower_states, upper_part
from finetune.training.loop import Trainer, make_optimiser, take_step, trainable
from finetune.training.reader import PreparedReader
from finetune.training.recipes import Mode
from finetune.trials.base import HowToTrain
from probe.analysis.pace import characters, timed
from probe.errors import ExperimentError
from probe.models.classifier import Classifier, Precision, resolve
from probe.models.library import AnyModel, load_any
from probe.models.reader import Reader
from probe.tasks.task import Example, Label, Task

TRIAL_EXAMPLES = 8
"""Examples in the trial of full mode; in fast mode a whole batch costs little."""


@dataclass(frozen=True)
class Pace:
    """Seconds that a character of an example takes: once to prepare, to train on, to predict.

    `states` are the bytes that its prepared states take, 0 where nothing is frozen.
    """

    prepare: float
    train: float
    predict: float
    states: float = 0.0


_PACES: dict[tuple[str, Mode, Precision], Pace] = {}
_LOCK = Lock()


def pace_of(
    model: str,
    labels: tuple[Label, ...],
    how: HowToTrain,
    examples: Sequence[Example],
    model_here: AnyModel | None,
) -> Pace:
    """Return the pace of a model by name; the first question about it and a mode costs a trial.

    `model_here` is the model where it is loaded already. Raises ModelError, or ExperimentError
    where there is no fast mode.
    """
    key = (model, how.mode, how.precision)
    with _LOCK:
        if key not in _PACES:
            _PACES[key] = trial(how, examples, model_here or load_any(model, labels or None))
        return _PACES[key]


def trial(how: HowToTrain, examples: Sequence[Example], model: AnyModel) -> Pace:
    """Take one training step and predict once, both after a first time that does not count."""
    with model.lock:
        copied = replace(model, model=deepcopy(model.model))
    if isinstance(copied, Reader):
        return _of_reader(how, examples, copied)
    return _of(how, examples, copied)


def _of_reader(how: HowToTrain, questions: Sequence[Any], copied: Reader) -> Pace:
    few: Sequence[Any] = typical(copied.task, questions, TRIAL_EXAMPLES)
    length, exact = characters(copied.task, few), resolve(how.precision)
    data = PreparedReader(copied, exact).encoded(tuple(few), copied.max_tokens)
    if not data.lengths:
        raise ExperimentError("no question to train on has an answer that stands in its passage")
    recipe = copied.architecture.recipe
    trainer = Trainer(copied, recipe, make_optimiser(recipe, trainable(copied), 1e-9), exact)
    learn = partial(take_step, trainer, *data.batch(range(len(data.lengths))), 0)
    learn()
    predict = partial(copied.predict, few, exact)
    return Pace(0.0, timed(learn, copied.device) / length, timed(predict, copied.device) / length)


def _of(how: HowToTrain, examples: Sequence[Example], copied: Classifier) -> Pace:
    trained = upper_part(copied) if how.mode == "fast" else copied
    recipe = copied.architecture.recipe
    count = (how.batch or recipe.batch) if how.mode == "fast" else TRIAL_EXAMPLES
    few = typical(copied.task, examples, count)
    length = characters(copied.task, few)
    exact = resolve(how.precision)
    whole = encode(copied, few, min(how.max_tokens, copied.max_tokens), copied.device)
    lower = partial(lower_states, copied, whole, exact)
    data = lower() if how.mode == "fast" else whole
    optimiser = make_optimiser(recipe, trainable(trained), 1e-9)
    trainer = Trainer(trained, recipe, optimiser, exact)
    learn = partial(take_step, trainer, *data.batch(range(len(few))), 0)
    predict = partial(predictions, trained, data, exact)
    learn()
    return Pace(
        timed(lower, copied.device) / length if how.mode == "fast" else 0.0,
        timed(learn, copied.device) / length,
        timed(predict, copied.device) / length,
        data.size / length if how.mode == "fast" else 0.0,
    )


def typical(task: Task, examples: Sequence[Example], count: int) -> Sequence[Example]:
    """Return the examples of middling length: a batch holds such as are alike, little padded."""
    by_length = sorted(examples, key=lambda example: characters(task, [example]))
    start = max(0, len(examples) - count) // 2
    return by_length[start : start + count]


def mean_characters(task: Task, examples: Sequence[Example]) -> float:
    """Return the characters of an example, on average."""
    return characters(task, examples) / len(examples)
