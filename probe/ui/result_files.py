"""The files that a person takes away from the Batch and Compare tabs, and reads page by page.

The page knows its results by a key, which nobody can guess and which names nothing else. So it
finds them again when its session was dropped, or the app has started again.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from probe.analysis import batch, comparison
from probe.data.names import stem_of
from probe.data.tables import Table, write_table
from probe.errors import FileError
from probe.models.classifier import Model
from probe.reports.compared_rows import keep, kept
from probe.reports.frames import compared_frame, made_frame, scored_frame
from probe.tasks.task import Task, task_named
from probe.ui.batch_tables import Record, view
from probe.ui.visitors.visitor_files import VISITORS, cache_folder

KEY = re.compile("[0-9a-f]{32}/[A-Za-z0-9_-]{22}")
"""A visitor's folder, and in it the random name of that of the results."""
ROWS, MODELS, TASK = "rows.jsonl", "models.json", "task.json"


def kept_folder(key: str) -> Path:
    """Return the folder of the results with this key. Raises FileError where it is gone."""
    folder = cache_folder() / VISITORS / key
    if not KEY.fullmatch(key) or not (folder / ROWS).is_file():
        raise FileError("these results are no longer kept here; compute them again")
    return folder


def _key(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def write_results(
    folder: Path,
    table: Table,
    rows: Sequence[batch.Row],
    names: Sequence[str],
    summary: Mapping[str, Any],  # Any: JSON values
    upload: Path,
    model: Model,
) -> tuple[list[str], str]:
    """Write the scored file, the summary, and the rows for paging; return places and key."""
    stem = stem_of(upload)
    scored = folder / f"{stem}-scored.{table.form}"
    write_table(scored_frame(table, rows, names, model), scored)
    pairs = folder / f"{stem}-pairs.{table.form}"
    if names:
        write_table(made_frame(rows, names, model.task), pairs)
    note = write_json(summary, folder / f"{stem}-summary.json")
    write_lines(view(rows, names), folder / ROWS)
    write_json({"task": model.task.name}, folder / TASK)
    files = [scored, note, pairs] if names else [scored, note]
    return [str(path) for path in files], _key(folder)


def write_comparison(
    folder: Path,
    table: Table,
    rows: Sequence[comparison.Row],
    names: Sequence[str],
    summary: Mapping[str, Any],  # Any: JSON values
    stem: str,
) -> tuple[list[str], str]:
    """Write the scored file, the summary and what the cells show; return places and key."""
    compared = folder / f"{stem}-compared.{table.form}"
    write_table(compared_frame(table, rows, names), compared)
    note = write_json(summary, folder / f"{stem}-comparison.json")
    keep(rows, folder / ROWS)
    write_json({"models": list(names)}, folder / MODELS)
    return [str(compared), str(note)], _key(folder)


def kept_page(key: str) -> tuple[list[Record], Task]:
    """Return the scored rows of Batch as the page shows them, and their task. Raises FileError."""
    folder = kept_folder(key)
    task = task_named(json.loads((folder / TASK).read_text(encoding="utf-8"))["task"])
    with (folder / ROWS).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines], task


def kept_comparison(key: str) -> tuple[list[comparison.Row], list[str]]:
    """Return the compared rows and the models. Raises FileError."""
    folder = kept_folder(key)
    models = json.loads((folder / MODELS).read_text(encoding="utf-8"))["models"]
    return kept(folder / ROWS), models


def write_lines(records: Sequence[Record], path: Path) -> None:
    """Write records as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def write_json(values: Mapping[str, Any], path: Path) -> Path:
    """Write JSON values, and return the file."""
    path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    return path
