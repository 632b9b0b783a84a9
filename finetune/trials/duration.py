"""About how long a run takes here: a model timed once on a few examples, times all of them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from finetune.training.frozen_layers import TENSOR_CACHE
from finetune.training.loop import Trainer, make_optimiser, take_step, trainable
from finetune.training.recipes import Mode
from finetune.trials import calibration, generalisation, inoculation, mitigation, transfer
from finetune.trials.base import method_cells
from finetune.trials.datasets import Sets, SourceData
from finetune.trials.trial import fresh, prepare_any
from finetune.trials.word_salad import destroy, salad_names
from probe.errors import ExperimentError
from probe.models.classifier import Classifier, Precision
from probe.models.library import AnyModel, load, load_any

TIMED = {"full": 8, "fast": 32}
"""Examples that are timed: in fast mode a batch costs little."""
DESTROYED = 6
IMPROVING_EPOCHS = 3
"""Epochs that a training goes on improving for, before its patience begins to run out."""


@dataclass(frozen=True)
class Throughput:
    """Seconds of one example: to prepare, to train on once, to answer; the bytes of its states."""

    prepare: float
    train: float
    answer: float
    states: float


@dataclass(frozen=True)
class Work:
    """How many examples a run prepares, answers, and trains on, these in each epoch anew.

    `destroyed` counts each transform of each text. What is prepared is too much to keep where its
    states are larger than NLI_CLINIC_STATES_MB; then each of the `trials` prepares it anew.
    """

    trials: int
    prepared: float
    answered: float
    trained: float
    destroyed: float = 0.0


_MEASURED: dict[tuple[str, Mode, Precision], Throughput] = {}
_DESTROYING: dict[str, float] = {}
_LOCK = Lock()


def throughput(
    mode: Mode, precision: Precision, examples: Sequence[Any], model: AnyModel
) -> Throughput:
    """Time one training step and one answer, each after a first that does not count.

    Raises ExperimentError where the model has no fast mode, or no question can be trained on.
    """
    few = tuple(examples[:: max(1, len(examples) // TIMED[mode])][: TIMED[mode]])
    with model.lock:
        copied = fresh(model)
    ready = prepare_any(copied, mode, precision)
    whole, recipe = ready.whole, ready.whole.architecture.recipe
    ready.encoded(few[:1], whole.max_tokens)
    prepare = _seconds(lambda: ready.encoded(few, whole.max_tokens), copied)
    data = ready.encoded(few, whole.max_tokens)
    rows = range(len(data.lengths))
    if not rows:
        raise ExperimentError("no question to train on has an answer that stands in its passage")
    optimiser = make_optimiser(recipe, trainable(ready.trained), 1e-9)
    trainer = Trainer(ready.trained, recipe, optimiser, ready.precision)
    answer = ready.scorer(few)
    work = (lambda: take_step(trainer, *data.batch(rows), 0), lambda: answer(False))
    for each in work:
        each()
    train, told = (_seconds(each, copied) for each in work)
    states = float(getattr(data, "size", 0)) if mode == "fast" else 0.0
    return Throughput(*(figure / len(few) for figure in (prepare, train, told, states)))


def _seconds(work: Callable[[], object], model: AnyModel) -> float:
    """Return the seconds of some work; on a CPU those of one core, which is what a worker has."""
    clock = time.process_time if model.device.type == "cpu" else time.perf_counter
    began = clock()
    work()
    return clock() - began


def _measured(plan: Any, how: Any, examples: Sequence[Any], model: AnyModel | None) -> Throughput:
    """Return what a model takes in a mode, measured once.  # Any: a plan, its mode and precision"""
    key = (plan.model, how.mode, how.precision)
    with _LOCK:
        if key not in _MEASURED:
            opened = model or load_any(plan.model, plan.labels or None)
            _MEASURED[key] = throughput(how.mode, how.precision, examples, opened)
        return _MEASURED[key]


def seconds_of(work: Work, each: Throughput, destroying: float = 0.0) -> float:
    """Return the seconds that work takes at a throughput, and one text destroyed once."""
    times = work.trials if each.states * work.prepared > TENSOR_CACHE.limit() else 1
    return (
        times * each.prepare * work.prepared
        + each.train * work.trained
        + each.answer * work.answered
        + destroying * work.destroyed
    )


Sweep = inoculation.Plan | generalisation.Plan
Repair = calibration.Plan | mitigation.Plan | transfer.Plan


def work_of(
    plan: Sweep | Repair, sizes: Sequence[int], epochs: int, dev: int, tests: int,
    broken: float = 0.0, destroyed: int = 0,
) -> Work:  # fmt: skip
    """Return the work of a training for each size above 0, and of testing each model.

    `broken` is how many destroyed examples each one has beside it that is trained on.
    """
    drawn = (1 + broken) * max(plan.sizes) * len(set(plan.seeds))
    trained, trainings = (1 + broken) * sum(sizes), sum(map(bool, sizes))
    answered = len(sizes) * tests + (1 + epochs * trainings) * dev
    destroyed_in_all = destroyed + broken * sum(sizes)
    return Work(len(sizes), dev + tests + drawn, answered, epochs * trained, destroyed_in_all)


def _epochs(plan: Sweep) -> int:
    return min(plan.max_epochs, plan.patience + IMPROVING_EPOCHS)


def inoculation_work(plan: inoculation.Plan, sets: Sets) -> Work:
    """Return what an inoculation does."""
    sizes = [cell.size for cell in inoculation.cells(plan)]
    tests = (sets.original_test, sets.challenge_test, sets.control, *sets.counter_tests.values())
    return work_of(plan, sizes, _epochs(plan), len(sets.original_dev), sum(map(len, tests)))


def inoculation_seconds(plan: inoculation.Plan, sets: Sets, model: AnyModel | None = None) -> float:
    """Return about how many seconds one worker takes for all cells, alone on its core.

    The first question about a model and mode times a copy of it, `model` where it is loaded
    already. Raises ModelError, or ExperimentError where there is no fast mode.
    """
    return seconds_of(
        inoculation_work(plan, sets), _measured(plan, plan, sets.challenge_train, model)
    )


def overflow_note(plan: inoculation.Plan, sets: Sets, model: AnyModel | None = None) -> str:
    """Say that frozen states are more than is kept, else ""; raises as `inoculation_seconds`."""
    each = _measured(plan, plan, sets.challenge_train, model)
    size, limit = each.states * inoculation_work(plan, sets).prepared, TENSOR_CACHE.limit()
    if size <= limit:
        return ""
    return (
        f"What the frozen layers say of these texts takes about {size / 1e6:,.0f} MB, more than "
        f"NLI_CLINIC_STATES_MB lets be kept ({limit / 1e6:,.0f}), so each cell "
        "computes it anew."
    )


def generalisation_seconds(
    plan: generalisation.Plan,
    data: generalisation.SourceData,
    classifier: Classifier | None = None,
) -> float:
    """Return the same of a generalisation. Raises ExperimentError besides for too few pairs."""
    seed, row = plan.seeds[0], plan.rows[0]
    tests = generalisation.draw_tests(plan, data, seed)
    drawn = generalisation.draw_training(plan, data, seed, row, tests)
    sizes = [cell.size for cell in generalisation.cells(plan)]
    tested = len(data.original) + sum(map(len, tests.values()))
    work = work_of(plan, sizes, _epochs(plan), len(drawn.dev), tested)
    return seconds_of(work, _measured(plan, plan, drawn.train, classifier))


def repair_work(plan: Repair, source: SourceData) -> Work:
    """Return what a calibration, a mitigation or a transfer does; texts are destroyed once."""
    own = () if isinstance(plan, calibration.Plan) else plan.transforms
    names, broken = len(own or salad_names(source.task)), 0.0  # of each example trained on
    if not isinstance(plan, calibration.Plan):
        broken = plan.share * (names if isinstance(plan, mitigation.Plan) else 1)
    planned = transfer.cells(plan) if isinstance(plan, transfer.Plan) else method_cells(plan)
    texts, sizes = names * plan.tests, [cell.size for cell in planned]
    tests, epochs = len(source.test) + texts, plan.training.epochs
    return work_of(plan, sizes, epochs, len(source.dev), tests, broken, texts)


def repair_seconds(plan: Repair, source: SourceData, classifier: Classifier | None = None) -> float:
    """Return about how many seconds one worker takes for all cells; raises as above."""
    opened = classifier or load(plan.model, plan.labels or None)
    each = _measured(plan, plan.training, source.pool, opened)
    with _LOCK:
        if plan.model not in _DESTROYING:
            names, few = salad_names(source.task), source.test[:DESTROYED]
            destroy(opened, few[:1], names)  # loads what the transforms work with
            took = _seconds(lambda: destroy(opened, few, names), opened)
            _DESTROYING[plan.model] = took / len(few) / len(names)
    return seconds_of(repair_work(plan, source), each, _DESTROYING[plan.model])
