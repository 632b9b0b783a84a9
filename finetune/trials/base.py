"""What all kinds of trials have in common: how they train, are checked, stored and read."""

import json
import math
import re
import secrets
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args

from pydantic import TypeAdapter

from finetune.training.recipes import CONTEXT, TRAINED, Mode
from finetune.trials.datasets import SourceData
from probe.data.names import STEM_BYTES, cut
from probe.errors import ExperimentError
from probe.first_import import first_import
from probe.models.classifier import Precision
from probe.runs.experiment import CellContext, Experiment, Progress, Result
from probe.runs.models import load_unchanged
from probe.runs.run import Json, Run, RunRequest, StoredRun, typed_run
from probe.tasks.task import WHY_IN_COMMON

if TYPE_CHECKING:
    from finetune.trials import (
        calibration,
        debiasing,
        generalisation,
        inoculation,
        mitigation,
        transfer,
    )

MAX_SEED, MAX_RATE, MAX_EPOCHS = 2**31 - 1, 10.0, 1000
"""The largest seed that each library takes; beyond a rate or epochs of these nothing is learnt."""
MAX_QUOTED = 60
"""Characters that a message quotes of a text."""
Number = TypeVar("Number", int, float)
Plan = TypeVar("Plan")
Cell = TypeVar("Cell", bound=Hashable)
Data = TypeVar("Data")
Point = TypeVar("Point")


def numbers(name: str, text: str, kind: Callable[[str], Number]) -> tuple[Number, ...]:
    """Read numbers with commas between them, each once. Raises ExperimentError with a sentence."""
    try:
        return tuple(dict.fromkeys(kind(part) for part in text.split(",") if part.strip()))
    except ValueError:
        quoted = repr(text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]} …")
        raise ExperimentError(
            f"{name} {quoted} is not a list of numbers such as 10,50,100"
        ) from None


def sweep_problems(
    plan: "inoculation.Plan | generalisation.Plan", modes: Sequence[str] = TRAINED
) -> dict[str, bool]:
    """Return what may be wrong with a plan's trainings, but for how large its sizes may be."""
    fewest = min(1 if plan.batch is None else plan.batch, plan.max_epochs, plan.patience)
    return {
        "give at least one size, one learning rate and one seed": not (
            plan.sizes and plan.lrs and plan.seeds
        ),
        **(rate_problems(plan.lrs) if plan.mode != CONTEXT else {}),
        **_seed_problems(plan.seeds),
        f"epochs must be at most {MAX_EPOCHS}": plan.max_epochs > MAX_EPOCHS,
        "batch, epochs and patience must be 1 or more": fewest < 1,
        **_choice_problems(plan.mode, plan.precision, modes),
    }


def rate_problems(rates: Sequence[float], each: str = "each") -> dict[str, bool]:
    """Return what may be wrong with learning rates; `each` begins what is said of them."""
    return {
        f"{each} learning rate must be above 0 and at most {MAX_RATE:g}": not all(
            0 < rate <= MAX_RATE for rate in rates
        )
    }


def _seed_problems(seeds: Sequence[int]) -> dict[str, bool]:
    return {
        f"each seed must be a whole number from 0 to {MAX_SEED}": not all(
            0 <= seed <= MAX_SEED for seed in seeds
        )
    }


def _choice_problems(mode: str, precision: str, modes: Sequence[str] = TRAINED) -> dict[str, bool]:
    precisions = get_args(Precision)
    return {
        f"mode must be one of {', '.join(modes)}": mode not in modes,
        f"precision must be one of {', '.join(precisions)}": precision not in precisions,
    }


def names_problem(
    what: str, names: Sequence[str], known: Sequence[str], some: bool = True
) -> dict[str, bool]:
    """Return what may be wrong with a list of names; with `some` there must be one."""
    return {
        f"{what} are some of {', '.join(known)}, each once": (
            (some and not names) or not set(names) <= set(known) or len(set(names)) < len(names)
        )
    }


def refuse(problems: Mapping[str, object]) -> None:
    """Raise ExperimentError with the first sentence that is true, where there is one."""
    for sentence, is_true in problems.items():
        if is_true:
            raise ExperimentError(sentence)


def diverged_words(trainings: Iterable[tuple[float, bool]]) -> str:
    """Say at which rates a training diverged, by the rate and whether it did, "" where none did."""
    rates = sorted({rate for rate, diverged in trainings if diverged})
    if not rates:
        return ""
    return (
        f"Training diverged with learning rate {', '.join(f'{rate:g}' for rate in rates)}: the "
        "loss became no number. Such a rate is chosen only where every one did so; lower ones may "
        "learn."
    )


def best_rates(
    points: Iterable[Any],  # Any: of a sweep
    group: Callable[[Any], Any],
    score: Callable[[Any], float],
) -> dict[Any, list[Any]]:
    """Return for each group, smallest first, the repeats with the best learning rate.

    Ties go to the smaller rate. One at which a training diverged is chosen only where all did so.
    """

    def merit(own: Sequence[Any]) -> tuple[bool, float, float]:
        return not any(each.diverged for each in own), fmean(map(score, own)), -own[0].cell.lr

    by_rate: dict[Any, dict[float, list[Any]]] = {}
    for point in points:
        by_rate.setdefault(group(point), {}).setdefault(point.cell.lr, []).append(point)
    return {each: max(by_rate[each].values(), key=merit) for each in sorted(by_rate)}


@dataclass(frozen=True)
class Training:
    """How to train further: the weights of the last epoch count.

    `mode` fast trains the upper layers alone. `batch` None takes the size of the model's own
    training. Three epochs are the paper's (Gupta et al. 2021, appendix D).
    """

    lr: float
    mode: Mode = "fast"
    epochs: int = 3
    batch: int | None = None
    max_tokens: int = 128
    precision: Precision = "auto"


@dataclass(frozen=True)
class Epoch:
    """How a cell gets on: mean loss of the epoch, score on dev, the rate it used."""

    cell: Any  # Any: each kind has cells of its own
    epoch: int
    loss: float
    dev: float
    lr: float
    examples_per_second: float


def check_repair(
    plan: "calibration.Plan | mitigation.Plan | transfer.Plan | debiasing.Plan",
    source: SourceData,
    own: Mapping[str, bool],
) -> None:
    """Raise ExperimentError for a plan that cannot run; `own` may be wrong with its kind."""
    training, available, unit = plan.training, len(source.pool), source.task.unit
    problems = {
        **rate_problems([training.lr], "the"),
        f"epochs must be from 1 to {MAX_EPOCHS}": not 1 <= training.epochs <= MAX_EPOCHS,
        "batch must be 1 or more": training.batch is not None and training.batch < 1,
        **_choice_problems(training.mode, training.precision),
        **own,
        "give at least one size and one seed": not (plan.sizes and plan.seeds),
        f"each size must be from 1 to {available}: so many {unit}s there are to train on": any(
            not 1 <= size <= available for size in plan.sizes
        ),
        **_seed_problems(plan.seeds),
        f"at least one test {unit} must be changed": plan.tests < 1,
        f"the model answers the task {plan.task}, the examples are of {source.task.name}": (
            plan.task != source.task.name
        ),
    }
    refuse(problems)


def new_model_name(model: str, *words: str) -> str:
    """Return a new name for what a run makes of a model; it leads to no run."""
    names = (cut(name, STEM_BYTES // 2) for name in (Path(model).name, *words))
    return re.sub(r"[^\w.-]+", "-", "-".join((*names, secrets.token_hex(4))))


@dataclass(frozen=True)
class MethodCell:
    """One calibration, mitigation or debiasing; what needs no training has size 0 and seed 0."""

    method: str
    size: int
    seed: int


BASE = MethodCell("baseline", 0, 0)
CONTROL = "plain"
"""Further training as usual, which other trainings stand beside."""
FITTED = ("temperature", "threshold")
"""The methods that fit a number on dev and train no weights."""


def method_cells(
    plan: "calibration.Plan | mitigation.Plan | debiasing.Plan",
) -> tuple[MethodCell, ...]:
    """Return the cells of a plan, the model as it was first, then what is only fitted."""
    trained = [
        MethodCell(method, size, seed)
        for method in plan.methods
        if method not in ("baseline", *FITTED)
        for size in sorted(set(plan.sizes))
        for seed in dict.fromkeys(plan.seeds)
    ]
    return (BASE, *(MethodCell(name, 0, 0) for name in plan.methods if name in FITTED), *trained)


def is_largest(
    plan: "calibration.Plan | mitigation.Plan | debiasing.Plan", cell: MethodCell
) -> bool:
    """Whether a cell is of the first method and, where that trains, of the largest size."""
    size = 0 if plan.methods[0] in FITTED else max(plan.sizes)
    return (cell.method, cell.size) == (plan.methods[0], size)


def by_method(points: Sequence[Point]) -> list[list[Point]]:
    """Return the repeats of each method and size together, in the order of the points."""
    groups: dict[object, list[Point]] = {}
    for point in points:
        groups.setdefault(replace(point.cell, seed=0), []).append(point)  # type: ignore[attr-defined]  # of a method
    return list(groups.values())


def row_json(row: Any) -> Json:  # Any: a dataclass
    """Return an epoch or a point as JSON, without its cell."""
    fields = {name: value for name, value in asdict(row).items() if name != "cell"}
    plain: Json = json.loads(json.dumps(fields))
    return plain


_adapter = cache(TypeAdapter)


def _read(kind: Any, values: Json) -> Any:  # Any: a dataclass
    return _adapter(kind).validate_python(values)


def _keeps_none(plan: object, cell: object) -> bool:
    return False


def _sets_of(artefacts: Json, cell: object) -> object:
    return artefacts.get("sets")


@dataclass(frozen=True)
class TrialKind(Generic[Plan, Cell, Data, Point]):
    """How a kind's plans, cells, epochs and points are computed, stored and read.

    It is sent to workers, so that its functions are named ones of modules that import fast.
    The fields in `varies` say which cells a plan has, and how they are judged. The model of a cell
    that `keeps_model` comes with its point and may stay; unless `takes_all`, such a cell is
    computed anew even where it is known. `artefacts` are facts that a run keeps of its data,
    `depends` those of them that a cell's result depends on. `older` are fields of a plan that came
    later, with what they were before.
    """

    name: str
    plan: type[Plan]
    cell: type[Cell]
    point: type[Point]
    cells: Callable[[Plan], Sequence[Cell]]
    varies: Sequence[str]
    data_json: Callable[[Data], Json]
    data_from: Callable[[Json], Data]
    artefacts: Callable[[Plan, Data], Json]
    keeps_model: Callable[[Plan, Cell], bool] = _keeps_none
    takes_all: bool = False
    load: Callable[[str, str, tuple[str, ...]], Any] = load_unchanged  # Any: as above
    depends: Callable[[Json, Cell], object] = _sets_of
    older: Sequence[tuple[str, object]] = ()

    def plan_from(self, values: Json) -> Plan:
        """Read a plan from its JSON; what it lacks is as `older` or the dataclass says."""
        plan: Plan = _read(self.plan, {**dict(self.older), **values})
        return plan

    def cell_from(self, key: Json) -> Cell:
        """Read a cell from its JSON."""
        return self.cell(**key)

    def epoch_from(self, key: Json, values: Json) -> Epoch | None:
        """Read an epoch from its cell's key and its JSON; None where only texts are counted yet."""
        if "epoch" not in values:
            return None
        own = {name: value for name, value in values.items() if name != "texts"}
        return Epoch(**{"lr": 0.0, **own, "cell": self.cell_from(key)})

    def point_from(self, key: Json, values: Json) -> Point:
        """Read a point from its cell's key and its JSON."""
        point: Point = _read(self.point, {"cell": key, **values})
        return point

    def request(
        self,
        plan: Plan,
        data: Data,
        environment: Json | None = None,
        artefacts: Json | None = None,
    ) -> RunRequest:
        """Return what the store needs to begin a run; facts of the data join `artefacts`."""
        facts = {**(artefacts or {}), **self.artefacts(plan, data)}
        values = asdict(plan)  # type: ignore[call-overload]  # a dataclass

        def seconds() -> float:
            with first_import:
                from finetune.trials.duration import run_seconds

            return run_seconds(plan, data)

        inputs = self.data_json(data)
        return RunRequest(self.name, values, inputs, environment or {}, facts, seconds)

    def run(self, run: StoredRun) -> Run[Plan, Cell, Epoch, Point]:
        """Return a stored run with its own types."""
        return typed_run(run, self.plan_from, self.cell_from, self.epoch_from, self.point_from)

    def runs(self, runs: Iterable[StoredRun]) -> tuple[Run[Plan, Cell, Epoch, Point], ...]:
        """Return those of this kind among stored runs, in their order."""
        return tuple(self.run(run) for run in runs if run.kind == self.name)

    def points_of(self, run: StoredRun) -> tuple[Point, ...]:
        """Return the points that a run has come to, in the order of its cells."""
        return tuple(self.point_from(cell.key, cell.result) for cell in run.cells if cell.result)

    def known_results(
        self, runs: Iterable[StoredRun], plan: Plan, artefacts: Json
    ) -> dict[int, Json]:
        """Return by numbers of cells what earlier runs came to with all that counts the same."""

        def settings(plan: Json) -> Json:
            whole = asdict(self.plan_from(plan))  # type: ignore[call-overload]  # a dataclass
            return {name: value for name, value in whole.items() if name not in self.varies}

        same = settings(asdict(plan))  # type: ignore[call-overload]  # as above
        known: dict[Cell, Json] = {}
        for run in runs:
            if run.kind != self.name or run.artefacts.get("model") != artefacts["model"]:
                continue
            if settings(run.plan) == same:
                known |= {
                    cell: stored.result
                    for stored in run.cells
                    for cell in [self.cell_from(stored.key)]
                    if stored.result
                    and self.depends(run.artefacts, cell) == self.depends(artefacts, cell)
                }
        return {
            number: known[cell]
            for number, cell in enumerate(self.cells(plan))
            if cell in known and (self.takes_all or not self.keeps_model(plan, cell))
        }

    def run_cell(
        self, plan: Json, inputs: Json, key: Json, context: CellContext
    ) -> Iterator[Progress | Result]:
        """Run a cell of a stored run. Raises ModelError where its model is another one by now."""
        with first_import:
            from finetune.training.checkpoints import model_files
            from finetune.trials.trial import trial

        typed, cell = self.plan_from(plan), self.cell_from(key)
        before = self.load(plan["model"], context.model, tuple(plan.get("labels", ())))
        data = self.data_from(inputs)
        model, rows = trial(self.name, typed, data, cell, before, context.stop)
        for row in rows:
            if isinstance(row, self.point):  # what it holds is computed before the files are
                kept = self.keeps_model(typed, cell)
                yield Result(row_json(row), model_files(model) if kept else {})
            else:
                yield Progress(row_json(row))

    def experiment(
        self,
        title: Callable[[Json], str],
        brief: Callable[[Json], Json],
        conclude: Callable[[StoredRun, Json], Json | None],
        worth: Callable[[Json], float] = lambda result: -math.inf,
        kept_name: Callable[[Plan], str] = lambda plan: "",
        **others: Any,  # Any: other fields of an experiment
    ) -> Experiment:
        """Return the kind of run; `title` names one before its model.

        Of several models that may be kept the one whose result is `worth` most is, or none that is
        worth nothing, minus infinity. A worker keeps the states of frozen layers, which all cells
        of fast mode read.
        """

        def keep(run: StoredRun, result: Json) -> str | None:
            plan, own = self.plan_from(run.plan), worth(result)
            rivals = [
                worth(cell.result)
                for cell in run.cells
                if cell.result and self.keeps_model(plan, self.cell_from(cell.key))
            ]
            if own == -math.inf or (run.kept and own < max(rivals, default=own)):
                return None
            return run.kept or kept_name(plan)

        return Experiment(
            kind=self.name,
            cells=lambda plan: [vars(cell) for cell in self.cells(self.plan_from(plan))],
            run_cell=self.run_cell,
            title=lambda plan: f"{title(plan)} {Path(plan['model']).name}",
            brief=lambda result: brief(result or {}),
            model=lambda plan: str(plan["model"]),
            keep=keep,
            conclude=conclude,
            one_worker=lambda plan: (plan.get("training") or plan).get("mode") == "fast",
            **others,
        )

    def repair(
        self,
        title: str,
        brief: Callable[[Json], Json],
        conclude: Callable[[Plan, Sequence[Point]], Json | None],
        worth: Callable[[Json], float] = lambda result: -math.inf,
    ) -> Experiment:
        """Return the kind of run of repairs, judged from plan and points alone."""

        def verdict(run: StoredRun, _: Json) -> Json | None:
            found = conclude(self.plan_from(run.plan), self.points_of(run))
            if found is None or "measure" not in run.artefacts:
                return found
            # right answers are read in fewer classes than the task has
            return {**found, "explanation": f"{found['explanation']} {WHY_IN_COMMON}"}

        def kept_name(plan: Any) -> str:  # Any: its models have methods
            return new_model_name(plan.model, plan.methods[0])

        return self.experiment(lambda _: title, brief, verdict, worth, kept_name)
