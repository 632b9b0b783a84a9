"""A heat map: figures by row and column, each printed on a ground as strong as it is large."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from probe.pictures import svg
from probe.pictures.svg import NOTHING, join
from probe.statistics import FEWEST, Estimate

MOST = 0.85
"""How strong the ground of the largest figure is, so that its text can be read."""
CELL_WIDTH, CELL_HEIGHT = 104, 34


@dataclass(frozen=True)
class Head:
    """What heads a row or column: its plain title, its code name, and the CSS class of its text."""

    title: str
    code: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Cell:
    """A figure as it is printed, and how strong its ground is, from 0 to 1.

    A press on a cell with a `key` reports it, as `events.PRESSED` says; `tip` says more on hover
    and `kind` is a CSS class of its own.
    """

    text: str
    strength: float = 0.0
    key: str = ""
    tip: str = ""
    kind: str = ""


@dataclass(frozen=True)
class HeatMap:
    """Cells by row and column; `corner` says what stands in the rows and what in the columns."""

    rows: Sequence[Head]
    columns: Sequence[Head]
    cells: Sequence[Sequence[Cell]]
    corner: str = ""


def share_cell(estimate: Estimate, floor: float = 0.0, key: str = "", tip: str = "") -> Cell:
    """Return a share with two decimals, whose ground begins at `floor`, such as chance.

    A share over nothing is a dash; one over fewer than `FEWEST` has no ground and says its n.
    """
    if not estimate.n:
        return Cell("–", tip=tip)
    if estimate.n < FEWEST:
        return Cell(f"{estimate.value:.2f} (n {estimate.n})", key=key, tip=tip)
    above = max(0.0, (estimate.value - floor) / (1 - floor)) if floor < 1 else 0.0
    return Cell(f"{estimate.value:.2f}", MOST * min(1.0, above), key, tip)


def heat_map(heat: HeatMap, label: str) -> Markup:
    """Draw it as a table, whose cells with a key are buttons; `label` says what is drawn."""
    head = join(_column_head(column) for column in heat.columns)
    body = join(map(_line, heat.rows, heat.cells))
    return Markup(
        '<table class="heat" aria-label="{}"><thead><tr><td class="soft tiny">{}</td>{}</tr>'
        "</thead><tbody>{}</tbody></table>"
    ).format(label, heat.corner, head, body)


def _column_head(head: Head) -> Markup:
    return Markup('<th scope="col"><span class="{}">{}</span></th>').format(head.kind, head.title)


def _line(head: Head, cells: Sequence[Cell]) -> Markup:
    code = Markup(" <code>{}</code>").format(head.code) if head.code else NOTHING
    return Markup('<tr><th scope="row"><span class="{}">{}</span>{}</th>{}</tr>').format(
        head.kind, head.title, code, join(map(_cell, cells))
    )


def _cell(cell: Cell) -> Markup:
    style = Markup('style="--strength:{:.3f}"').format(cell.strength)
    tip = Markup(' title="{}"').format(cell.tip) if cell.tip else NOTHING
    if not cell.key:
        return Markup('<td><span class="share {}" {}{}>{}</span></td>').format(
            cell.kind, style, tip, cell.text
        )
    return Markup(
        '<td><button type="button" class="share {}" data-cell="{}" {}{}>{}</button></td>'
    ).format(cell.kind, cell.key, style, tip, cell.text)


def heat_svg(heat: HeatMap, title: str) -> Markup:
    """Draw it as a file of its own."""
    left = svg.width_of([_named(row) for row in heat.rows]) + 24
    width = left + CELL_WIDTH * len(heat.columns) + 16
    height = 68 + CELL_HEIGHT * len(heat.rows) + 12
    parts = [svg.text(16, 26, title), *_svg_heads(heat, left)]
    for at, (row, cells) in enumerate(zip(heat.rows, heat.cells, strict=True)):
        top = 68 + at * CELL_HEIGHT
        parts += [svg.text(16, top + 21, _named(row)), *_svg_cells(cells, left, top)]
    return svg.drawing(max(width, svg.width_of([title]) + 32), height, title, parts)


def _svg_heads(heat: HeatMap, left: float) -> list[Markup]:
    return [
        svg.text(left + (at + 0.5) * CELL_WIDTH, 56, column.title, "middle", svg.FILE.soft)
        for at, column in enumerate(heat.columns)
    ]


def _svg_cells(cells: Iterable[Cell], left: float, top: float) -> list[Markup]:
    drawn = list[Markup]()
    for at, cell in enumerate(cells):
        start = left + at * CELL_WIDTH
        ground = svg.mixed(cell.strength)
        drawn.append(svg.box(start + 1, top + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, ground))
        drawn.append(svg.text(start + CELL_WIDTH / 2, top + 21, cell.text, "middle"))
    return drawn


def _named(head: Head) -> str:
    return f"{head.title} ({head.code})" if head.code else head.title
