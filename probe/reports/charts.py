"""Charts: a tidy frame in, an Altair chart out. None uses the colours of the labels."""

from typing import Any, TypeVar

import altair as alt
import pandas as pd

INK = "#7a8088"  # axis text that reads on white and on near-black
AnyChart = TypeVar("AnyChart", bound=alt.TopLevelMixin)


def themed(chart: AnyChart, height: int = 320) -> AnyChart:
    """Give a chart the app's fonts, a transparent ground and the width of its place."""
    plain: Any = chart  # Any: altair's mixins name these two methods only on the concrete charts
    framed: AnyChart = plain.properties(
        width="container", height=height, background="transparent"
    ).configure(
        font="system-ui, -apple-system, Segoe UI, Roboto, sans-serif",
        axis=alt.AxisConfig(
            labelColor=INK,
            titleColor=INK,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            gridColor="#88888833",
            domainColor="#88888866",
            tickColor="#88888866",
        ),
        legend=alt.LegendConfig(labelColor=INK, titleColor=INK, labelFontSize=12, orient="top"),
        header=alt.HeaderConfig(labelColor=INK, titleColor=INK, labelFontSize=12),
        view=alt.ViewConfig(stroke=None),
    )
    return framed


def by_transform(frame: pd.DataFrame, measures: list[str], labels: int) -> alt.LayerChart:
    """Draw agreement, confidence and the like by transform, with intervals and the chance line.

    Chance is one of so many `labels`; without labels there is no line.
    `frame` has columns transform, measure, value, low, high, n; values are shares 0 to 1.
    """
    shown = frame[frame["measure"].isin(measures) & (frame["n"] > 0)].copy()
    names = list(dict.fromkeys(shown["transform"]))
    base = alt.Chart(shown).encode(
        y=alt.Y("transform:N", sort=names, title=None),
        yOffset=alt.YOffset("measure:N", sort=measures),
        color=alt.Color(
            "measure:N",
            sort=measures,
            title=None,
            scale=alt.Scale(
                domain=measures, range=["#009E73", "#56B4E9", "#E69F00"][: len(measures)]
            ),
        ),
        shape=alt.Shape("measure:N", sort=measures, title=None, scale=alt.Scale(domain=measures)),
    )
    share = alt.Axis(format=".0%", title="share of rows, mean probability")
    scale = alt.Scale(domain=[0, 1])
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("value:Q", axis=share, scale=scale),
        tooltip=[
            alt.Tooltip("transform:N"),
            alt.Tooltip("measure:N"),
            alt.Tooltip("value:Q", format=".1%"),
            alt.Tooltip("low:Q", format=".1%", title="95 % from"),
            alt.Tooltip("high:Q", format=".1%", title="to"),
            alt.Tooltip("n:Q"),
        ],
    )
    spread = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    chances = {"x": [1 / labels], "name": [f"chance, 1/{labels}"]} if labels else {}
    chance = (
        alt.Chart(pd.DataFrame(chances, columns=["x", "name"]))
        .mark_rule(strokeDash=[4, 4], color=INK)
        .encode(x="x:Q", tooltip="name:N")
    )
    layers = alt.LayerChart(layer=[chance, spread, points])
    return themed(layers, height=max(120, 44 * len(names)))
