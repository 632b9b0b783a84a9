"""The Compare tab's tables whose cells are buttons, and the pairs that a pressed one shows."""

from collections.abc import Sequence
from html import escape

from probe.analysis.comparison import Row
from probe.analysis.slices import CONSTITUENT_NOTE, SLICES, Measured, measure
from probe.analysis.slices import members as slice_members
from probe.analysis.statistics import Cell, disagreement, labels_of, members, p_text
from probe.tasks.nli import Pair
from probe.ui.html import elements
from probe.ui.html.compare import percent

PAGE = 20


def matrix(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> str:
    """Show what the second model says where the first says this; each cell is a button."""
    cells = disagreement(rows, first, second)
    across = labels_of(rows, second)
    golden = any(row.gold for row in rows if row.predictions)
    heads = "".join(
        f'<th scope="col"><span class="label {label}">{label}</span></th>' for label in across
    )
    a, b = escape(names[first]), escape(names[second])
    body = "".join(
        f'<tr><th scope="row"><span class="label {label}">{label}</span></th>'
        + "".join(_button(cells[label, other], label, other, golden) for other in across)
        + "</tr>"
        for label in labels_of(rows, first)
    )
    said = (
        f" Under each number: pairs that both, only {a}, only {b} and neither get right."
        if golden
        else ""
    )
    return (
        f'<h3 class="title small">Where {a} and {b} differ</h3>'
        f'<div class="sheet square" tabindex="0" role="region" aria-label="disagreement matrix">'
        f'<table class="matrix"><thead><tr><th scope="col">{a} says ↓, {b} says →</th>{heads}'
        f"</tr></thead><tbody>{body}</tbody></table></div>"
        f'<p class="fine">Number of pairs; press one to see them below.{said}</p>'
    )


def _button(cell: Cell, first: str, second: str, golden: bool) -> str:
    kind = "same" if first == second else "other"
    split = f"{cell.both} · {cell.only_first} · {cell.only_second} · {cell.neither}"
    under = f'<span class="split">{split}</span>' if golden and cell.n else ""
    words = f"{cell.n} pairs: {first} and {second}"
    return (
        f'<td class="{kind}"><button type="button" data-cell="said|{first}|{second}" '
        f'aria-label="{words}"{"" if cell.n else " disabled"}>'
        f'<span class="number">{cell.n}</span>{under}</button></td>'
    )


def slices(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> str:
    """Show every model on every slice; the n of each is a button that shows its pairs."""
    found = measure(rows, first, second)
    if not found:
        return ""
    heads = ["slice", "gold", "n", *names, "McNemar"]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(_group(found, group) for group in dict.fromkeys(it.slice.group for it in found))
    return (
        '<h3 class="title small">Slices</h3>'
        '<div class="sheet" tabindex="0" role="region" aria-label="slices"><table class="slices">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        '<p class="fine">Accuracy with 95 % intervals; press an n to see its pairs. The rows '
        "entailment and non-entailment are compared in two classes. McNemar's exact test is of "
        f"{escape(names[first])} and {escape(names[second])}, each p that of a single test: of "
        f"twenty, one is below 0.05 by chance. {CONSTITUENT_NOTE}</p>"
    )


def _group(found: Sequence[Measured], group: str) -> str:
    mine = [one for one in found if one.slice.group == group]
    names = list(dict.fromkeys(one.slice.name for one in mine))
    width = 4 + len(mine[0].accuracies)
    return (
        f'<tr class="group"><th colspan="{width}" scope="colgroup">{escape(group)}</th></tr>'
    ) + "".join(_slice([one for one in mine if one.slice.name == name]) for name in names)


def _slice(lines: Sequence[Measured]) -> str:
    """Show the rows of one slice: all its pairs, the entailed ones, the others."""
    name = escape(lines[0].slice.name)
    head = f'<th scope="rowgroup" rowspan="{len(lines)}">{name}</th>'
    rows = [f"{head if at == 0 else ''}{_measured(one)}" for at, one in enumerate(lines)]
    return "".join(f"<tr>{row}</tr>" for row in rows)


def _measured(one: Measured) -> str:
    place = SLICES.index(one.slice)
    test = p_text(one.test.p) if one.test.only_first + one.test.only_second else "–"
    accuracies = "".join(f"<td>{percent(found)}</td>" for found in one.accuracies)
    button = (
        f'<button type="button" data-cell="slice|{place}|{one.gold}" '
        f'aria-label="{one.n} pairs of this slice"><span class="number">{one.n}</span></button>'
    )
    return f"<td>{one.gold}</td><td>{button}</td>{accuracies}<td>{test}</td>"


def chosen(
    rows: Sequence[Row], names: Sequence[str], first: int, second: int, cell: str
) -> tuple[str, list[Row]]:
    """Return what a pressed cell is in words, and its rows; nothing for an unknown one."""
    kind, _, rest = cell.partition("|")
    one, _, other = rest.partition("|")
    if kind == "said":
        words = f"{names[first]} says {one}, {names[second]} says {other}"
        return words, members(rows, first, second, (one, other))
    if kind == "slice" and one.isdecimal() and int(one) < len(SLICES):
        gold = "" if other == "all" else f", gold label {other}"
        each = SLICES[int(one)]
        return f"{each.group}: {each.name}{gold}", slice_members(rows, int(one), other)
    return "", []


def page(words: str, rows: Sequence[Row], names: Sequence[str], number: int) -> tuple[str, int]:
    """Show a page of rows with what each model says and links to Probe; return its number too."""
    last = max(1, -(-len(rows) // PAGE))
    number = min(max(1, number), last)
    part = rows[(number - 1) * PAGE : number * PAGE]
    heads = ["row", "premise", "hypothesis", "gold", *names]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(_line(row, names) for row in part)
    return (
        f'<h3 class="title small">{escape(words)}</h3>'
        f'<p class="fine">page {number} of {last}, {len(rows)} pairs</p>'
        '<div class="sheet" tabindex="0" role="region" aria-label="pairs">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    ), number


def _line(row: Row, names: Sequence[str]) -> str:
    pair = row.pair
    if pair is None:
        return ""
    said = "".join(f"<td>{_said(row, *each)}</td>" for each in enumerate(names))
    return (
        f'<tr><td>{row.number + 1}</td><td class="long">{escape(pair.premise)}</td>'
        f'<td class="long">{escape(pair.hypothesis)}</td><td>{escape(pair.gold or "")}</td>'
        f"{said}</tr>"
    )


def _said(row: Row, model: int, name: str) -> str:
    """Show what a model says of a row, whether it is right, and a link to Probe."""
    pair = row.pair or Pair("", "")
    mark = {True: "right", False: "wrong", None: ""}[row.right(model)]
    return (
        f'<span class="whole">{elements.verdict(row.predictions[model])} '
        f'<span class="fine">{mark}</span></span><br>'
        f'<a class="fine" href="{escape(elements.link(pair, name))}" target="_blank" '
        f'rel="noopener" '
        f'aria-label="open row {row.number + 1} in Probe with {escape(name)}, in a new tab">'
        "open in Probe</a>"
    )
