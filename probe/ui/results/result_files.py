"""The files that a person takes away from the Batch and Compare tabs, and reads page by page.

The page knows its results by a key, which nobody can guess and which names nothing else. So it
finds them again when its session was dropped, or the app has started again.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from probe.analysis import comparison as comparison
from probe.analysis.comparison_report import compared_frame, keep, kept
from probe.data.rows import Source
from probe.data.writers import write_table
from probe.errors import FileError
from probe.ui.visitors.visitor_files import VISITORS, cache_folder

KEY = re.compile("[0-9a-f]{32}/[A-Za-z0-9_-]{22}")
"""A visitor's folder, and in it the random name of that of the results."""
ROWS, MODELS = "rows.jsonl", "models.json"


def kept_folder(key: str) -> Path:
    """Return the folder of the results with this key. Raises FileError where it is gone."""
    folder = cache_folder() / VISITORS / key
    if not KEY.fullmatch(key) or not (folder / ROWS).is_file():
        raise FileError("these results are no longer kept here; compute them again")
    return folder


def result_key(folder: Path) -> str:
    """Return the key of the results in a folder."""
    return f"{folder.parent.name}/{folder.name}"


def write_comparison(
    folder: Path,
    table: Source,
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
    return [str(compared), str(note)], result_key(folder)


def kept_comparison(key: str) -> tuple[list[comparison.Row], list[str]]:
    """Return the compared rows and the models. Raises FileError."""
    folder = kept_folder(key)
    models = json.loads((folder / MODELS).read_text(encoding="utf-8"))["models"]
    return kept(folder / ROWS), models


def write_json(values: Mapping[str, Any], path: Path) -> Path:
    """Write JSON values, and return the file."""
    path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    return path
