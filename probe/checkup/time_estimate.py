"""About how long a check-up takes here."""

from collections.abc import Sequence
from threading import Lock
from typing import Any

from probe.analysis.pace import TransformPace, asking, characters, trial
from probe.checkup.plan import Plan
from probe.models.library import AnyModel, load_any
from probe.tasks.task import task_named
from probe.templates import Request, generate, subcases
from probe.transforms import REGISTRY, Options

_PACES: dict[tuple[str, tuple[str, ...]], TransformPace] = {}
_LOCK = Lock()


def estimate_seconds(plan: Plan, examples: Sequence[Any], model: AnyModel | None = None) -> float:
    """Return about how many seconds one worker takes for all parts, alone on its core.

    The first question about a model costs a trial, `model` where it is loaded already. Raises
    ModelError.
    """
    names = tuple(part for part in plan.parts if part in REGISTRY)
    pace = _pace_of(plan, names, examples, model)
    return seconds_at_pace(plan, names, examples, pace)


def _pace_of(
    plan: Plan, names: tuple[str, ...], examples: Sequence[Any], model: AnyModel | None
) -> TransformPace:
    key = (plan.model, names)
    with _LOCK:
        if key not in _PACES:
            loaded = model or load_any(plan.model, plan.labels or None)
            _PACES[key] = trial(names, Options(), examples, loaded)
        return _PACES[key]


def seconds_at_pace(
    plan: Plan, names: Sequence[str], examples: Sequence[Any], pace: TransformPace
) -> float:
    """Return the seconds; what a transform makes is taken to be as long as what it is made of."""
    whole = characters(task_named(plan.task), examples)
    few = whole * min(1.0, plan.asked.n / len(examples))
    own = sum(pace.own[name] + pace.answer for name in names)
    ask = pace.ask if asking(names) else 0.0
    pairs = _pair_characters() * plan.asked.per_subcase if "hans" in plan.parts else 0
    return pace.answer * (whole + pairs) + few * (own + ask)


def _pair_characters() -> int:
    """Return the characters of one pair of each sub-case of HANS."""
    pairs = [pair for each in subcases() for pair in generate(Request("hans", subcase=each), 1, 0)]
    return sum(len(pair.premise) + len(pair.hypothesis) for pair in pairs)
