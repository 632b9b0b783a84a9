"""What the Probe tab shows of an examination: the answer, a row a transform, or one table."""

import pandas as pd
from markupsafe import Markup

from probe.analysis.examination import Examination
from probe.analysis.transformed import Transformed
from probe.baselines import BASELINES
from probe.ui.html.elements import NOTHING, join, note
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
        importance(examination.example, examination.importance),
        _rules(examination),
    )


def _facts(examination: Examination) -> list[str]:
    model = examination.model
    cut = "the pair is too long for the model, its end is cut"
    return [
        "confidence",
        model.name,
        "fp32",
        *([f"revision {model.revision[:12]}"] if model.revision else []),
        *([cut] if examination.cut else []),
    ]


def _rules(examination: Examination) -> Markup:
    """Say what rules answer that understand nothing; some tasks have none."""
    if not examination.rules:
        return NOTHING
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
    model = examination.model.name
    shown = join(row(each, examination.prediction, model) for each in examination.transformed)
    return shown or note("Choose a transform above.")


def table(examination: Examination) -> pd.DataFrame:
    """Return all transforms as one table; the new text is that of the fields that changed."""
    return pd.DataFrame([_line(each) for each in examination.transformed], columns=TABLE)


def _line(transformed: Transformed) -> tuple[object, ...]:
    result = transformed.result
    before = result.task.texts(result.original)
    after = result.task.texts(result.example)
    texts = [text for field, text in after.items() if text != before[field]]
    return (
        result.name,
        transformed.prediction.label,
        f"{transformed.prediction.confidence:.3f}",
        "agrees" if transformed.agrees else "changed",
        result.gold or result.rule.name.replace("_", "-"),
        {True: "right", False: "wrong", None: "–"}[transformed.right],
        " ▸ ".join(texts) if result.changed else f"(unchanged) {result.note}",
    )
