"""Calibration as a kind of run."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from statistics import fmean

from finetune.trials.base import BASE as BASE
from finetune.trials.base import (
    CONTROL,
    MethodCell,
    Training,
    TrialKind,
    by_method,
    check_repair,
    is_largest,
    method_cells,
    names_problem,
)
from finetune.trials.datasets import SourceData, source_artefacts, source_from, source_json
from probe.runs.run import Json
from probe.statistics import (
    Calibration,
    CalibrationError,
    Estimate,
    joined_difference,
    mean_error,
    wilson,
)
from probe.tasks.nli import NLI
from probe.tasks.task import Label
from probe.terms import Term

Method = str
LOSSES: Mapping[str, Term] = {
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
"""As published a model is trained so from the encoder: `finetune train --loss`."""
METHODS: Mapping[Method, Term] = {
    "baseline": Term("As it was", "The model before any calibration."),
    "temperature": Term(
        "Temperature scaling",
        "All logits are divided by one number, fitted on the dev set; no answer changes "
        "(Guo et al. 2017).",
    ),
    **{
        name: Term(
            f"Further training, {loss.title.lower()}",
            f"The trained model learns on, where the paper begins with the encoder. {loss.summary}",
        )
        for name, loss in LOSSES.items()
    },
    CONTROL: Term(
        "Further training, as usual",
        "The trained model learns on with plain cross entropy: what more examples do alone.",
    ),
}
REPAIRS = ("temperature", "smoothing", "focal", CONTROL)


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


Cell = MethodCell
cells = method_cells


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
    def share(self) -> float:
        """The share, 0 of none."""
        return self.agree / self.n if self.n else 0.0

    @property
    def estimate(self) -> Estimate:
        """The share with its interval."""
        return wilson(self.agree, self.n)


@dataclass(frozen=True)
class Point:
    """What a cell came to on clean test and word salad; `temperature` is 1 where none is fitted."""

    cell: Cell
    calibration: Calibration
    salad: Mapping[str, Agreement]
    temperature: float
    epochs: int
    seconds: float

    @property
    def agreement(self) -> float:
        """The mean of the transforms' agreements, each counting alike, as in the paper's tables."""
        return fmean(each.share for each in self.salad.values() if each.n)


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
    "temperature-scaling": METHODS["temperature"],
    "label-smoothing": LOSSES["smoothing"],
    "focal-loss": LOSSES["focal"],
}
LESS = 0.01
"""The change of a calibration error, or of agreement, that a sentence speaks of."""


@dataclass(frozen=True)
class Outcome:
    """What a method comes to at one size, means over the seeds; shares from 0 to 1."""

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
    return tuple(
        Outcome(
            same[0].cell.method,
            same[0].cell.size,
            len(same),
            **{
                name: fmean(getattr(point.calibration, name) for point in same)
                for name in ("accuracy", "confidence", "ece", "brier", "log_loss")
            },
            temperature=fmean(point.temperature for point in same),
            agreement=fmean(point.agreement for point in same),
            error=mean_error([point.calibration for point in same]),
        )
        for same in by_method(points)
    )


def conclude(plan: Plan, points: Sequence[Point]) -> Json | None:
    """Return the verdict, None before the first method's largest size and the model as it was."""
    measured = outcomes(points)
    before = next((each for each in measured if each.method == BASE.method), None)
    done = [each for each in measured if is_largest(plan, Cell(each.method, each.size, 0))]
    if before is None or not done:
        return None
    largest = done[0]
    control = next(
        (each for each in measured if (each.method, each.size) == (CONTROL, largest.size)), None
    )
    shares: dict[str, dict[str, list[float]]] = {}  # by method and transform
    for point in points:
        for name, each in point.salad.items():
            own = shares.setdefault(point.cell.method, {})
            own.setdefault(name, []).append(each.share)
    return {
        "name": METHODS[largest.method].title,
        "explanation": explanation(before, largest, control),
        "method": largest.method,
        "ece_before": before.ece,
        "ece_after": largest.ece,
        "ece_by_chance": largest.error.chance.value,
        "temperature": largest.temperature,
        "agreement_before": before.agreement,
        "agreement_after": largest.agreement,
        "methods": [asdict(each) for each in measured],
        "per_transform": {
            method: {name: fmean(values) for name, values in own.items()}
            for method, own in shares.items()
        },
    }


def explanation(before: Outcome, after: Outcome, control: Outcome | None = None) -> str:
    """Say what calibration changed, and whether it cured word salad.

    Beside what trains is a `control`, the same training as usual.
    """
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
    if after.method == "temperature" and change.value > LESS and change.low > 0:
        first += " A temperature holds for texts as hard as the dev set, on which it is fitted."
    first += (
        f" Perfectly calibrated answers would come to {after.error.chance.value:.3f} by chance."
    )
    lost = before.agreement - after.agreement
    second = "As many answers stay on word salad as before"
    if abs(lost) > LESS:
        second = f"{'Fewer' if lost > 0 else 'More'} answers stay on word salad than before"
    if control and control.method != after.method:
        first += (
            f" The same training with plain cross entropy comes to "
            f"{_with_interval(control.error)}, and to {control.agreement:.1%} on word salad."
        )
    return f"{first} {second}: {agreement}."


def _with_interval(error: CalibrationError) -> str:
    found = error.found
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def _brief(result: Json) -> Json:
    measured = result.get("calibration", {})
    return {name: measured.get(name) for name in ("accuracy", "confidence", "ece")}


KIND = "calibration"
TRIALS = TrialKind(
    KIND, Plan, Cell, Point, cells, ("methods", "sizes", "seeds"), source_json, source_from,
    source_artefacts, is_largest,
)  # fmt: skip
plan_from, point_from, points_of = TRIALS.plan_from, TRIALS.point_from, TRIALS.points_of
run_request, known_results = TRIALS.request, TRIALS.known_results
CALIBRATION = TRIALS.repair(
    "Calibration of", _brief, conclude, lambda result: -result["calibration"]["ece"]
)
