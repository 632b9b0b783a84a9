"""Annotation sets as files: items and votes as CSV, to take away and to bring back."""

import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from probe.annotation.items import Item
from probe.annotation.judgements import Judgement
from probe.annotation.modes import Mode
from probe.data.missing import is_missing
from probe.data.source import form_of
from probe.data.tables import read_table
from probe.data.writers.blocks import in_place
from probe.errors import FileError, writing
from probe.tasks.task import Task

BEFORE = "before_"
"""Begins the name of a column with a text as it was before the change."""


def items_frame(task: Task, items: Sequence[Item]) -> pd.DataFrame:
    """Return items as a table: id, transform, gold, control, the texts, the texts before."""
    return pd.DataFrame(
        [
            {
                "id": item.id,
                "transform": item.transform,
                "gold": item.gold or "",
                "control": item.control,
                **{name: item.texts[name] for name in task.fields},
                **{f"{BEFORE}{name}": item.before[name] for name in task.fields},
            }
            for item in items
        ]
    )


def votes_frame(rows: Sequence[Judgement]) -> pd.DataFrame:
    """Return judgements as a table, one a row; `counts` is 0 where the control was failed."""
    return pd.DataFrame(
        [
            {
                "respondent": row.respondent,
                "nickname": row.nickname,
                "batch": row.batch + 1,
                "item": row.item.id,
                "transform": row.item.transform or "untouched",
                "control": row.item.control,
                "answer": row.answer,
                "counts": int(row.counts),
                "sent": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.sent)),
            }
            for row in rows
        ],
        columns=[
            *("respondent", "nickname", "batch", "item", "transform", "control", "answer"),
            *("counts", "sent"),
        ],
    )


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV. Raises FileError, also for a name that says another form."""
    form_of(path, ("csv",))
    with in_place(path) as fresh, writing(path):
        frame.to_csv(fresh, index=False)


def read_items(path: Path, task: Task, mode: Mode) -> list[Item]:
    """Read items as `items_frame` writes them; only the texts and their columns are required.

    Raises FileError, with the number of the row where one cannot be used.
    """
    frame = read_table(path).frame
    missing = [name for name in task.fields if name not in frame.columns]
    if missing:
        raise FileError(f"{path.name} has no column {missing[0]!r}, a text of {task.title}")
    answers = mode.answers(task)
    items = []
    for number, row in enumerate(frame.to_dict("records"), 1):
        cells = {str(name): "" if is_missing(cell) else str(cell) for name, cell in row.items()}
        texts = {name: cells[name] for name in task.fields}
        if not all(text.strip() for text in texts.values()):
            raise FileError(f"row {number:,} of {path.name} has an empty text")
        control = cells.get("control", "")
        if control and control not in answers:
            raise FileError(
                f"row {number:,} of {path.name} has the control {control!r}, which is none of: "
                + ", ".join(answers)
            )
        before = {name: cells.get(f"{BEFORE}{name}") or texts[name] for name in task.fields}
        gold = task.read_gold(cells.get("gold", ""))
        items.append(
            Item(
                cells.get("id") or str(number), texts, before, cells.get("transform", ""), gold,
                control,
            )
        )  # fmt: skip
    if len({item.id for item in items}) < len(items):
        raise FileError(f"two rows of {path.name} have the same id")
    return items
