"""A heat map: figures by row and column, each printed on a ground as strong as it is large."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from probe.pictures import svg
from probe.pictures.svg import NOTHING, join
from probe.statistics import FEWEST, Estimate

MOST = 0.85
"""How strong the ground of the largest figure is, so that its text can be read."""
CELL_WIDTH, CELL_HEIGHT = 104, 34
SMALL = Markup(' font-size="10"')


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
    and `kind` is a CSS class of its own. A file says the `n` of it, where there is one.
    """

    text: str
    strength: float = 0.0
    key: str = ""
    tip: str = ""
    kind: str = ""
    n: int = 0


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
    return Cell(f"{estimate.value:.2f}", MOST * min(1.0, above), key, tip, n=estimate.n)


def heat_map(heat: HeatMap, label: str) -> Markup:
    """Draw it as a table, whose cells with a key are buttons; `label` says what is drawn."""
    top = Markup('<th scope="col"><span class="{}">{}</span></th>')
    line = Markup('<tr><th scope="row"><span class="{}">{}</span>{}</th>{}</tr>')
    code = Markup(" <code>{}</code>")
    body = [
        line.format(
            head.kind, head.title, code.format(head.code) if head.code else NOTHING,
            join(map(_cell, cells)),
        )
        for head, cells in zip(heat.rows, heat.cells, strict=True)
    ]  # fmt: skip
    return Markup(
        '<table class="heat" aria-label="{}"><thead><tr><td class="soft tiny">{}</td>{}</tr>'
        "</thead><tbody>{}</tbody></table>"
    ).format(
        label,
        heat.corner,
        join(top.format(column.kind, column.title) for column in heat.columns),
        join(body),
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
    names = [f"{row.title} ({row.code})" if row.code else row.title for row in heat.rows]
    left = svg.width_of(names) + 24
    width = left + CELL_WIDTH * len(heat.columns) + 16
    parts = [svg.text(16, 26, title), svg.text(16, 56, heat.corner, fill=svg.FILE.soft)]
    for at, column in enumerate(heat.columns):
        middle = left + (at + 0.5) * CELL_WIDTH
        parts.append(svg.text(middle, 56, column.title, "middle", svg.FILE.soft))
    for number, (name, cells) in enumerate(zip(names, heat.cells, strict=True)):
        top = 68 + number * CELL_HEIGHT
        parts.append(svg.text(16, top + 21, name))
        for at, cell in enumerate(cells):
            start, ground = left + at * CELL_WIDTH, svg.mixed(cell.strength)
            parts.append(svg.box(start + 1, top + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, ground))
            middle, up = start + CELL_WIDTH / 2, 5 if cell.n else 0
            parts.append(svg.text(middle, top + 21 - up, cell.text, "middle"))
            counted = f"n = {cell.n:,}" if cell.n else ""
            parts.append(svg.text(middle, top + 29, counted, "middle", more=SMALL))
    height = 68 + CELL_HEIGHT * len(heat.rows) + 12
    return svg.drawing(max(width, svg.width_of([title]) + 32), height, title, parts)
