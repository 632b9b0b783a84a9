"""What an inoculation says about the challenge: Liu et al.'s outcomes, with intervals.

The paper names outcomes 1 to 3 and gives no thresholds. Ours lie between its anchor numbers:
more than 90 % of the gap closed was called outcome 1, 7 points lost outcome 3. Shares here run
from 0 to 1; sentences speak of percentage points.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from finetune.inoculate import Point
from finetune.selection import Chosen, choose, merge
from finetune.thresholds import THRESHOLDS, Thresholds
from probe.metrics import Estimate

Outcome = Literal["0", "1", "2", "3", "between"]
Array = NDArray[np.float64]

NAMES: dict[Outcome, str] = {
    "0": "Outcome 0: no gap",
    "1": "Outcome 1: dataset weakness",
    "2": "Outcome 2: model weakness",
    "3": "Outcome 3: artefacts or other differences between the sets",
    "between": "Between outcomes 1 and 2",
}
EXPLANATIONS: dict[Outcome, str] = {
    "0": "The model does about as well on the challenge as on the original set, so there is "
    "nothing to inoculate against.",
    "1": "A few examples close the gap and the original set does not suffer: the model can do it, "
    "its training data did not show it.",
    "2": "Even after seeing examples the model stays about as bad on the challenge, and as good on "
    "the original set: it lacks what the challenge asks for.",
    "3": "Learning the challenge costs accuracy on the original set: the two sets differ in more "
    "than the phenomenon, for instance in how labels are spread or in what gives them away.",
    "between": "Some of the gap closes and much stays: the training data lacked examples and the "
    "model lacks something too, or the sets are too small to tell.",
}


@dataclass(frozen=True)
class Finding:
    """What one size says: gap G, closed share s, drop d and the challenge's gain, as shares."""

    size: int
    lr: float
    seeds: int
    original: float
    challenge: float
    gap: Estimate
    closed: Estimate
    drop: Estimate
    gain: Estimate
    outcome: Outcome

    @property
    def name(self) -> str:
        """The outcome in a few words."""
        return NAMES[self.outcome]

    @property
    def explanation(self) -> str:
        """What the outcome means."""
        return EXPLANATIONS[self.outcome]


@dataclass(frozen=True)
class Verdict:
    """The findings by size and what to beware of.

    `by_size` chooses each learning rate by the challenge test set, as the paper reports it;
    `by_dev` is the largest size with the rate chosen on original dev.
    """

    by_size: tuple[Finding, ...]
    by_dev: Finding
    warnings: tuple[str, ...]

    @property
    def finding(self) -> Finding:
        """The largest size: the run's outcome."""
        return self.by_size[-1]


def resample(columns: Array, times: int, rng: np.random.Generator) -> Array:
    """Return the column means of bootstrap resamples of the rows.  # (times, columns)

    Rows that are alike are drawn together by a multinomial, which is the same distribution
    as drawing row by row and needs no (times, rows) array.
    """
    kinds, counts = np.unique(columns, axis=0, return_counts=True)
    draws = rng.multinomial(len(columns), counts / len(columns), size=times)
    return np.asarray(draws @ kinds / len(columns), dtype=np.float64)


def find(
    base: Chosen,
    after: Chosen,
    paired: bool = False,
    seed: int = 0,
    times: int = 1000,
    thresholds: Thresholds = THRESHOLDS,
) -> Finding:
    """Compare a model before and after; `paired` resamples rows of both test sets together."""
    original = np.array([base.original_right, after.original_right]).T
    challenge = np.array([base.challenge_right, after.challenge_right]).T
    rng = np.random.default_rng(seed)
    if paired:
        draws = resample(np.hstack([original, challenge]), times, rng)
    else:
        draws = np.hstack([resample(original, times, rng), resample(challenge, times, rng)])
    means = np.array([base.original, after.original, base.challenge, after.challenge])
    n = len(original) if paired else min(len(original), len(challenge))
    gap, closed, drop, gain = (
        _estimate(float(value[0]), value[1:], n) for value in _quantities(np.vstack([means, draws]))
    )
    finding = Finding(
        after.size, after.lr, after.seeds, after.original, after.challenge,
        gap, closed, drop, gain, "between",
    )  # fmt: skip
    return replace(finding, outcome=classify(gap, closed, drop, gain, thresholds))


def _quantities(means: Array) -> tuple[Array, Array, Array, Array]:
    """Return gap, closed, drop, gain of (rows, 4) means; closed is NaN where there is no gap."""
    before, after, challenge_before, challenge_after = means.T
    gap, gain = before - challenge_before, challenge_after - challenge_before
    closed = np.divide(gain, gap, out=np.full_like(gap, np.nan), where=gap > 1e-12)
    return gap, closed, before - after, gain


def _estimate(value: float, draws: Array, n: int) -> Estimate:
    if np.isnan(value) or np.isnan(draws).all():
        return Estimate(float("nan"), float("nan"), float("nan"), n)
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return Estimate(value, float(low), float(high), n)


def classify(
    gap: Estimate, closed: Estimate, drop: Estimate, gain: Estimate, limits: Thresholds = THRESHOLDS
) -> Outcome:
    """Return the outcome: no gap first, then damage, then how much of the gap was closed."""
    # rounding: 0.85 - 0.82 must count as three points
    value, lost, share = (round(one.value, 9) for one in (gap, drop, closed))
    if value < limits.gap or gap.low <= 0:
        return "0"
    if lost >= limits.drop:
        return "3" if drop.low > 0 else "between"
    if share >= limits.cured:
        return "1"
    if share < limits.uncured or gain.low <= 0 <= gain.high:
        return "2"
    return "between"


def judge(
    base: Point,
    points: Sequence[Point],
    majority: float = 0.0,
    paired: bool = False,
    thresholds: Thresholds = THRESHOLDS,
) -> Verdict:
    """Name the outcome of a run from its points, size 0 apart. Raises ValueError without points.

    `majority` is the share of the commonest label in the challenge training set, `paired` as in
    `find`.
    """
    if not points:
        raise ValueError("no size has been computed yet, so there is no outcome")
    start = merge([base])
    by_size = tuple(
        find(start, one, paired, thresholds=thresholds) for one in choose(points, "oracle_lr")
    )
    dev = choose(points, "dev_lr")[-1]
    by_dev = find(start, dev, paired, thresholds=thresholds)
    warnings = _warnings(base, points, by_size[-1], by_dev, majority, thresholds)
    return Verdict(by_size, by_dev, tuple(warnings))


def verdict_json(verdict: Verdict) -> dict[str, Any]:  # Any: what JSON holds
    """Return a verdict for a file: gap, closed, drop and outcome of the largest size on top.

    The closed share is null where there is no gap to close.
    """
    found = verdict.finding
    by_size = {str(one.size): _finding_json(one) for one in verdict.by_size}
    return {
        "gap": found.gap.value,
        "closed": None if np.isnan(found.closed.value) else found.closed.value,
        "drop": found.drop.value,
        "outcome": found.outcome,
        "name": found.name,
        "explanation": found.explanation,
        "oracle_lr": _finding_json(found),
        "dev_lr": _finding_json(verdict.by_dev),
        "by_size": by_size,
        "warnings": list(verdict.warnings),
    }


def _finding_json(found: Finding) -> dict[str, Any]:  # Any: what JSON holds
    row = asdict(found)
    for name in ("gap", "closed", "drop", "gain"):
        row[name] = {key: None if np.isnan(it) else it for key, it in row[name].items()}
    return {**row, "name": found.name}


def _warnings(
    base: Point,
    points: Sequence[Point],
    finding: Finding,
    by_dev: Finding,
    majority: float,
    limits: Thresholds,
) -> Iterable[str]:
    if majority >= limits.majority:
        yield (
            f"{majority:.0%} of the challenge training pairs have the same label, so a closed gap "
            "says little: the model may have learnt only to prefer that label."
        )
    n = min(len(base.original_right), len(base.challenge_right))
    if n < limits.tests:
        yield f"A test set has only {n} pairs; below {limits.tests} the intervals are very wide."
    for rate in sorted({p.cell.lr for p in points if base.dev - p.dev >= limits.damage}):
        lost = 100 * max(base.dev - p.dev for p in points if p.cell.lr == rate)
        yield (
            f"With learning rate {rate:g} even the best epoch scores {lost:.1f} points less on "
            "original dev than the model before: a lower rate damages less."
        )
    if by_dev.outcome != finding.outcome:
        yield (
            f"The learning rate chosen on original dev, {by_dev.lr:g}, gives another outcome: "
            f"{by_dev.name}."
        )
    if finding.outcome == "between" and finding.drop.value >= limits.drop:
        yield (
            f"The original set lost {100 * finding.drop.value:.1f} points, but the interval "
            "includes none, so outcome 3 is possible."
        )
