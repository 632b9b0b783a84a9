"""What to run: which methods of calibration, how many examples, how often."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from finetune.experiments.further_training import Training, check_training
from finetune.experiments.inoculation.datasets import SourceData
from finetune.experiments.refusal import refuse
from finetune.experiments.source_json import draw_problems
from probe.runs.run import Json
from probe.tasks.nli import NLI
from probe.tasks.task import Label
from probe.terms import Term

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


def plan_from(values: Json) -> Plan:
    """Read a plan from its JSON."""
    lists = {name: tuple(values[name]) for name in ("methods", "sizes", "seeds", "labels")}
    return Plan(**{**values, **lists, "training": Training(**values["training"])})


def check(plan: Plan, source: SourceData) -> None:
    """Refuse a plan that cannot run on these examples. Raises ExperimentError with a sentence."""
    check_training(plan.training)
    problems = {
        f"methods are some of {', '.join(REPAIRS)}, each once": (
            not plan.methods
            or not set(plan.methods) <= set(REPAIRS)
            or len(set(plan.methods)) < len(plan.methods)
        ),
        **draw_problems(plan, source),
        "label smoothing must be from 0 to below 1": not 0 <= plan.epsilon < 1,
        "gamma must be 0 or more, and finite": not 0 <= plan.gamma < inf,
    }
    refuse(problems)
