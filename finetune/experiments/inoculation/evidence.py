"""Whether a run holds enough to name an outcome, and what changes its meaning (SEMANTICS 6.1).

Figures alone are classified in `outcomes`. Page, gallery, report, command line and HTTP name what
is concluded here: an outcome for which the run lacks what would show it is "too little to tell".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Literal, NamedTuple

from finetune.experiments.inoculation.outcomes import OUTCOMES, Outcome, SizeOutcome
from finetune.experiments.inoculation.plan import Plan
from finetune.experiments.inoculation.point import Point
from finetune.training.recipes import default_rate
from probe.metrics import interval

MIN_DOSE, LEARNT, CLEARLY_CLOSED = 100, 0.90, 0.50
"""Examples of a dose, fewer where there are no more, and the share of them that a model must have
learnt before it is said to lack the ability; what the interval of the share closed lies above
before a gap is said to have closed."""
LONGER, HIGHER = 3, 3
"""How many times the epochs and the rate of a training that did not learn its dose are tried."""

Missing = Literal["weights", "examples", "record", "learnt", "original", "interval"]
Shares = Mapping[int, Mapping[float, float | None]]


@dataclass(frozen=True)
class Evidence:
    """What a run has beside its figures.

    `original` are the rows of the original test set, `available` the examples that there were to
    train on. `doses` is the share of each size's examples that was learnt at each rate, None where
    that was not recorded. `control` is the score on the control set before, None where there is
    none, `rules` what rules reach on the challenge test set, `majority` the share of the challenge
    training set that one label gets right, 0 where that is not known.
    """

    plan: Plan
    original: int
    available: int = 0
    doses: Shares = field(default_factory=dict)
    control: float | None = None
    rules: Mapping[str, float] = field(default_factory=dict)
    majority: float = 0.0


class Lack(NamedTuple):
    """What a run lacks to show the outcome of its figures, and in a clause."""

    missing: Missing
    clause: str


class Mark(NamedTuple):
    """What changes the meaning of an outcome: in the words of a badge, and in a clause."""

    badge: str
    clause: str


@dataclass(frozen=True)
class Conclusion:
    """The outcome that a run shows, and at which size.

    `figures` is the outcome that the figures alone would have, `lacks` what the run lacks to show
    it: where there is any, the outcome is "too_little".
    """

    outcome: Outcome
    figures: Outcome
    size: int
    lacks: tuple[Lack, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def headline(self) -> str:
        """The outcome in a sentence, with what changes its meaning."""
        name = OUTCOMES[self.outcome].name
        clauses = "; ".join([clause for _, clause in (*self.lacks, *self.marks)])
        if self.lacks:
            return f"{name}: {clauses}"
        return f"{name}, but {clauses}" if clauses else name


def learnt_shares(points: Sequence[Point]) -> Shares:
    """Return the share of the dose that was learnt by size and rate, over seeds on average."""
    found: dict[int, dict[float, float | None]] = {}
    for size, lr in dict.fromkeys((point.cell.size, point.cell.lr) for point in points):
        doses = [p.dose for p in points if (p.cell.size, p.cell.lr) == (size, lr)]
        known = [dose / size for dose in doses if dose is not None]
        found.setdefault(size, {})[lr] = fmean(known) if len(known) == len(doses) else None
    return found


def concluded(by_size: Sequence[SizeOutcome], evidence: Evidence) -> Conclusion:
    """Conclude from the figures of all sizes, smallest first.

    Outcome 3 of the largest size comes first; outcome 1 is shown by any size, of several by the
    largest; else the largest size speaks.
    """
    largest = by_size[-1]
    closing = [each for each in by_size if each.outcome == "1" and not lacking(each, evidence)]
    told = closing[-1] if closing and largest.outcome != "3" else largest
    lacks = tuple(lacking(told, evidence))
    outcome: Outcome = "too_little" if lacks else told.outcome
    marks = tuple(_marks(outcome, told, largest, evidence))
    return Conclusion(outcome, told.outcome, told.size, lacks, marks)


def shown(found: SizeOutcome, evidence: Evidence) -> SizeOutcome:
    """Return the figures of one size with the outcome that it shows by itself."""
    return replace(found, outcome="too_little") if any(lacking(found, evidence)) else found


def lacking(found: SizeOutcome, evidence: Evidence) -> list[Lack]:
    """Return what a run lacks to show the outcome that the figures of a size have."""
    needs = {"1": _interval, "2": _ability, "3": _original}
    return list(needs[found.outcome](found, evidence)) if found.outcome in needs else []


def _interval(found: SizeOutcome, evidence: Evidence) -> Iterator[Lack]:
    if found.closed.low <= CLEARLY_CLOSED:
        yield Lack(
            "interval",
            f"{100 * found.closed.value:.0f} % of the gap closed, but by so few test examples that "
            f"it may be anything from {interval(found.closed)} %",
        )


def _original(found: SizeOutcome, evidence: Evidence) -> Iterator[Lack]:
    least = evidence.plan.thresholds.tests
    if evidence.original < least:
        yield Lack(
            "original",
            f"{100 * found.drop.value:.1f} points lost on an original test set of only "
            f"{evidence.original}, where {least} tell",
        )


def _ability(found: SizeOutcome, evidence: Evidence) -> Iterator[Lack]:
    if evidence.plan.mode == "fast":
        yield Lack("weights", "only the upper layers were trained")
    if found.size < MIN_DOSE and found.size != evidence.available:
        yield Lack("examples", f"{found.size} examples are few, {MIN_DOSE} or all there are tell")
    shares = evidence.doses.get(found.size, {})
    known = [share for share in shares.values() if share is not None]
    if not known:
        yield Lack("record", "whether the examples themselves were learnt is not recorded")
    elif round(max(known) - LEARNT, 9) < 0:
        rates = f" at the best of {len(shares)} rates" if len(shares) > 1 else ""
        yield Lack(
            "learnt",
            f"of the {found.size} examples themselves only {100 * max(known):.0f} % were "
            f"learnt{rates}",
        )


def _marks(
    outcome: Outcome, told: SizeOutcome, largest: SizeOutcome, evidence: Evidence
) -> Iterator[Mark]:
    limits, plan = evidence.plan.thresholds, evidence.plan
    if plan.mode == "fast" and outcome in ("1", "3", "between"):
        yield Mark("upper layers only", "only the upper layers were trained")
    if outcome in ("1", "between"):
        yield from _learnt_instead(told, evidence)
    if outcome != "3" and round(largest.drop.value - limits.drop, 9) >= 0:
        yield Mark(
            "original may be lost",
            f"the original set lost {100 * largest.drop.value:.1f} points with {largest.size} "
            f"examples ({interval(largest.drop)})",
        )


def _learnt_instead(told: SizeOutcome, evidence: Evidence) -> Iterator[Mark]:
    """Yield what may have been learnt in place of the phenomenon, where its gap closed in part."""
    limits, before, after = evidence.plan.thresholds, evidence.control, told.control
    if told.outcome == "1" and before is not None and after is not None:
        gap = told.original + told.drop.value - before
        closed = (after - before) / gap if gap >= limits.gap else 1.0
        if closed < limits.cured:
            yield Mark(
                "this wording only",
                f"on a control set by other words, never trained on, only {100 * closed:.0f} % of "
                "its gap closed: it learnt this wording, not to ignore one",
            )
    if evidence.majority >= limits.majority:
        yield Mark(
            "one label prevails",
            f"{100 * evidence.majority:.0f} % of the challenge training examples have the same "
            "label: it may have learnt only to prefer that",
        )
    reached = [
        f"{name.replace('_', ' ')} {100 * share:.1f} %"
        for name, share in evidence.rules.items()
        if round(share - told.challenge, 9) >= 0
    ]
    if reached:
        yield Mark(
            "a rule does as well",
            f"rules that understand nothing do as well on the challenge: {', '.join(reached)}",
        )


MORE_TEXTS: Mapping[Missing, str] = {
    "original": "a larger original test set (--original-test)",
    "interval": "a larger challenge test set (--challenge-test)",
}
"""What no training can make up for, and the option of the command line that takes it."""


def telling_plan(plan: Plan, missing: Sequence[Missing], size: int, available: int) -> Plan | None:
    """Return the smallest plan that would tell, None where a run can lack more texts alone.

    `size` is the one that lacks something. Raises ModelError where the model is not there.
    """
    if not missing or set(missing) & set(MORE_TEXTS):
        return None
    rates, epochs, patience = plan.lrs, plan.max_epochs, plan.patience
    if "weights" in missing:
        rates = (default_rate(plan.model, "full"),)
    elif "learnt" in missing:
        rates = tuple(dict.fromkeys((*rates, HIGHER * max(rates))))
        epochs = patience = LONGER * epochs
    enough = max(size, min(MIN_DOSE, available))
    return replace(
        plan, mode="full", sizes=(enough,), lrs=rates, max_epochs=epochs, patience=patience
    )
