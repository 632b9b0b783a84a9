"""What the Compare tab shows of compared rows: cards, tests, one pair side by side."""

from collections.abc import Sequence
from itertools import combinations

from markupsafe import Markup

from probe.analysis.comparison import Row
from probe.analysis.examination import Examination
from probe.analysis.statistics import accuracy, agreement, group_accuracies, in_words, mcnemar
from probe.metrics import Estimate, interval, percent
from probe.models.classifier import Precision, resolve
from probe.ui.html.elements import NOTHING, each, join, link, note
from probe.ui.html.importance import importance
from probe.ui.html.prediction import probabilities, verdict
from probe.ui.links import link_to_example

NO_GOLD = (
    "These pairs have no gold labels, so nothing can be called right: accuracy, McNemar's test and "
    "slices are not shown. The matrix below still says where the models differ."
)
APART = "Entailed and not entailed are compared in two classes, as HANS does."
GROUPS = {"entailed": "entailed", "non_entailed": "not entailed"}
FINE = Markup('<div class="fine">{}</div>')


def cards(rows: Sequence[Row], names: Sequence[str], precision: Precision) -> Markup:
    """Show each model's accuracy with n and interval, entailed pairs and others apart."""
    shown = join(_card(rows, model, name) for model, name in enumerate(names))
    return Markup('<div class="cards">{}</div>{}').format(
        shown, note(f"{_count(rows)}; {resolve(precision)}. {_caveat(rows)}")
    )


def _card(rows: Sequence[Row], model: int, name: str) -> Markup:
    estimate = accuracy(rows, model)
    cut = sum(row.cut[model] for row in rows if row.cut)
    return Markup(
        '<div class="card"><div class="fine name">{}</div><div class="figure">{}</div>{}{}{}</div>'
    ).format(
        name,
        f"{100 * estimate.value:.1f} %" if estimate.n else "–",
        FINE.format(_interval(estimate)),
        _halves(rows, model) if estimate.n else NOTHING,
        FINE.format(f"{cut} too long, cut") if cut else NOTHING,
    )


def _interval(estimate: Estimate) -> str:
    if not estimate.n:
        return "no gold labels, so no accuracy"
    return f"accuracy, 95 % interval {interval(estimate)}, n = {estimate.n}"


def _halves(rows: Sequence[Row], model: int) -> Markup:
    """Show the accuracy on the groups of the task: entailed pairs and others."""
    groups = group_accuracies(rows, model).items()
    lines = (
        Markup("{} {}").format(GROUPS.get(name, name), percent(estimate, "–"))
        for name, estimate in groups
    )
    return FINE.format(join(lines, Markup("<br>"))) if groups else NOTHING


def _count(rows: Sequence[Row]) -> str:
    scored = sum(bool(row.predictions) for row in rows)
    reasons = [row.error for row in rows if row.error]
    errors = f"; {len(reasons)} not: {reasons[0]}" if reasons else ""
    return f"{scored} of {len(rows)} pairs scored{errors}"


def _caveat(rows: Sequence[Row]) -> str:
    golden = any(row.gold for row in rows)
    task = next((row.task for row in rows if row.predictions), None)
    if not golden or task is None:
        return ""
    return " ".join(filter(None, [APART if task.groups else "", task.note]))


def tests(rows: Sequence[Row], names: Sequence[str]) -> Markup:
    """Say for each two models how often they agree and whether their accuracies differ."""
    if not any(row.gold for row in rows if row.predictions):
        return Markup('<p class="notice">{}</p>').format(NO_GOLD)
    sentences = (
        f"{in_words(mcnemar(rows, a, b), names[a], names[b])} "
        f"They agree on {percent(agreement(rows, a, b), '–')} of the pairs."
        for a, b in combinations(range(len(names)), 2)
    )
    return Markup('<ul class="tests">{}</ul>').format(each(Markup("<li>{}</li>"), sentences))


def side_by_side(examinations: Sequence[Examination]) -> Markup:
    """Show what each model says of one pair, and which of its tokens mattered."""
    return Markup('<div class="beside">{}</div>').format(join(map(_model, examinations)))


def _model(examination: Examination) -> Markup:
    model = examination.model
    cut = " · too long, its end is cut" if examination.cut else ""
    address = link_to_example(model.task, examination.example, model.name)
    return Markup(
        '<section class="card answer"><h3 class="fine name">{}{}</h3><div class="head">{}</div>'
        "{}{}<p>{}</p></section>"
    ).format(
        model.name,
        cut,
        verdict(examination.prediction),
        probabilities(examination.prediction),
        importance(examination.example, examination.importance),
        link(address, "Open in Probe"),
    )
