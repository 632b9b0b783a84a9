"""One transform's result as a row: verdict, agreement, rule, marked text, full view."""

from markupsafe import Markup

from probe.analysis.transformed import Transformed
from probe.models.classifier import Prediction
from probe.tasks.label_rules import KEEP, UNDEFINED
from probe.tasks.nli import ENTAILMENT, NON_ENTAILMENT
from probe.transforms.apply import Result, Step
from probe.transforms.registry import default_of, leaves_gold
from probe.ui.html.edits import changes
from probe.ui.html.elements import NOTHING, join, link, note
from probe.ui.html.prediction import bar, probabilities, verdict
from probe.ui.links import link_to_example, link_to_inoculation

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
    if default_of(result.transform, result.task):
        answer = "calls it entailed" if now.label == ENTAILMENT else f"says {now.label}"
        source, target = result.task.source, result.task.target
        return f"The {target} is only the {source}'s own words, and the model {answer}."
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
    rightly = "rightly" if transformed.right else "wrongly"
    return f"The new pair is {wanted}; the model says {now.label}{moved}, {rightly}."


def golden(transformed: Transformed) -> str:
    """Name the new gold label and say whether it was met; else what the rule does to it."""
    result = transformed.result
    if result.gold and result.changed:
        return f"{result.gold}, {'right' if transformed.right else 'wrong'}"
    return result.rule.name.replace("_", "-")


def row(transformed: Transformed, before: Prediction, model: str) -> Markup:
    """Show one transform's result: verdict, bar, agreement, rule, the marked text, the meaning."""
    result = transformed.result
    return Markup(
        '<details class="result"><summary><span class="what">{name}</span>'
        '<span class="predicted">{verdict}</span>{bar}{agreement}{rule}'
        '<span class="more" aria-hidden="true">›</span></summary>{full}</details>'
        '<div class="new-text">{changes}<p class="meaning">{meaning}</p>{note}</div>'
    ).format(
        name=result.name,
        verdict=verdict(transformed.prediction),
        bar=bar(transformed.prediction),
        agreement=_agreement(transformed),
        rule=_rule(transformed),
        full=_full(transformed, model),
        changes=changes(result),
        meaning=meaning(transformed, before),
        note=_note(result.note),
    )


def _agreement(transformed: Transformed) -> Markup:
    sign, word = ("=", "agrees") if transformed.agrees else ("≠", "changed")
    return Markup('<span class="agree {}" title="{}">{} {}</span>').format(
        word, AGREEMENT, sign, word
    )


def _rule(transformed: Transformed) -> Markup:
    """Name the new gold label, and say where nothing changed or a result is not exact."""
    result = transformed.result
    flags = [("unchanged", not result.changed), ("not exact", not result.exact)]
    shown = join(Markup('<span class="flag">{}</span>').format(flag) for flag, on in flags if on)
    return Markup('<span class="rule" title="{}">gold label: {}{}</span>').format(
        result.rule.words, golden(transformed), shown
    )


def _note(text: str) -> Markup:
    return note(text) if text else NOTHING


def _full(transformed: Transformed, model: str) -> Markup:
    """Show what opens on a click: probabilities, all texts, the steps of a chain."""
    result = transformed.result
    return Markup(
        '<div class="full">{}{}<p>Rule: {}. Seed {}, variant {}.</p>{}'
        '<p class="onward">{}</p></div>'
    ).format(
        probabilities(transformed.prediction),
        join(
            Markup("<p><b>{}</b> {}</p>").format(field.capitalize(), text)
            for field, text in result.task.texts(result.example).items()
        ),
        result.rule.words,
        result.seed,
        result.variant,
        _lineage(result),
        _onward(result, model),
    )


def _onward(result: Result, model: str) -> Markup:
    """Offer to go on with the new pair, or to fine-tune on what leaves a gold label."""
    links = [link(link_to_example(result.task, result.example, model), "Open this pair in Probe")]
    if leaves_gold(result.transform):
        links.append(link(link_to_inoculation(result.transform, model), "Inoculate against this"))
    return join(links)


def _lineage(result: Result) -> Markup:
    """Show the steps of a chain."""
    if len(result.steps) < 2:
        return NOTHING
    return Markup('<p>Steps</p><ol class="lineage">{}</ol>').format(join(map(_step, result.steps)))


def _step(step: Step) -> Markup:
    """Show one link of a chain: what it changed, its gold label, its note."""
    gold = f" · gold label {step.example.gold}" if step.example.gold else ""
    sides = changes(step) or Markup("<p>no change</p>")
    return Markup("<li><b>{}</b>{}{}{}</li>").format(step.transform, gold, sides, _note(step.note))
