"""What one size of an inoculation says: Liu et al.'s outcomes, with intervals.

The paper names outcomes 1 to 3 and gives no thresholds. Ours lie between its anchor numbers:
more than 90 % of the gap closed was called outcome 1, 7 points lost outcome 3. Whether a run shows
the outcome of its figures is asked in `evidence`. Shares here run from 0 to 1; sentences speak of
percentage points.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from finetune.experiments.inoculation.counter_tests import CounterTest, counter_tests
from finetune.experiments.inoculation.plan import THRESHOLDS, Thresholds
from finetune.experiments.inoculation.resampling import Array, estimate, resample
from finetune.experiments.inoculation.selection import SelectedPoint
from probe.metrics import Estimate
from probe.terms import Term

Outcome = Literal["0", "1", "2", "3", "between", "too_little"]


@dataclass(frozen=True)
class OutcomeWords:
    """An outcome in a word or two, by the name that Liu et al. give it, and in one sentence."""

    title: str
    name: str
    summary: str


OUTCOMES: Mapping[Outcome, OutcomeWords] = {
    "1": OutcomeWords(
        "Gap closes",
        "Outcome 1: dataset weakness",
        "A few examples close the gap and the original set does not suffer: the training data did "
        "not show it, the model can do it.",
    ),
    "2": OutcomeWords(
        "Gap stays",
        "Outcome 2: model weakness",
        "Even with examples the model stays as bad on the challenge, and as good on the original "
        "set: it lacks what the challenge asks for.",
    ),
    "3": OutcomeWords(
        "Original lost",
        "Outcome 3: artefacts or other differences between the sets",
        "Learning the challenge costs points on the original set: the two differ in more than "
        "the phenomenon, as in how labels are spread or where a false answer stands.",
    ),
    "between": OutcomeWords(
        "Between",
        "Between outcomes 1 and 2",
        "Some of the gap closes and much stays: data and model both lack something, or the sets "
        "are too small to tell.",
    ),
    "0": OutcomeWords(
        "No gap",
        "Outcome 0: no gap",
        "The model does about as well on the challenge as on the original set, so there is "
        "nothing to inoculate against.",
    ),
    "too_little": OutcomeWords(
        "Too little to tell",
        "Too little to tell",
        "The run lacks what would show the outcome of its figures: enough examples, learnt ones, "
        "all weights, or enough test examples.",
    ),
}
"""In the order in which they are explained."""
MEASURES: Mapping[str, Term] = {
    "gap": Term(
        "Gap",
        "How many points of accuracy, or of F1 where answers are spans, the model loses from the "
        "original set to the challenge, before it is inoculated.",
    ),
    "closed": Term(
        "Share closed",
        "The part of the gap that is gone after inoculation; 100 % is as good as on the original "
        "set before.",
    ),
    "drop": Term("Original lost", "How many points on the original set it costs."),
    "gain": Term("Gain", "How many points on the challenge are won."),
}
"""What is measured at each size, by its name in `SizeOutcome`."""


def badge(outcome: Outcome) -> str:
    """Return an outcome as a badge names it: "1 · gap closes"."""
    title = OUTCOMES[outcome].title.lower()
    return f"{outcome} · {title}" if outcome.isdigit() else title


@dataclass(frozen=True)
class SizeOutcome:
    """What one size says: gap G, closed share s, drop d and the challenge's gain, as shares.

    `control` is the mean score on the control set, None where there is none, `counter_tests` what
    the challenge gained beyond its counter-tests.
    """

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
    control: float | None = None
    counter_tests: tuple[CounterTest, ...] = ()

    @property
    def name(self) -> str:
        """The outcome in a few words."""
        return OUTCOMES[self.outcome].name

    @property
    def explanation(self) -> str:
        """What the outcome means."""
        return OUTCOMES[self.outcome].summary


def outcome_of(
    base: SelectedPoint,
    after: SelectedPoint,
    paired: bool = False,
    seed: int = 0,
    times: int = 1000,
    thresholds: Thresholds = THRESHOLDS,
) -> SizeOutcome:
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
        estimate(float(value[0]), value[1:], n) for value in _quantities(np.vstack([means, draws]))
    )
    finding = SizeOutcome(
        after.size, after.lr, after.seeds, after.original, after.challenge,
        gap, closed, drop, gain, "between", after.control, counter_tests(base, after, seed, times),
    )  # fmt: skip
    return replace(finding, outcome=classify(gap, closed, drop, gain, thresholds))


def _quantities(means: Array) -> tuple[Array, Array, Array, Array]:
    """Return gap, closed, drop, gain of (rows, 4) means; closed is NaN where there is no gap."""
    before, after, challenge_before, challenge_after = means.T
    gap, gain = before - challenge_before, challenge_after - challenge_before
    closed = np.divide(gain, gap, out=np.full_like(gap, np.nan), where=gap > 1e-12)
    return gap, closed, before - after, gain


def classify(
    gap: Estimate, closed: Estimate, drop: Estimate, gain: Estimate, limits: Thresholds = THRESHOLDS
) -> Outcome:
    """Return the outcome of figures: damage first, then no gap, then how much of it was closed.

    Liu et al. call it outcome 3 regardless of the gap.
    """
    # rounding: 0.85 - 0.82 must count as three points
    value, lost, share = (round(estimate.value, 9) for estimate in (gap, drop, closed))
    if lost >= limits.drop and drop.low > 0:
        return "3"
    if value < limits.gap or gap.low <= 0:
        return "0"
    if lost >= limits.drop:
        return "between"
    if share >= limits.cured:
        return "1"
    if share < limits.uncured or gain.low <= 0 <= gain.high:
        return "2"
    return "between"
