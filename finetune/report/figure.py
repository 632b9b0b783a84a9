"""The figure of several runs as a file: its panels side by side, one legend, a white ground."""

from collections.abc import Sequence

import altair as alt

from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.drawing import draw_png, draw_svg
from finetune.report.sweep import panels
from probe.errors import RunError

PANELS_PER_ROW, PANEL_SIZE = 3, (330, 220)
"""Panels in a row, and how large each is in pixels."""


def figure(runs: Sequence[InoculationRun], selection: Selection) -> alt.ConcatChart:
    """Draw a panel for each challenge. Raises RunError where no run has a point."""
    charts, look = panels(runs, selection, PANEL_SIZE, legend=True)
    if not charts:
        raise RunError("no cell is finished yet, so there is nothing to draw")
    width, height = look.size
    titled = [
        chart.properties(title=title, width=width, height=height) for title, chart in charts.items()
    ]
    whole = alt.ConcatChart(concat=titled, columns=min(PANELS_PER_ROW, len(titled)))
    framed: alt.ConcatChart = (
        whole.resolve_scale(color="shared", shape="shared", strokeDash="shared")
        .properties(background="white", padding=12)
        .configure(
            font="system-ui, -apple-system, Segoe UI, Roboto, sans-serif",
            title=alt.TitleConfig(fontSize=13, anchor="start"),
            axis=alt.AxisConfig(titleFontWeight="normal", gridColor="#88888833"),
            view=alt.ViewConfig(stroke=None),
        )
    )
    return framed


def svg_file(chart: alt.ConcatChart) -> str:
    """Return a figure as SVG of its own size."""
    return draw_svg(chart.to_dict())


def png_file(chart: alt.ConcatChart) -> bytes:
    """Return a figure as PNG, twice as fine as a screen."""
    return draw_png(chart.to_dict())
