"""What a file's figures mean, in the words of its task."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan

from probe.analysis.summary import Measured, Summary
from probe.statistics import FEWEST, NOTHING, Estimate, joined_difference, sureness
from probe.tasks.label_rules import UNDEFINED
from probe.tasks.task import Task
from probe.transforms import default_of, rule_of
from probe.transforms.registry import chain

SHARES = {
    0.0: "Hardly any answer",
    0.1: "One answer in ten",
    0.2: "One answer in five",
    0.25: "One answer in four",
    1 / 3: "One answer in three",
    0.4: "Two answers in five",
    0.5: "Half of the answers",
    0.6: "Three answers in five",
    2 / 3: "Two answers in three",
    0.75: "Three answers in four",
    0.8: "Four answers in five",
    0.9: "Nine answers in ten",
    0.95: "Nineteen answers in twenty",
    1.0: "Nearly every answer",
}
"""A share in words, by the nearest one; a verb in the singular or plural goes with it."""
ALL_OR_NONE = {0.0: "No answer", 1.0: "Every answer"}
"""A share that is exactly one of these."""
SINGULAR = ("Hardly", "One", "Nearly", "Every", "No ")
FEW = 0.05
"""A share below this is what one would hope for."""


def meaningless(names: Iterable[str], task: Task) -> list[str]:
    """Return the changes after which a text has no meaning, so that no answer should stay."""
    return [name for name in names if rule_of(name) is UNDEFINED and not default_of(name, task)]


def average(estimates: Iterable[Estimate]) -> float:
    """Return the mean of the estimates over anything, NaN where there is none."""
    values = [estimate.value for estimate in estimates if estimate.n]
    return sum(values) / len(values) if values else float("nan")


def agreement(measured: Mapping[str, Measured], names: Sequence[str]) -> float:
    """Return the mean share of answers that stay over some changes."""
    return average(measured[name]["agreement"] for name in names)


def sentence(summary: Summary, task: Task) -> str:
    """Say what the figures mean: what stays that should not, and where it is noticed least."""
    names = meaningless(summary.transforms, task)
    kept = agreement(summary.transforms, names)
    if not summary.scored:
        return "No row could be scored; each says why in the column “error” of the scored file."
    if isnan(kept):
        return _distracted(summary) or _without_salad(summary, task)
    said = f"{_stay(kept)} {_though(names, task, kept)}."
    sure = _confidence(summary, names)
    return " ".join(filter(None, (_distracted(summary), said, _least(summary, names), sure)))


def _distracted(summary: Summary) -> str:
    """Say how many answers stay when a sentence is added; "" where none was."""
    names = [
        name
        for name in summary.transforms
        if any(link.family == "distractor" for link in chain(name))
    ]
    kept = agreement(summary.transforms, names)
    return "" if isnan(kept) else f"{_stay(kept)} when a misleading sentence is added."


def _stay(value: float) -> str:
    words = ALL_OR_NONE.get(value) or SHARES[min(SHARES, key=lambda share: abs(share - value))]
    return f"{words} {'stays' if words.startswith(SINGULAR) else 'stay'}"


def _though(names: Sequence[str], task: Task, kept: float) -> str:
    target = task.title_of(task.target).lower()
    if all(link.family == "lexical" for name in names for link in chain(name)):
        return f"when the words of the {target} are put out of order"
    return f"{'where' if kept < FEW else 'although'} the {target} makes no sense any more"


def _least(summary: Summary, names: Sequence[str]) -> str:
    """Say under which gold label most answers stay, where that is beyond doubt.

    Groups of fewer than `FEWEST` are not ranked, nor those whose intervals meet.
    """
    by_label = {label: _together(group, names) for label, group in summary.by_label.items()}
    known = {label: each for label, each in by_label.items() if each.n >= FEWEST}
    least, *others = sorted(known, key=lambda label: known[label].value, reverse=True) or [""]
    if not others or joined_difference(known[others[0]], known[least]).low <= 0:
        return ""
    return f"The model notices it least where the right answer is {least}."


def _together(
    measured: Mapping[str, Measured], names: Sequence[str], measure: str = "agreement"
) -> Estimate:
    """Return the mean of a measure over some changes of the same texts, and of its bounds."""
    found = [measured[name][measure] for name in names if measured[name][measure].n]
    if not found:
        return NOTHING
    value, low, high = (
        sum(getattr(each, end) for each in found) / len(found) for end in ("value", "low", "high")
    )
    return Estimate(value, low, high, min(each.n for each in found))


def _confidence(summary: Summary, names: Sequence[str]) -> str:
    before = summary.original["confidence"]
    after = _together(summary.transforms, names, "confidence")
    said = sureness(joined_difference(before, after))
    words = f"The model is {said}" if said else "Too few texts to tell how sure the model is now"
    return f"{words}: {after.value:.2f}, was {before.value:.2f}."


def _without_salad(summary: Summary, task: Task) -> str:
    """Say what can be said where no change destroys the text."""
    names = list(summary.transforms)
    kept = agreement(summary.transforms, names)
    if not isnan(kept):
        after = average(summary.transforms[name]["accuracy"] for name in names)
        right = "" if isnan(after) else f" After them {after:.0%} are right."
        return f"{_stay(kept)} after these changes.{right}".replace("%", " %")
    accuracy = summary.original["accuracy"]
    if accuracy.n:
        return f"The model answers {100 * accuracy.value:.0f} % of the {task.unit}s right."
    most = max(summary.predicted, key=summary.predicted.__getitem__)
    return f"Its most frequent answer is {most}; without gold labels none is right or wrong."
