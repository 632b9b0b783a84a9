"""One treatment's result as a row of HTML: verdict, agreement, rule, marked text, full view."""

from html import escape

from probe.analysis.transformed import Transformed
from probe.models.classifier import Prediction
from probe.tasks.label_rules import KEEP, UNDEFINED
from probe.tasks.nli import ENTAILMENT, NON_ENTAILMENT, Pair
from probe.text.tokens import edits, tokenise
from probe.transforms.apply import Result, Step
from probe.transforms.registry import default_of, leaves_gold
from probe.ui.html.elements import bar, diff, link, link_to_inoculation, probabilities, verdict

AGREEMENT = (
    "Agreement: the prediction is that of the original pair; for copysort and copyone, that it is "
    "entailment"
)


def meaning(transformed: Transformed, before: Prediction) -> str:
    """Say in one sentence what a result means."""
    result, now = transformed.result, transformed.prediction
    change = now.confidence - before.confidence
    sure = "as sure as before" if abs(change) < 0.05 else ("surer" if change > 0 else "less sure")
    if not result.changed:
        return "The pair is unchanged, so this says nothing about the model."
    if default_of(result.transform):
        said = "calls it entailed" if now.label == ENTAILMENT else f"says {now.label}"
        return f"The hypothesis is only the premise's own words, and the model {said}."
    if result.rule == UNDEFINED:
        if transformed.agrees:
            return f"The text is destroyed, and the model still says {now.label}, {sure}."
        return f"The text is destroyed, and the answer moves from {before.label} to {now.label}."
    moved = "" if transformed.agrees else f", no longer {before.label}"
    if result.rule == KEEP and transformed.right is None:
        stays = f"and it does, {sure}" if transformed.agrees else f"but it becomes {now.label}"
        return f"The label should stay, {stays}."
    if transformed.right is None:
        return f"The model says {now.label}{moved}, {sure}. {result.rule.words.capitalize()}."
    wanted = "not entailed" if result.gold == NON_ENTAILMENT else f"{result.gold}"
    said = "rightly" if transformed.right else "wrongly"
    return f"The new pair is {wanted}; the model says {now.label}{moved}, {said}."


def golden(transformed: Transformed) -> str:
    """Name the new gold label and say whether it was met; else what the rule does to it."""
    result = transformed.result
    if result.gold and result.changed:
        return f"{result.gold}, {'right' if transformed.right else 'wrong'}"
    return result.rule.name.replace("_", "-")


def row(transformed: Transformed, before: Prediction, model: str) -> str:
    """Show one transform's result: verdict, bar, agreement, rule, the marked text, the meaning."""
    result = transformed.result
    agrees = "agrees" if transformed.agrees else "changed"
    mark = "=" if transformed.agrees else "≠"
    flags = "".join(
        f'<span class="flag">{escape(flag)}</span>'
        for flag, on in (("unchanged", not result.changed), ("not exact", not result.exact))
        if on
    )
    note = f'<p class="fine">{escape(result.note)}</p>' if result.note else ""
    return (
        f'<details class="row"><summary><span class="what">{escape(result.name)}</span>'
        f'<span class="said">{verdict(transformed.prediction)}</span>{bar(transformed.prediction)}'
        f'<span class="agree {agrees}" title="{AGREEMENT}">{mark} {agrees}</span>'
        f'<span class="rule" title="{escape(result.rule.words)}">gold label: '
        f"{escape(golden(transformed))}{flags}</span>"
        f'<span class="more" aria-hidden="true">›</span></summary>'
        f"{_full(transformed, model)}</details>"
        f'<div class="made">{changes(result)}'
        f'<p class="meaning">{meaning(transformed, before)}</p>{note}</div>'
    )


def _full(transformed: Transformed, model: str) -> str:
    """Show what opens on a click: probabilities, both texts, the steps of a chain."""
    result = transformed.result
    steps = "".join(_step(step) for step in result.steps)
    return (
        f'<div class="full">{probabilities(transformed.prediction)}'
        f"<p><b>Premise</b> {escape(result.pair.premise)}</p>"
        f"<p><b>Hypothesis</b> {escape(result.pair.hypothesis)}</p>"
        f"<p>Rule: {escape(result.rule.words)}. "
        f"Seed {result.seed}, variant {escape(result.variant)}.</p>"
        + (f'<p>Steps</p><ol class="lineage">{steps}</ol>' if len(result.steps) > 1 else "")
        + f'<p class="onward">{_onward(result, model)}</p></div>'
    )


def _onward(result: Result, model: str) -> str:
    """Offer to go on with the new pair, or to fine-tune on what leaves a gold label."""
    links = {"Open this pair in Probe": link(result.pair, model)}
    if leaves_gold(result.transform):
        links["Inoculate against this"] = link_to_inoculation(result.transform, model)
    return "".join(f'<a href="{escape(address)}">{words}</a>' for words, address in links.items())


def changes(made: Result | Step) -> str:
    """Show what changed on each side; a hypothesis made from the premise beside the premise."""
    before = made.original if isinstance(made, Result) else made.before
    after = made.pair
    shown = dict(made.edits)
    if after.hypothesis != before.hypothesis and _from_premise(before, after):
        shown["hypothesis"] = edits(after.premise, after.hypothesis)
    return "".join(
        f'<p class="text"><span class="name">{side}</span> {diff(found)}</p>'
        for side, found in shown.items()
        if any(edit.kind != "kept" for edit in found)
    )


def _from_premise(before: Pair, after: Pair) -> bool:
    """Whether the new hypothesis shares more with its premise than with the old hypothesis."""
    new, premise, old = (
        set(tokenise(text.lower())) for text in (after.hypothesis, after.premise, before.hypothesis)
    )
    return len(new & premise) > len(new & old)


def _step(step: Step) -> str:
    """Show one link of a chain: what it changed, its gold label, its note."""
    sides = changes(step)
    gold = f" · gold label {escape(step.pair.gold)}" if step.pair.gold else ""
    note = f'<p class="fine">{escape(step.note)}</p>' if step.note else ""
    return f"<li><b>{escape(step.transform)}</b>{gold}{sides or '<p>no change</p>'}{note}</li>"
