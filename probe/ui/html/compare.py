"""What the Compare tab shows of compared rows: cards, tests, one pair side by side, files."""

import json
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from probe.analysis.comparison import Row
from probe.analysis.statistics import accuracy, agreement, entailed_and_not, in_words, mcnemar
from probe.analysis.transformed import Examination
from probe.data.tables import Table, write_table
from probe.metrics import Estimate
from probe.models.classifier import Precision, resolve
from probe.reports.compared_rows import keep
from probe.reports.comparison import compared_frame
from probe.ui.html import elements
from probe.ui.html.batch import cache_folder

NO_GOLD = (
    "These pairs have no gold labels, so nothing can be called right: accuracy, McNemar's test and "
    "slices are not shown. The matrix below still says where the models differ."
)
TWO_CLASSES = (
    "One of the models tells only entailment from non-entailment, so all are held to two classes."
)


def link_to_compare(models: Sequence[str]) -> str:
    """Return a permalink that opens the Compare tab with these models."""
    return "?" + urlencode({"tab": "compare", "models": ",".join(models)})


def percent(found: Estimate) -> str:
    """Write an estimate with its interval."""
    if not found.n:
        return "–"
    return f"{100 * found.value:.1f} % ({100 * found.low:.1f}–{100 * found.high:.1f})"


def cards(rows: Sequence[Row], names: Sequence[str], precision: Precision) -> str:
    """Show each model's accuracy with n and interval, entailed pairs and others apart."""
    return (
        f'<div class="cards">{"".join(_card(rows, *each) for each in enumerate(names))}</div>'
        + (f'<p class="fine">{_sum(rows)}; {resolve(precision)}. {_caveat(rows)}</p>')
    )


def _card(rows: Sequence[Row], model: int, name: str) -> str:
    found, (entailed, others) = accuracy(rows, model), entailed_and_not(rows, model)
    cut = sum(row.cut[model] for row in rows if row.cut)
    figure = f"{100 * found.value:.1f} %" if found.n else "–"
    interval = (
        f"accuracy, 95 % interval {100 * found.low:.1f} to {100 * found.high:.1f}, n = {found.n}"
        if found.n
        else "no gold labels, so no accuracy"
    )
    halves = (
        f'<div class="fine">entailed {percent(entailed)}<br>not entailed {percent(others)}</div>'
        if found.n
        else ""
    )
    shortened = f'<div class="fine">{cut} too long, cut</div>' if cut else ""
    return (
        f'<div class="card"><div class="fine name">{escape(name)}</div>'
        f'<div class="figure">{figure}</div><div class="fine">{interval}</div>{halves}'
        f"{shortened}</div>"
    )


def _sum(rows: Sequence[Row]) -> str:
    scored = sum(bool(row.predictions) for row in rows)
    reasons = [row.error for row in rows if row.error]
    errors = f"; {len(reasons)} not: {escape(reasons[0])}" if reasons else ""
    return f"{scored} of {len(rows)} pairs scored{errors}"


def _caveat(rows: Sequence[Row]) -> str:
    golden = any(row.gold for row in rows)
    two = any(row.two_classes for row in rows)
    apart = "Entailed and not entailed are compared in two classes, as HANS does." if golden else ""
    return " ".join(filter(None, [apart, TWO_CLASSES if golden and two else ""]))


def couples(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Say for each two models how often they agree and whether their accuracies differ."""
    if not any(row.gold for row in rows if row.predictions):
        return f'<p class="told">{NO_GOLD}</p>'
    lines = [
        f"<li>{escape(in_words(mcnemar(rows, a, b), names[a], names[b]))} "
        f"They agree on {percent(agreement(rows, a, b))} of the pairs.</li>"
        for a in range(len(names))
        for b in range(a + 1, len(names))
    ]
    return f'<ul class="tests">{"".join(lines)}</ul>'


def side_by_side(found: Sequence[Examination]) -> str:
    """Show what each model says of one pair, and which of its tokens mattered."""
    shown = "".join(_one(each) for each in found)
    return f'<div class="beside">{shown}</div>'


def _one(found: Examination) -> str:
    classifier = found.importance.classifier
    cut = " · too long, its end is cut" if classifier.too_long(found.pair) else ""
    href = escape(elements.link(found.pair, classifier.name))
    return (
        f'<section class="card answer"><h3 class="fine name">{escape(classifier.name)}{cut}</h3>'
        f'<div class="head">{elements.verdict(found.prediction)}</div>'
        f"{elements.probabilities(found.prediction)}"
        f"{elements.importance(found.pair, found.importance)}"
        f'<p><a href="{href}">Open in Probe</a></p></section>'
    )


def write_comparison(
    table: Table, rows: Sequence[Row], names: Sequence[str], shape: dict[str, Any], stem: str
) -> tuple[list[str], str]:
    """Write the scored file, the summary and what the cells show; return their places."""
    folder = Path(tempfile.mkdtemp(prefix="nli-clinic-", dir=cache_folder()))
    out = folder / f"{stem}-compared.{table.form}"
    write_table(compared_frame(table, rows, names), out)
    note = folder / f"{stem}-comparison.json"
    note.write_text(json.dumps(shape, indent=1) + "\n", encoding="utf-8")
    kept = folder / "compared.jsonl"
    keep(rows, kept)
    return [str(out), str(note)], str(kept)
