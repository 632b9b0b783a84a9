"""Calibration as a kind of run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import inf
from statistics import fmean
from typing import Literal, get_args

from finetune.trials.base import (
    Epoch,
    Training,
    TrialKind,
    check_repair,
    names_problem,
    new_model_name,
)
from finetune.trials.datasets import SourceData, source_from
from probe.first_import import first_import
from probe.runs.experiment import CellContext, Progress, Result
from probe.runs.models import load_unchanged
from probe.runs.run import Json, StoredRun
from probe.statistics import (
    Calibration,
    CalibrationError,
    Estimate,
    joined_difference,
    mean_error,
    share,
)
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task
from probe.terms import Term, Titled

Method = Literal["baseline", "temperature", "smoothing", "focal"]
METHODS: Mapping[Method, Term] = {
    "baseline": Term("As it was", "The model before any calibration."),
    "temperature": Term(
        "Temperature scaling",
        "All logits are divided by one number, fitted on the dev set; no answer changes "
        "(Guo et al. 2017).",
    ),
    "smoothing": Term(
        "Label smoothing",
        "Training asks for a little less than certainty: a share of each target goes to all "
        "labels (Szegedy et al. 2016).",
    ),
    "focal": Term(
        "Focal loss",
        "Training counts examples less of which the model is sure already (Lin et al. 2017).",
    ),
}
REPAIRS: tuple[Method, ...] = tuple(name for name in get_args(Method) if name != "baseline")


@dataclass(frozen=True)
class Plan:
    """What to run. The first of `methods` is the one that a summary is about and whose model stays.

    `sizes` and `seeds` are of trainings: how many examples each has, and its draw. `tests` is how
    many test examples are destroyed. `task` and `labels` are as in an inoculation's plan.
    """

    model: str
    training: Training
    methods: tuple[Method, ...] = REPAIRS
    sizes: tuple[int, ...] = (1000,)
    seeds: tuple[int, ...] = (0, 1)
    tests: int = 200
    epsilon: float = 0.1
    gamma: float = 2.0
    task: str = NLI.name
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One calibration; what needs no training has size 0 and seed 0."""

    method: Method
    size: int
    seed: int


BASE = Cell("baseline", 0, 0)


def cells(plan: Plan) -> tuple[Cell, ...]:
    """Return the cells of a plan, the model as it was first."""
    trained = [
        Cell(method, size, seed)
        for method in plan.methods
        if method not in ("baseline", "temperature")
        for size in sorted(set(plan.sizes))
        for seed in dict.fromkeys(plan.seeds)
    ]
    fitted = [Cell("temperature", 0, 0)] if "temperature" in plan.methods else []
    return (BASE, *fitted, *trained)


def is_largest(plan: Plan, cell: Cell) -> bool:
    """Whether a cell is of the first method and, where that trains, of the largest size."""
    size = 0 if plan.methods[0] == "temperature" else max(plan.sizes)
    return cell.method == plan.methods[0] and cell.size == size


def check(plan: Plan, source: SourceData) -> None:
    """Refuse a plan that cannot run on these examples. Raises ExperimentError with a sentence."""
    own = {
        **names_problem("methods", plan.methods, REPAIRS),
        "label smoothing must be from 0 to below 1": not 0 <= plan.epsilon < 1,
        "gamma must be 0 or more, and finite": not 0 <= plan.gamma < inf,
    }
    check_repair(plan, source, own)


@dataclass(frozen=True)
class Agreement:
    """How many of n destroyed examples get the answer expected, and the mean confidence."""

    agree: int
    n: int
    confidence: float

    @property
    def estimate(self) -> Estimate:
        """The share with its interval."""
        return share([True] * self.agree + [False] * (self.n - self.agree))


@dataclass(frozen=True)
class Point:
    """What a cell came to: calibration on clean test, agreement on word salad by transform.

    `temperature` is 1 where none was fitted.
    """

    cell: Cell
    calibration: Calibration
    salad: Mapping[str, Agreement]
    temperature: float
    epochs: int
    seconds: float

    @property
    def agreement(self) -> float:
        """The mean of the transforms' agreements, each counting alike, as in the paper's tables."""
        return fmean(each.agree / each.n for each in self.salad.values() if each.n)


WORDS: Mapping[str, Term] = {
    "calibration": Term(
        "Calibration",
        "Whether a model is right as often as it is sure: of answers given with 80 %, 80 in 100.",
    ),
    "calibration-error": Term(
        "Expected calibration error",
        "The distance between confidence and accuracy in 15 bins by confidence, weighted by their "
        "answers; chance alone gives some of it, the more the fewer there are.",
    ),
    "brier-score": Term(
        "Brier score", "The squared distance of the probabilities from certainty of the gold label."
    ),
    "log-loss": Term(
        "Log loss",
        "Minus the logarithm of the gold label's probability; being sure and wrong costs most.",
    ),
}


def calibration_terms(task: Task) -> dict[str, Titled]:
    """Return the terms by id; they are the same for every task."""
    methods = {
        term.title.lower().replace(" ", "-"): term
        for name, term in METHODS.items()
        if name != "baseline"
    }
    return {**WORDS, **methods}


LESS = 0.01
"""The change of a calibration error, or of agreement, that a sentence speaks of."""


@dataclass(frozen=True)
class Outcome:
    """What a method comes to at one size, means over the seeds; shares from 0 to 1.

    `error` is the calibration error with its interval, and what chance alone gives.
    """

    method: Method
    size: int
    seeds: int
    accuracy: float
    confidence: float
    ece: float
    brier: float
    log_loss: float
    temperature: float
    agreement: float
    error: CalibrationError


def outcomes(points: Sequence[Point]) -> tuple[Outcome, ...]:
    """Return the outcome of each method and size, in the order of the points."""
    groups: dict[tuple[Method, int], list[Point]] = {}
    for point in points:
        groups.setdefault((point.cell.method, point.cell.size), []).append(point)
    return tuple(_outcome(group) for group in groups.values())


def _outcome(points: Sequence[Point]) -> Outcome:
    cell = points[0].cell
    means = {
        name: fmean(getattr(point.calibration, name) for point in points)
        for name in ("accuracy", "confidence", "ece", "brier", "log_loss")
    }
    temperature = fmean(point.temperature for point in points)
    agreement = fmean(point.agreement for point in points)
    return Outcome(
        cell.method,
        cell.size,
        len(points),
        **means,
        temperature=temperature,
        agreement=agreement,
        error=mean_error([point.calibration for point in points]),
    )


def conclude(plan: Plan, points: Sequence[Point]) -> Json | None:
    """Return the verdict: before and after the first method, and every outcome.

    None before the model as it was and the largest size of that method are measured.
    """
    measured = outcomes(points)
    before = next((each for each in measured if each.method == BASE.method), None)
    after = [each for each in measured if each.method == plan.methods[0]]
    wanted = 0 if plan.methods[0] == "temperature" else max(plan.sizes)
    if before is None or not after or max(each.size for each in after) < wanted:
        return None
    largest = max(after, key=lambda each: each.size)
    return {
        "name": METHODS[largest.method].title,
        "explanation": explanation(before, largest),
        "method": largest.method,
        "ece_before": before.ece,
        "ece_after": largest.ece,
        "ece_by_chance": largest.error.chance.value,
        "temperature": largest.temperature,
        "agreement_before": before.agreement,
        "agreement_after": largest.agreement,
        "methods": [asdict(each) for each in measured],
        "per_transform": _per_transform(points),
    }


def _per_transform(points: Sequence[Point]) -> Json:
    """Return by method what share of each transform's texts gets the answer expected."""
    shares: dict[str, dict[str, list[float]]] = {}
    for point in points:
        own = shares.setdefault(point.cell.method, {})
        for name, each in point.salad.items():
            own.setdefault(name, []).append(each.agree / each.n)
    return {
        method: {name: fmean(values) for name, values in own.items()}
        for method, own in shares.items()
    }


def explanation(before: Outcome, after: Outcome) -> str:
    """Say what calibration changed, and whether it cured word salad."""
    title = METHODS[after.method].title
    error = f"from {_with_interval(before.error)} to {_with_interval(after.error)}"
    agreement = f"{before.agreement:.1%} before, {after.agreement:.1%} after"
    change = joined_difference(before.error.found, after.error.found)
    first = (
        f"{title} brings the calibration error down {error}."
        if change.value < -LESS and change.high < 0
        else f"{title} takes the calibration error up {error}."
        if change.value > LESS and change.low > 0
        else f"{title} does not measurably change the calibration error, {error}."
    )
    first += (
        f" Perfectly calibrated answers would come to {after.error.chance.value:.3f} by chance."
    )
    lost = before.agreement - after.agreement
    second = "As many answers stay on word salad as before"
    if abs(lost) > LESS:
        second = f"{'Fewer' if lost > 0 else 'More'} answers stay on word salad than before"
    return f"{first} {second}: {agreement}."


def _with_interval(error: CalibrationError) -> str:
    found = error.found
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def run_stored_cell(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Run a cell of a stored run; the model of the first method's largest size comes with it.

    Raises ModelError where the model is not the one that the run began with.
    """
    with first_import:
        from finetune.training.checkpoints import model_files
        from finetune.trials.inoculation_trial import fresh
        from finetune.trials.repair_trial import calibrate

    typed, cell = plan_from(plan), Cell(**key)
    before = load_unchanged(typed.model, context.model, typed.labels)
    changed = fresh(before)
    rows = calibrate(typed, source_from(inputs), cell, before, changed, context.stop)
    files = partial(model_files, changed) if is_largest(typed, cell) else dict
    yield from TRIALS.told(rows, files)


def name_to_keep(run: StoredRun, result: Json) -> str | None:
    """Return a name for the model; of several seeds the best calibrated."""
    plan = plan_from(run.plan)
    rivals = [point.calibration.ece for point in points_of(run) if is_largest(plan, point.cell)]
    if run.kept and result["calibration"]["ece"] > min(rivals, default=1.0):
        return None
    return run.kept or new_model_name(plan.model, plan.methods[0])


def _brief(result: Json) -> Json:
    measured = result.get("calibration", {})
    return {name: measured.get(name) for name in ("accuracy", "confidence", "ece")}


KIND = "calibration"
TRIALS = TrialKind(KIND, Plan, Cell, Epoch, Point, cells, ("methods", "sizes", "seeds"), is_largest)
plan_from, point_from, points_of = TRIALS.plan_from, TRIALS.point_from, TRIALS.points_of
run_request, known_results = TRIALS.request, TRIALS.known_results
CALIBRATION = TRIALS.repair(run_stored_cell, "Calibration of", _brief, conclude, name_to_keep)
