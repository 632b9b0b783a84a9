"""The Compare tab's numbers with cells that are buttons, and the rows that a pressed one shows."""

from collections.abc import Sequence

from markupsafe import Markup

from probe.analysis.comparison import (
    Row,
    differing,
    members,
)
from probe.analysis.slices import Measured, inference, measure, note_on, of_gold, slices_of
from probe.analysis.slices import members as slice_members
from probe.models.bundled import title_of
from probe.statistics import p_text, percent
from probe.tasks.task import Task
from probe.ui.html.compare.pictures import DIFFER, RIGHT, SAME, WORDS, gold_title
from probe.ui.html.compare.result import tests
from probe.ui.html.elements import NOTHING, each, heads, join, note, table, title, twin
from probe.ui.html.pager import pager
from probe.ui.html.prediction import label_name, verdict
from probe.ui.links import link_to_example
from probe.ui.results.row_numbers import rows_on

CELL = Markup("<td>{}</td>")
PASSAGE = Markup('<p class="fine">{}</p>')
LONG_CELL = Markup('<td class="long">{}</td>')


def numbers(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> Markup:
    """Show the tests of all models, and behind a fold every slice."""
    return Markup('<section class="card" aria-label="The tests">{}{}{}</section>').format(
        title("The tests, two models at a time"),
        tests(rows, names),
        slices(rows, names, first, second),
    )


def cell_button(cell: str, label: str, count: int) -> Markup:
    """Return a button that shows the rows of a cell; `cell` is what a press sends."""
    return Markup(
        '<button type="button" data-cell="{}" aria-label="{}"{}>'
        '<span class="number">{:,}</span></button>'
    ).format(cell, label, NOTHING if count else Markup(" disabled"), count)


def slices(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> Markup:
    """Show every model on every slice; the n of each is a button that shows its rows."""
    measured = measure(rows, first, second)
    if not measured:
        return NOTHING
    groups = dict.fromkeys(line.slice.group for line in measured)
    gold, test = (["gold"], "McNemar") if measured[0].has_labels else ([], "Bootstrap")
    head = heads(["slice", *gold, "n", *map(title_of, names), test])
    body = join(_group(measured, group) for group in groups)
    return twin(
        "Every slice in numbers, as table",
        table("slices", head, body, kind="slices")
        + note(_about(rows[0].task, names, first, second)),
    )


def _about(task: Task, names: Sequence[str], first: int, second: int) -> str:
    """Say how the table is read."""
    hans = inference(task)
    classes = "The rows entailment and non-entailment are compared in two classes. " if hans else ""
    measured, test = (
        ("F1", "The paired bootstrap") if task.has_spans else ("Accuracy", "McNemar's exact test")
    )
    return (
        f"{measured} with 95 % intervals; press an n to see its {task.unit}s. {classes}"
        f"{test} is of {title_of(names[first])} and {title_of(names[second])}, each "
        f"p that of a single test: of twenty, one is below 0.05 by chance. {note_on(task)}"
    ).rstrip()


def _group(measured: Sequence[Measured], group: str) -> Markup:
    mine = [line for line in measured if line.slice.group == group]
    names = dict.fromkeys(line.slice.name for line in mine)
    head = Markup('<tr class="group"><th colspan="{}" scope="colgroup">{}</th></tr>').format(
        3 + mine[0].has_labels + len(mine[0].scores), group
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
    test = p_text(line.test.p) if line.test.discordant else "–"
    words = f"{line.n} examples of this slice"
    button = cell_button(f"slice|{line.place}|{line.gold}", words, line.n)
    gold = [line.gold] if line.has_labels else []
    scores = [percent(estimate, "–") for estimate in line.scores]
    return each(CELL, [*gold, button, *scores, test])


def chosen(
    rows: Sequence[Row], names: Sequence[str], first: int, second: int, cell: str
) -> tuple[str, list[Row]]:
    """Return what a pressed cell is in words, and its rows; nothing for an unknown one."""
    kind, _, rest = cell.partition("|")
    left, _, right = rest.partition("|")
    a, b = title_of(names[first]), title_of(names[second])
    known = slices_of(rows[0].task) if rows else ()
    if kind == DIFFER:
        return f"{a} and {b} differ", differing(rows, first, second)
    if kind == SAME:
        return f"{a} and {b} say the same", differing(rows, first, second, agree=True)
    if kind == RIGHT and {left, right} <= WORDS.keys():
        outcome = (left == "1", right == "1")
        quarter = [
            row
            for row in differing(rows, first, second)
            if (row.right(first), row.right(second)) == outcome
        ]
        return f"{a} {WORDS[left]}, {b} {WORDS[right]}", quarter
    if kind == "answers":
        return f"{a} {left}, {b} {right}", members(rows, first, second, (left, right))
    if kind == "gold" and left:
        scored = [row for row in rows if row.predictions and row.gold]
        kept = {row.number for row in of_gold(scored, left)}
        return gold_title(left).capitalize(), [row for row in scored if row.number in kept]
    if kind == "slice" and left in map(str, range(len(known))):
        part = "" if right == "all" else f", {gold_title(right)}"
        return f"{known[int(left)].title}{part}", slice_members(rows, int(left), right)
    return "", []


def page(
    words: str, rows: Sequence[Row], names: Sequence[str], number: int
) -> tuple[Markup, Markup]:
    """Show a page of rows with what each model says and links to Probe; return its pager too."""
    number, last, part = rows_on(number, len(rows))
    task = next((row.task for row in rows), None)
    fields = [task.title_of(field) for field in _columns(task)] if task else []
    unit = task.unit if task else "row"
    lead = Markup(
        '<div class="strip"><h3>The {}s</h3><span class="badge keep">{}: {:,}</span></div>'
    ).format(unit, words, len(rows))
    if not rows:
        return lead + note("There are none."), NOTHING
    kind = "compared-rows spans" if task and task.has_spans else "compared-rows"
    head = heads([*fields, "Right", *map(title_of, names)])
    shown = join(_line(row, names) for row in rows[part] if row.example)
    return lead + table("pairs", head, shown, kind=kind), pager(number, last, len(rows), unit)


def _columns(task: Task) -> tuple[str, ...]:
    """Return the fields that have a column: a passage is folded away under its question."""
    return (task.target,) if task.has_spans else task.fields


def _line(row: Row, names: Sequence[str]) -> Markup:
    gold = label_name(row.example.gold) if row.example.gold else NOTHING
    texts = row.task.texts(row.example)
    shown = [texts.pop(field) for field in _columns(row.task)]
    folded = join(twin(row.task.title_of(field), PASSAGE.format(texts[field])) for field in texts)
    cells = [
        *map(LONG_CELL.format, shown[:-1]),
        LONG_CELL.format(Markup("{}{}").format(shown[-1], folded)),
        CELL.format(gold),
        *(CELL.format(_answer(row, model, name)) for model, name in enumerate(names)),
    ]
    return Markup("<tr>{}</tr>").format(join(cells))


def _answer(row: Row, model: int, name: str) -> Markup:
    """Show what a model says of a row, whether it is right, and a link to Probe."""
    f1, right = row.f1(model), {True: "right", False: "wrong", None: ""}[row.right(model)]
    return Markup(
        '<span class="whole">{}</span><br><span class="whole fine">{} '
        '<a href="{}" target="_blank" rel="noopener" '
        'aria-label="open row {} in Probe with {}, in a new tab">open in Probe</a></span>'
    ).format(
        verdict(row.predictions[model]),
        right if f1 is None or row.right(model) else f"{right}, F1 {f1:.2f}",
        link_to_example(row.task, row.example, name),
        row.number + 1,
        name,
    )
