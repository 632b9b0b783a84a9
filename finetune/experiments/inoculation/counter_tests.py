"""Counter-tests: was it the phenomenon that was learnt, or something that comes with it?

A distractor always stands last and gives answers of one list. A reader that has only learnt to pass
over the last sentence gains nothing where the sentence stands first (Jia and Liang 2017, 4.6).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from finetune.experiments.inoculation.resampling import Array, estimate, resample
from finetune.experiments.inoculation.selection import SelectedPoint
from probe.metrics import Estimate
from probe.transforms import REGISTRY

COUNTER_TESTS: Mapping[str, tuple[str, ...]] = {"addsent": ("addsent_first", "addsent_other")}
"""The names of the counter-tests of a challenge, which are transforms."""
LEARNT_INSTEAD = {"addsent_first": "the position", "addsent_other": "the false answers"}
"""What could be learnt in place of the phenomenon, if a counter-test gains less."""


@dataclass(frozen=True)
class CounterTest:
    """Scores before and after; its gain, and by how much the challenge gained more, as shares."""

    name: str
    before: float
    after: float
    gain: Estimate
    lead: Estimate

    @property
    def shows(self) -> bool:
        """Whether the challenge gained more than this test, beyond chance."""
        return self.lead.low > 0


def counter_tests(
    base: SelectedPoint, after: SelectedPoint, seed: int = 0, times: int = 1000
) -> tuple[CounterTest, ...]:
    """Compare what each counter-test gained with what the challenge did.

    The rows of each set are resampled by themselves, before and after together.
    """
    challenge = _gains(base.challenge_right, after.challenge_right, seed, times)
    return tuple(
        _compared(name, before, after.counter_tests[name], challenge, seed + at, times)
        for at, (name, before) in enumerate(base.counter_tests.items(), 1)
        if name in after.counter_tests
    )


def _compared(
    name: str,
    before: Sequence[float],
    after: Sequence[float],
    challenge: Array,
    seed: int,
    times: int,
) -> CounterTest:
    own, n = _gains(before, after, seed, times), len(before)
    lead = challenge - own
    return CounterTest(
        name,
        float(np.mean(before)),
        float(np.mean(after)),
        estimate(float(own[0]), own[1:], n),
        estimate(float(lead[0]), lead[1:], n),
    )


def _gains(before: Sequence[float], after: Sequence[float], seed: int, times: int) -> Array:
    """Return the mean gain, then those of resamples of the rows.  # (1 + times,)"""
    rows = np.array([before, after]).T
    draws = resample(rows, times, np.random.default_rng(seed))
    means: Array = np.vstack([rows.mean(0), draws])
    return np.asarray(means[:, 1] - means[:, 0])


def counter_sentence(test: CounterTest, measure: str) -> str:
    """Say what a counter-test shows; `measure` is what scores are called."""
    title, what = REGISTRY[test.name].title, LEARNT_INSTEAD[test.name]
    gains = (
        f"Did it learn {what}? On “{title}” {measure} went from {100 * test.before:.1f} to "
        f"{100 * test.after:.1f} %; the challenge gained {_points(test.lead.value)} points more "
        f"({_points(test.lead.low)} to {_points(test.lead.high)})"
    )
    if test.shows:
        return f"{gains}: a part of what was learnt is {what}, not to see through the sentence."
    doubt = "which may be chance" if test.lead.high >= 0 else "so this test gained more"
    return f"{gains}, {doubt}: no sign of that."


def _points(share: float) -> str:
    return f"{100 * share:.1f}".replace("-", "−")
