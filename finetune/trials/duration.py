"""About how long a run takes here: a model timed once on a few examples, times all of them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from finetune.training.frozen_layers import TENSOR_CACHE
from finetune.training.loop import Trainer, make_optimiser, take_step, trainable
from finetune.training.recipes import CONTEXT, LORA, Mode, require_mode
from finetune.trials import debiasing, generalisation, inoculation, mitigation
from finetune.trials.datasets import Examples, Sets
from finetune.trials.planning import KINDS
from finetune.trials.trial import fresh, prepare_any
from finetune.trials.word_salad import destroy, salad_names
from probe.errors import ExperimentError
from probe.models.asked import Asked
from probe.models.classifier import Precision
from probe.models.library import AnyModel, load_any, on_cpu
from probe.models.served import Served

TIMED = {"full": 8, "fast": 32, CONTEXT: 8, LORA: 4}
"""Examples that are timed: in fast mode a batch costs little."""
DESTROYED = 6
IMPROVING_EPOCHS = 3
"""Epochs that a training goes on improving for, before its patience begins to run out."""
CELLS = {kind.trials.plan: kind.trials.cells for kind in KINDS.values()}


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

    def seconds(self, each: Throughput, destroying: float = 0.0) -> float:
        """Return what it takes at a throughput, and at the seconds of one text destroyed once."""
        times = self.trials if each.states * self.prepared > TENSOR_CACHE.limit() else 1
        return (
            times * each.prepare * self.prepared
            + each.train * self.trained
            + each.answer * self.answered
            + destroying * self.destroyed
        )


_MEASURED: dict[tuple[str, Mode, Precision, int | None], Throughput] = {}
_DESTROYING: dict[str, float] = {}
_LOCK = Lock()


def throughput(
    mode: Mode,
    precision: Precision,
    examples: Sequence[Any],
    model: AnyModel,
    batch: int | None = None,
) -> Throughput:
    """Time one training step and one answer, each after a first that does not count.

    What a step takes however few its examples are, such as that of large word vectors, is told from
    a step of one example and shared by a whole `batch`, if none the model's own. Raises
    ExperimentError where the model has no fast mode, or no question can be trained on.
    """
    require_mode(model.name, isinstance(model, Asked), mode)
    few = tuple(examples[:: max(1, len(examples) // TIMED[mode])][: TIMED[mode]])
    if mode == CONTEXT:
        assert isinstance(model, Asked)  # as required
        shots = [each for each in examples if each.gold and model.task.nearest(each.gold)]
        asked = replace(model, given=tuple(shots[: TIMED[mode]]))
        if isinstance(asked, Served):  # what is kept takes no time
            return Throughput(0, 0, asked.seconds(few) / len(few), 0)
        asked.predict(few[:1])
        took = _seconds(lambda: asked.predict(few, precision), model)
        return Throughput(0, 0, took / len(few), 0)
    assert not isinstance(model, Served)  # as required
    with model.lock:
        copied = fresh(model)
    ready = prepare_any(copied, mode, precision)
    whole, recipe = ready.whole, ready.recipe
    ready.encoded(few[:1], whole.max_tokens)
    prepare = _seconds(lambda: ready.encoded(few, whole.max_tokens), copied)
    data = ready.encoded(few, whole.max_tokens)
    rows = range(len(data.lengths))
    if not rows:
        raise ExperimentError("no question to train on has an answer that stands in its passage")
    optimiser = make_optimiser(recipe, trainable(ready.trained), 1e-9)
    trainer = Trainer(ready.trained, recipe, optimiser, ready.precision)
    answer = ready.scorer(few)
    work = (
        lambda: take_step(trainer, *data.batch(rows), 0),
        lambda: take_step(trainer, *data.batch(rows[:1]), 0),
        lambda: answer(False),
    )
    for each in work:
        each()
    train, alone, told = (_seconds(each, copied) for each in work)
    if len(rows) > 1:
        more = max(0.0, train - alone) / (len(rows) - 1)
        train = len(few) * (more + max(0.0, alone - more) / (batch or recipe.batch))
    states = float(getattr(data, "size", 0)) if mode == "fast" else 0.0
    return Throughput(*(figure / len(few) for figure in (prepare, train, told, states)))


def _seconds(work: Callable[[], object], model: AnyModel) -> float:
    """Return the seconds of some work; on a CPU those of one core, which is what a worker has."""
    clock = time.process_time if on_cpu(model) else time.perf_counter
    began = clock()
    work()
    return clock() - began


def work_of(plan: Any, data: Any) -> tuple[Work, Examples]:  # Any: of any kind
    """Return what a run does in all its cells, and what it trains on.

    Raises ExperimentError where a generalisation has too few pairs.
    """
    sizes = [cell.size for cell in CELLS[type(plan)](plan)]
    texts, broken = 0, 0.0  # destroyed to test on, and for each example trained on
    more = 0  # changed and learnt besides
    if isinstance(data, Sets):
        dev, learnt = data.original_dev, data.challenge_train
        tests = [data.original_test, data.challenge_test, data.control]
        tests += data.counter_tests.values()
    elif isinstance(data, generalisation.SourceData):
        drawn = generalisation.draw_tests(plan, data, plan.seeds[0])
        sets = generalisation.draw_training(plan, data, plan.seeds[0], plan.rows[0], drawn)
        dev, learnt, tests = sets.dev, sets.train, [data.original, *drawn.values()]
    elif isinstance(plan, debiasing.Plan):
        dev, learnt = data.dev, data.pool
        tests = [*debiasing.tested_sets(plan, data).values()]
        more = sum(cell.size for cell in CELLS[type(plan)](plan) if cell.method == "augment")
    else:
        dev, learnt, tests = data.dev, data.pool, [data.test]
        names = len(getattr(plan, "transforms", ()) or salad_names(data.task))
        texts = names * plan.tests
        broken = getattr(plan, "share", 0.0) * (names if isinstance(plan, mitigation.Plan) else 1)
    if isinstance(plan, inoculation.Plan | generalisation.Plan):
        epochs = min(plan.max_epochs, plan.patience + IMPROVING_EPOCHS)
        epochs = 1 if plan.mode == CONTEXT else epochs
    else:
        epochs = plan.training.epochs
    tested, trainings = sum(map(len, tests)) + texts, sum(map(bool, sizes))
    work = Work(
        len(sizes),
        len(dev) + tested + (1 + broken) * max(plan.sizes) * len(set(plan.seeds)),
        len(sizes) * tested + (1 + epochs * trainings) * len(dev),
        epochs * ((1 + broken) * sum(sizes) + more),
        texts + broken * sum(sizes),
    )
    return work, learnt


def _measured(plan: Any, examples: Examples, model: AnyModel | None) -> Throughput:  # Any: as above
    """Return what a model takes in a mode, measured once."""
    how = getattr(plan, "training", plan)
    key = (plan.model, how.mode, how.precision, how.batch)
    with _LOCK:
        if key not in _MEASURED:
            opened = model or load_any(plan.model, plan.labels or None)
            _MEASURED[key] = throughput(how.mode, how.precision, examples, opened, how.batch)
        return _MEASURED[key]


def run_seconds(plan: Any, data: Any, model: AnyModel | None = None) -> float:  # Any: as above
    """Return about how many seconds one worker takes for all cells, alone on its core.

    The first question about a model and mode times a copy of it, `model` where it is loaded
    already. Raises ModelError, or ExperimentError where there is no fast mode or too few pairs.
    """
    work, learnt = work_of(plan, data)
    each, destroying = _measured(plan, learnt, model), 0.0
    if work.destroyed:
        with _LOCK:
            if plan.model not in _DESTROYING:
                opened: Any = model or load_any(plan.model, plan.labels or None)
                names, few = salad_names(data.task), data.test[:DESTROYED]
                destroy(opened, few[:1], names)  # loads what the transforms work with
                took = _seconds(lambda: destroy(opened, few, names), opened)
                _DESTROYING[plan.model] = took / len(few) / len(names)
            destroying = _DESTROYING[plan.model]
    return work.seconds(each, destroying)


def overflow_note(plan: inoculation.Plan, sets: Sets, model: AnyModel | None = None) -> str:
    """Say that frozen states are more than is kept, else ""; raises as `run_seconds`."""
    work, learnt = work_of(plan, sets)
    size, limit = _measured(plan, learnt, model).states * work.prepared, TENSOR_CACHE.limit()
    if size <= limit:
        return ""
    return (
        f"What the frozen layers say of these texts takes about {size / 1e6:,.0f} MB, more than "
        f"NLI_CLINIC_STATES_MB lets be kept ({limit / 1e6:,.0f}), so each cell "
        "computes it anew."
    )
