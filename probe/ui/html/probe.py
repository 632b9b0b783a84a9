"""What the Probe tab shows of an examination: the answer, a row a treatment, or one table."""

from html import escape

import pandas as pd

from probe.analysis.transformed import Examination, Transformed
from probe.baselines import BASELINES
from probe.ui.html import elements, transformed

TABLE = ["transform", "prediction", "confidence", "agrees", "gold label", "right", "new text"]


def answer(found: Examination) -> str:
    """Show the prediction and the importance of the tokens."""
    classifier = found.importance.classifier
    cut = "the pair is too long for the model, its end is cut"
    facts = [
        "confidence",
        classifier.name,
        "fp32",
        *([f"revision {classifier.revision[:12]}"] if classifier.revision else []),
        *([cut] if classifier.too_long(found.pair) else []),
    ]
    return (
        f'<div class="answer"><div class="head">{elements.verdict(found.prediction)}'
        f'<span class="fine">{escape(" · ".join(facts))}</span></div>'
        f"{elements.probabilities(found.prediction)}"
        f"{elements.importance(found.pair, found.importance)}{_rules(found)}</div>"
    )


def _rules(found: Examination) -> str:
    """Say what rules answer that understand nothing."""
    said = " · ".join(
        f'<span title="{escape(BASELINES[name].summary)}">{name}: <b>{label}</b></span>'
        for name, label in found.rules.items()
    )
    return f'<p class="fine">Rule baselines say {said}</p>'


def rows(found: Examination) -> str:
    """Show one row for each treatment."""
    model = found.importance.classifier.name
    shown = "".join(transformed.row(one, found.prediction, model) for one in found.transformed)
    return shown or '<p class="fine">Choose a treatment above.</p>'


def table(found: Examination) -> pd.DataFrame:
    """Return all treatments as one table; the new text is that of the sides that changed."""
    return pd.DataFrame([_line(one) for one in found.transformed], columns=TABLE)


def _line(one: Transformed) -> tuple[object, ...]:
    result = one.result
    before, after = result.original, result.pair
    texts = [
        getattr(after, side)
        for side in ("premise", "hypothesis")
        if getattr(before, side) != getattr(after, side)
    ]
    return (
        result.name,
        one.prediction.label,
        f"{one.prediction.confidence:.3f}",
        "agrees" if one.agrees else "changed",
        result.gold or result.rule.name.replace("_", "-"),
        {True: "right", False: "wrong", None: "–"}[one.right],
        " ▸ ".join(texts) if result.changed else f"(unchanged) {result.note}",
    )
