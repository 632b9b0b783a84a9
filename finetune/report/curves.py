"""Inoculation curves, as Liu et al. 2019 draw them in their Figure 3: a panel for each challenge.

Colour and marker tell the models apart, a solid line with full markers is the challenge, a dashed
one with hollow markers the original set.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import altair as alt
import pandas as pd

from finetune.experiments.inoculation.point import Point
from finetune.experiments.inoculation.selection import Selection, choose
from finetune.report.drawing import draw_svg
from probe.reports.charts import INK, themed

COLUMNS = ["examples", "set", "accuracy", "low", "high", "n", "lr", "seeds"]
DASHES = {"challenge": [1, 0], "original": [6, 4]}
"""The dashes of each line."""
MODEL_COLOURS = (
    "#009E73",
    "#B7791F",
    "#4A90C2",
    "#B5478F",
    "#7A7F1E",
    "#2F7F86",
    "#8A6BD1",
    "#A0522D",
)
MODEL_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""Of the models in turn; no colour of a label, never the only cue."""
MERGE_BELOW_POINTS = 2.5  # points: rules closer than this share a label
NAMES_PER_LINE = 2  # of these names stand on one line of it, which fits a phone

EXAMPLES = alt.X("examples:O", title="inoculation examples", axis=alt.Axis(labelAngle=0))


@dataclass(frozen=True)
class PanelStyle:
    """What panels of one figure share: the models in their order and the axis, in percent."""

    names: tuple[str, ...]
    low: float
    high: float
    size: tuple[int, int] = (360, 230)
    legend: bool = False

    @property
    def colours(self) -> list[str]:
        """A colour for each name."""
        return [MODEL_COLOURS[at % len(MODEL_COLOURS)] for at in range(len(self.names))]

    @property
    def shapes(self) -> list[str]:
        """A marker for each name."""
        return [MODEL_SHAPES[at % len(MODEL_SHAPES)] for at in range(len(self.names))]


def style_for(frame: pd.DataFrame, rules: Mapping[str, float] | None = None) -> PanelStyle:
    """Return a look that has room for all of a frame and for the rules, in percent."""
    values = [*frame["low"], *frame["high"], *(rules or {}).values()]
    low, high = (min(values), max(values)) if values else (0.0, 100.0)
    names = tuple(dict.fromkeys(str(name) for name in frame["name"]))
    return PanelStyle(names, max(0.0, 10 * (low // 10)), min(100.0, 10 * -(-high // 10)))


def curve_frame(
    points: Sequence[Point], selection: Selection = "oracle_lr", name: str = "model"
) -> pd.DataFrame:
    """Return a row for each size and test set, in percent with Wilson's 95 % interval.

    Of several learning rates the one that the selection chooses; of several seeds the mean.
    """
    from statsmodels.stats.proportion import proportion_confint  # imported as in probe.metrics

    rows = []
    for point in choose(points, selection):
        for which, right in (
            ("challenge", point.challenge_right),
            ("original", point.original_right),
        ):
            low, high = proportion_confint(sum(right), len(right), method="wilson")
            accuracy = 100 * sum(right) / len(right)
            rows.append(
                (
                    point.size,
                    which,
                    accuracy,
                    100 * low,
                    100 * high,
                    len(right),
                    point.lr,
                    point.seeds,
                )
            )
    return pd.DataFrame(rows, columns=COLUMNS).assign(name=name)


def curve(frame: pd.DataFrame, sizes: Sequence[int] = ()) -> alt.LayerChart:
    """Draw one model on one challenge with its legend; `sizes` still to come keep their place."""
    style = style_for(frame)
    return themed(panel(frame, PanelStyle(style.names, style.low, style.high, legend=True), sizes))


def panel(
    frame: pd.DataFrame,
    style: PanelStyle,
    sizes: Sequence[int] = (),
    rules: Mapping[str, float] | None = None,
) -> alt.LayerChart:
    """Draw accuracy against the number of examples; `rules` are baselines by name, in percent.

    Where one model is drawn, a line marks 90 % of its gap.
    """
    places = sorted({0, *sizes, *(int(size) for size in frame["examples"])})
    base = alt.Chart(frame.assign(label=_point_texts(frame))).encode(
        x=EXAMPLES.scale(domain=places),
        color=alt.Color(
            "name:N",
            scale=alt.Scale(domain=list(style.names), range=style.colours),
            legend=_legend(style),
        ),
    )
    accuracy = alt.Y(
        "accuracy:Q",
        title="accuracy, percent",
        scale=alt.Scale(domain=[style.low, style.high], zero=False),
    )
    lines = base.mark_line(strokeWidth=2.2).encode(
        y=accuracy,
        detail="name:N",
        strokeDash=alt.StrokeDash(
            "set:N",
            legend=alt.Legend(title=None, symbolStrokeColor=INK) if style.legend else None,
            scale=alt.Scale(domain=list(DASHES), range=list(DASHES.values())),
        ),
    )
    layers = [
        _baseline_lines(rules or {}),
        *_interval_bars(base, style),
        lines,
        *_markers(base, accuracy, style),
    ]
    goal = [_goal_line(frame)] if frame["name"].nunique() <= 1 else []
    return alt.LayerChart(layer=[*goal, *layers])


def svg(chart: alt.LayerChart, style: PanelStyle) -> str:
    """Return a panel as SVG without a ground, as wide as its place, each point's words on hover."""
    width, height = style.size
    chart_of_size = themed(chart).properties(width=width, height=height)
    return _rendered(chart_of_size.to_json(indent=None))


@lru_cache(maxsize=128)
def _rendered(specification: str) -> str:
    """Draw once what is looked at again and again while other panels change."""
    drawn = draw_svg(json.loads(specification))
    return _titles(re.sub(r' width="[\d.]+" height="[\d.]+"', "", drawn, count=1))


def _titles(drawn: str) -> str:
    """Give each point a title, which a browser shows where the pointer rests.

    Vega's own roles go: the page gives the whole picture a name, and its parts need none.
    """
    titled = re.sub(
        r'<path aria-label="([^"]*)"( role="graphics-symbol" aria-roledescription="point"[^>]*)/>',
        r"<path\2><title>\1</title></path>",
        drawn,
    )
    return re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", titled)


def _point_texts(frame: pd.DataFrame) -> list[str]:
    """Say each point in words."""
    return [
        f"{row.name_}, {row.set}, {row.examples} examples: {row.accuracy:.1f} % "
        f"({row.low:.1f} to {row.high:.1f}), n {row.n}, rate {row.lr:g}, seeds {row.seeds}"
        for row in frame.rename(columns={"name": "name_"}).itertuples(index=False)
    ]


def _legend(style: PanelStyle) -> alt.Legend | None:
    """Return a legend of the models only where there are several and it is asked for."""
    return alt.Legend(title=None) if style.legend and len(style.names) > 1 else None


def _interval_bars(base: alt.Chart, style: PanelStyle) -> list[alt.Chart]:
    """Draw the intervals side by side, so that they do not hide each other."""
    middle = (len(style.names) - 1) / 2
    return [
        base.transform_filter(alt.datum.name == name)
        .mark_rule(strokeWidth=1.3, opacity=0.6, xOffset=2.5 * (at - middle))
        .encode(y="low:Q", y2="high:Q")
        for at, name in enumerate(style.names)
    ]


def _markers(base: alt.Chart, accuracy: alt.Y, style: PanelStyle) -> list[alt.Chart]:
    """Draw full markers for the challenge, hollow ones for the original set."""
    scale = alt.Scale(domain=list(style.names), range=style.shapes)
    shape = alt.Shape("name:N", scale=scale, legend=_legend(style))
    return [
        base.transform_filter(alt.datum.set == which)
        .mark_point(filled=filled, size=55, opacity=1, strokeWidth=1.8)
        .encode(y=accuracy, shape=shape, description="label:N")
        for which, filled in zip(DASHES, (True, False), strict=True)
    ]


def _goal_line(frame: pd.DataFrame) -> alt.LayerChart:
    """Mark where 90 % of the gap is closed, which the paper calls outcome 1."""
    start = frame[frame["examples"] == 0].set_index("set")["accuracy"]
    gap = start["original"] - start["challenge"] if len(start) == 2 else 0.0
    rows = [(0, start["challenge"] + 0.9 * gap, "90 % closed")] if gap > 0 else []
    place = alt.Chart(pd.DataFrame(rows, columns=["examples", "accuracy", "label"])).encode(
        y="accuracy:Q"
    )
    rule = place.mark_rule(strokeDash=[2, 3], color=INK)
    words = place.mark_text(align="left", dx=10, dy=9, color=INK)
    return alt.LayerChart(layer=[rule, words.encode(x=EXAMPLES, text="label:N")])


def _baseline_lines(rules: Mapping[str, float]) -> alt.LayerChart:
    """Draw what rules reach that read no sentence pair as thin lines with their names."""
    frame = pd.DataFrame(_grouped_labels(rules), columns=["accuracy", "label", "line"])
    place = alt.Chart(frame).encode(y="accuracy:Q")
    words = [
        place.transform_filter(alt.datum.line == line)
        .mark_text(align="right", dy=-5 - 11 * line, fontSize=10, color=INK)
        .encode(x=alt.value("width"), text="label:N")
        for line in sorted(set(frame["line"]))
    ]
    return alt.LayerChart(layer=[place.mark_rule(strokeWidth=0.8, color=INK), *words])


def _grouped_labels(rules: Mapping[str, float]) -> list[tuple[float, str, int]]:
    """Return lines of text: at what height, the names, how many lines above the lowest.

    Rules that lie close together have one height, and their names stand there two by two.
    """
    groups: list[list[tuple[float, str]]] = []
    for value, name in sorted((value, name) for name, value in rules.items()):
        if groups and value - groups[-1][0][0] < MERGE_BELOW_POINTS:
            groups[-1].append((value, name))
        else:
            groups.append([(value, name)])
    return [
        (
            sum(value for value, _ in group) / len(group),
            ", ".join(f"{name} {value:.0f} %" for value, name in group[at : at + NAMES_PER_LINE]),
            at // NAMES_PER_LINE,
        )
        for group in groups
        for at in range(0, len(group), NAMES_PER_LINE)
    ]
