"""Measures before and after: a table whose cells hold a bar, with a mark where it was before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from probe.pictures import svg
from probe.pictures.svg import (
    FILE,
)
from probe.ui.html.elements import NOTHING, heads, join, table

COLUMN_WIDTH, BAR_WIDTH, ROW_HEIGHT, WORDS_HEIGHT = 150, 120, 46, 17
LEGEND = "Bar: the figure; line: where it was before."


@dataclass(frozen=True)
class Column:
    """A measure: its title, with its definition in `head`, and whether shares stand in percent."""

    title: str
    percent: bool
    digits: int
    head: Markup = NOTHING

    def words(self, value: float | None) -> str:
        """Write a value, a dash where there is none."""
        if value is None:
            return "–"
        return f"{100 * value if self.percent else value:.{self.digits}f}"


@dataclass(frozen=True)
class BeforeAfter:
    """A row for each method, the model as it was first; None is what was not measured."""

    columns: Sequence[Column]
    rows: Sequence[tuple[str, Sequence[float | None]]]

    @cached_property
    def scales(self) -> list[float]:
        """The end of each column's scale: all of a hundred, or its largest value."""
        return [self._most(at) for at in range(len(self.columns))]

    def _most(self, at: int) -> float:
        if self.columns[at].percent:
            return 1.0
        return max((values[at] or 0.0 for _, values in self.rows), default=0.0) or 1.0

    def place(self, at: int, value: float) -> float:
        """Return where a value of a column stands on its scale, from 0 to 1."""
        return min(1.0, max(0.0, value / self.scales[at]))

    def before(self, at: int) -> float | None:
        """Return what a column was before, None where it was not measured."""
        return self.rows[0][1][at] if self.rows else None


def before_after(drawn: BeforeAfter, label: str) -> Markup:
    """Draw it as a table; `label` says what is in it."""
    head = heads(["", *(column.head or column.title for column in drawn.columns)])
    body = join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            title, join(_cell(drawn, at, value) for at, value in enumerate(values))
        )
        for title, values in drawn.rows
    )
    return table(label, head, body, kind="figures", frame="scroll")


def _cell(drawn: BeforeAfter, at: int, value: float | None) -> Markup:
    words = drawn.columns[at].words(value)
    if value is None:
        return Markup('<td class="num">{}</td>').format(words)
    was = drawn.before(at)
    mark = NOTHING if was is None else Markup("--was:{:.1f}%;").format(100 * drawn.place(at, was))
    return Markup('<td class="num">{}<i class="gauge" style="{}--is:{:.1f}%"></i></td>').format(
        words, mark, 100 * drawn.place(at, value)
    )


def before_after_svg(drawn: BeforeAfter, title: str) -> Markup:
    """Draw it as a file of its own."""
    left = svg.width_of([name for name, _ in drawn.rows]) + 40
    wrapped = [_wrapped(column.title) for column in drawn.columns]
    top = 52 + WORDS_HEIGHT * max(map(len, wrapped), default=0)
    width = max(left + COLUMN_WIDTH * len(drawn.columns) + 16, svg.width_of([title]) + 32)
    parts = [svg.text(16, 26, title)]
    for at, lines in enumerate(wrapped):
        parts += [
            svg.text(left + COLUMN_WIDTH * at, 52 + WORDS_HEIGHT * number, line, fill=svg.FILE.soft)
            for number, line in enumerate(lines)
        ]
    for number, (name, values) in enumerate(drawn.rows):
        base = top + ROW_HEIGHT * number
        parts.append(svg.text(16, base + 14, name))
        for at, value in enumerate(values):
            parts += _svg_cell(drawn, at, value, left + COLUMN_WIDTH * at, base)
    bottom = top + ROW_HEIGHT * len(drawn.rows)
    parts.append(svg.text(16, bottom + 10, LEGEND, fill=svg.FILE.soft))
    return svg.drawing(width, bottom + 28, title, parts)


def _svg_cell(
    drawn: BeforeAfter, at: int, value: float | None, left: float, top: float
) -> Iterator[Markup]:
    yield svg.text(left, top + 14, drawn.columns[at].words(value))
    if value is None:
        return
    yield svg.box(left, top + 20, BAR_WIDTH, 8, svg.FILE.track)
    yield svg.box(left, top + 20, BAR_WIDTH * drawn.place(at, value), 8, FILE.accent)
    if (was := drawn.before(at)) is not None:
        yield svg.box(left + BAR_WIDTH * drawn.place(at, was) - 1, top + 17, 2, 14, svg.FILE.ink)


def _wrapped(title: str) -> list[str]:
    """Break a title into lines that fit its column."""
    lines = [""]
    for word in title.split():
        longer = f"{lines[-1]} {word}".strip()
        if svg.width_of([longer]) <= COLUMN_WIDTH - 10 or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
