"""The chart of the HANS profile: accuracy by heuristic and gold label, a mark a model."""

import altair as alt
import pandas as pd

from probe.analysis.hans import Profiled, in_heuristics
from probe.reports import charts
from probe.tasks.nli import ENTAILMENT
from probe.ui.html.hans import GOLDS, Profiles

COLOURS = ["#009E73", "#56B4E9", "#E69F00", "#CC79A7", "#8C6D31", "#7A8088"]


def frame(profiles: Profiles) -> pd.DataFrame:
    """Return the accuracies as a tidy frame: model, case, accuracy, low, high, n."""
    return pd.DataFrame(
        [
            (name, _case(row), row.accuracy, row.low, row.high, row.n)
            for name, rows in profiles.items()
            for row in in_heuristics(rows)
        ],
        columns=["model", "case", "accuracy", "low", "high", "n"],
    )


def _case(row: Profiled) -> str:
    return f"{row.heuristic}, {GOLDS[row.gold == ENTAILMENT]}"


def chart(profiles: Profiles) -> alt.LayerChart:
    """Draw the accuracy by heuristic and gold label, a mark a model, with intervals."""
    table, names = frame(profiles), list(profiles)
    two_lines = alt.Axis(labelExpr="split(datum.label, ', ')")
    base = alt.Chart(table).encode(
        y=alt.Y("case:N", sort=list(dict.fromkeys(table["case"])), title=None, axis=two_lines),
        yOffset=alt.YOffset("model:N", sort=names),
        color=alt.Color(
            "model:N",
            sort=names,
            title=None,
            scale=alt.Scale(
                domain=names, range=[COLOURS[at % len(COLOURS)] for at in range(len(names))]
            ),
        ),
        shape=alt.Shape("model:N", sort=names, title=None, scale=alt.Scale(domain=names)),
    )
    scale, share = alt.Scale(domain=[0, 1]), alt.Axis(format=".0%", title="accuracy, two classes")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("accuracy:Q", axis=share, scale=scale),
        tooltip=[
            "model:N",
            "case:N",
            alt.Tooltip("accuracy:Q", format=".1%"),
            alt.Tooltip("low:Q", format=".1%", title="95 % from"),
            alt.Tooltip("high:Q", format=".1%", title="to"),
            "n:Q",
        ],
    )
    spread = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    chance = (
        alt.Chart(pd.DataFrame({"x": [0.5], "name": ["chance, 1/2"]}))
        .mark_rule(strokeDash=[4, 4], color=charts.INK)
        .encode(x="x:Q", tooltip="name:N")
    )
    layers = alt.LayerChart(layer=[chance, spread, points])
    return charts.themed(layers, height=6 * max(36, 14 * len(names)))
