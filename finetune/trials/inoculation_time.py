"""About how long a run takes here: a short trial of the plan's own pairs, then sums."""

from finetune.training.frozen_layers import TENSOR_CACHE
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Plan, cells
from finetune.trials.pace import Pace, mean_characters, pace_of
from probe.analysis.pace import characters
from probe.models.library import AnyModel

IMPROVING_EPOCHS = 3
"""Epochs that a cell goes on improving for, before its patience begins to run out."""


def estimate_seconds(plan: Plan, sets: Sets, model: AnyModel | None = None) -> float:
    """Return about how many seconds one worker takes for all cells, alone on its core.

    The first question about a model and mode costs a trial in a copy of the model, `model`
    where it is loaded already. Raises ModelError, or ExperimentError where there is no fast mode.
    """
    return seconds_at_pace(plan, sets, _pace(plan, sets, model))


def _pace(plan: Plan, sets: Sets, model: AnyModel | None) -> Pace:
    return pace_of(plan.model, plan.labels, plan, sets.challenge_train, model)


def overflow_note(plan: Plan, sets: Sets, model: AnyModel | None = None) -> str:
    """Say that the frozen layers' states are more than is kept of them, "" where they are not.

    Costs and raises what `seconds` does.
    """
    size, limit = _state_bytes(plan, sets, _pace(plan, sets, model)), TENSOR_CACHE.limit()
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
    tests, dev = _test_characters(sets), characters(sets.task, sets.original_dev)
    each = mean_characters(sets.task, sets.challenge_train)
    times = 1 if _state_bytes(plan, sets, pace) <= TENSOR_CACHE.limit() else len(planned)
    total = times * pace.prepare * _prepared_characters(plan, sets)
    for cell in planned:
        read = tests + dev * (epochs if cell.size else 1) + each * cell.size
        total += pace.predict * read + pace.train * epochs * each * cell.size
    return total


def _state_bytes(plan: Plan, sets: Sets, pace: Pace) -> float:
    """Return the bytes of all that is prepared."""
    return pace.states * _prepared_characters(plan, sets)


def _prepared_characters(plan: Plan, sets: Sets) -> float:
    """Return the characters of all pairs that the cells read."""
    drawn = mean_characters(sets.task, sets.challenge_train) * max(plan.sizes)
    clean = _test_characters(sets) + characters(sets.task, sets.original_dev)
    return clean + drawn * len(set(plan.seeds))


def _test_characters(sets: Sets) -> int:
    tests = (sets.original_test, sets.challenge_test, sets.control, *sets.counter_tests.values())
    return characters(sets.task, *tests)
