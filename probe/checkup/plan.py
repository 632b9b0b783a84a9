"""What a check-up examines: which model, which parts, how many examples."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from threading import Lock
from typing import Any

from probe.analysis.pace import TransformPace, asking, characters, trial
from probe.checkup.measuring import Asked, parts_of
from probe.errors import CheckupError
from probe.models.classifier import resolve
from probe.models.library import AnyModel, load_any
from probe.runs.run import Json
from probe.tasks.task import Label, Task, task_named
from probe.templates import Request, generate, subcases
from probe.transforms import REGISTRY, Options
from probe.transforms.registry import missing

MAX_SEED = 2**31 - 1
"""The largest seed: JSON and every database hold it."""


@dataclass(frozen=True)
class Plan:
    """What a check-up examines.

    `parts` are those that can be measured here. `file` names a person's file, "" for the bundled
    examples, and `reading` are the options of the command that say how it is read. `labels` are
    those of the model's outputs in their order, where its config does not say it.
    """

    model: str
    task: str
    parts: tuple[str, ...]
    asked: Asked
    labels: tuple[Label, ...] = ()
    file: str = ""
    reading: tuple[str, ...] = ()


def plan_json(plan: Plan) -> Json:
    """Return a plan as JSON."""
    return asdict(plan)


def plan_from(values: Json) -> Plan:
    """Read a plan from its JSON."""
    lists = {name: tuple(values[name]) for name in ("parts", "labels", "reading")}
    return Plan(**{**values, **lists, "asked": Asked(**values["asked"])})


def new_plan(
    model: str,
    task: Task,
    asked: Asked,
    labels: tuple[Label, ...] = (),
    file: str = "",
    reading: Sequence[str] = (),
) -> Plan:
    """Return the plan of all parts that the task has here, in the precision of this machine.

    Raises CheckupError for numbers that cannot be.
    """
    _refuse(
        {
            "at least one example must be changed in each way": asked.n < 1,
            "each sub-case of HANS needs at least one pair": asked.per_subcase < 1,
            f"the seed must be a whole number from 0 to {MAX_SEED}": not 0
            <= asked.seed
            <= MAX_SEED,
        }
    )
    exact = replace(asked, precision=resolve(asked.precision))
    return Plan(model, task.name, tuple(parts_of(task)), exact, labels, file, tuple(reading))


def _refuse(problems: Mapping[str, bool]) -> None:
    for sentence, is_true in problems.items():
        if is_true:
            raise CheckupError(sentence)


def left_out(task: Task) -> dict[str, str]:
    """Return the transforms of a task that cannot run here, by name, and what they lack."""
    lacking = {name: missing(each, task) for name, each in REGISTRY.items() if each.suits(task)}
    return {name: why for name, why in lacking.items() if why}


def with_gold(examples: Sequence[Any], task: Task) -> list[Any]:  # Any: the task's own examples
    """Return the examples that have a gold label. Raises CheckupError where none has one."""
    labelled = [each for each in examples if each is not None and each.gold]
    if not labelled:
        raise CheckupError(f"the file holds no {task.unit} with a gold label; a check-up needs one")
    return labelled


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
