"""The inoculation curve, as Liu et al. 2019 draw it in their Figure 3."""

from collections.abc import Sequence

import altair as alt
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from finetune.inoculate import Point
from finetune.selection import choose
from probe.plots import INK, themed

COLUMNS = ["examples", "set", "accuracy", "low", "high", "n", "lr", "seeds"]
SETS = {"challenge": ("#009E73", [1, 0], "circle"), "original": ("#B7791F", [6, 4], "square")}
"""Colour, dashes and marker of each line: none of a label, never the only cue."""

EXAMPLES = alt.X("examples:O", title="inoculation examples", axis=alt.Axis(labelAngle=0))


def curve_frame(points: Sequence[Point]) -> pd.DataFrame:
    """Return a row for each size and test set, in percent with Wilson's 95 % interval.

    Of several learning rates the one with the best challenge score, as in the paper; of several
    seeds the mean.
    """
    rows = []
    for one in choose(points, "oracle_lr"):
        for name, right in (("challenge", one.challenge_right), ("original", one.original_right)):
            low, high = proportion_confint(sum(right), len(right), method="wilson")
            accuracy = 100 * sum(right) / len(right)
            rows.append(
                (one.size, name, accuracy, 100 * low, 100 * high, len(right), one.lr, one.seeds)
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def curve(frame: pd.DataFrame, sizes: Sequence[int] = ()) -> alt.LayerChart:
    """Draw accuracy against the number of examples; `sizes` still to come keep their place."""
    places = sorted({0, *sizes, *(int(size) for size in frame["examples"])})
    names, styles = list(SETS), list(SETS.values())
    base = alt.Chart(frame).encode(
        x=EXAMPLES.scale(domain=places),
        color=alt.Color(
            "set:N", title=None, scale=alt.Scale(domain=names, range=[s[0] for s in styles])
        ),
    )
    accuracy = alt.Y(
        "accuracy:Q", title="accuracy, percent", scale=alt.Scale(zero=False, nice=True)
    )
    lines = base.mark_line(strokeWidth=2.5).encode(
        y=accuracy,
        strokeDash=alt.StrokeDash(
            "set:N", title=None, scale=alt.Scale(domain=names, range=[s[1] for s in styles])
        ),
    )
    spread = [  # side by side, so that intervals do not hide each other
        base.transform_filter(alt.datum.set == name)
        .mark_rule(strokeWidth=1.5, xOffset=shift)
        .encode(y="low:Q", y2="high:Q")
        for name, shift in zip(names, (-3, 3), strict=True)
    ]
    marks = base.mark_point(filled=True, size=90, opacity=1).encode(
        y=accuracy,
        shape=alt.Shape(
            "set:N", title=None, scale=alt.Scale(domain=names, range=[s[2] for s in styles])
        ),
        tooltip=[
            alt.Tooltip("examples:O", title="examples"),
            alt.Tooltip("set:N"),
            alt.Tooltip("accuracy:Q", format=".1f"),
            alt.Tooltip("low:Q", format=".1f", title="95 % from"),
            alt.Tooltip("high:Q", format=".1f", title="to"),
            alt.Tooltip("n:Q"),
            alt.Tooltip("lr:Q", title="learning rate"),
            alt.Tooltip("seeds:Q"),
        ],
    )
    return themed(alt.LayerChart(layer=[_goal(frame), *spread, lines, marks]))


def _goal(frame: pd.DataFrame) -> alt.LayerChart:
    """Mark where 90 % of the gap is closed, which the paper calls outcome 1."""
    start = frame[frame["examples"] == 0].set_index("set")["accuracy"]
    gap = start["original"] - start["challenge"] if len(start) == 2 else 0.0
    rows = [(0, start["challenge"] + 0.9 * gap, "90 % closed")] if gap > 0 else []
    frame = pd.DataFrame(rows, columns=["examples", "accuracy", "name"])
    place = alt.Chart(frame).encode(y="accuracy:Q")
    rule = place.mark_rule(strokeDash=[2, 3], color=INK)
    words = place.mark_text(align="left", dx=10, dy=-6, color=INK)
    return alt.LayerChart(layer=[rule, words.encode(x=EXAMPLES, text="name:N")])
