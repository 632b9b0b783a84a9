"""What Ask people shows: texts to judge, sets of one's own, and what people came to."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
from markupsafe import Markup

from probe.models.bundled import title_of
from probe.pictures.forest import DotPlot, DotRow, dot_plot, dot_svg
from probe.runs.database import Survey
from probe.runs.run import Json
from probe.runs.store import Store
from probe.statistics import NOTHING as NONE
from probe.statistics import Estimate, percent
from probe.surveys.annotation_results import BROKEN, Line, Results, progress_of
from probe.surveys.annotation_set import AnnotationSet, shown_texts
from probe.surveys.rounds import Board, tries
from probe.surveys.survey import address_of
from probe.tasks.task import task_named
from probe.transforms import REGISTRY
from probe.transforms.options import PUBLISHED, with_sign
from probe.ui.html.elements import (
    NOTHING,
    card,
    each,
    join,
    meter,
    note,
    sheet,
    title,
    twin,
    unbroken,
)
from probe.ui.html.picture import picture
from probe.ui.html.shared_link import qr_code, shared_link
from probe.ui.visitors.belongings import moment

MEASURED = {"valid": "called invalid", "labels": "answered right", "distractor": "kept"}
"""What is counted of the answers of each mode."""
PAPER = "The paper's people"
HOW_IN_ROUNDS = (
    "Visitors write texts, or one beside a text that is given, and say what is right. The model "
    "answers at once.",
    "What fools it goes to others, who see neither the author's label nor the model's answer. Two "
    "who agree with the author confirm it, two who do not dismiss it; of one and one a third "
    "decides.",
    "The board counts by nickname what was tried, what fooled the model and what was confirmed; "
    "writers see it when you show it.",
    "The files hold everything, a label only where it is confirmed. Train takes these for what the "
    "model fails on (as in ANLI, Nie et al. 2020). It is wrong on all of them because so they were "
    "chosen.",
)
"""The same with a round of Fool the model."""
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


def no_set() -> Markup:
    """Say what will stand where a set of one's own is shown."""
    steps = Markup('<ol class="how {}">{}</ol>')
    lines = each(Markup("<li>{}</li>"), HOW), each(Markup("<li>{}</li>"), HOW_IN_ROUNDS)
    return card(
        title("How it works", 2)
        + steps.format("of-sets", lines[0])
        + steps.format("of-rounds", lines[1])
    )


def own_sets(store: Store, surveys: Sequence[Survey], opened: str) -> Markup:
    """List the sets of one's own, each with a button that opens it."""
    if not surveys:
        return note("You have none yet. One that you make stands here, with its answers.")
    row = Markup(
        '<li class="thing{opened}"><div><b>{title}</b> <span class="soft">{of}, {task}</span>'
        '</div><div class="tiny soft num">{far}{ended}{made}</div><div '
        'class="acts"><button type="button" class="link" data-cell="{id}" '
        'aria-label="Open {title}, made {made}">Open</button></div></li>'
    )

    def of(content: Json) -> object:
        return content["source"] if "source" in content else title_of(content["model"])

    def far(survey: Survey) -> str:
        if survey.kind == "round":
            return Board(tries(store, survey.id)).words
        return f"{100 * progress_of(store, AnnotationSet(survey)).share:.0f} % answered"

    rows = join(
        row.format(
            opened=" opened" * (survey.id == opened),
            title=survey.title,
            of=of(survey.content),
            task=task_named(survey.content["task"]).choice.lower(),
            far="shown above · " if survey.id == opened else f"{far(survey)} · ",
            ended="ended · " * survey.ended,
            made=moment(survey.created),
            id=survey.id,
        )
        for survey in surveys
    )
    more = Markup(
        '<p class="fine">In <a href="mine?kind=sets">Mine</a> they are deleted, one or all.</p>'
    )
    return Markup('<ul class="card things">{}</ul>{}').format(rows, more)


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
    survey, link = annotated.survey, f"{address[0]}{address_of(annotated.survey)}"
    button = Markup('<button type="button" class="btn" data-cell="{}|{}||{}">{}</button>')
    acts = {"count": "Count anew", "files": "Files"}
    acts |= {} if survey.ended else {"end": "End the set"}
    buttons = join(button.format(verb, survey.id, model, words) for verb, words in acts.items())
    show, verb = ("hide", "Hide") if survey.shown else ("show", "Show")
    to_answering = f"{verb} the results {'from' if survey.shown else 'to'} who answers"
    beside = _choice(
        *("Beside a model, on the same texts", f"beside|{survey.id}||"),
        *({name: title_of(name) if name else "none" for name in ("", *names)}, model),
    )
    known = any(line.share.n for line in found.lines)
    head = in_words(annotated, found) if known else f"{survey.title} Nobody has said enough yet."
    return Markup(
        '<div class="strip" data-set="{}"><p class="say">{}</p><span class="grow"></span>{}</div>'
        '<div class="two"><section class="card hand-out"><h2>Hand this out</h2>{}{}{}{}{}</section>'
        '<div>{}<div class="card">{}{}</div></div></div>'
    ).format(
        survey.id,
        unbroken(head),
        buttons,
        _hand_out(link),
        note(address[1]) if address[1] else NOTHING,
        _facts(store, annotated, found),
        button.format(show, survey.id, model, to_answering),
        controls(annotated, model),
        results_shown(annotated, found),
        beside,
        note("It answers the same texts as the people."),
    )


def _choice(words: str, value: str, options: Mapping[str, str], chosen: str) -> Markup:
    """Show a list whose choice is reported behind its value."""
    option = Markup('<option value="{}"{}>{}</option>')
    return Markup(
        '<label class="control"><span>{}</span><select data-value="{}">{}</select></label>'
    ).format(
        words,
        value,
        join(
            option.format(name, Markup(" selected") * (name == chosen), title)
            for name, title in options.items()
        ),
    )


def _hand_out(link: str) -> Markup:
    """Show a link to be copied, its QR code, and both over the whole screen."""
    code, who = qr_code(link), "Whoever has this link answers, on a page without the places."
    return Markup(
        '<div class="handed">{code}<div>{share}<div class="strip"><button type="button" '
        'class="btn primary" data-cell="copy">Copy link</button><button type="button" class="btn" '
        'popovertarget="set-large">Show large</button><div id="set-large" popover><b>{typed}</b>'
        "{code}</div></div></div></div>"
    ).format(
        code=code,
        share=shared_link(link, label="Link for who is to answer", who=who),
        typed=link.partition("://")[2],
    )


def _facts(store: Store, annotated: AnnotationSet, found: Results) -> Markup:
    """Say how large a set is, who has answered, and how far it is."""
    progress, batches = progress_of(store, annotated), annotated.batches
    texts = sum(not item.control for item in annotated.items.values())
    size = max(map(len, batches))
    rows: dict[str, object] = {
        "Texts": f"{texts:,} in {len(batches):,} batches of {size}, one of each a control",
        "People": f"opened by {progress.people:,}; batches sent: {progress.returned:,}, of which "
        f"{found.failed:,} missed the control",
        "Answered": meter("judgements that are in", progress.share)
        + note(f"{100 * progress.share:.0f} % of the judgements, {annotated.votes} of each text"),
    }
    if annotated.survey.ended:
        rows["Ended"] = moment(annotated.survey.ends)
    line = Markup('<tr><th scope="row">{}</th><td>{}</td></tr>')
    return Markup('<table class="lined"><tbody>{}</tbody></table>').format(
        join(line.format(*row) for row in rows.items())
    )


def controls(annotated: AnnotationSet, model: str) -> Markup:
    """Show the control items with the answer that each must get, to be changed."""
    answers, id_ = dict(zip(annotated.answers, annotated.answers, strict=True)), annotated.survey.id
    rows = join(
        _choice(
            " · ".join(shown_texts(annotated.task, annotated.mode, item).values()),
            *(f"control|{id_}|{item.id}|{model}", answers, item.control),
        )
        for item in annotated.items.values()
        if item.control
    )
    words = note(
        "Each batch holds one of these. Where somebody answers it otherwise, the whole batch "
        "does not count. You can change the answers until the first person has sent some."
    )
    held = Markup('<div class="controls">{}</div>').format(rows)
    return twin("The control texts and their answers", words + held) if rows else NOTHING


def results_shown(annotated: AnnotationSet, found: Results) -> Markup:
    """Show what people came to, beside the paper and a model: picture, table, files."""
    if not any(line.share.n for line in found.lines):
        wanted = note(
            "No text has a majority yet. What people say stands here, change by change, beside the "
            "paper's people and beside a model."
        )
        return card(wanted + _failed(found))
    measure = MEASURED[annotated.mode.name]
    paper = any(line.paper is not None for line in found.lines)
    right = bool(found.model) and annotated.mode.name == "labels"
    named = ["Your people", *[PAPER] * paper, *[title_of(found.model)] * right]

    def drawn(line: Line) -> list[Estimate]:
        published = NONE if line.paper is None else Estimate(line.paper, line.paper, line.paper, 1)
        of_model = line.model.accuracy if line.model else NONE
        return [line.share, *[published] * paper, *[of_model] * right]

    rows = [DotRow(line_title(line), drawn(line)) for line in found.lines]
    plot = DotPlot(named, rows, unit="text", measure=measure, figures=f"% {measure}")
    title = f"Texts that were {measure}, by change"
    kappa = (
        "" if math.isnan(found.kappa) else f" Fleiss' kappa {found.kappa:.2f}, n = {found.kappa_n}."
    )
    table_number = 4 if annotated.mode.name == "valid" else 14
    theirs = PUBLISHED.sign if any(line.sign for line in found.lines) else ""
    source = with_sign(f"{PAPER}: Gupta et al. 2021, table {table_number}", theirs) + "."
    numbers = pd.DataFrame([_number_row(line, measure) for line in found.lines])
    below = sheet(numbers, f"{title}, beside {title_of(found.model)}") if found.model else NOTHING
    return picture(
        title, dot_plot(plot, title) + below, numbers, dot_svg(plot, title), stem="people",
        sentence=f"{source * paper}{kappa}".strip(),
    ) + _failed(found)  # fmt: skip


def in_words(annotated: AnnotationSet, found: Results) -> str:
    """Say what came out, first of the broken texts and then of the others."""
    measure = MEASURED[annotated.mode.name]
    named = {"": "the untouched texts", BROKEN: "the broken texts"}
    main = [line for line in found.lines if line.share.n and line.transform in named]
    told = "; ".join(
        f"{percent(line.share)} of "
        + named.get(line.transform, f"the texts with {transform_title(line.transform).lower()}")
        + f" are {measure}"
        for line in main or found.lines[:1]
    )
    agreed = (
        ""
        if math.isnan(found.kappa)
        else f" People agree with Fleiss' kappa {found.kappa:.2f} (n = {found.kappa_n})."
    )
    broken = next((line for line in found.lines if line.transform == BROKEN), found.lines[-1])
    beside = ""
    if broken.model is not None and broken.transform:
        beside = (
            f" {title_of(found.model)} keeps its answer on {percent(broken.model.agreement)} of "
            f"the broken texts, and is sure with {broken.model.confidence.value:.2f}."
        )
    return f"{told}.{agreed}{beside}"


def transform_title(name: str) -> str:
    """Return a transform's title; a chain or a name of one's own as it is."""
    named = {"": "Untouched", BROKEN: "All broken texts"}
    return named.get(name) or (REGISTRY[name].title if name in REGISTRY else name)


def line_title(line: Line) -> str:
    """Return a line's transform and the sign by which it ranked tokens."""
    return with_sign(transform_title(line.transform), line.sign)


def _failed(found: Results) -> Markup:
    """Say how many batches do not count."""
    share = found.failed / (found.returned or 1)
    told = (
        f"{found.failed} of {found.returned} batches ({100 * share:.0f} %) failed their control "
        f"and do not count; in the paper {100 * PAPER_FAILED:.0f} % did."
    )
    line = Markup('<p class="{}">{}</p>').format("problem" if share > 0.5 else "fine", told)
    return line if found.returned else NOTHING


def _number_row(line: Line, measure: str) -> dict[str, object]:
    told = (percent(line.share), f"n = {line.share.n}", line.classes)
    row: dict[str, object] = {
        "texts": line_title(line),
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
