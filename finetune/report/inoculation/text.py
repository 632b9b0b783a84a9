"""A verdict in sentences, for the page and the report; its shares are said in percent."""

from collections.abc import Mapping
from typing import Any

from finetune.experiments.inoculation.evidence import MORE_TEXTS
from finetune.experiments.inoculation.outcomes import OUTCOMES, badge
from finetune.experiments.inoculation.selection import Selection
from probe.tasks.nli import NLI

CAUTION = (
    "An outcome speaks of this challenge set and this model. That a gap closes shows that the "
    "model can fit such examples, not that it has learnt the phenomenon: other wordings may "
    "still fool it."
)
SELECTION_TITLES: Mapping[Selection, str] = {
    "oracle_lr": "best on the challenge test (as published)",
    "dev_lr": "best on original dev (peeks at no test)",
}
Verdict = Mapping[str, Any]  # Any: a verdict is JSON


def badge_of(outcome: Verdict) -> str:
    """Return what was concluded as a badge names it, with what changes its meaning."""
    return " · ".join([badge(outcome["outcome"]), *outcome["marks"]])


def meaning(outcome: Verdict) -> str:
    """Say what was concluded means; where it is too little to tell, what the figures would."""
    words = OUTCOMES[outcome["outcome"]].summary
    if not outcome["lacks"]:
        return words
    figures = OUTCOMES[outcome["figures"]].name
    return f"{words} The figures alone would read “{figures}”, which is not shown."


def missing_texts(outcome: Verdict) -> str:
    """Name what would tell where only more texts can, "" elsewhere."""
    told = [
        MORE_TEXTS[each["missing"]] for each in outcome["lacks"] if each["missing"] in MORE_TEXTS
    ]
    return f"What would tell: {' and '.join(told)}." if told else ""


def interval(value: Mapping[str, float | None]) -> str:
    """Write a share as percent with its interval."""
    middle, low, high = value["value"], value["low"], value["high"]
    if middle is None or low is None or high is None:
        return "–"
    return f"{100 * middle:.1f} ({100 * low:.1f} to {100 * high:.1f})".replace("-", "−")


def summary(outcome: Verdict) -> str:
    """Say gap, closed share and drop with their intervals; of no gap no share."""
    gap = f"The gap was {interval(outcome['gap'])} points"
    lost = f"the original test lost {interval(outcome['drop'])} points."
    if outcome["outcome"] == "0" or outcome["closed"]["value"] is None:
        return (
            f"{gap}, too small for a share of it to close; with {outcome['size']} examples {lost}"
        )
    closed = f"{interval(outcome['closed'])} % of it closed"
    earlier = outcome["shown_at"]
    shown = f" The outcome is that of {earlier} examples." if earlier != outcome["size"] else ""
    return f"{gap}. {closed} with {outcome['size']} examples; {lost}{shown}"


def details(verdict: Verdict, selection: Selection) -> list[str]:
    """Say how the rate was chosen, what the other choice gives, and what rules reach."""
    other: Selection = "dev_lr" if selection == "oracle_lr" else "oracle_lr"
    outcome, rival = verdict[selection], verdict[other]
    rules = "; ".join(
        f"{name.replace('_', ' ')} {100 * share:.1f} %"
        for name, share in verdict.get("baselines", {}).items()
    )
    lines = [
        f"Learning rate {outcome['lr']:g}, {SELECTION_TITLES[selection]}. The rate "
        f"{SELECTION_TITLES[other]} is {rival['lr']:g}: {rival['name']}.",
        f"95 % intervals from 1,000 paired resamples; n = {outcome['gap']['n']} test examples, "
        f"{outcome['seeds']} seed{'s' if outcome['seeds'] > 1 else ''}.",
        _learnt(verdict, outcome),
        f"Rules that understand nothing get right of the challenge test: {rules}." if rules else "",
        _control(verdict.get("control"), verdict.get("measure", NLI.measure)),
    ]
    return [line for line in lines if line]


def _learnt(verdict: Verdict, outcome: Verdict) -> str:
    """Say how much of the examples themselves was learnt."""
    shares = verdict["evidence"]["doses"].get(str(outcome["size"]), {})
    known = {rate: share for rate, share in shares.items() if share is not None}
    told = [f"{100 * share:.0f} % at rate {rate}" for rate, share in known.items()] or [
        "not recorded"
    ]
    return (
        f"Of the {outcome['size']} examples themselves the model had learnt at the last epoch "
        f"trained: {', '.join(told)}."
    )


def counter_lines(verdict: Verdict) -> list[str]:
    """Say what the counter-tests show, where there are any."""
    return [test["sentence"] for test in verdict.get("counter_tests", ())]


def _control(scores: Mapping[str, float] | None, measure: str) -> str:
    """Say what happened on the control set, where there is one."""
    if not scores:
        return ""
    return (
        "On a control set, the same kind of change by other words, which is never trained on, "
        f"{measure} went from {100 * scores['before']:.1f} to {100 * scores['after']:.1f} %."
    )


def short(name: str) -> str:
    """Return an outcome's name without the word."""
    return name.removeprefix("Outcome ")
