"""What all kinds of trials have in common: how they train, are checked, stored and read."""

import json
import re
import secrets
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, get_args, get_origin, get_type_hints

from finetune.training.recipes import Mode
from finetune.trials.datasets import SourceData, source_request
from probe.data.names import STEM_BYTES, cut
from probe.errors import ExperimentError
from probe.models.classifier import Precision
from probe.runs.experiment import (
    Experiment,
    Progress,
    Result,
    RunCell,
    earlier_results,
)
from probe.runs.run import Json, Run, RunRequest, StoredRun, typed_run
from probe.tasks.task import WHY_IN_COMMON, Label

MAX_SEED, MAX_RATE, MAX_EPOCHS = 2**31 - 1, 10.0, 1000
"""The largest seed that each library takes; beyond a rate or epochs of these nothing is learnt."""
MAX_QUOTED = 60
"""Characters that a message quotes of a text."""
Number = TypeVar("Number", int, float)


def numbers(name: str, text: str, kind: Callable[[str], Number]) -> tuple[Number, ...]:
    """Read numbers with commas between them, each once. Raises ExperimentError with a sentence."""
    try:
        return tuple(dict.fromkeys(kind(part) for part in text.split(",") if part.strip()))
    except ValueError:
        quoted = repr(text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]} …")
        raise ExperimentError(
            f"{name} {quoted} is not a list of numbers such as 10,50,100"
        ) from None


class SweepPlan(Protocol):
    """A plan that trains on several sizes, at several rates, by several seeds."""

    @property
    def sizes(self) -> Sequence[int]:
        """How many examples each training has."""

    @property
    def lrs(self) -> Sequence[float]:
        """The learning rates."""

    @property
    def seeds(self) -> Sequence[int]:
        """By which examples are drawn and trained on."""

    @property
    def mode(self) -> Mode:
        """Which weights are trained."""

    @property
    def batch(self) -> int | None:
        """Examples of a batch, None for as many as in the model's own training."""

    @property
    def precision(self) -> Precision:
        """The precision of all computing."""

    @property
    def max_epochs(self) -> int:
        """Epochs of a training at most."""

    @property
    def patience(self) -> int:
        """Epochs without a gain after which it ends."""


def sweep_problems(plan: SweepPlan) -> dict[str, bool]:
    """Return what may be wrong with a plan's trainings, but for how large its sizes may be."""
    return {
        "give at least one size, one learning rate and one seed": not (
            plan.sizes and plan.lrs and plan.seeds
        ),
        **rate_problems(plan.lrs),
        **_seed_problems(plan.seeds),
        f"epochs must be at most {MAX_EPOCHS}": plan.max_epochs > MAX_EPOCHS,
        "batch, epochs and patience must be 1 or more": min(
            1 if plan.batch is None else plan.batch, plan.max_epochs, plan.patience
        )
        < 1,
        **_choice_problems(plan.mode, plan.precision),
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


def _choice_problems(mode: str, precision: str) -> dict[str, bool]:
    modes, precisions = get_args(Mode), get_args(Precision)
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
    """How a repair gets on: mean loss of the epoch, accuracy on clean dev, examples a second."""

    epoch: int
    loss: float
    dev: float
    examples_per_second: float


class RepairPlan(Protocol):
    """A plan that trains a model further on examples drawn of a pool, and destroys others."""

    @property
    def model(self) -> str:
        """The name of the model."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The order of its outputs, where its config does not say it."""

    @property
    def training(self) -> Training:
        """How it is trained."""

    @property
    def task(self) -> str:
        """The name of the task that the model answers."""

    @property
    def sizes(self) -> Sequence[int]:
        """How many examples each training has."""

    @property
    def seeds(self) -> Sequence[int]:
        """By which it draws them."""

    @property
    def tests(self) -> int:
        """How many test examples are destroyed."""


def check_repair(plan: RepairPlan, source: SourceData, own: Mapping[str, bool]) -> None:
    """Refuse a plan that cannot run on these examples; `own` may be wrong with its kind besides.

    Raises ExperimentError with a sentence.
    """
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
        f"at least one test {unit} must be destroyed": plan.tests < 1,
        f"the model answers the task {plan.task}, the examples are of {source.task.name}": (
            plan.task != source.task.name
        ),
    }
    refuse(problems)


def new_model_name(model: str, *words: str) -> str:
    """Return a new name for what a run makes of a model; it leads to no run."""
    names = (cut(name, STEM_BYTES // 2) for name in (Path(model).name, *words))
    return re.sub(r"[^\w.-]+", "-", "-".join((*names, secrets.token_hex(4))))


@cache
def reader(kind: Any) -> Callable[[Any], Any]:  # Any: a type, and what JSON holds
    """Return what reads a value of a type from JSON: of dataclasses, named tuples, what holds them.

    Fields that an older JSON lacks begin as the dataclass says.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        make: Any = kind  # Any: as above
        parts = {name: reader(hint) for name, hint in get_type_hints(kind).items()}
        return lambda values: make(
            **{name: parts.get(name, _same)(value) for name, value in values.items()}
        )
    if origin is tuple:
        each = reader(inner[0])
        return lambda values: tuple(map(each, values))
    if origin is Mapping:
        each = reader(inner[1])
        return lambda values: {name: each(value) for name, value in values.items()}
    if isinstance(kind, type) and issubclass(kind, tuple):
        return lambda values: kind(*values)
    return _same


def _same(value: Any) -> Any:  # Any: as above
    return value


def _read(kind: Any, values: Json) -> Any:  # Any: as above
    return reader(kind)(values)


def row_json(row: Any) -> Json:  # Any: a dataclass
    """Return an epoch or a point as JSON, without its cell."""
    fields = {name: value for name, value in asdict(row).items() if name != "cell"}
    plain: Json = json.loads(json.dumps(fields))
    return plain


Plan = TypeVar("Plan")
Cell = TypeVar("Cell", bound=Hashable)
Progressed = TypeVar("Progressed")
Point = TypeVar("Point")


def keeps_none(plan: object, cell: object) -> bool:
    """Return that no cell's model is kept."""
    return False


@dataclass(frozen=True)
class TrialKind(Generic[Plan, Cell, Progressed, Point]):
    """How a kind's plans, cells, epochs and points are stored and read.

    The fields in `varies` say which cells a plan has, and how they are judged. The model of a cell
    that `keeps_model` stays.
    """

    name: str
    plan: type[Plan]
    cell: type[Cell]
    epoch: type[Progressed]
    point: type[Point]
    cells: Callable[[Plan], Sequence[Cell]]
    varies: Sequence[str]
    keeps_model: Callable[[Plan, Cell], bool] = keeps_none

    def plan_from(self, values: Json) -> Plan:
        """Read a plan from its JSON."""
        plan: Plan = _read(self.plan, values)
        return plan

    def cell_from(self, key: Json) -> Cell:
        """Read a cell from its JSON."""
        return self.cell(**key)

    def epoch_from(self, key: Json, values: Json) -> Progressed:
        """Read an epoch from its cell's key and its JSON."""
        epoch: Progressed = self._row(self.epoch, key, values)
        return epoch

    def point_from(self, key: Json, values: Json) -> Point:
        """Read a point from its cell's key and its JSON."""
        point: Point = self._row(self.point, key, values)
        return point

    def _row(self, kind: type[Any], key: Json, values: Json) -> Any:  # Any: an epoch or a point
        own = {"cell": key} if "cell" in get_type_hints(kind) else {}
        return _read(kind, {**own, **values})

    def request(
        self,
        plan: Plan,
        source: SourceData,
        environment: Json | None = None,
        artefacts: Json | None = None,
    ) -> RunRequest:
        """Return what the store needs to begin a repair; the sets' hashes join `artefacts`."""
        values = asdict(plan)  # type: ignore[call-overload]  # as above
        return source_request(self.name, values, source, environment, artefacts)

    def run(self, run: StoredRun) -> Run[Plan, Cell, Progressed, Point]:
        """Return a stored run with its own types."""
        return typed_run(run, self.plan_from, self.cell_from, self.epoch_from, self.point_from)

    def runs(self, runs: Iterable[StoredRun]) -> tuple[Run[Plan, Cell, Progressed, Point], ...]:
        """Return those of this kind among stored runs, in their order."""
        return tuple(self.run(run) for run in runs if run.kind == self.name)

    def points_of(self, run: StoredRun) -> tuple[Point, ...]:
        """Return the points that a run has come to, in the order of its cells."""
        return tuple(self.point_from(cell.key, cell.result) for cell in run.cells if cell.result)

    def settings(self, plan: Json) -> Json:
        """Return what is the same in every cell of a plan, of whatever age its JSON is."""
        whole = asdict(self.plan_from(plan))  # type: ignore[call-overload]  # a dataclass
        return {name: value for name, value in whole.items() if name not in self.varies}

    def known_results(
        self, runs: Iterable[StoredRun], plan: Plan, artefacts: Json
    ) -> dict[int, Json]:
        """Return by the numbers of a plan's cells what earlier runs came to with the same settings.

        A cell depends on its key, the model, the sets and the plan's settings; `artefacts` hold the
        hashes of `model` and `sets`. Cells whose model is to be kept are computed anew.
        """
        same = self.settings(asdict(plan))  # type: ignore[call-overload]  # as above
        return earlier_results(
            runs,
            self.name,
            artefacts,
            lambda values: self.settings(values) == same,
            self.cells(plan),
            self.cell_from,
            partial(self.keeps_model, plan),
        )

    def told(
        self,
        rows: Iterable[object],
        files: Callable[[], Mapping[str, bytes]] = dict,
    ) -> Iterator[Progress | Result]:
        """Yield epochs and at last the point as they are stored; its model's `files` come with it.

        What the point holds is computed before the files are.
        """
        for row in rows:
            if isinstance(row, self.point):
                yield Result(row_json(row), files())
            else:
                yield Progress(row_json(row))

    def experiment(
        self,
        run_cell: RunCell,
        title: Callable[[Json], str],
        brief: Callable[[Json], Json],
        conclude: Callable[[StoredRun, Json], Json | None],
        keep: Callable[[StoredRun, Json], str | None] = lambda run, result: None,
        **others: Any,  # Any: other fields of an experiment
    ) -> Experiment:
        """Return the kind of run; `title` names one before its model.

        A worker keeps the states of frozen layers, which all cells of fast mode read.
        """
        return Experiment(
            kind=self.name,
            cells=lambda plan: [vars(cell) for cell in self.cells(self.plan_from(plan))],
            run_cell=run_cell,
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
        run_cell: RunCell,
        title: str,
        brief: Callable[[Json], Json],
        conclude: Callable[[Plan, Sequence[Point]], Json | None],
        keep: Callable[[StoredRun, Json], str | None] = lambda run, result: None,
    ) -> Experiment:
        """Return the kind of run of repairs, judged from plan and points alone."""

        def verdict(run: StoredRun, _: Json) -> Json | None:
            found = conclude(self.plan_from(run.plan), self.points_of(run))
            if found is None or "measure" not in run.artefacts:
                return found
            # right answers are read in fewer classes than the task has
            return {**found, "explanation": f"{found['explanation']} {WHY_IN_COMMON}"}

        return self.experiment(run_cell, lambda _: title, brief, verdict, keep)
