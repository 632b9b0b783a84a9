"""Inoculation curves, as Liu et al. 2019 draw them in their Figure 3: a panel for each challenge.

Colour and marker tell the models apart, a solid line with full markers is the challenge, a dashed
one with hollow markers the original set. What is drawn is here, how it is drawn in `panel`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from finetune.trials.inoculation_plan import Point, Selection, choose
from probe.statistics import mean_score
from probe.tasks.nli import NLI
from probe.tasks.task import Task

COLUMNS = ["examples", "set", "accuracy", "low", "high", "n", "lr", "seeds"]
DASHES = {"challenge": "", "original": "5 4", "addsent_first": "1 4", "addsent_other": "9 3 1 3"}
"""The dashes of each line; of a model that is drawn alone its counter-tests have one, too."""
OTHER_COLOURS = (
    "#b7791f",
    "#4a90c2",
    "#b5478f",
    "#7a7f1e",
    "#8a6bd1",
    "#a0522d",
)
"""Of the models after the first, which has the page's own; none is a label's."""
MODEL_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""Of the models in turn, so that colour is never the only cue."""
STEP, WIDE_STEP, WIDE_FROM = 10, 20, 40
"""Points between the ticks of an axis, and on one of more points than the last."""
GOAL = 0.9
"""The share of the gap that the paper calls outcome 1 where it is closed."""


@dataclass(frozen=True)
class PanelStyle:
    """What panels of one figure share: the models in their order and the axis, in percent."""

    names: tuple[str, ...]
    low: float
    high: float
    size: tuple[int, int] = (380, 190)

    @property
    def shapes(self) -> list[str]:
        """A marker for each name."""
        return [MODEL_SHAPES[at % len(MODEL_SHAPES)] for at in range(len(self.names))]

    def colours(self, first: str) -> list[str]:
        """A colour for each name, the first of them given."""
        colours = (first, *OTHER_COLOURS)
        return [colours[at % len(colours)] for at in range(len(self.names))]


@dataclass(frozen=True)
class Panel:
    """One panel: the rows of `curve_frame`, the sizes that there are or will be.

    A frame with a column `label` says its points by that. `rules` are baselines by name, in
    percent. With `goal` a line marks 90 % of the gap, where one model is drawn.
    """

    frame: pd.DataFrame
    sizes: tuple[int, ...] = ()
    rules: Mapping[str, float] = field(default_factory=dict)
    goal: bool = False

    @property
    def places(self) -> list[int]:
        """The numbers of examples along the axis."""
        return sorted({0, *self.sizes, *(int(size) for size in self.frame["examples"])})

    @property
    def models(self) -> list[str]:
        """The models that are drawn."""
        return list(dict.fromkeys(str(name) for name in self.frame["name"]))

    def goal_height(self) -> float | None:
        """Return where 90 % of the gap is closed, None where it is not to be marked."""
        start = self.frame[self.frame["examples"] == 0].set_index("set")["accuracy"]
        if not self.goal or len(self.models) > 1 or not {"original", "challenge"} <= {*start.index}:
            return None
        gap = float(start["original"] - start["challenge"])
        return float(start["challenge"]) + GOAL * gap if gap > 0 else None


def style_for(frame: pd.DataFrame, rules: Mapping[str, float] | None = None) -> PanelStyle:
    """Return a look that has room for all of a frame and for the rules, in percent."""
    values = [*frame["low"], *frame["high"], *(rules or {}).values()]
    low, high = (min(values), max(values)) if values else (0.0, 100.0)
    names = tuple(dict.fromkeys(str(name) for name in frame["name"]))
    return PanelStyle(names, max(0.0, 10 * (low // 10)), min(100.0, 10 * -(-high // 10)))


def ticks(style: PanelStyle) -> list[int]:
    """Return the round percentages of an axis, every tenth of a short one."""
    step = WIDE_STEP if style.high - style.low > WIDE_FROM else STEP
    first = math.ceil(style.low / step) * step
    return list(range(first, int(style.high) + 1, step))


def curve_frame(
    points: Sequence[Point],
    selection: Selection = "oracle_lr",
    name: str = "model",
    task: Task = NLI,
) -> pd.DataFrame:
    """Return a row for each size and test set, in percent with its 95 % interval (`mean_score`).

    Of several learning rates the one that the selection chooses; of several seeds the mean.
    """
    rows = []
    for point in choose(points, selection):
        for which, scores in (
            ("challenge", point.challenge_right),
            ("original", point.original_right),
            *point.counter_tests.items(),
        ):
            found = mean_score(task, scores)
            shares = (100 * share for share in (found.value, found.low, found.high))
            rows.append((point.size, which, *shares, found.n, point.lr, point.seeds))
    return pd.DataFrame(rows, columns=COLUMNS).assign(name=name)


def counter_tests_in(frame: pd.DataFrame) -> list[str]:
    """Return the names of the counter-tests that are drawn: of one model alone, not of several."""
    if frame["name"].nunique() > 1:
        return []
    return [name for name in frame["set"].unique() if name not in ("challenge", "original")]


def point_texts(frame: pd.DataFrame) -> list[str]:
    """Say each point in words."""
    return [
        f"{row.name_}, {row.set}, {row.examples} examples: {row.accuracy:.1f} % "
        f"({row.low:.1f} to {row.high:.1f}), n {row.n}, rate {row.lr:g}, seeds {row.seeds}"
        for row in frame.rename(columns={"name": "name_"}).itertuples(index=False)
    ]
