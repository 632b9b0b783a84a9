"""The Compare tab's tables whose cells are buttons, and the pairs that a pressed one shows."""

from collections.abc import Sequence

from markupsafe import Markup

from probe.analysis.comparison import Row
from probe.analysis.slices import CONSTITUENT_NOTE, Measured, measure, slices_of
from probe.analysis.slices import members as slice_members
from probe.analysis.statistics import Cell, disagreement, labels_of, members, p_text
from probe.metrics import percent
from probe.ui.html.elements import NOTHING, each, heads, join, note, table, title
from probe.ui.html.prediction import label_name, verdict
from probe.ui.links import link_to_example

PAGE_ROWS = 20
CELL = Markup("<td>{}</td>")
LONG_CELL = Markup('<td class="long">{}</td>')


def matrix(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> Markup:
    """Show what the second model says where the first says this; each cell is a button."""
    a, b, across = names[first], names[second], labels_of(rows, second)
    golden = any(row.gold for row in rows if row.predictions)
    head = heads([f"{a} says ↓, {b} says →", *map(label_name, across)])
    return join(
        [
            title(f"Where {a} and {b} differ"),
            table(
                "disagreement matrix",
                head,
                _matrix_rows(rows, first, second, golden),
                kind="matrix",
                frame="sheet square",
            ),
            note(f"Number of pairs; press one to see them below.{_split_words(a, b, golden)}"),
        ]
    )


def _matrix_rows(rows: Sequence[Row], first: int, second: int, golden: bool) -> Markup:
    cells, across = disagreement(rows, first, second), labels_of(rows, second)
    return join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            label_name(label),
            join(_matrix_cell(cells[label, other], label, other, golden) for other in across),
        )
        for label in labels_of(rows, first)
    )


def _split_words(first: str, second: str, golden: bool) -> str:
    if not golden:
        return ""
    return (
        f" Under each number: pairs that both, only {first}, only {second} and neither get right."
    )


def _matrix_cell(cell: Cell, first: str, second: str, golden: bool) -> Markup:
    split = f"{cell.both} · {cell.only_first} · {cell.only_second} · {cell.neither}"
    under = Markup('<span class="split">{}</span>').format(split) if golden and cell.n else NOTHING
    return Markup('<td class="{}">{}</td>').format(
        "same" if first == second else "other",
        cell_button(
            f"answers|{first}|{second}", f"{cell.n} pairs: {first} and {second}", cell.n, under
        ),
    )


def cell_button(cell: str, label: str, count: int, under: Markup = NOTHING) -> Markup:
    """Return a button that shows the pairs of a cell; `cell` is what a press sends."""
    return Markup(
        '<button type="button" data-cell="{}" aria-label="{}"{}>'
        '<span class="number">{}</span>{}</button>'
    ).format(cell, label, NOTHING if count else Markup(" disabled"), count, under)


def slices(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> Markup:
    """Show every model on every slice; the n of each is a button that shows its pairs."""
    measured = measure(rows, first, second)
    if not measured:
        return NOTHING
    groups = dict.fromkeys(line.slice.group for line in measured)
    head = heads(["slice", "gold", "n", *names, "McNemar"])
    return join(
        [
            title("Slices"),
            table("slices", head, join(_group(measured, group) for group in groups), kind="slices"),
            note(
                "Accuracy with 95 % intervals; press an n to see its pairs. The rows entailment "
                "and non-entailment are compared in two classes. McNemar's exact test is of "
                f"{names[first]} and {names[second]}, each p that of a single test: of twenty, "
                f"one is below 0.05 by chance. {CONSTITUENT_NOTE}"
            ),
        ]
    )


def _group(measured: Sequence[Measured], group: str) -> Markup:
    mine = [line for line in measured if line.slice.group == group]
    names = dict.fromkeys(line.slice.name for line in mine)
    head = Markup('<tr class="group"><th colspan="{}" scope="colgroup">{}</th></tr>').format(
        4 + len(mine[0].accuracies), group
    )
    return head + join(_slice([line for line in mine if line.slice.name == name]) for name in names)


def _slice(lines: Sequence[Measured]) -> Markup:
    """Show the rows of one slice: all its pairs, the entailed ones, the others."""
    head = Markup('<th scope="rowgroup" rowspan="{}">{}</th>').format(
        len(lines), lines[0].slice.name
    )
    first, *others = map(_measured, lines)
    return each(Markup("<tr>{}</tr>"), [head + first, *others])


def _measured(line: Measured) -> Markup:
    test = p_text(line.test.p) if line.test.only_first + line.test.only_second else "–"
    button = cell_button(f"slice|{line.place}|{line.gold}", f"{line.n} pairs of this slice", line.n)
    accuracies = [percent(estimate, "–") for estimate in line.accuracies]
    return each(CELL, [line.gold, button, *accuracies, test])


def chosen(
    rows: Sequence[Row], names: Sequence[str], first: int, second: int, cell: str
) -> tuple[str, list[Row]]:
    """Return what a pressed cell is in words, and its rows; nothing for an unknown one."""
    kind, _, rest = cell.partition("|")
    left, _, right = rest.partition("|")
    if kind == "answers":
        words = f"{names[first]} says {left}, {names[second]} says {right}"
        return words, members(rows, first, second, (left, right))
    known = slices_of(rows[0].task) if rows else ()
    if kind == "slice" and left in map(str, range(len(known))):
        gold = "" if right == "all" else f", gold label {right}"
        pressed = known[int(left)]
        return f"{pressed.group}: {pressed.name}{gold}", slice_members(rows, int(left), right)
    return "", []


def page(words: str, rows: Sequence[Row], names: Sequence[str], number: int) -> tuple[Markup, int]:
    """Show a page of rows with what each model says and links to Probe; return its number too."""
    last = max(1, -(-len(rows) // PAGE_ROWS))
    number = min(max(1, number), last)
    part = rows[(number - 1) * PAGE_ROWS : number * PAGE_ROWS]
    fields = rows[0].task.fields if rows else ()
    head = heads(["row", *fields, "gold", *names])
    shown = [
        title(words),
        note(f"page {number} of {last}, {len(rows)} pairs"),
        table("pairs", head, join(_line(row, names) for row in part if row.example)),
    ]
    return join(shown), number


def _line(row: Row, names: Sequence[str]) -> Markup:
    cells = [
        CELL.format(row.number + 1),
        *map(LONG_CELL.format, row.task.texts(row.example).values()),
        CELL.format(row.example.gold or ""),
        *(CELL.format(_answer(row, model, name)) for model, name in enumerate(names)),
    ]
    return Markup("<tr>{}</tr>").format(join(cells))


def _answer(row: Row, model: int, name: str) -> Markup:
    """Show what a model says of a row, whether it is right, and a link to Probe."""
    return Markup(
        '<span class="whole">{} <span class="fine">{}</span></span><br>'
        '<a class="fine" href="{}" target="_blank" rel="noopener" '
        'aria-label="open row {} in Probe with {}, in a new tab">open in Probe</a>'
    ).format(
        verdict(row.predictions[model]),
        {True: "right", False: "wrong", None: ""}[row.right(model)],
        link_to_example(row.task, row.example, name),
        row.number + 1,
        name,
    )
