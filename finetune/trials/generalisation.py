"""Generalisation as a kind of run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from finetune.training.data import Asked, numbered_pairs
from finetune.trials.base import best_rates, diverged_words
from finetune.trials.challenges import (
    UserFiles,
    column_cells,
    read_source_data,
    template_challenges,
)
from finetune.trials.datasets import Examples
from finetune.trials.generalisation_plan import (
    FILE,
    GRIDS,
    TRIALS,
    GeneralisationRun,
    Plan,
    Point,
    Scores,
    SourceData,
    Thresholds,
    base_cell,
    check,
    described,
    generalisation_run,
    point_from,
    share_right,
    total,
)
from finetune.trials.inoculation_plan import InoculationRun, inoculation_runs
from probe.data.names import listed, shown
from probe.errors import ExperimentError, FileQuestion
from probe.models import bundled
from probe.runs.run import Json, StoredRun
from probe.statistics import FEWEST, Estimate, Share, joined_difference
from probe.tasks.nli import NLI
from probe.tasks.task import WHY_IN_COMMON, Label, Task, in_common_classes, task_named
from probe.terms import Term, Titled

Results = Mapping[tuple[str, int], Sequence[Point]]
"""The repeats with the chosen rate, by condition trained on and size."""


@dataclass(frozen=True)
class Loss:
    """What is lost, as a share, where a model trained on one condition is tested on another."""

    row: str
    column: str
    own: Estimate
    away: Estimate
    loss: Estimate


def chosen(points: Iterable[Point]) -> Results:
    """Choose a learning rate for each condition and size by held-out pairs."""
    trained = [point for point in points if point.cell.size]
    return best_rates(trained, lambda p: (p.cell.train, p.cell.size), lambda p: p.dev)


def untrained(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the model as it was, on the test sets of each repeat."""
    return tuple(point for point in points if not point.cell.size)


def on_condition(points: Iterable[Point], column: str) -> Estimate:
    """Return the accuracy on a condition over all repeats, with Wilson's interval."""
    return estimate(point.tests[column] for point in points)


def on_original(points: Iterable[Point]) -> Estimate:
    """Return the accuracy on the original set, which is the same in all repeats: their mean."""
    hits = [total(point.original) for point in points]
    right, n = fmean(each.right for each in hits), hits[0].n
    return replace(Share(round(right), n).estimate(), value=right / n)


def estimate(scores: Iterable[Scores]) -> Estimate:
    """Return the accuracy over sets of several repeats together, with Wilson's interval."""
    hits = [total(each) for each in scores]
    return Share(sum(each.right for each in hits), sum(each.n for each in hits)).estimate()


def by_label(points: Sequence[Point], column: str) -> dict[Label, Estimate]:
    """Return the accuracy on a condition by gold label over all repeats."""
    return labelled([point.tests[column] for point in points])


def labelled(scores: Sequence[Scores]) -> dict[Label, Estimate]:
    """Return the accuracy by gold label over sets of several repeats."""
    labels = dict.fromkeys(label for each in scores for label in each)
    return {
        label: estimate({label: each[label]} for each in scores if label in each)
        for label in labels
    }


def constant(points: Iterable[Point], column: str) -> float:
    """Return the share of a condition's pairs that the best single answer gets right."""
    counts = Counter[Label]()
    for point in points:
        counts.update({label: hits.n for label, hits in point.tests[column].items()})
    return max(counts.values()) / counts.total()


def loss(points: Sequence[Point], row: str, column: str) -> Loss:
    """Return what a model trained on a row loses on a column.

    The interval is Newcombe's for a difference of two shares (1998, method 10): it covers which
    pairs were tested, not which templates.
    """
    own, away = on_condition(points, row), on_condition(points, column)
    return Loss(row, column, own, away, joined_difference(away, own))


Outcome = Literal["data_set", "phenomenon", "not_learnt", "undecided"]


OUTCOMES: Mapping[Outcome, Term] = {
    "data_set": Term(
        "Learnt the data set",
        "Away from what it saw the model loses much of what it had learnt: it fitted the examples, "
        "not what they have in common.",
    ),
    "phenomenon": Term(
        "Learnt the phenomenon",
        "What the model learnt on one kind of example it can do on the others, as far as these "
        "conditions tell.",
    ),
    "not_learnt": Term(
        "Not learnt",
        "Even on the kind of example that it was trained on the model does no better than one "
        "answer for all, so nothing can be lost elsewhere.",
    ),
    "undecided": Term(
        "Undecided",
        "The losses are too uncertain, or not every kind of example was learnt; more examples or "
        "repeats may tell.",
    ),
}
"""In the order in which they are explained."""
MIN_TESTS = 300
"""Pairs of a condition, all repeats together, below which a warning says that they are few."""


def at_largest(plan: Plan, results: Results) -> dict[str, Sequence[Point]]:
    """Return the points of the largest size by condition. Raises ValueError where one has none."""
    size = max(plan.sizes)
    if lacking := [row for row in plan.rows if (row, size) not in results]:
        raise ValueError(f"no point of {size} examples of {', '.join(lacking)} yet")
    return {row: results[row, size] for row in plan.rows}


def classify(plan: Plan, losses: Sequence[Loss], learnt: Sequence[str]) -> Outcome:
    """Name what was learnt; only a model that learnt its own condition can lose it elsewhere."""
    # rounding: 0.95 - 0.85 must count as ten points
    large = [
        each.loss
        for each in losses
        if each.row in learnt and round(each.loss.value, 9) >= plan.thresholds.loss
    ]
    if any(each.low > 0 for each in large):
        return "data_set"
    if not learnt:
        return "not_learnt"
    return "undecided" if large or len(learnt) < len(plan.rows) else "phenomenon"


def in_figures(plan: Plan, worst: Loss | None) -> str:
    """Say the largest loss in figures, "" where there is none."""
    if worst is None:
        return ""
    phrases = described(plan.columns, plan.vary)
    own, away = phrases[worst.row].phrase, phrases[worst.column].phrase
    model = bundled.title_of(Path(plan.model).name)
    return (
        f"Trained on {max(plan.sizes):,} examples with {own}, {model} is right on "
        f"{100 * worst.own.value:.0f} % of them and on {100 * worst.away.value:.0f} % of those "
        f"with {away}."
    )


def worst_in(verdict: Json) -> Loss | None:
    """Read the largest loss of a stored verdict, None where it has none."""
    if (stored := verdict["worst"]) is None:
        return None
    estimates = {name: Estimate(**stored[name]) for name in ("own", "away", "loss")}
    return Loss(**{**stored, **estimates})


def serving_all(verdict: Json) -> list[str]:
    """Return the conditions on which training suffices for all, by a stored verdict."""
    losing = {
        each["row"]
        for each in verdict["losses"]
        if round(each["loss"]["value"], 9) >= verdict["thresholds"]["loss"]
    }
    return [row for row in verdict["learnt"] if row not in losing]


def _warnings(plan: Plan, points: Sequence[Point], at: Mapping[str, Sequence[Point]]) -> list[str]:
    """Return what to beware of as sentences, the gravest first."""
    fewest = min(on_condition(own, column).n for own in at.values() for column in plan.columns)
    start = untrained(points)
    lost = {
        row: on_original(start).value - on_original(own).value for row, own in at.items() if start
    }
    worst = max(lost, key=lambda row: lost[row], default="")
    sets = [scores for point in points for scores in (point.original, *point.tests.values())]
    golds = {gold for scores in sets for gold in scores}
    sentences = {
        (told := diverged_words((p.cell.lr, p.diverged) for p in points)): bool(told),
        WHY_IN_COMMON: task_named(plan.task).merges(golds) is not None,
        "Only one repeat: another draw of templates may say otherwise (published: five).": (
            min(map(len, at.values())) < 2
        ),
        f"A condition has only {fewest} test examples; the intervals are wide.": fewest < MIN_TESTS,
        f"The original set lost {100 * lost.get(worst, 0):.1f} points after training on "
        f"{worst}.": lost.get(worst, 0) >= plan.thresholds.loss,
        "Fast mode trains the upper layers only, on states of the lower ones computed once; Rozen "
        "et al. train all weights.": plan.mode == "fast",
    }
    return [sentence for sentence, holds in sentences.items() if holds]


def verdict_json(plan: Plan, points: Sequence[Point]) -> Json:
    """Return what the largest size shows, with the table before training, as it is stored.

    `losses` are all away from what was seen, `worst` the largest of them of a model that `learnt`
    its own condition: where training beats the best single answer; of fewer than `FEWEST` tests
    none is named. The `grid` has rows by what was trained on, columns by what is tested: `low` and
    `high` are 95 % intervals, `repeats` each repeat's accuracy, `original` that on the original set
    afterwards, `lr` the chosen rates. `before` is the accuracy by condition and gold label (Table
    3). Raises ValueError where a condition has no point of the largest size.
    """
    at, columns = at_largest(plan, chosen(points)), plan.columns
    losses = [loss(at[row], row, away) for row in plan.rows for away in columns if away != row]
    learnt = [row for row in plan.rows if on_condition(at[row], row).low > constant(at[row], row)]
    telling = [each for each in losses if each.row in learnt and each.loss.n >= FEWEST]
    worst = max(telling, key=lambda each: each.loss.value, default=None)
    outcome = classify(plan, losses, learnt)
    cells = [[on_condition(at[row], column) for column in columns] for row in plan.rows]
    before, start = {}, untrained(points)
    if start:
        of_original = {**labelled([start[0].original]), "all": on_original(start)}
        tested = {
            name: {**by_label(start, name), "all": on_condition(start, name)} for name in columns
        }
        before = {
            name: {label: asdict(each) for label, each in own.items()}
            for name, own in {"original": of_original, **tested}.items()
        }
    return {
        "outcome": outcome,
        "name": OUTCOMES[outcome].title,
        "explanation": f"{in_figures(plan, worst)} {OUTCOMES[outcome].summary}".strip(),
        "learnt": learnt,
        "worst": asdict(worst) if worst else None,
        "losses": [asdict(each) for each in losses],
        "thresholds": asdict(plan.thresholds),
        "warnings": _warnings(plan, points, at),
        "grid": {
            "rows": list(plan.rows),
            "columns": list(columns),
            "size": max(plan.sizes),
            "accuracy": [[each.value for each in line] for line in cells],
            "low": [[each.low for each in line] for line in cells],
            "high": [[each.high for each in line] for line in cells],
            "n": [[each.n for each in line] for line in cells],
            "repeats": [
                [[share_right(point.tests[column]) for point in at[row]] for column in columns]
                for row in plan.rows
            ],
            "original": [on_original(at[row]).value for row in plan.rows],
            "lr": [at[row][0].cell.lr for row in plan.rows],
        },
        "before": before,
    }


def _brief(result: Json) -> Json:
    if not result:
        return dict.fromkeys(("original", "tests", "dev", "seconds"))
    point = point_from(vars(base_cell(0)), result)
    tests = {name: share_right(scores) for name, scores in point.tests.items()}
    facts = {"dev": point.dev, "seconds": point.seconds}
    return {"original": share_right(point.original), "tests": tests, **facts}


def verdict_of(stored: StoredRun, inputs: Json) -> Json | None:
    """Judge what there is, once every condition was trained on at the largest size."""
    run = generalisation_run(stored)
    largest = max(run.plan.sizes)
    trained = {point.cell.train for point in run.results if point.cell.size == largest}
    if trained != set(run.plan.rows):
        return None
    return verdict_json(run.plan, run.results)


GENERALISATION = TRIALS.experiment(
    lambda plan: f"{plan['phenomenon']} by {plan['vary']} on", _brief, verdict_of
)


WORDS: Mapping[str, Term] = {
    "generalisation": Term(
        "Generalisation",
        "Doing well on examples of another kind than those that were trained on (Rozen et al. "
        "2019).",
    ),
    "condition": Term(
        "Condition",
        "One kind of example of a phenomenon, such as simple sentences or numbers from 30 to 49.",
    ),
    "loss-away": Term(
        "Loss away from what was seen",
        "How many points of accuracy a model has less on another condition than on that which it "
        "was trained on.",
    ),
}


def generalisation_terms(task: Task) -> dict[str, Titled]:
    """Return the terms by id; what varies in templates is inference's."""
    outcomes = {f"generalisation-{name.replace('_', '-')}": term for name, term in OUTCOMES.items()}
    varied = {f"vary-{name}": Term(f"Vary: {g.title}", g.summary) for name, g in GRIDS.items()}
    return {**WORDS, **outcomes, **(varied if task is NLI else {})}


def judged_anew(run: GeneralisationRun, loss: float) -> GeneralisationRun:
    """Return a run judged by another loss. Raises ExperimentError for one that is no share."""
    plan = replace(run.plan, thresholds=Thresholds(loss))
    check(plan)
    return replace(run, plan=plan, verdict=verdict_json(plan, run.results))


def loss_in(points: str) -> float:
    """Read a loss in points as a share. Raises ExperimentError."""
    try:
        return round(float(points.replace(",", ".")) / 100, 6)
    except ValueError:
        raise ExperimentError(
            f"the loss must be a number of points above 0 and at most 100, not {points!r}"
        ) from None


MAX_CONDITIONS = 12
"""Values of a column that may be conditions: each is trained on and tested."""


def read_data(
    files: UserFiles, conditions: Path | None = None, column: str = "", task: Task = NLI
) -> SourceData:
    """Return the original set, dev and test together, and a file's rows by condition.

    Nothing is chosen by the original set here, so all of it is tested. Gold labels are in the
    classes that all have. Raises ExperimentError, FileError or LabelError.
    """
    data = read_source_data(files, task)
    rows = read_conditions(conditions, column, task, files.asked) if conditions else {}
    original, *several = in_common_classes(task, (*data.dev, *data.test), *rows.values())
    return SourceData(original, dict(zip(rows, several, strict=True)), task)


def read_conditions(
    path: Path, column: str, task: Task = NLI, asked: Asked = Asked()
) -> dict[str, Examples]:
    """Return the labelled rows of a file by what a column says of them, in the file's order.

    Rows of which it says nothing are left out. Raises FileError or LabelError.
    """
    found, there, cells = column_cells(path, column, asked)
    if found is None:
        raise FileQuestion(
            f"no column {shown(column)} in {path.name} names each row's condition; it has: "
            f"{listed(there)}",
            "--condition NAME",
        )
    rows: dict[str, list[Any]] = {}
    for number, example in numbered_pairs(path, task, asked):
        rows.setdefault(cells[number], []).append(example)
    if without := rows.pop("", []):
        asked.tell(
            f"note: {path.name}: {len(without):,} rows are left out, of which {shown(column)} "
            "names no condition"
        )
    if not 2 <= len(rows) <= MAX_CONDITIONS:
        raise FileQuestion(
            f"the column {shown(column)} of {path.name} must name 2 to {MAX_CONDITIONS} conditions "
            f"of labelled rows; it names {len(rows)}",
            "--condition NAME",
        )
    return {name: tuple(examples) for name, examples in rows.items()}


def same_phenomenon(plan: Plan, runs: Iterable[StoredRun]) -> InoculationRun | None:
    """Return the first judged inoculation of the same model on the same phenomenon.

    The templates' own challenge counts, and a challenge of the phenomenon's name, such as the
    released numerical stress test.
    """
    made = {name for name, kind in template_challenges().items() if kind == plan.phenomenon}
    wanted = {plan.phenomenon} if plan.vary == FILE else {plan.phenomenon, *made}
    return next(
        (
            run
            for run in inoculation_runs(runs)
            if run.verdict and run.plan.model == plan.model and run.plan.challenge in wanted
        ),
        None,
    )
