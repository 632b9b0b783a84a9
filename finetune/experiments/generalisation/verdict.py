"""Did the model learn the phenomenon or the data set? The answer in words, with its figures.

Rozen et al. 2019 draw the line by eye; the threshold is ours, a setting of the plan. Shares run
from 0 to 1 here and in the JSON; sentences speak of percent and points.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from finetune.experiments.generalisation.conditions import described
from finetune.experiments.generalisation.grid import (
    Loss,
    Results,
    by_label,
    chosen,
    constant,
    labelled,
    loss,
    on_condition,
    on_original,
    repeats,
    untrained,
)
from finetune.experiments.generalisation.plan import Plan
from finetune.experiments.generalisation.point import Point
from finetune.experiments.training_limits import diverged_words
from probe.metrics import FEWEST, Estimate
from probe.models import bundled
from probe.runs.run import Json
from probe.tasks.task import WHY_IN_COMMON, task_named

Outcome = Literal["data_set", "phenomenon", "not_learnt", "undecided"]


@dataclass(frozen=True)
class OutcomeWords:
    """An outcome as a badge names it, and in one sentence."""

    name: str
    summary: str


OUTCOMES: Mapping[Outcome, OutcomeWords] = {
    "data_set": OutcomeWords(
        "Learnt the data set",
        "Away from what it saw the model loses much of what it had learnt: it fitted the examples, "
        "not what they have in common.",
    ),
    "phenomenon": OutcomeWords(
        "Learnt the phenomenon",
        "What the model learnt on one kind of example it can do on the others, as far as these "
        "conditions tell.",
    ),
    "not_learnt": OutcomeWords(
        "Not learnt",
        "Even on the kind of example that it was trained on the model does no better than one "
        "answer for all, so nothing can be lost elsewhere.",
    ),
    "undecided": OutcomeWords(
        "Undecided",
        "The losses are too uncertain, or not every kind of example was learnt; more examples or "
        "repeats may tell.",
    ),
}
"""In the order in which they are explained."""
MIN_TESTS = 300
"""Pairs of a condition, all repeats together, below which a warning says that they are few."""


@dataclass(frozen=True)
class Verdict:
    """The outcome at the largest size, every loss away from what was seen, and what to beware of.

    `learnt` are the conditions on which training beats the best single answer.
    """

    outcome: Outcome
    explanation: str
    losses: tuple[Loss, ...]
    learnt: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def worst(self) -> Loss | None:
        """The largest loss of a model that learnt its own condition, None where none did.

        Of fewer than `FEWEST` tests none is named.
        """
        of_learnt = [
            each for each in self.losses if each.row in self.learnt and each.loss.n >= FEWEST
        ]
        return max(of_learnt, key=lambda each: each.loss.value, default=None)


def conclude(plan: Plan, points: Sequence[Point]) -> Verdict:
    """Judge the largest size. Raises ValueError where a condition has no point of that size."""
    at = at_largest(plan, chosen(points))
    losses = tuple(
        loss(at[row], row, column) for row in plan.rows for column in plan.columns if column != row
    )
    learnt = tuple(
        row for row in plan.rows if on_condition(at[row], row).low > constant(at[row], row)
    )
    outcome = classify(plan, losses, learnt)
    judged = Verdict(outcome, "", losses, learnt, ())
    return Verdict(
        outcome,
        " ".join(filter(None, (in_figures(plan, judged.worst), OUTCOMES[outcome].summary))),
        losses,
        learnt,
        tuple(_warnings(plan, points, at)),
    )


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
    stored = verdict["worst"]
    if stored is None:
        return None
    own, away, loss = (Estimate(**stored[name]) for name in ("own", "away", "loss"))
    return Loss(stored["row"], stored["column"], own, away, loss)


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
    start = on_original(untrained(points)) if untrained(points) else None
    lost = {row: start.value - on_original(own).value for row, own in at.items()} if start else {}
    worst = max(lost, key=lambda row: lost[row], default="")
    repeated = min(len(own) for own in at.values())
    sets = [scores for point in points for scores in (point.original, *point.tests.values())]
    golds = {gold for scores in sets for gold in scores}
    sentences = {
        (told := diverged_words((p.cell.lr, p.diverged) for p in points)): bool(told),
        WHY_IN_COMMON: task_named(plan.task).merges(golds) is not None,
        "Only one repeat: another draw of templates may say otherwise (published: five).": (
            repeated < 2
        ),
        f"A condition has only {fewest} test examples; the intervals are wide.": fewest < MIN_TESTS,
        f"The original set lost {100 * lost.get(worst, 0):.1f} points after training on "
        f"{worst}.": lost.get(worst, 0) >= plan.thresholds.loss,
        "Fast mode trains the upper layers only, on states of the lower ones computed once; Rozen "
        "et al. train all weights.": plan.mode == "fast",
    }
    return [sentence for sentence, holds in sentences.items() if holds]


def verdict_json(plan: Plan, points: Sequence[Point]) -> Json:
    """Return verdict, grid and the table before training as they are stored.

    Raises ValueError where a condition has no point of the largest size.
    """
    verdict = conclude(plan, points)
    return {
        "outcome": verdict.outcome,
        "name": OUTCOMES[verdict.outcome].name,
        "explanation": verdict.explanation,
        "learnt": list(verdict.learnt),
        "worst": _loss_json(verdict.worst),
        "losses": [_loss_json(each) for each in verdict.losses],
        "thresholds": asdict(plan.thresholds),
        "warnings": list(verdict.warnings),
        "grid": grid_json(plan, points),
        "before": before_json(plan, points),
    }


def grid_json(plan: Plan, points: Sequence[Point]) -> Json:
    """Return final accuracies as rows by what was trained on, columns by what is tested.

    `low` and `high` are 95 % intervals, `repeats` each repeat's accuracy, `original` that on the
    original set afterwards, `lr` the chosen rates.
    """
    at = at_largest(plan, chosen(points))
    estimates = [[on_condition(at[row], column) for column in plan.columns] for row in plan.rows]
    return {
        "rows": list(plan.rows),
        "columns": list(plan.columns),
        "size": max(plan.sizes),
        "accuracy": [[each.value for each in line] for line in estimates],
        "low": [[each.low for each in line] for line in estimates],
        "high": [[each.high for each in line] for line in estimates],
        "n": [[each.n for each in line] for line in estimates],
        "repeats": [[repeats(at[row], column) for column in plan.columns] for row in plan.rows],
        "original": [on_original(at[row]).value for row in plan.rows],
        "lr": [at[row][0].cell.lr for row in plan.rows],
    }


def before_json(plan: Plan, points: Sequence[Point]) -> Json:
    """Return the model's accuracies before training, by condition and gold label (Table 3)."""
    start = untrained(points)
    if not start:
        return {}
    sets = {name: _labelled_json(by_label(start, name)) for name in plan.columns}
    for name in plan.columns:
        sets[name]["all"] = asdict(on_condition(start, name))
    original = {
        **_labelled_json(labelled([start[0].original])),
        "all": asdict(on_original(start)),
    }
    return {"original": original, **sets}


def _labelled_json(estimates: Mapping[str, Estimate]) -> Json:
    return {label: asdict(each) for label, each in estimates.items()}


def _loss_json(each: Loss | None) -> Json | None:
    return None if each is None else asdict(each)
