"""About how long a run takes here: a short trial of the plan's own pairs, then sums."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock

import torch

from finetune.experiments.inoculation.cell import fresh
from finetune.experiments.inoculation.datasets import Sets
from finetune.experiments.inoculation.plan import Plan, cells
from finetune.training.encoded import encode, predictions
from finetune.training.frozen_layers import lower_states, upper_part
from finetune.training.loop import Trainer, take_step, trainable
from finetune.training.optimisers import make_optimiser
from finetune.training.recipes import Mode
from finetune.training.tensor_cache import TENSOR_CACHE
from probe.models.classifier import Classifier, Precision, resolve, text_lengths
from probe.models.library import load
from probe.tasks.task import Example, Task

TRIAL_PAIRS = 8
"""Pairs in the trial of full mode; in fast mode a whole batch costs little."""
RETIME_BELOW_SECONDS = 0.5
"""Seconds of work that is timed twice, so that a hiccup does not count."""
IMPROVING_EPOCHS = 3
"""Epochs that a cell goes on improving for, before its patience begins to run out."""


@dataclass(frozen=True)
class Pace:
    """Seconds that a character of a pair takes: once to prepare, to train on, to predict.

    `states` are the bytes that its prepared states take, 0 where nothing is frozen.
    """

    prepare: float
    train: float
    predict: float
    states: float = 0.0


_PACES: dict[tuple[str, Mode, Precision], Pace] = {}
_LOCK = Lock()


def estimate_seconds(plan: Plan, sets: Sets, classifier: Classifier | None = None) -> float:
    """Return about how many seconds one worker takes for all cells, alone on its core.

    The first question about a model and mode costs a trial in a copy of the model, `classifier`
    where it is loaded already. Raises ModelError, or ExperimentError where there is no fast mode.
    """
    return seconds_at_pace(plan, sets, _pace(plan, sets, classifier))


def _pace(plan: Plan, sets: Sets, classifier: Classifier | None) -> Pace:
    key = (plan.model, plan.mode, plan.precision)
    with _LOCK:
        if key not in _PACES:
            _PACES[key] = trial(plan, sets, classifier or load(plan.model, plan.labels or None))
        return _PACES[key]


def overflow_note(plan: Plan, sets: Sets, classifier: Classifier | None = None) -> str:
    """Say that the frozen layers' states are more than is kept of them, "" where they are not.

    Costs and raises what `seconds` does.
    """
    size, limit = _state_bytes(plan, sets, _pace(plan, sets, classifier)), TENSOR_CACHE.limit()
    if size <= limit:
        return ""
    return (
        f"What the frozen layers say of these texts takes about {size / 1e6:,.0f} MB, more than "
        f"NLI_CLINIC_STATES_MB lets be kept ({limit / 1e6:,.0f}), so each cell "
        "computes it anew."
    )


def seconds_at_pace(plan: Plan, sets: Sets, pace: Pace) -> float:
    """Return the seconds of all cells: each runs the epochs of its patience and a few more."""
    epochs, planned = min(plan.max_epochs, plan.patience + IMPROVING_EPOCHS), cells(plan)
    tests, dev, each = (
        _test_characters(sets),
        _characters(sets.task, sets.original_dev),
        _mean_characters(sets),
    )
    times = 1 if _state_bytes(plan, sets, pace) <= TENSOR_CACHE.limit() else len(planned)
    total = times * pace.prepare * _prepared_characters(plan, sets)
    for cell in planned:
        read = tests + dev * (epochs if cell.size else 1)
        total += pace.predict * read + pace.train * epochs * each * cell.size
    return total


def _state_bytes(plan: Plan, sets: Sets, pace: Pace) -> float:
    """Return the bytes of all that is prepared."""
    return pace.states * _prepared_characters(plan, sets)


def _prepared_characters(plan: Plan, sets: Sets) -> float:
    """Return the characters of all pairs that the cells read."""
    drawn = _mean_characters(sets) * max(plan.sizes) * len(set(plan.seeds))
    return _test_characters(sets) + _characters(sets.task, sets.original_dev) + drawn


def _test_characters(sets: Sets) -> int:
    tests = (sets.original_test, sets.challenge_test, sets.control)
    return sum(_characters(sets.task, examples) for examples in tests)


def _mean_characters(sets: Sets) -> float:
    """Return the characters of a pair to train on, on average."""
    return _characters(sets.task, sets.challenge_train) / len(sets.challenge_train)


def trial(plan: Plan, sets: Sets, classifier: Classifier) -> Pace:
    """Take one training step and predict once, both after a first time that does not count."""
    with classifier.lock:
        copied = fresh(classifier)
    trained = upper_part(copied) if plan.mode == "fast" else copied
    recipe = copied.architecture.recipe
    count = (plan.batch or recipe.batch) if plan.mode == "fast" else TRIAL_PAIRS
    pairs = sample(sets.challenge_train, count)
    length = _characters(sets.task, pairs)
    exact = resolve(plan.precision)
    whole = encode(copied, pairs, min(plan.max_tokens, copied.max_tokens), copied.device)
    lower = partial(lower_states, copied, whole, exact)
    data = lower() if plan.mode == "fast" else whole
    optimiser = make_optimiser(recipe, trainable(trained), 1e-9)
    trainer = Trainer(trained, recipe, optimiser, exact)
    learn = partial(take_step, trainer, *data.batch(range(len(pairs))), 0)
    predict = partial(predictions, trained, data, exact)
    learn()
    return Pace(
        _timed(lower, copied.device) / length if plan.mode == "fast" else 0.0,
        _timed(learn, copied.device) / length,
        _timed(predict, copied.device) / length,
        data.size / length if plan.mode == "fast" else 0.0,
    )


def sample(pairs: Sequence[Example], count: int) -> Sequence[Example]:
    """Return a few pairs from all over."""
    return pairs[:: max(1, len(pairs) // count)][:count]


def _timed(work: Callable[[], object], device: torch.device) -> float:
    """Return the seconds of some work; on a CPU those of one core, which is what a worker has."""
    clock = time.process_time if device.type == "cpu" else time.perf_counter

    def once() -> float:
        began = clock()
        work()
        return clock() - began

    took = once()
    return min(took, once()) if took < RETIME_BELOW_SECONDS else took


def _characters(task: Task, pairs: Sequence[Example]) -> int:
    return sum(text_lengths(task, pairs))
