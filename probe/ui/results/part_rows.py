"""The rows of a file that was scored in parts, as the page keeps and shows those of any file."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from probe.analysis.transformed import MOSTLY
from probe.data.rows import Columns, InputRow, Source, read_rows
from probe.models.windows import Long
from probe.scoring.files import ScoredPart, ScoringPlan, ValueColumns
from probe.tasks.task import Label, Task
from probe.ui.results.batch_tables import Record, changed_text, example_view, marks
from probe.ui.results.row_pages import RowsWriter
from probe.ui.results.rule_shares import RuleShares

Cells = Mapping[str, Any]  # Any: text, numbers and truth values


class PartRows:
    """Writes the rows of the parts of a run, to be turned over, and sums up what rules reach."""

    def __init__(self, folder: Path, plan: ScoringPlan) -> None:
        self._plan, self._names = plan, list(dict.fromkeys(plan.request.names))
        self._rows = RowsWriter(folder, plan.task, self._names)
        self.rules = RuleShares(plan.task)

    @property
    def golds(self) -> list[Label]:
        """The gold labels that rows have, in the order in which they come."""
        return self._rows.golds

    def add(self, part: Source, scored: ScoredPart) -> None:
        """Write the rows of a part behind the others. Raises FileError."""
        task, columns = self._plan.task, self._plan.request.columns
        rows = list(read_rows(part, columns, task))
        self._rows.add(part_view(rows, columns, scored, task, self._names, self._plan.request.long))
        self.rules.add(row.example for row in rows)

    def finish(self) -> None:
        """Say that there are no more rows."""
        self._rows.finish()


def part_view(
    rows: Iterable[InputRow],
    columns: Columns,
    part: ScoredPart,
    task: Task,
    names: Sequence[str],
    long: Long = "cut",
) -> list[Record]:
    """Return the rows of a part as `batch_tables.view` returns rows that were just scored."""
    written = ValueColumns(part.labels, task, tuple(names), long)
    made = defaultdict[int, list[Cells]](list)
    for values in part.made:
        cells = dict(zip(written.made, values, strict=True))
        made[cells["row"]].append(cells)
    return [
        _view(
            row,
            columns,
            dict(zip(written.scored, values, strict=True)),
            made[row.number + 1],
            written,
        )
        for row, values in zip(rows, part.scored, strict=True)
    ]


def _view(
    row: InputRow,
    columns: Columns,
    cells: Cells,
    made: Sequence[Cells],
    written: ValueColumns,
) -> Record:
    task, scored = written.task, not cells["error"]
    shown = example_view(task, row.example if scored else None, row.record, columns)
    by_name = {name: list[Record]() for name in written.transforms}
    for each in made:
        by_name[each["transform"]].append(_made(task, shown["texts"], each))
    wrong = scored and shown["gold"] and not task.matches(cells["prediction"], shown["gold"])
    return {
        "row": row.number + 1,
        **shown,
        "label": cells["prediction"] if scored else "",
        "confidence": cells["confidence"],
        "error": cells["error"],
        "wrong": bool(wrong),
        "marks": marks(
            bool(cells["cut"]),
            (cells["unknown"] or 0) >= MOSTLY,
            cells["language"] or "",
            cells.get("window") or "",
        ),
        "made": by_name,
    }


def _made(task: Task, before: Mapping[str, str], cells: Cells) -> Record:
    return {
        "label": cells["prediction"],
        "confidence": cells["confidence"],
        "agrees": cells["agrees"],
        "changed": cells["changed"],
        "note": cells["note"] or "",
        "text": changed_text(task, before, {name: cells[name] for name in task.fields}),
    }
