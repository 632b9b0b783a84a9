"""What fast mode is known to find otherwise than full mode, said before a run and in its verdict.

The table holds the runs that were measured in both modes: the gallery's challenges on MNLI with 500
examples, and on the bundled numerical templates with 100 (BENCHMARKS.md, "Inoculation" and "Beside
transformers' Trainer"), by the rule of `evidence`: the upper layers alone show no outcome 2, and
these runs did not record what was learnt of their doses. `python -m benchmarks.modes` measures more
of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from finetune.experiments.inoculation.challenges import title_of
from finetune.experiments.inoculation.outcomes import OUTCOMES, Outcome
from finetune.experiments.inoculation.plan import Plan
from probe.models import bundled
from probe.tasks.task import task_named

LARGE_LOSS = 5.0  # points of the original set that fast mode loses beyond full mode


@dataclass(frozen=True)
class MeasuredModes:
    """The outcome of a challenge in both modes, and the points that the original set lost."""

    model: str
    challenge: str
    full_loss: float
    full: Outcome
    fast_loss: float
    fast: Outcome


MEASURED = (
    MeasuredModes("minilm", "word_overlap", 0.5, "1", 1.5, "1"),
    MeasuredModes("minilm", "negation", 1.4, "1", 2.4, "between"),
    MeasuredModes("minilm", "spelling", 0.3, "between", 1.2, "between"),
    MeasuredModes("minilm", "length_mismatch", 0.0, "between", 1.8, "too_little"),
    MeasuredModes("minilm", "numerical", 5.0, "3", 25.3, "3"),
    MeasuredModes("minilm", "templates_numerical", 2.0, "between", 16.4, "3"),
    MeasuredModes("da", "word_overlap", -0.9, "1", -0.3, "1"),
    MeasuredModes("da", "negation", 1.7, "between", 1.9, "between"),
    MeasuredModes("da", "spelling", 0.6, "between", -0.2, "too_little"),
    MeasuredModes("da", "length_mismatch", 0.7, "between", 0.4, "too_little"),
    MeasuredModes("da", "numerical", 7.0, "3", 6.1, "3"),
    MeasuredModes("esim", "word_overlap", 1.0, "1", -0.6, "1"),
    MeasuredModes("esim", "negation", 0.9, "1", 0.3, "1"),
    MeasuredModes("esim", "spelling", 0.2, "too_little", -0.8, "too_little"),
    MeasuredModes("esim", "length_mismatch", 0.7, "0", -1.3, "0"),
    MeasuredModes("esim", "numerical", 2.4, "between", 1.7, "between"),
    MeasuredModes("esim_char", "word_overlap", 1.2, "1", 1.3, "between"),
    MeasuredModes("esim_char", "negation", 0.6, "1", -0.3, "1"),
    MeasuredModes("esim_char", "spelling", 0.4, "too_little", -1.2, "too_little"),
    MeasuredModes("esim_char", "length_mismatch", 0.1, "too_little", -1.2, "too_little"),
    MeasuredModes("esim_char", "numerical", 3.7, "3", 2.6, "between"),
)


def measured_modes(plan: Plan) -> MeasuredModes | None:
    """Return what was measured of a plan's model and challenge."""
    key = (Path(plan.model).name, plan.challenge)
    return next((row for row in MEASURED if (row.model, row.challenge) == key), None)


def known_differences(plans: Sequence[Plan]) -> Iterator[str]:
    """Yield what plans in fast mode are known to find otherwise, as sentences."""
    rows = {
        _title(plan): row for plan in plans if plan.mode == "fast" and (row := measured_modes(plan))
    }
    others = [
        f"{title} ({_short(row.fast)} instead of {_short(row.full)})"
        for title, row in rows.items()
        if row.fast != row.full
    ]
    if others:
        yield (
            "Where both were measured, training the upper layers alone found another outcome than "
            f"training all weights: {', '.join(others)}. For the published one train all."
        )
    losses = [
        f"{title} {row.fast_loss:g} points instead of {row.full_loss:g}"
        for title, row in rows.items()
        if row.fast_loss - row.full_loss >= LARGE_LOSS
    ]
    if losses:
        yield (
            "Where both were measured, training the upper layers alone ruined the original set, "
            f"which training all weights did not: {', '.join(losses)}."
        )


def fast_notes(plans: Sequence[Plan]) -> Iterator[str]:
    """Yield what to know of fast mode before plans are run, as sentences."""
    yield from known_differences(plans)
    unknown = [
        _title(plan) for plan in plans if plan.mode == "fast" and measured_modes(plan) is None
    ]
    if unknown:
        yield (
            "Whether training the upper layers alone finds what training all weights finds was not "
            f"measured for {', '.join(unknown)}: it can close less of a gap and cost the original "
            "set more."
        )


def _title(plan: Plan) -> str:
    """Return what a person calls a plan's model and challenge."""
    challenge = title_of(plan.challenge, task_named(plan.task))
    return f"{bundled.title_of(Path(plan.model).name)} on “{challenge}”"


def _short(outcome: Outcome) -> str:
    return OUTCOMES[outcome].title.lower()
