"""What Ask people shows: texts to judge, sets of one's own, and what people came to."""

import math
from collections.abc import Callable, Sequence

import pandas as pd
from markupsafe import Markup

from probe.models.bundled import title_of
from probe.pictures.forest import DotPlot, DotRow, dot_plot, dot_svg
from probe.runs.database import Survey
from probe.runs.store import Store
from probe.statistics import NOTHING as NONE
from probe.statistics import Estimate, percent
from probe.surveys.annotation_results import BROKEN, Line, Results, progress_of
from probe.surveys.annotation_set import AnnotationSet, Item, shown_texts
from probe.transforms import REGISTRY
from probe.ui.html.elements import (
    NOTHING,
    card,
    each,
    join,
    meter,
    note,
    sheet,
    title,
    told,
    twin,
    unbroken,
)
from probe.ui.html.picture import picture
from probe.ui.html.shared_link import qr_code, shared_link
from probe.ui.visitors.belongings import moment

MEASURED = {"valid": "called invalid", "labels": "answered right", "distractor": "kept"}
"""What is counted of the answers of each mode."""
PAPER = "The paper's people"
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


def instructions(annotated: AnnotationSet, sent: int) -> Markup:
    """Say above a batch what is asked, and which batch it is."""
    return Markup(
        '<p class="tiny soft batch">batch {}</p><h2 class="title">{}</h2><p class="soft">{}</p>'
    ).format(sent + 1, annotated.survey.title, annotated.mode.instructions)


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
    return Markup(
        '<h3 class="number">Text {} of {}</h3><div class="shown-example">{}</div>'
    ).format(number, max(map(len, annotated.batches)), texts)


def own_sets(store: Store, surveys: Sequence[Survey], opened: str) -> Markup:
    """List the sets of one's own, each with a button that opens it."""
    if not surveys:
        return note("You have no sets yet. One that you make stands here, with its answers.")
    rows = join(_own_set(store, AnnotationSet(survey), opened) for survey in surveys)
    more = Markup(
        '<p class="fine">In <a href="mine?kind=sets">Mine</a> they are deleted, one or all.</p>'
    )
    return Markup('<ul class="card things">{}</ul>{}').format(rows, more)


def _own_set(store: Store, annotated: AnnotationSet, opened: str) -> Markup:
    survey, progress = annotated.survey, progress_of(store, annotated)
    return Markup(
        '<li class="thing{}"><div><b>{}</b> <span class="soft">{}, {}</span></div>'
        '<div class="tiny soft num">{:.0f} % answered{} · {}</div><div class="acts"><button '
        'type="button" class="link" data-cell="{}" aria-label="Open {}, made {}">Open</button>'
        "</div></li>"
    ).format(
        " opened" * (survey.id == opened),
        survey.title,
        survey.content["source"],
        annotated.task.choice.lower(),
        100 * progress.share,
        ", ended" * survey.ended,
        *(moment(survey.created), survey.id, survey.title, moment(survey.created)),
    )


def one_set(
    store: Store,
    annotated: AnnotationSet,
    found: Results,
    names: Sequence[str],
    model: str,
    address: tuple[str, str],
) -> Markup:
    """Show a set to its maker: what came out, what is handed out, how far it is, a model beside it.

    `names` are the models that can stand beside it, `address` is by which others reach the app,
    and what is to be said of it. Each button reports what it does, the set and the model.
    """
    survey, link = annotated.survey, f"{address[0]}{annotated.address}"
    acts = {"count": "Count anew", "files": "Files"}
    acts |= {} if survey.ended else {"end": "End the set"}
    button = Markup('<button type="button" class="btn" data-cell="{}|{}||{}">{}</button>')
    buttons = join(button.format(verb, survey.id, model, words) for verb, words in acts.items())
    seen = button.format("hide" if survey.shown else "show", survey.id, model, "{}").format(
        "Hide the results from who answers" if survey.shown else "Show the results to who answers"
    )
    option = Markup('<option value="{}"{}>{}</option>')
    chosen = Markup(" selected")
    beside = Markup(
        '<label class="control"><span>Beside a model, on the same texts</span>'
        '<select data-value="beside|{}||">{}</select></label>'
    ).format(
        survey.id,
        join(
            option.format(
                name, chosen if name == model else NOTHING, title_of(name) if name else "none"
            )
            for name in ("", *names)
        ),
    )
    known = any(line.share.n for line in found.lines)
    head = (
        unbroken(in_words(annotated, found))
        if known
        else f"{survey.title} Nobody has said enough yet."
    )
    return Markup(
        '<div class="strip" data-set="{}"><p class="say">{}</p><span class="grow"></span>{}</div>'
        '<div class="two"><section class="card hand-out"><h3>Hand this out</h3>{}{}{}{}{}</section>'
        '<div>{}<div class="card">{}{}</div></div></div>'
    ).format(
        survey.id,
        head,
        buttons,
        _hand_out(link),
        note(address[1]) if address[1] else NOTHING,
        _facts(store, annotated, found),
        seen,
        controls(annotated, model),
        results_shown(annotated, found),
        beside,
        Markup('<p class="fine">It answers the same texts as the people.</p>'),
    )


def _hand_out(link: str) -> Markup:
    """Show a link to be copied, its QR code, and both over the whole screen."""
    code = qr_code(link)
    large = Markup(
        '<button type="button" class="btn" popovertarget="set-large">Show large</button>'
        '<div id="set-large" popover><b>{}</b>{}</div>'
    ).format(link.partition("://")[2], code)
    who = "Whoever has this link answers, on a page without the places."
    return Markup('<div class="handed">{}<div>{}<div class="strip">{}{}</div></div></div>').format(
        code,
        shared_link(link, label="Link for who is to answer", who=who),
        Markup('<button type="button" class="btn primary" data-cell="copy">Copy link</button>'),
        large,
    )


def _facts(store: Store, annotated: AnnotationSet, found: Results) -> Markup:
    """Say how large a set is, who has answered, and how far it is."""
    progress, batches = progress_of(store, annotated), len(annotated.batches)
    texts = sum(not item.control for item in annotated.items.values())
    size = max(map(len, annotated.batches))
    rows = (
        ("Texts", f"{texts:,} in {batches:,} batches of {size}, one of each a control"),
        (
            "People",
            f"{progress.people:,} have opened the link and sent {progress.returned:,} batches; "
            f"{found.failed:,} missed their control",
        ),
        (
            "Answered",
            meter("texts that have all their votes", progress.share)
            + note(f"{100 * progress.share:.0f} % have {annotated.votes} judgements"),
        ),
    )
    ended = [("Ended", moment(annotated.survey.ends))] if annotated.survey.ended else []
    line = Markup('<tr><th scope="row">{}</th><td>{}</td></tr>')
    return Markup('<table class="lined"><tbody>{}</tbody></table>').format(
        join(line.format(*row) for row in (*rows, *ended))
    )


def controls(annotated: AnnotationSet, model: str) -> Markup:
    """Show the control items with the answer that each must get, to be changed."""
    items = [item for item in annotated.items.values() if item.control]
    if not items:
        return NOTHING
    rows = join(_control(annotated, item, model) for item in items)
    return twin(
        "The control texts and their answers",
        note(
            "Each batch holds one of these. Where somebody answers it otherwise, the whole batch "
            "does not count. You can change the answers until the first person has sent some."
        )
        + Markup('<div class="controls">{}</div>').format(rows),
    )


def _control(annotated: AnnotationSet, item: Item, model: str) -> Markup:
    option = Markup('<option value="{0}"{1}>{0}</option>')
    chosen = Markup(" selected")
    options = join(
        option.format(answer, chosen if answer == item.control else NOTHING)
        for answer in annotated.answers
    )
    text = " · ".join(shown_texts(annotated.task, annotated.mode, item).values())
    return Markup(
        '<label class="control"><span>{}</span><select data-value="control|{}|{}|{}">{}</select>'
        "</label>"
    ).format(text, annotated.survey.id, item.id, model, options)


def results_shown(annotated: AnnotationSet, found: Results) -> Markup:
    """Show what people came to, beside the paper and a model: picture, table, files."""
    if not any(line.share.n for line in found.lines):
        wanted = note(
            "No text has a majority yet. What people say stands here, change by change, beside the "
            "paper's people and beside a model."
        )
        return card(wanted + _failed(found))
    measure = MEASURED[annotated.mode.name]
    named, drawn = _drawn(annotated, found)
    rows = [DotRow(transform_title(line.transform), drawn(line)) for line in found.lines]
    plot = DotPlot(named, rows, unit="text", measure=measure, figures=f"% {measure}")
    title = f"Texts that were {measure}, by change"
    kappa = (
        "" if math.isnan(found.kappa) else f" Fleiss' kappa {found.kappa:.2f}, n = {found.kappa_n}."
    )
    table_number = 4 if annotated.mode.name == "valid" else 14
    source = f"{PAPER}: Gupta et al. 2021, table {table_number}." * (PAPER in named)
    numbers = _numbers(annotated, found)
    drawn_plot = dot_plot(plot, title)
    below = sheet(numbers, f"{title}, beside {title_of(found.model)}") if found.model else NOTHING
    return picture(
        title, drawn_plot + below, numbers, dot_svg(plot, title), stem="people",
        sentence=f"{source}{kappa}".strip(),
    ) + _failed(found)  # fmt: skip


def _drawn(
    annotated: AnnotationSet, found: Results
) -> tuple[list[str], Callable[[Line], list[Estimate]]]:
    """Return whose figures are drawn, and what gives them of a line."""
    paper = any(line.paper is not None for line in found.lines)
    right = bool(found.model) and annotated.mode.name == "labels"
    named = ["Your people", *[PAPER] * paper, *[title_of(found.model)] * right]

    def figures(line: Line) -> list[Estimate]:
        published = NONE if line.paper is None else Estimate(line.paper, line.paper, line.paper, 1)
        of_model = line.model.accuracy if line.model else NONE
        return [line.share, *[published] * paper, *[of_model] * right]

    return named, figures


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


def _numbers(annotated: AnnotationSet, found: Results) -> pd.DataFrame:
    measure = MEASURED[annotated.mode.name]
    return pd.DataFrame([_number_row(line, measure) for line in found.lines])


def _number_row(line: Line, measure: str) -> dict[str, object]:
    told = (percent(line.share), f"n = {line.share.n}", line.classes)
    row: dict[str, object] = {
        "texts": transform_title(line.transform),
        measure: ", ".join(filter(None, told)),
        "in the paper": "" if line.paper is None else f"{100 * line.paper:.0f} %",
        "undecided": line.undecided,
        "votes missing": line.open,
    }
    if line.model:
        row["model: same answer"] = percent(line.model.agreement)
        row["model: confidence"] = f"{line.model.confidence.value:.2f}"
        row["model: right"] = percent(line.model.accuracy)
    return row


def thanks(done: int, more: bool, shown: bool) -> Markup:
    """Thank for what was sent, and say what comes now: more, the results, or waiting for them."""
    sent = f"Thank you: {done} batch{'es' if done != 1 else ''} sent. " if done else ""
    results = "What people said stands below." if shown else "The teacher will show the results."
    return (
        told(sent if more else f"{sent}Nothing is left for you here. {results}")
        if (sent or not more)
        else NOTHING
    )
