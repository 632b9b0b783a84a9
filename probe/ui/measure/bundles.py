"""Contrast sets on the page: which column joins the rows, and the bundles that split."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from markupsafe import Markup

from probe.analysis.contrast_sets import (
    Keyed,
    contrast_json,
    contrast_lines,
    key_of,
    offered_key,
)
from probe.data.names import cut_short
from probe.data.source import read_table
from probe.pictures.forest import Forest, ForestRow
from probe.statistics import Estimate
from probe.tasks.task import Task
from probe.ui.html.elements import NOTHING, join, note, shown_texts, told
from probe.ui.html.picture import chart
from probe.ui.html.prediction import label_name

MOST_COLUMNS, SHOWN = 12, 20
"""Columns that are offered, and bundles that are shown."""
ABOUT = (
    "Contrast sets (Gardner et al. 2020): rows that belong together, such as a text and its edits. "
    "Right on all rows of such a bundle is consistent. Join rows by the column"
)
BUTTON = Markup("<button {}>{}</button>")


@dataclass(frozen=True)
class Judged:
    """A row of a file, from 1: its texts by field, its gold label, and each model's answer."""

    row: int
    texts: Mapping[str, str]
    gold: str
    answers: Sequence[str]
    right: Sequence[bool | None]


def offer(columns: Sequence[str], asks: Mapping[str, Markup]) -> Markup:
    """Offer columns as what joins rows, one that is called so first, by buttons' attributes.

    Nothing is joined unasked.
    """
    first = offered_key(columns)
    free = sorted(asks, key=lambda name: name != first)
    if not free:
        return NOTHING
    buttons = (BUTTON.format(asks[name], cut_short(name)) for name in free[:MOST_COLUMNS])
    return Markup('<p class="fine">{} {}</p>').format(ABOUT, join(buttons, Markup(" ")))


def bundles(
    scored: Path, rows: Sequence[Judged], task: Task, names: Sequence[str], column: str
) -> Markup:
    """Show how consistent models are on the bundles of a scored file's rows, and which split.

    Raises FileError.
    """
    records = islice(read_table(scored).records(), len(rows))
    keyed = [
        Keyed(key_of(record.cells, column), row.row, row.right)
        for record, row in zip(records, rows, strict=True)
    ]
    shape = contrast_json(keyed, names, column)
    by_row = {row.row: row for row in rows}
    figures = [
        ForestRow(f"{name}, {words}", Estimate(**one[measure]))
        for name, one in shape["models"].items()
        for measure, words in (("consistency", "all rows of a bundle"), ("by_row", "single rows"))
    ]
    drawn = chart("Right on bundles and on rows", Forest(figures), stem="contrast-sets")
    lines = join(map(told, contrast_lines(shape)))
    shown = join(_split(each, by_row, task) for each in shape["split"][:SHOWN])
    more = shape["splits"] - min(SHOWN, shape["splits"])
    last = note(f"{more:,} more split; the command line lists them.") if more else NOTHING
    head = Markup("<h3>Contrast sets by {}</h3>").format(column)
    return head + lines + drawn + Markup("<h3>Bundles that split</h3>") + shown + last


def _split(bundle: Mapping[str, object], rows: Mapping[int, Judged], task: Task) -> Markup:
    ours = [rows[number] for number in bundle["rows"]]  # type: ignore[attr-defined]  # JSON
    said = Markup("{} <span class='soft'>{}</span>")
    parts = [
        shown_texts(
            {task.title_of(name): text for name, text in row.texts.items()},
            Markup("row {}: {} · {}").format(
                row.row,
                label_name(row.gold),
                join(
                    (
                        said.format(label_name(answer), "right" if right else "wrong")
                        for answer, right in zip(row.answers, row.right, strict=True)
                    ),
                    Markup(" · "),
                ),
            ),
        )
        for row in ours
    ]
    return Markup("<h4>{}</h4>{}").format(cut_short(str(bundle["key"])), join(parts))
