"""Mitigation as a kind of run."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from finetune.trials.base import BASE as BASE
from finetune.trials.base import (
    MethodCell,
    Training,
    TrialKind,
    by_method,
    check_repair,
    is_largest,
    method_cells,
    names_problem,
)
from finetune.trials.calibration import Agreement
from finetune.trials.datasets import SourceData, source_artefacts, source_from, source_json
from finetune.trials.word_salad import gradient_names, salad_names
from probe.runs.run import Json
from probe.statistics import Estimate, wilson
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task
from probe.terms import Term

STEP, TOLERANCE = 0.001, 0.03
"""The grid's step, and the clean accuracy that may be lost, a rejected example being an error."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Threshold:
    """A threshold, the clean accuracy that is left, and the share of invalid texts it finds."""

    value: float
    accuracy: float
    found: float


def grid(labels: int) -> NDArray[np.float64]:
    """Return the thresholds from 1 / labels to 1: 667 for three labels, 501 for two."""
    steps = math.floor((1 - 1 / labels) / STEP + ROUNDING)
    return np.linspace(1 / labels, 1 / labels + steps * STEP, steps + 1)


def best_threshold(
    confidence: NDArray[np.float64],  # (clean examples,)
    correct: NDArray[np.bool_],  # (clean examples,)
    invalid: NDArray[np.float64],  # (invalid texts,) confidence
    labels: int,
    tolerance: float = TOLERANCE,
) -> Threshold:
    """Return the threshold that finds most invalid texts of those that cost at most `tolerance`.

    Of several that find as many the smallest. The first of the grid rejects nothing.
    """
    kept = np.sort(confidence[correct])
    doubted = np.sort(invalid)
    thresholds = grid(labels)
    # those below a threshold are invalid, so that those at it are not counted
    lost = np.searchsorted(kept, thresholds, side="left")
    found = np.searchsorted(doubted, thresholds, side="left")
    allowed = lost <= tolerance * len(confidence) + ROUNDING
    at = int(np.argmax(np.where(allowed, found, -1)))
    accuracy = (len(kept) - int(lost[at])) / len(confidence)
    return Threshold(float(thresholds[at]), accuracy, int(found[at]) / max(1, len(doubted)))


Method = str
METHODS: Mapping[Method, Term] = {
    "baseline": Term("As it was", "The model before any repair, which always answers."),
    "threshold": Term(
        "Threshold alone",
        "An answer that the model is not sure enough of is taken back; its confidence is softened "
        "by a temperature first.",
    ),
    "entropic": Term(
        "Be unsure of salad",
        "Training keeps the answers to whole texts and asks for equal probabilities on broken "
        "ones; a threshold takes back what is unsure.",
    ),
    "invalid": Term(
        "A class “invalid”",
        "The model gets one more label and learns to give it to broken texts.",
    ),
}
REPAIRS = ("invalid", "entropic", "threshold")
SHARE = 0.5
"""Of the examples that are trained on, those that are destroyed too; the paper's."""


@dataclass(frozen=True)
class Plan:
    """What to run. The first of `methods` is the one that a summary is about and whose model stays.

    `sizes` and `seeds` are of trainings: how many clean examples each has, and its draw. `share` of
    them are destroyed too, by each transform, but by those that ask the model only
    `gradient_share`: less of these helps where a model collapses (Gupta et al. 2021, appendix D).
    With `balance` clean and broken texts weigh alike in the training of the class; the paper counts
    every text alike, of which most are broken. `weight` is of the entropic term, in which each text
    counts once, as in the paper's code, or with `entropy_by` "kinds", as in older runs, whole and
    broken ones alike. `tolerance` is what a threshold may cost of clean accuracy, `tests` how many
    dev and test examples are destroyed.
    `transforms` destroy the texts, all of the task's where none is named.
    """

    model: str
    training: Training
    methods: tuple[Method, ...] = REPAIRS
    sizes: tuple[int, ...] = (1000,)
    seeds: tuple[int, ...] = (0, 1)
    tests: int = 200
    share: float = SHARE
    gradient_share: float = SHARE
    balance: bool = True
    weight: float = 0.1
    entropy_by: Literal["rows", "kinds"] = "rows"
    tolerance: float = TOLERANCE
    task: str = NLI.name
    labels: tuple[Label, ...] = ()
    transforms: tuple[str, ...] = ()


Cell = MethodCell
cells = method_cells


def transforms_of(plan: Plan, task: Task) -> tuple[str, ...]:
    """Return the transforms that destroy texts of a task."""
    return plan.transforms or salad_names(task)


def check(plan: Plan, source: SourceData) -> None:
    """Refuse a plan that cannot run on these examples. Raises ExperimentError with a sentence."""
    known, asking = salad_names(source.task), set(gradient_names(source.task))
    own = {
        **names_problem("methods", plan.methods, REPAIRS),
        **names_problem("transforms", plan.transforms, known, some=False),
        "where all transforms ask the model, the share that these destroy must be above 0": (
            set(plan.transforms or known) <= asking and plan.gradient_share == 0
        ),
        "the shares that are destroyed must be above 0 and at most 1": not (
            0 < plan.share <= 1 and 0 <= plan.gradient_share <= 1
        ),
        "the weight of the entropic term must be 0 or more, and finite": (
            not 0 <= plan.weight < inf
        ),
        "the tolerance must be from 0 to 1": not 0 <= plan.tolerance <= 1,
    }
    check_repair(plan, source, own)


@dataclass(frozen=True)
class Found:
    """How many of n are what is looked for."""

    count: int
    n: int

    @property
    def share(self) -> float:
        """The share, 0 of none."""
        return self.count / self.n if self.n else 0.0

    @property
    def estimate(self) -> Estimate:
        """The share with its interval."""
        return wilson(self.count, self.n)


@dataclass(frozen=True)
class Point:
    """What a cell came to.

    `clean` counts the clean test examples with the right answer, `rejected` those that are called
    invalid, `found` by transform the destroyed ones that are. `commonest` is the share of clean
    test examples that get the commonest answer, `gold_commonest` that of the commonest gold label.
    `threshold` is 0 and `temperature` 1 where there is none. `salad` has by transform how many
    answers to destroyed texts are those to whole ones, none of them invalid, and how sure they are
    (Gupta et al. 2021, figure 2); older runs have none.
    """

    cell: Cell
    clean: Found
    rejected: Found
    found: Mapping[str, Found]
    commonest: float
    gold_commonest: float
    threshold: float
    temperature: float
    epochs: int
    seconds: float
    salad: Mapping[str, Agreement] = field(default_factory=dict)

    @property
    def invalid_found(self) -> float:
        """The mean over the transforms, each counting alike, as in the paper's table 12."""
        return fmean(each.share for each in self.found.values())

    @property
    def agreement(self) -> float:
        """The mean share of answers that stay, each transform counting alike; NaN of older runs."""
        return fmean(each.share for each in self.salad.values()) if self.salad else math.nan


WORDS: Mapping[str, Term] = {
    "invalid": Term(
        "Invalid", "What a repaired model says of a text that is no example of its task."
    ),
    "collapse": Term(
        "Collapse", "A training that ends with a model which gives every text the same answer."
    ),
    "threshold": METHODS["threshold"],
    "entropic-regularisation": METHODS["entropic"],
    "invalid-class": METHODS["invalid"],
}
COLLAPSED = 0.95
"""The share of clean answers from which a model counts as collapsed to one class."""
REJECTING = 0.5
"""The share of clean examples called invalid from which a repair costs too much."""


@dataclass(frozen=True)
class Outcome:
    """What a method comes to at one size, means over the seeds; shares from 0 to 1."""

    method: Method
    size: int
    seeds: int
    clean: float
    rejected: float
    invalid_found: float
    threshold: float
    temperature: float
    collapsed: bool
    per_transform: dict[str, float]
    agreement: dict[str, float]
    confidence: dict[str, float]


def collapsed(point: Point) -> bool:
    """Whether a training ends with one answer to nearly all clean examples, unlike their golds."""
    return point.cell.size > 0 and point.commonest >= COLLAPSED > point.gold_commonest


def outcomes(points: Sequence[Point]) -> tuple[Outcome, ...]:
    """Return the outcome of each method and size, in the order of the points."""
    return tuple(
        Outcome(
            same[0].cell.method,
            same[0].cell.size,
            len(same),
            fmean(point.clean.share for point in same),
            fmean(point.rejected.share for point in same),
            fmean(point.invalid_found for point in same),
            fmean(point.threshold for point in same),
            fmean(point.temperature for point in same),
            any(map(collapsed, same)),
            {
                name: fmean(point.found[name].share for point in same if name in point.found)
                for name in same[0].found
            },
            {name: fmean(each.salad[name].share for each in same) for name in same[0].salad},
            {name: fmean(each.salad[name].confidence for each in same) for name in same[0].salad},
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
    after = done[0]
    return {
        "name": METHODS[after.method].title,
        "explanation": explanation(before, after),
        "method": after.method,
        "clean": after.clean,
        "clean_before": before.clean,
        "invalid_found": after.invalid_found,
        "per_transform": after.per_transform,
        "methods": [asdict(each) for each in measured],
        "warnings": [warning for each in measured for warning in _warnings(each)],
    }


def explanation(before: Outcome, after: Outcome) -> str:
    """Say what a repair finds, and what it costs."""
    title = METHODS[after.method].title
    lost = 100 * (before.clean - after.clean)
    cost = f"loses {lost:.1f} points" if lost > 0 else "loses nothing"
    return (
        f"{title}: the model finds {after.invalid_found:.0%} of the broken texts and {cost} on "
        f"whole ones ({before.clean:.1%} before, {after.clean:.1%} after)."
    )


def _warnings(outcome: Outcome) -> Iterator[str]:
    trained = f"{METHODS[outcome.method].title}, {outcome.size} examples"
    if outcome.collapsed:
        yield (
            f"{trained}: the model collapsed, it gives nearly every whole text the same answer; a "
            "smaller share of transforms that ask the model, such as 0.4 or 0.3, may help."
        )
    if outcome.rejected >= REJECTING:
        yield (
            f"{trained}: the model calls {outcome.rejected:.0%} of whole texts invalid; more "
            "examples, more epochs or a smaller share that is destroyed may help."
        )


def _brief(result: Json) -> Json:
    return {name: result.get(name) for name in ("clean", "rejected", "found", "seconds")}


def _worth(result: Json) -> float:
    """Return what a repair finds and keeps together, each transform counting alike."""
    shares = [Found(**each).share for each in result["found"].values()]
    return fmean(shares) + Found(**result["clean"]).share


KIND = "mitigation"
TRIALS = TrialKind(
    KIND, Plan, Cell, Point, cells, ("methods", "sizes", "seeds"), source_json, source_from,
    source_artefacts, is_largest, older=(("entropy_by", "kinds"),),
)  # fmt: skip
plan_from, point_from, points_of = TRIALS.plan_from, TRIALS.point_from, TRIALS.points_of
run_request, known_results = TRIALS.request, TRIALS.known_results
MITIGATION = TRIALS.repair("Repair of", _brief, conclude, _worth)


COST = (
    "Quick costs much here: on MiniLM the class “invalid”, learnt by the upper layers alone, loses "
    "18 points on whole texts and finds 88 % of the broken ones; learnt by all weights it loses 1 "
    "and finds 87 %."
)
"""`finetune mitigate --model minilm --methods invalid --seeds 0` in fast and in full mode."""


def quick_cost(plan: Plan) -> str:
    """Return what quick training costs, "" where all weights learn or none."""
    learns = any(cell.size for cell in cells(plan))
    return COST if learns and plan.training.mode == "fast" else ""
