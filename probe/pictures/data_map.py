"""A data map: rows by how much a training varies on them, and how sure of them it is on average.

The rows come as a table with their variability, confidence and correctness, and whether they are
easy, hard or ambiguous. Drawn as by Swayamdipta et al. 2020: variability across, confidence up,
correctness by colour and shape. Of many rows those that lie together are one larger mark.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from probe.pictures import svg
from probe.pictures.curves import MARKERS, corners
from probe.pictures.svg import FILE, PAGE, Palette, text

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 440, 352, 40.0, 428.0, 14.0, 266.0
"""The size of a drawing, and where its scales begin and end, in pixels."""
LARGER = 1.5
"""Times a file's drawing is as large as the page's."""
MOST_VARIABLE = 0.5
"""The largest standard deviation of numbers from 0 to 1."""
MOST_MARKS = 900
SQUARES = (4, 6, 8, 11, 15, 20, 30)
"""Marks that are drawn at most, and the sides in pixels of squares whose rows are one mark."""
LEVELS = (
    "never right",
    "right in fewer than half",
    "right in half or more",
    "right in every epoch",
)
SHAPES = ("cross", "triangle-down", "square", "circle")
QUARTERS, LEAST = ((0.3, 0.7), (0.7, 0.7), (0.7, 0.3), (0.3, 0.3)), 1.2
"""Where in a square the rows of each level are, so that none hides another, and a mark's least
radius."""
THINNED = (
    "Of {rows:,} rows those with one correctness that lie within {side} pixels are one mark, the "
    "larger the more they are: {marks:,} marks."
)
CIRCLE = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" {}><title>{}</title></circle>')
MARK = Markup('<polygon points="{}" {}><title>{}</title></polygon>')


@dataclass(frozen=True)
class Mark:
    """Rows that are drawn as one: where, their level of correctness, how many, and how large."""

    x: float
    y: float
    level: int
    rows: int
    radius: float


def level_of(correctness: float) -> int:
    """Return which of the levels a share of epochs is."""
    return 0 if correctness == 0 else 3 if correctness == 1 else 1 + (correctness >= 0.5)


def marks_of(rows: pd.DataFrame) -> tuple[list[Mark], int]:
    """Return what is drawn, and the side of the squares that are one mark each, 0 for every row."""
    measures = (rows[name] for name in ("variability", "confidence", "correctness"))
    places = [
        (_x(across), _y(up), level_of(right)) for across, up, right in zip(*measures, strict=True)
    ]
    if len(places) <= MOST_MARKS:
        return [Mark(*place, 1, 3) for place in places], 0
    side, several = 0, Counter[tuple[int, int, int]]()
    for side in SQUARES:
        several = Counter((int(x // side), int(y // side), level) for x, y, level in places)
        if len(several) <= MOST_MARKS:
            break
    most = math.log(1 + max(several.values()))
    return [
        Mark(
            (column + QUARTERS[level][0]) * side,
            (row + QUARTERS[level][1]) * side,
            level,
            count,
            LEAST + (side / 3 - LEAST) * math.log(count) / most,
        )
        for (column, row, level), count in several.items()
    ], side


def thinned(rows: pd.DataFrame) -> str:
    """Say how rows are drawn together, "" where each has a mark of its own."""
    marks, side = marks_of(rows)
    return THINNED.format(rows=len(rows), side=side, marks=len(marks)) if side else ""


def map_on_page(rows: pd.DataFrame, label: str) -> Markup:
    """Draw the rows of a map for the page; `label` says what is drawn to who cannot see it."""
    return svg.on_page(WIDTH, HEIGHT, label, _parts(rows, PAGE))


def map_svg(rows: pd.DataFrame, title: str) -> Markup:
    """Draw them under a title as a file of its own."""
    larger = Markup('<g transform="translate(0,30) scale({})" font-size="11">{}</g>')
    drawn = [text(16, 24, title), larger.format(LARGER, svg.join(_parts(rows, FILE)))]
    width = max(LARGER * WIDTH, svg.width_of([title]) + 32)
    return svg.drawing(width, LARGER * HEIGHT + 32, title, drawn)


def _x(variability: float) -> float:
    return LEFT + variability / MOST_VARIABLE * (RIGHT - LEFT)


def _y(confidence: float) -> float:
    return BOTTOM - confidence * (BOTTOM - TOP)


def _parts(rows: pd.DataFrame, palette: Palette) -> Iterator[Markup]:
    soft = palette.soft
    colours = (palette.models[3], palette.share, soft, palette.accent)
    for tick in range(6):
        up, across = tick / 5, tick / 10
        yield svg.line((LEFT, _y(up)), (RIGHT, _y(up)), palette.track)
        yield text(LEFT - 5, _y(up) + 4, f"{up:.1f}", "end", soft)
        yield text(_x(across), BOTTOM + 14, f"{across:.1f}", "middle", soft)
    yield text(LEFT, BOTTOM + 28, "across: variability; up: confidence", fill=soft)
    marks, _ = marks_of(rows)
    for mark in marks:
        yield _drawn(mark, colours[mark.level])
    start = _x(rows.loc[rows["ambiguous"], "variability"].min())
    easy = _y(rows.loc[rows["easy"], "confidence"].min())
    hard = _y(rows.loc[rows["hard"], "confidence"].max())
    for left, top, right, bottom in (
        (start, TOP, start, BOTTOM),
        (LEFT, easy, RIGHT, easy),
        (LEFT, hard, RIGHT, hard),
    ):
        yield svg.line((left, top), (right, bottom), palette.ink, "5 4")
    yield text(RIGHT, easy - 4, "easy to learn", "end", palette.ink)
    yield text(RIGHT, hard + 12, "hard to learn", "end", palette.ink)
    yield text(start + 4, TOP + 10, "ambiguous", fill=palette.ink)
    counts = Counter(map(level_of, rows["correctness"]))
    for level, words in enumerate(LEVELS):
        x, y = LEFT + 200 * (level % 2), BOTTOM + 50 + 20 * (level // 2)
        yield _drawn(Mark(x + 4, y - 4, level, 1, 4), colours[level], words)
        yield text(x + 14, y, f"{words} ({counts[level]:,})", fill=soft)


def _drawn(mark: Mark, colour: str, words: str = "") -> Markup:
    look = Markup('fill="{}" fill-opacity="0.65"').format(colour)
    confidence = (BOTTOM - mark.y) / (BOTTOM - TOP)
    variability = (mark.x - LEFT) / (RIGHT - LEFT) * MOST_VARIABLE
    rows = f"{mark.rows:,} rows, " if mark.rows > 1 else ""
    where = f"confidence {confidence:.2f}, variability {variability:.2f}"
    words = words or f"{rows}{LEVELS[mark.level]}: {where}"
    if SHAPES[mark.level] == "circle":
        return CIRCLE.format(mark.x, mark.y, mark.radius, look, words)
    ring = MARKERS[SHAPES[mark.level]]
    places = [(mark.x + mark.radius * x, mark.y + mark.radius * y) for x, y in ring]
    return MARK.format(corners(places), look, words)


def map_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how many rows lie where, and in how many of the epochs they are right on average.

    Confidence and variability are told by tenths, each up to below the next.
    """
    tenths = {
        f"{name} from": (10 * rows[name] + 1e-9).astype(int).clip(upper=last) / 10
        for name, last in (("confidence", 9), ("variability", 4))
    }
    grouped = pd.DataFrame({**tenths, "right": rows["correctness"]}).groupby([*tenths])["right"]
    told = grouped.agg(rows="size", correctness="mean").round(4).reset_index()
    return told.iloc[::-1]
