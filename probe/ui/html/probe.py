"""What the Probe tab shows of an examination: the answer, a row a transform, or one table."""

import pandas as pd
from markupsafe import Markup

from probe.analysis.transformed import Examination, Transformed
from probe.baselines import BASELINES
from probe.ui.html.elements import join, note
from probe.ui.html.importance import importance
from probe.ui.html.prediction import probabilities, verdict
from probe.ui.html.transformed import row

TABLE = ["transform", "prediction", "confidence", "agrees", "gold label", "right", "new text"]


def answer(examination: Examination) -> Markup:
    """Show the prediction and the importance of the tokens."""
    prediction = examination.prediction
    return Markup(
        '<div class="answer"><div class="head">{}<span class="fine">{}</span></div>{}{}{}</div>'
    ).format(
        verdict(prediction),
        " · ".join(_facts(examination)),
        probabilities(prediction),
        importance(examination.pair, examination.importance),
        _rules(examination),
    )


def _facts(examination: Examination) -> list[str]:
    classifier = examination.importance.classifier
    cut = "the pair is too long for the model, its end is cut"
    return [
        "confidence",
        classifier.name,
        "fp32",
        *([f"revision {classifier.revision[:12]}"] if classifier.revision else []),
        *([cut] if classifier.too_long(examination.pair) else []),
    ]


def _rules(examination: Examination) -> Markup:
    """Say what rules answer that understand nothing."""
    answers = join(
        (
            Markup('<span title="{}">{}: <b>{}</b></span>').format(
                BASELINES[name].summary, name, label
            )
            for name, label in examination.rules.items()
        ),
        Markup(" · "),
    )
    return note(Markup("Rule baselines say {}").format(answers))


def rows(examination: Examination) -> Markup:
    """Show one row for each transformed pair."""
    model = examination.importance.classifier.name
    shown = join(row(each, examination.prediction, model) for each in examination.transformed)
    return shown or note("Choose a transform above.")


def table(examination: Examination) -> pd.DataFrame:
    """Return all transforms as one table; the new text is that of the sides that changed."""
    return pd.DataFrame([_line(each) for each in examination.transformed], columns=TABLE)


def _line(transformed: Transformed) -> tuple[object, ...]:
    result = transformed.result
    before, after = result.original, result.pair
    texts = [
        getattr(after, side)
        for side in ("premise", "hypothesis")
        if getattr(before, side) != getattr(after, side)
    ]
    return (
        result.name,
        transformed.prediction.label,
        f"{transformed.prediction.confidence:.3f}",
        "agrees" if transformed.agrees else "changed",
        result.gold or result.rule.name.replace("_", "-"),
        {True: "right", False: "wrong", None: "–"}[transformed.right],
        " ▸ ".join(texts) if result.changed else f"(unchanged) {result.note}",
    )
