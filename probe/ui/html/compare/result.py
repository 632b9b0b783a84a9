"""What the Compare tab says of compared rows: the sentence, a tile a model, one example."""

from collections.abc import Sequence
from itertools import combinations

from markupsafe import Markup

from probe.analysis.comparison import (
    Row,
    accuracy,
    agreement,
    group_accuracies,
    in_words,
    same_answer,
    score,
    significance,
)
from probe.analysis.comparison_report import gold_name, in_a_sentence
from probe.analysis.transformed import Examination
from probe.models.bundled import title_of
from probe.models.classifier import Precision, resolve
from probe.pictures.forest import mark
from probe.statistics import Estimate, interval, percent
from probe.tasks.task import Task
from probe.ui.html.compare.pictures import GROUPS
from probe.ui.html.elements import NOTHING, each, join, link, note, unbroken
from probe.ui.html.importance import importance
from probe.ui.html.prediction import bar, legend, verdict
from probe.ui.links import link_to_example

NO_GOLD = (
    "There are no {gold}, so nothing can be called right: {measure}, {test} and slices are not "
    "shown. The picture still says where the models differ."
)
APART = "Entailed and not entailed are compared in two classes, as HANS does."
FINE = Markup('<span class="fine num">{}</span>')


def sentence(rows: Sequence[Row], names: Sequence[str]) -> Markup:
    """Say what the comparison means."""
    return say(in_a_sentence(rows, names))


def say(text: str) -> Markup:
    """Head results with a sentence, which a screen reader reads once it is there."""
    return Markup('<h2 class="say"><span role="status">{}</span></h2>').format(unbroken(text))


def empty(task: Task, models: int, examples: int) -> Markup:
    """Say what will stand here, and how to get it."""
    cards = join(
        Markup('<div class="card"><b>{}</b><p class="soft">{}</p></div>').format(*promise)
        for promise in _promises(task).items()
    )
    if models < 2:
        told = (
            f"There is one model for this task here, and a comparison needs two. Load your own "
            f"under Settings of Probe, or inoculate one; then compare them on "
            f"{examples} {task.unit}s."
        )
    else:
        told = (
            f"Press Compare: the models answer the same {examples} {task.unit}s, which takes some "
            "seconds a model."
        )
    return Markup('<div class="promises">{}</div><p class="soft">{}</p>').format(cards, told)


def _promises(task: Task) -> dict[str, str]:
    """Return what will stand here: the test, the measure in parts, and where two differ."""
    if task.has_spans:
        test = "a paired bootstrap of F1"
        fail = "F1 with intervals, by what is asked and by what kind of thing answers it."
        differ = "Who is right where the answers differ"
    else:
        test = "McNemar's test"
        fail = "Accuracy with intervals, also where words are shared or negated."
        differ = "What one says against the other"
    return {
        "Which is better": f"A sentence with {test}: better, or no way to tell them apart.",
        "Where they fail": fail,
        "Where they differ": f"{differ}, and every {task.unit} behind it.",
    }


def tiles(rows: Sequence[Row], names: Sequence[str], precision: Precision) -> Markup:
    """Show each model's accuracy or F1 with n and interval, and what belongs to it.

    That is the accuracy on each part of the labels, or the exact match.
    """
    shown = join(_tile(rows, model, name) for model, name in enumerate(names))
    return Markup('<div class="tiles compared">{}</div>{}').format(
        shown, note(f"{_count(rows)}; {resolve(precision)}. {_caveat(rows)}")
    )


def _tile(rows: Sequence[Row], model: int, name: str) -> Markup:
    estimate, spans = score(rows, model), any(row.task.has_spans for row in rows)
    more = _exact(rows, model) if spans else _parts(rows, model)
    cut = sum(row.cut[model] for row in rows if row.cut)
    title = title_of(name)
    code = Markup(" <code>{}</code>").format(name) if title != name else NOTHING
    return Markup(
        '<div class="card tile"><span class="name">{} {}{}</span><strong>{}</strong>{}{}{}</div>'
    ).format(
        mark(model),
        title,
        code,
        f"{100 * estimate.value:.1f} %" if estimate.n else "–",
        FINE.format(_interval(estimate, spans)),
        FINE.format(more) if estimate.n else NOTHING,
        FINE.format(f"{cut} too long, cut") if cut else NOTHING,
    )


def _interval(estimate: Estimate, spans: bool) -> str:
    if not estimate.n:
        return "no right answers, so no F1" if spans else "no gold labels, so no accuracy"
    return unbroken(f"{'F1' if spans else 'right'}, {interval(estimate)}; n = {estimate.n:,}")


def _exact(rows: Sequence[Row], model: int) -> str:
    """Say how often the answer is word for word a right one."""
    return unbroken(f"exact match {percent(accuracy(rows, model))}")


def _parts(rows: Sequence[Row], model: int) -> str:
    """Say the accuracy on each part of the task's labels: entailed pairs and others."""
    known = [(name, one) for name, one in group_accuracies(rows, model).items() if one.n]
    parts = (f"{GROUPS.get(name, name)} {100 * one.value:.0f} %" for name, one in known)
    return unbroken(" · ".join(parts))


def _count(rows: Sequence[Row]) -> str:
    scored = sum(bool(row.predictions) for row in rows)
    reasons = [row.error for row in rows if row.error]
    errors = f"; {len(reasons)} not: {reasons[0]}" if reasons else ""
    unit = rows[0].task.unit if rows else "example"
    return f"{scored:,} of {len(rows):,} {unit}s scored, with 95 % intervals{errors}"


def _caveat(rows: Sequence[Row]) -> str:
    golden = any(row.gold for row in rows)
    task = next((row.task for row in rows if row.predictions), None)
    if not golden or task is None:
        return ""
    return " ".join(filter(None, [APART if task.groups else "", task.note]))


def tests(rows: Sequence[Row], names: Sequence[str]) -> Markup:
    """Say for each two models how often they agree and whether one is better."""
    task = rows[0].task
    if not any(row.gold for row in rows if row.predictions):
        return Markup('<p class="soft">{}</p>').format(_no_gold(task))
    unit = task.unit
    titles = [title_of(name) for name in names]
    sentences = (
        f"{in_words(significance(rows, a, b), titles[a], titles[b], unit)} "
        f"They agree on {percent(agreement(rows, a, b), '–')} of the {unit}s."
        for a, b in combinations(range(len(names)), 2)
    )
    return Markup('<ul class="tests">{}</ul>').format(each(Markup("<li>{}</li>"), sentences))


def _no_gold(task: Task) -> str:
    measure, test = (
        ("F1", "the paired bootstrap") if task.has_spans else ("accuracy", "McNemar's test")
    )
    return NO_GOLD.format(gold=gold_name(task), measure=measure, test=test)


def side_by_side(examinations: Sequence[Examination]) -> Markup:
    """Show what each model says of one example, and which of its tokens mattered."""
    return Markup('<div class="beside">{}</div>').format(join(map(_model, examinations)))


def _model(examination: Examination) -> Markup:
    model = examination.model
    cut = " · too long, its end is cut" if examination.legible.cut else ""
    address = link_to_example(model.task, examination.example, model.name)
    return Markup(
        '<section class="card answer"><h3 class="fine name">{}{}</h3><div class="head">{}</div>'
        "{}{}<p>{}</p></section>"
    ).format(
        title_of(model.name),
        cut,
        verdict(examination.prediction),
        bar(examination.prediction) + legend(examination.prediction),
        importance(examination.example, examination.importance or examination.no_importance),
        link(address, "Open in Probe"),
    )


def agreement_on_one(examinations: Sequence[Examination]) -> str:
    """Say who gives which answer to one example."""
    answers: dict[str, list[str]] = {}
    for one in examinations:
        task, label = one.model.task, one.prediction.label
        known = next((each for each in answers if _same(task, each, label)), label)
        answers.setdefault(known, []).append(title_of(one.model.name))
    if len(answers) == 1:
        (label,) = answers
        return f"All say {label}." if len(examinations) > 2 else f"Both say {label}."
    said = [
        f"{' and '.join(names)} {'says' if len(names) == 1 else 'say'} {label}"
        for label, names in answers.items()
    ]
    return "They differ: " + ", ".join(said) + "."


def _same(task: Task, first: str, second: str) -> bool:
    """Whether two answers count as one: spans after normalisation, labels as they are."""
    return same_answer(task, first, second) if task.has_spans else first == second
