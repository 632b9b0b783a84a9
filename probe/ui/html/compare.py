"""What the Compare tab shows of compared rows: cards, tests, one pair side by side."""

from collections.abc import Sequence
from itertools import combinations

from markupsafe import Markup

from probe.analysis.comparison import Row
from probe.analysis.statistics import accuracy, agreement, entailed_and_not, in_words, mcnemar
from probe.analysis.transformed import Examination
from probe.metrics import Estimate
from probe.models.classifier import Precision, resolve
from probe.ui.html.elements import NOTHING, each, join, link, note
from probe.ui.html.importance import importance
from probe.ui.html.prediction import probabilities, verdict
from probe.ui.links import link_to_pair

NO_GOLD = (
    "These pairs have no gold labels, so nothing can be called right: accuracy, McNemar's test and "
    "slices are not shown. The matrix below still says where the models differ."
)
TWO_CLASSES = (
    "One of the models tells only entailment from non-entailment, so all are held to two classes."
)
FINE = Markup('<div class="fine">{}</div>')


def percent(estimate: Estimate) -> str:
    """Write an estimate with its interval."""
    if not estimate.n:
        return "–"
    return f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f}–{100 * estimate.high:.1f})"


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
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"accuracy, 95 % interval {low:.1f} to {high:.1f}, n = {estimate.n}"


def _halves(rows: Sequence[Row], model: int) -> Markup:
    """Show the accuracy on the entailed pairs and on the others."""
    entailed, others = entailed_and_not(rows, model)
    return FINE.format(
        Markup("entailed {}<br>not entailed {}").format(percent(entailed), percent(others))
    )


def _count(rows: Sequence[Row]) -> str:
    scored = sum(bool(row.predictions) for row in rows)
    reasons = [row.error for row in rows if row.error]
    errors = f"; {len(reasons)} not: {reasons[0]}" if reasons else ""
    return f"{scored} of {len(rows)} pairs scored{errors}"


def _caveat(rows: Sequence[Row]) -> str:
    golden = any(row.gold for row in rows)
    two = any(row.two_classes for row in rows)
    apart = "Entailed and not entailed are compared in two classes, as HANS does." if golden else ""
    return " ".join(filter(None, [apart, TWO_CLASSES if golden and two else ""]))


def tests(rows: Sequence[Row], names: Sequence[str]) -> Markup:
    """Say for each two models how often they agree and whether their accuracies differ."""
    if not any(row.gold for row in rows if row.predictions):
        return Markup('<p class="told">{}</p>').format(NO_GOLD)
    sentences = (
        f"{in_words(mcnemar(rows, a, b), names[a], names[b])} "
        f"They agree on {percent(agreement(rows, a, b))} of the pairs."
        for a, b in combinations(range(len(names)), 2)
    )
    return Markup('<ul class="tests">{}</ul>').format(each(Markup("<li>{}</li>"), sentences))


def side_by_side(examinations: Sequence[Examination]) -> Markup:
    """Show what each model says of one pair, and which of its tokens mattered."""
    return Markup('<div class="beside">{}</div>').format(join(map(_model, examinations)))


def _model(examination: Examination) -> Markup:
    classifier = examination.importance.classifier
    cut = " · too long, its end is cut" if classifier.too_long(examination.pair) else ""
    address = link_to_pair(examination.pair, classifier.name)
    return Markup(
        '<section class="card answer"><h3 class="fine name">{}{}</h3><div class="head">{}</div>'
        "{}{}<p>{}</p></section>"
    ).format(
        classifier.name,
        cut,
        verdict(examination.prediction),
        probabilities(examination.prediction),
        importance(examination.pair, examination.importance),
        link(address, "Open in Probe"),
    )
