"""Debiasing as a kind of run: a model learns on against a weak model, or beside changed texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from statistics import fmean

from finetune.training.data import changed_texts
from finetune.training.recipes import WEAK, weak_problem
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
from finetune.trials.challenges import (
    MAX_PAIRS,
    catalogue,
    challenged,
    challenges,
    template_challenges,
    title_of,
)
from finetune.trials.datasets import (
    Examples,
    SourceData,
    source_artefacts,
    source_from,
    source_json,
)
from finetune.trials.generalisation import Clusters, drawn_of, summed
from finetune.trials.mitigation import Found
from probe.errors import ExperimentError
from probe.runs.run import Json
from probe.statistics import Drawn, Estimate, clustered, clustered_difference, percent
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task, in_common_classes, task_named
from probe.templates import Request, generate
from probe.terms import Term

Method = str
METHODS: Mapping[Method, Term] = {
    "baseline": Term("As it was", "The model before any further training."),
    "poe": Term(
        "Product of experts",
        "A weak model that knows a short cut alone answers too while the model learns, which so "
        "need not learn what that knows (Clark et al. 2019).",
    ),
    "reweight": Term(
        "Reweighted examples",
        "The surer a weak model is of the right label, the less an example counts (Clark et al. "
        "2019).",
    ),
    "regularise": Term(
        "Confidence regularisation",
        "The model learns its own answers, less sure ones where a weak model is sure of the right "
        "label (Utama et al. 2020).",
    ),
    "augment": Term(
        "Changed examples, too",
        "Training sees each example once more as a transform changes it.",
    ),
    CONTROL: Term(
        "Further training, as usual",
        "The model learns on with plain cross entropy: what more examples do alone.",
    ),
}
AGAINST_WEAK = ("poe", "reweight", "regularise")
REPAIRS = (*AGAINST_WEAK, "augment", CONTROL)
ORIGINAL = "original"
"""The original test set among those that are measured."""
HEURISTIC = ("templates_hans", "templates_word_order")
"""The templates in which shared words mislead."""


@dataclass(frozen=True)
class Plan:
    """What to run. The first of `methods` is the one that a summary is about and whose model stays.

    `sizes` and `seeds` are of trainings: how many examples each has, and its draw. `weak` is one of
    `recipes.WEAK`, fitted to the same examples. `augment` changes them, with the labels that its
    rule gives, or with `relabel` off those that they had. `challenges` are tested, the task's
    stress tests and the templates of `HEURISTIC` where none is named: of each transform `tests`
    examples, of templates five times as many, whose interval is over templates.
    """

    model: str
    training: Training
    methods: tuple[Method, ...] = REPAIRS
    sizes: tuple[int, ...] = (1000,)
    seeds: tuple[int, ...] = (0, 1)
    tests: int = 200
    weak: str = "hypothesis"
    augment: str = "negation"
    relabel: bool = True
    challenges: tuple[str, ...] = ()
    task: str = NLI.name
    labels: tuple[Label, ...] = ()


Cell = MethodCell
cells = method_cells


@lru_cache(maxsize=32)
def _made(challenge: str, originals: Examples, tests: int, task: Task) -> Examples:
    if kind := template_challenges(task).get(challenge):
        return tuple(generate(Request(kind), min(MAX_PAIRS, 5 * tests), 0))
    return challenged(challenge, originals[: 2 * tests], task=task)[:tests]


def tested_sets(plan: Plan, source: SourceData) -> dict[str, Examples]:
    """Return what is tested by name, the original set first; each in the classes that it has.

    Raises ExperimentError for a challenge that is named and suits no example.
    """
    task, made = source.task, {ORIGINAL: source.test}
    named = plan.challenges or (
        *(name for name in HEURISTIC if name in template_challenges(task)),
        *(each.name for each in catalogue(task) if each.family == "stress"),
    )
    for name in named:
        if examples := _made(name, source.test, plan.tests, task):
            (made[name],) = in_common_classes(task, examples)
        elif plan.challenges:
            raise ExperimentError(f"no {task.unit} that is tested suits the challenge {name}")
    return made


def augmented(plan: Plan, examples: Examples, task: Task) -> Examples:
    """Return what the plan's transform makes of examples. Raises ExperimentError and others."""
    if plan.relabel:
        return challenged(plan.augment, examples, task=task)
    return changed_texts(examples, task, plan.augment, 0)[0]


def check(plan: Plan, source: SourceData) -> None:
    """Refuse a plan that cannot run on these examples. Raises ExperimentError with a sentence."""
    known, problem = challenges(source.task), ""
    if set(plan.methods) & set(AGAINST_WEAK):
        problem = weak_problem(plan.weak, source.task)
    own = {
        **names_problem("methods", plan.methods, REPAIRS),
        **names_problem("challenges", plan.challenges, known, some=False),
        problem: bool(problem),
    }
    check_repair(plan, source, own)
    if "augment" in plan.methods:
        augmented(plan, source.pool[:1], source.task)
    tested_sets(plan, source)


@dataclass(frozen=True)
class Point:
    """What a cell came to: of each test set what is right by cluster and gold label.

    `weak` counts the training examples of which the weak model is right by cross-validation,
    `majority` those with the most frequent label; none where no weak model is asked.
    """

    cell: Cell
    clusters: Mapping[str, Clusters]
    weak: Found
    majority: Found
    epochs: int
    seconds: float


WORDS: Mapping[str, Term] = {
    "weak-model": Term(
        "Weak model",
        "A model that sees a short cut alone, such as the words of one text, and tells labels by "
        "it; what it is sure of shows what a training set gives away.",
    ),
    "product-of-experts": METHODS["poe"],
    "confidence-regularisation": METHODS["regularise"],
    "reweighting": METHODS["reweight"],
}
Part = tuple[str, Label | None]
"""A test set, or of templates, whose labels are never pooled, one gold label of it."""


def parts_of(points: Sequence[Point], task: Task) -> list[Part]:
    """Return what is told apart of what is tested, the original set first."""
    sets = points[0].clusters if points else {}
    return [
        (name, label)
        for name, clusters in sets.items()
        for label in (summed(clusters) if name in template_challenges(task) else [None])
    ]


def part_title(part: Part, task: Task) -> str:
    """Return what a person calls a part."""
    name, label = part
    title = "Original" if name == ORIGINAL else title_of(name, task)
    return f"{title}: {label}" if label else title


def part_key(part: Part) -> str:
    """Return the name of a part in files."""
    return " ".join(filter(None, part))


def _drawn(points: Sequence[Point], part: Part) -> list[Drawn]:
    name, label = part
    return [
        each for point in points for each in drawn_of(point.cell.seed, point.clusters[name], label)
    ]


def right(points: Sequence[Point], part: Part) -> Estimate:
    """Return what repeats get right of a part, with an interval over repeats and sources."""
    return clustered(_drawn(points, part), sum(each.n for each in _drawn(points[:1], part)))


@dataclass(frozen=True)
class Outcome:
    """What a method comes to at one size: by part what is right, and its change.

    The change is beside further training as usual where that is measured at this size, else beside
    the model as it was.
    """

    method: Method
    size: int
    seeds: int
    right: Mapping[Part, Estimate]
    change: Mapping[Part, Estimate]
    weak: Found
    majority: Found


def outcomes(points: Sequence[Point], task: Task) -> tuple[Outcome, ...]:
    """Return the outcome of each method and size, in the order of the points."""
    groups, parts = by_method(points), parts_of(points, task)
    before = next((same for same in groups if same[0].cell == BASE), None)
    usual = {same[0].cell.size: same for same in groups if same[0].cell.method == CONTROL}
    found = []
    for same in groups:
        cell, beside = same[0].cell, before
        if cell.method != CONTROL:
            beside = usual.get(cell.size, before)
        change = {}
        if beside and same is not before:
            change = {
                part: clustered_difference(_drawn(beside, part), _drawn(same, part))
                for part in parts
            }
        shares = {part: right(same, part) for part in parts}
        found.append(
            Outcome(
                cell.method, cell.size, len(same), shares, change, same[0].weak, same[0].majority
            )
        )
    return tuple(found)


def telling(before: Outcome) -> Part:
    """Return the part that a summary is about: of the first challenge that which is right least."""
    others = [part for part in before.right if part[0] != ORIGINAL]
    first = [part for part in others if part[0] == others[0][0]]
    return min(first or before.right, key=lambda part: before.right[part].value)


def conclude(plan: Plan, points: Sequence[Point]) -> Json | None:
    """Return the verdict, None before the first method's largest size and the model as it was."""
    task = task_named(plan.task)
    measured = outcomes(points, task)
    before = next((each for each in measured if each.method == BASE.method), None)
    done = [each for each in measured if is_largest(plan, Cell(each.method, each.size, 0))]
    if before is None or not done:
        return None
    after = done[0]
    return {
        "name": METHODS[after.method].title,
        "explanation": explanation(plan, measured, before, after),
        "method": after.method,
        "part": part_key(telling(before)),
        "methods": [_outcome_json(each) for each in measured],
        "warnings": [*_warnings(plan, measured)],
    }


def _outcome_json(outcome: Outcome) -> Json:
    numbers = {
        name: {part_key(part): asdict(each) for part, each in getattr(outcome, name).items()}
        for name in ("right", "change")
    }
    return {"method": outcome.method, "size": outcome.size, "seeds": outcome.seeds, **numbers}


def explanation(plan: Plan, measured: Sequence[Outcome], before: Outcome, after: Outcome) -> str:
    """Say what a method mends of what its summary is about, and what it costs."""
    task, part = task_named(plan.task), telling(before)
    usual = next((it for it in measured if (it.method, it.size) == (CONTROL, after.size)), None)
    usual = None if after.method == CONTROL else usual
    title, change = METHODS[after.method].title, after.change[part]
    against = f" against “{WEAK[plan.weak].title.lower()}”"
    beside = "the same training as usual" if usual else "before"

    def numbers(part: Part) -> str:
        then = f", {percent(usual.right[part])} after the same training as usual" if usual else ""
        return f"{percent(after.right[part])} right, {percent(before.right[part])} before{then}"

    others = [each for each in after.right if each[0] == part[0] and each != part]
    told = [f"of “{part_title(each, task)}” {numbers(each)}" for each in (part, *others)]
    told.append(f"of the original set {numbers((ORIGINAL, None))}")
    words = f"{title}{against if after.method in AGAINST_WEAK else ''}: {'; '.join(told)}. "
    if change.low > 0 or change.high < 0:
        more = "more" if change.value > 0 else "fewer"
        return f"{words}Of the first that is {more} than {beside}: {_points(change)} points."
    return f"{words}Of the first nothing is certain beside {beside}: {_points(change)} points."


def _points(change: Estimate) -> str:
    return "{:+.1f} ({:+.1f} to {:+.1f})".format(
        *(100 * each for each in (change.value, change.low, change.high))
    )


def _warnings(plan: Plan, measured: Sequence[Outcome]) -> Iterator[str]:
    """Yield at which sizes a weak model knows no more than the most frequent label."""
    asked = {each.size: each for each in measured if each.weak.n}
    for size, each in asked.items():
        if each.weak.estimate.low <= each.majority.share:
            yield (
                f"{size:,} examples: the weak model “{WEAK[plan.weak].title.lower()}” is right on "
                f"{percent(each.weak.estimate)} of them, the most frequent label on "
                f"{100 * each.majority.share:.1f} %; against one that knows no short cut little is "
                "mended. More examples, or another weak model, may help."
            )


def shares(clusters: Mapping[str, Clusters]) -> dict[str, float]:
    """Return by test set the share that is right."""
    hits = {
        name: [each for own in several.values() for each in own.values()]
        for name, several in clusters.items()
    }
    return {
        name: sum(right for right, _ in own) / sum(n for _, n in own) for name, own in hits.items()
    }


KIND = "debiasing"
TRIALS = TrialKind(
    KIND, Plan, Cell, Point, cells, ("methods", "sizes", "seeds"), source_json, source_from,
    source_artefacts, is_largest,
)  # fmt: skip
plan_from, point_from, points_of = TRIALS.plan_from, TRIALS.point_from, TRIALS.points_of
run_request, known_results = TRIALS.request, TRIALS.known_results
DEBIASING = TRIALS.repair(
    "Debiasing of",
    lambda result: {
        "right": shares(result.get("clusters", {})) or None,
        "seconds": result.get("seconds"),
    },
    conclude,
    lambda result: fmean(shares(result.get("clusters", {})).values()),
)
