"""What the Batch tab shows of scored rows: progress, and cards with the main figures."""

from typing import Any

from markupsafe import Markup

from probe.analysis.batch import Chunk
from probe.analysis.summary import Summary
from probe.metrics import Estimate, interval
from probe.models.classifier import Classifier, Precision, resolve
from probe.ui.html.elements import join, meter, note


def progress(chunk: Chunk[Any]) -> Markup:
    """Show how far the work is, its speed and the time left."""
    ended = chunk.done == chunk.total
    left = f"{chunk.seconds:.0f} s in all" if ended else f"about {chunk.left:.0f} s left"
    return meter("rows scored", chunk.done / chunk.total) + note(
        f"{chunk.done} of {chunk.total} rows, {chunk.per_second:.0f} a second, {left}"
    )


def cards(summary: Summary, classifier: Classifier, precision: Precision) -> Markup:
    """Show the figures of the untouched pairs, each with n and its interval."""
    answers = " · ".join(f"{count} {label}" for label, count in summary.predicted.items())
    errors = (
        f"{summary.errors} with an error, see the column error" if summary.errors else "no errors"
    )
    cut = f"; {summary.cut} too long, cut" if summary.cut else ""
    accuracy, confidence = summary.original["accuracy"], summary.original["confidence"]
    shown = join(
        (
            _card("rows scored", f"{summary.scored} of {summary.rows}", errors + cut),
            _card("accuracy", *_figure(accuracy, "no gold labels in this file")),
            _card("mean confidence", *_figure(confidence, "")),
            _card("model", classifier.name, f"{resolve(precision)}; says {answers}"),
        )
    )
    return Markup('<div class="cards">{}</div>').format(shown)


def _card(name: str, value: str, more: str) -> Markup:
    return Markup(
        '<div class="card"><div class="fine">{}</div><div class="figure">{}</div>'
        '<div class="fine">{}</div></div>'
    ).format(name, value, more)


def _figure(estimate: Estimate, nothing: str) -> tuple[str, str]:
    if not estimate.n:
        return "–", nothing
    words = f"95 % interval {interval(estimate)}, n = {estimate.n}"
    return f"{100 * estimate.value:.1f} %", words
