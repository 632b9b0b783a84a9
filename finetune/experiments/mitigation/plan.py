"""What to run: which repairs, on how many examples, with how much word salad."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from finetune.experiments.further_training import Training, check_training
from finetune.experiments.inoculation.datasets import SourceData
from finetune.experiments.mitigation.threshold import TOLERANCE
from finetune.experiments.refusal import refuse
from finetune.experiments.source_json import draw_problems
from finetune.experiments.word_salad import gradient_names, salad_names
from probe.runs.run import Json
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task
from probe.terms import Term

Method = Literal["baseline", "threshold", "entropic", "invalid"]
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
REPAIRS: tuple[Method, ...] = ("invalid", "entropic", "threshold")
SHARE = 0.5
"""Of the examples that are trained on, those that are destroyed too; the paper's."""


@dataclass(frozen=True)
class Plan:
    """What to run. The first of `methods` is the one that a summary is about and whose model stays.

    `sizes` and `seeds` are of trainings: how many clean examples each has, and its draw. `share` of
    them are destroyed too, by each transform, but by those that ask the model only
    `gradient_share`: less of these helps where a model collapses (Gupta et al. 2021, appendix D).
    With `balance` clean and broken texts weigh alike in the training of the class; the paper counts
    every text alike, of which most are broken. `weight` is of the entropic term, `tolerance` what a
    threshold may cost of clean accuracy, `tests` how many dev and test examples are destroyed.
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
    tolerance: float = TOLERANCE
    task: str = NLI.name
    labels: tuple[Label, ...] = ()
    transforms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One repair; what needs no training has size 0 and seed 0."""

    method: Method
    size: int
    seed: int


BASE = Cell("baseline", 0, 0)
UNTRAINED = ("baseline", "threshold")


def cells(plan: Plan) -> tuple[Cell, ...]:
    """Return the cells of a plan, the model as it was first."""
    trained = [
        Cell(method, size, seed)
        for method in plan.methods
        if method not in UNTRAINED
        for size in sorted(set(plan.sizes))
        for seed in dict.fromkeys(plan.seeds)
    ]
    chosen = [Cell("threshold", 0, 0)] if "threshold" in plan.methods else []
    return (BASE, *chosen, *trained)


def is_largest(plan: Plan, cell: Cell) -> bool:
    """Whether a cell is of the first method and, where that trains, of the largest size."""
    size = 0 if plan.methods[0] in UNTRAINED else max(plan.sizes)
    return cell.method == plan.methods[0] and cell.size == size


def transforms_of(plan: Plan, task: Task) -> tuple[str, ...]:
    """Return the transforms that destroy texts of a task."""
    return plan.transforms or salad_names(task)


def plan_from(values: Json) -> Plan:
    """Read a plan from its JSON; older ones name no transforms."""
    names = ("methods", "sizes", "seeds", "labels", "transforms")
    lists = {name: tuple(values.get(name, ())) for name in names}
    return Plan(**{**values, **lists, "training": Training(**values["training"])})


def check(plan: Plan, source: SourceData) -> None:
    """Refuse a plan that cannot run on these examples. Raises ExperimentError with a sentence."""
    check_training(plan.training)
    known = set(get_args(Method)) - {"baseline"}
    salad, asking = set(salad_names(source.task)), set(gradient_names(source.task))
    problems = {
        f"methods are some of {', '.join(REPAIRS)}, each once": (
            not plan.methods
            or not set(plan.methods) <= known
            or len(set(plan.methods)) < len(plan.methods)
        ),
        f"transforms are some of {', '.join(salad_names(source.task))}, each once": (
            not set(plan.transforms) <= salad or len(set(plan.transforms)) < len(plan.transforms)
        ),
        "where all transforms ask the model, the share that these destroy must be above 0": (
            set(plan.transforms or salad) <= asking and plan.gradient_share == 0
        ),
        **draw_problems(plan, source),
        "the shares that are destroyed must be above 0 and at most 1": not (
            0 < plan.share <= 1 and 0 <= plan.gradient_share <= 1
        ),
        "the weight of the entropic term must be 0 or more, and finite": (
            not 0 <= plan.weight < inf
        ),
        "the tolerance must be from 0 to 1": not 0 <= plan.tolerance <= 1,
    }
    refuse(problems)
