"""What opens on a press on a result: what it rests on, its steps, other seeds, where to go on."""

from collections.abc import Sequence

import pandas as pd
from markupsafe import Markup

from probe.analysis.importance import Importance
from probe.analysis.transformed import Transformed
from probe.models.classifier import Prediction
from probe.transforms.apply import Result, Step
from probe.transforms.registry import REGISTRY, chain_title, leaves_gold, summary_of
from probe.ui.html.edits import changes, edited_line
from probe.ui.html.elements import NOTHING, join, link, note, title
from probe.ui.html.importance import importance
from probe.ui.html.picture import picture
from probe.ui.html.prediction import bar, place_of, verdict
from probe.ui.html.probe.before_after import before_after_svg
from probe.ui.html.probe.meaning import meaning
from probe.ui.links import link_to_example, link_to_inoculation


def full_view(
    transformed: Transformed,
    before: Prediction,
    scores: Importance | str,
    others: Sequence[Transformed],
    model: str,
) -> Markup:
    """Show all there is about one result; `others` are the same change with other seeds.

    `scores` may say why there are none.
    """
    result = transformed.result
    parts = [
        Markup('<p class="meaning">{}</p>').format(meaning(transformed, before)),
        _onward(result, model),
        importance(result.example, scores, place_of(transformed.prediction)),
        _picture(transformed, before),
        _steps(result),
        _seeds(transformed, others),
        note(_facts(result)),
    ]
    return join(parts)


def _facts(result: Result) -> str:
    """Say what the change is, what becomes of the right answer, and how to make it again."""
    steps = " ".join(summary_of(REGISTRY[step.transform], result.task) for step in result.steps)
    variant = "usual options" if result.variant == "safe" else f"options {result.variant}"
    return f"{steps} Rule: {result.rule.words}. Seed {result.seed}, {variant}."


def _onward(result: Result, model: str) -> Markup:
    """Offer to go on with the new example, or to fine-tune on what leaves a gold label."""
    links = [link(link_to_example(result.task, result.example, model), "Open in Probe")]
    if leaves_gold(result.transform) and not result.task.has_spans:
        links.append(
            link(
                link_to_inoculation(result.transform, model, result.task), "Inoculate against this"
            )
        )
    return Markup('<p class="onward">{}</p>').format(join(links))


def _picture(transformed: Transformed, before: Prediction) -> Markup:
    """Show both answers as bars, to be taken away with the texts."""
    result, now = transformed.result, transformed.prediction
    task = result.task
    texts = {task.title_of(name): text for name, text in task.texts(result.example).items()}
    name = chain_title(result.transform)
    labels = dict.fromkeys((*now.labels, *before.labels))
    frame = pd.DataFrame(
        [(label, before.by_label.get(label), now.by_label.get(label)) for label in labels],
        columns=["label", "before", "after"],
    ).round(4)
    stays = task.agrees(before.label, now.label)
    lines = join(
        Markup('<p class="both"><span class="soft">{}</span> {}{}</p>').format(
            words, verdict(prediction), bar(prediction, stays=same)
        )
        for words, prediction, same in (("before", before, True), ("after", now, stays))
    )
    svg = str(before_after_svg(name, texts, before, now))
    return picture(
        "The answer before and after", lines, frame, svg, stem=f"probe-{result.transform}"
    )


def _steps(result: Result) -> Markup:
    """Show the steps of a chain."""
    if len(result.steps) < 2:
        return NOTHING
    return title("Step by step") + Markup('<ol class="lineage">{}</ol>').format(
        join(map(_step, result.steps))
    )


def _step(step: Step) -> Markup:
    """Show one link of a chain: what it changed, its gold label, its note."""
    gold = f" · right answer {step.example.gold}" if step.example.gold else ""
    sides = changes(step) or Markup("<p>no change</p>")
    return Markup("<li><b>{}</b> <code>{}</code>{}{}{}</li>").format(
        REGISTRY[step.transform].title,
        step.transform,
        gold,
        sides,
        note(step.note) if step.note else NOTHING,
    )


def _seeds(transformed: Transformed, others: Sequence[Transformed]) -> Markup:
    """Show the same change with other seeds, or say that chance has no part in it."""
    example = transformed.result.example
    if all(other.result.example == example for other in others):
        return note("Another seed makes the same text.") if others else NOTHING
    lines = join(
        Markup('<li>{} <span class="soft tiny">seed {}</span> {}</li>').format(
            verdict(other.prediction), other.result.seed, edited_line(other.result)
        )
        for other in others
    )
    return title("With other seeds") + Markup('<ol class="seeds">{}</ol>').format(lines)
