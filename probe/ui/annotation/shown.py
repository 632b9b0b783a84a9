"""What the Annotate tab shows: texts to judge, sets of one's own, and what people came to."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from probe.models.bundled import title_of
from probe.runs.database import Survey
from probe.runs.store import Store
from probe.statistics import percent
from probe.surveys.annotation_results import BROKEN, Line, Results, progress_of
from probe.surveys.annotation_set import AnnotationSet, Item, shown_texts
from probe.transforms import REGISTRY
from probe.ui.html.elements import (
    NOTHING,
    card,
    each,
    heads,
    join,
    meter,
    note,
    table,
    title,
    twin,
    unbroken,
)
from probe.ui.lessons.drawing import figures
from probe.ui.lessons.lesson import Comparison, Figure, measured
from probe.ui.visitors.belongings import moment

MEASURED = {"valid": "called invalid", "labels": "answered right", "distractor": "kept"}
"""What is counted of the answers of each mode."""
HOW = (
    "Texts are drawn by the seed: some changed, which people are not told, and some as they were.",
    "You get a link. Who opens it judges five texts at a time, under a nickname or none.",
    "One of the five is a control with a plain answer: where it is missed, none of the five count.",
    "Three people judge each text, and the majority decides. You see it here as it comes, beside "
    "what the papers found and beside a model; the others see it when you open it.",
)
"""What happens with a set, in order."""
PAPER_FAILED = 0.03
"""The share of batches that failed their control in Gupta et al. 2021."""


def instructions(annotated: AnnotationSet, sent: int = 0) -> Markup:
    """Say what is asked, before the first batch and above each, and which batch it is."""
    batch = f" · batch {sent + 1}" if sent else ""
    return Markup('<h2 class="title">{}{}</h2><p>{}</p>').format(
        annotated.survey.title, batch, annotated.mode.instructions
    )


def no_set() -> Markup:
    """Say what will stand where a set of one's own is shown."""
    return card(
        title("How it works", 2)
        + Markup('<ol class="how">{}</ol>').format(each(Markup("<li>{}</li>"), HOW))
    )


def text_card(annotated: AnnotationSet, item: Item, number: int) -> Markup:
    """Show what is to be judged of an item, and no more."""
    shown = shown_texts(annotated.task, annotated.mode, item)
    texts = join(
        Markup('<div class="shown-text"><span class="tiny soft">{}</span><p>{}</p></div>').format(
            name, text
        )
        for name, text in shown.items()
    )
    return Markup('<h3 class="number">{} of {}</h3><div class="shown-example">{}</div>').format(
        number, max(map(len, annotated.batches)), texts
    )


def own_sets(store: Store, surveys: Sequence[Survey]) -> Markup:
    """List the sets of one's own, each with a button that opens it."""
    if not surveys:
        return note("You have no sets yet. One that you make stands here, with its answers.")
    rows = join(_own_set(store, AnnotationSet(survey)) for survey in surveys)
    return table("your sets", heads(("set", "", "answered", "made")), rows, kind="belongings")


def _own_set(store: Store, annotated: AnnotationSet) -> Markup:
    survey, progress = annotated.survey, progress_of(store, annotated)
    button = Markup(
        '<button type="button" data-cell="{}" aria-label="Open {}"><span class="number">Open</span>'
        "</button>"
    ).format(survey.id, survey.title)
    told = f"{100 * progress.share:.0f} %" + (", ended" if survey.ended else "")
    cells = [survey.title, button, told, moment(survey.created)]
    return Markup("<tr>{}</tr>").format(each(Markup("<td>{}</td>"), cells))


def set_head(store: Store, annotated: AnnotationSet) -> Markup:
    """Show how far a set is: batches, people, and whether its results are open."""
    survey, progress = annotated.survey, progress_of(store, annotated)
    items = sum(not item.control for item in annotated.items.values())
    seen = "Respondents see the results." if survey.shown else "Only you see the results."
    facts = (
        f"{items:,} texts in {len(annotated.batches):,} batches, {annotated.votes} people for "
        f"each. {progress.people:,} people have opened the link and sent {progress.returned:,} "
        f"batches. {seen}{' It has ended.' if survey.ended else ''}"
    )
    return Markup('<h2 class="title">{}</h2>{}{}').format(
        survey.title, meter("texts that have all their votes", progress.share), note(facts)
    )


def controls(annotated: AnnotationSet) -> Markup:
    """Show the control items with the answer that each must get, to be changed."""
    items = [item for item in annotated.items.values() if item.control]
    if not items:
        return NOTHING
    rows = join(_control(annotated, item) for item in items)
    return twin(
        "The control texts and their answers",
        note(
            "Each batch holds one of these. Where somebody answers it otherwise, the whole batch "
            "does not count. You can change the answers until the first person has sent some."
        )
        + Markup('<div class="controls">{}</div>').format(rows),
    )


def _control(annotated: AnnotationSet, item: Item) -> Markup:
    option = Markup('<option value="{0}"{1}>{0}</option>')
    chosen = Markup(" selected")
    options = join(
        option.format(answer, chosen if answer == item.control else NOTHING)
        for answer in annotated.answers
    )
    text = " · ".join(shown_texts(annotated.task, annotated.mode, item).values())
    return Markup(
        '<label class="control"><span>{}</span><select data-value="{}">{}</select></label>'
    ).format(text, item.id, options)


def results_shown(annotated: AnnotationSet, found: Results) -> Markup:
    """Show what people came to, beside the paper and a model: sentence, picture, numbers."""
    if not any(line.share.n for line in found.lines):
        wanted = note(
            "No text has a majority yet. What people say stands here, change by change, beside the "
            "paper's people and beside a model."
        )
        return card(wanted + _failed(found))
    measure = MEASURED[annotated.mode.name]
    compared = [_comparison(annotated, found, line) for line in found.lines]
    parts = (
        Markup('<p class="found" role="status">{}</p>').format(
            unbroken(in_words(annotated, found))
        ),
        _failed(found),
        figures(f"Texts that were {measure}", compared),
        twin("As table", _numbers(annotated, found)),
    )
    return card(join(parts))


def in_words(annotated: AnnotationSet, found: Results) -> str:
    """Say what came out, first of the broken texts and then of the others."""
    measure = MEASURED[annotated.mode.name]
    told = [
        f"{percent(line.share)} of {_those(line)} are {measure}"
        for line in found.lines
        if line.share.n and line.transform in ("", BROKEN)
    ] or [f"{percent(line.share)} of {_those(line)} are {measure}" for line in found.lines[:1]]
    agreed = (
        ""
        if math.isnan(found.kappa)
        else f" People agree with Fleiss' kappa {found.kappa:.2f} (n = {found.kappa_n})."
    )
    return f"{'; '.join(told)}.{agreed}{_of_model(annotated, found)}"


def _of_model(annotated: AnnotationSet, found: Results) -> str:
    broken = next((line for line in found.lines if line.transform == BROKEN), found.lines[-1])
    if broken.model is None or not broken.transform:
        return ""
    kept, sure = broken.model.agreement, broken.model.confidence
    return (
        f" {title_of(found.model)} keeps its answer on {percent(kept)} of the broken texts, and is "
        f"sure with {sure.value:.2f}."
    )


def _those(line: Line) -> str:
    named = {"": "the untouched texts", BROKEN: "the broken texts"}
    return named.get(line.transform, f"the texts with {transform_title(line.transform).lower()}")


def transform_title(name: str) -> str:
    """Return a transform's title; a chain or a name of one's own as it is."""
    named = {"": "Untouched", BROKEN: "All broken texts"}
    return named.get(name) or (REGISTRY[name].title if name in REGISTRY else name)


def _failed(found: Results) -> Markup:
    """Say how many batches do not count."""
    batches, failed = found.returned, found.failed
    if not batches:
        return NOTHING
    share = failed / batches
    told = (
        f"{failed} of {batches} batches ({100 * share:.0f} %) failed their control and do not "
        f"count; in the paper {100 * PAPER_FAILED:.0f} % did."
    )
    return Markup('<p class="{}">{}</p>').format("problem" if share > 0.5 else "fine", told)


def _comparison(annotated: AnnotationSet, found: Results, line: Line) -> Comparison:
    lines = []
    if line.paper is not None:
        table_number = 4 if annotated.mode.name == "valid" else 14
        source = f"Gupta et al. 2021, table {table_number}"
        lines.append(Figure("People in the paper", line.paper, source))
    if line.share.n:
        lines.append(measured("People here", line.share))
    if line.model is not None:
        name = title_of(found.model)
        if annotated.mode.name == "labels":
            lines.append(measured(f"{name}, right", line.model.accuracy))
        elif line.transform:
            lines.append(measured(f"{name}, same answer as before", line.model.agreement))
    return Comparison(transform_title(line.transform), tuple(lines))


def _numbers(annotated: AnnotationSet, found: Results) -> Markup:
    names = ["texts", MEASURED[annotated.mode.name], "undecided", "votes missing"]
    if found.model:
        names += ["model: same answer", "model: confidence", "model: right"]
    rows = join(_number_row(line) for line in found.lines)
    return table("what people say", heads(names), rows)


def _number_row(line: Line) -> Markup:
    cells: list[object] = [
        transform_title(line.transform),
        ", ".join(filter(None, (percent(line.share), f"n = {line.share.n}", line.classes))),
        line.undecided,
        line.open,
    ]
    if line.model:
        cells += [percent(line.model.agreement), f"{line.model.confidence.value:.2f}"]
        cells.append(percent(line.model.accuracy))
    return Markup("<tr>{}</tr>").format(each(Markup("<td>{}</td>"), cells))


def thanks(done: int, more: bool, shown: bool) -> Markup:
    """Thank for what was sent, and say what comes now: more, the results, or waiting for them."""
    sent = f"Thank you: {done} batch{'es' if done != 1 else ''} sent. " if done else ""
    results = "What people said stands below." if shown else "The teacher will show the results."
    words = sent if more else f"{sent}Nothing is left for you here. {results}"
    return Markup('<p class="fine" role="status">{}</p>').format(words) if words else NOTHING
