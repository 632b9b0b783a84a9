"""How charts look: the app's fonts and inks for Altair. None uses the colours of the labels."""

from typing import Any, TypeVar

import altair as alt

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
