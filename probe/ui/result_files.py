"""The files that a person takes away from the Batch and Compare tabs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from probe.analysis import batch, comparison
from probe.data.names import stem_of
from probe.data.tables import Table, write_table
from probe.models.classifier import Model
from probe.reports.compared_rows import keep
from probe.reports.frames import compared_frame, made_frame, scored_frame
from probe.ui.batch_tables import view


def write_results(
    folder: Path,
    table: Table,
    rows: Sequence[batch.Row],
    names: Sequence[str],
    summary: Mapping[str, Any],  # Any: JSON values
    upload: Path,
    model: Model,
) -> tuple[list[str], str]:
    """Write the scored file and the summary, and the rows for paging; return their places."""
    stem = stem_of(upload)
    scored = folder / f"{stem}-scored.{table.form}"
    write_table(scored_frame(table, rows, names, model), scored)
    pairs = folder / f"{stem}-pairs.{table.form}"
    if names:
        write_table(made_frame(rows, names, model.task), pairs)
    note = _write_json(summary, folder / f"{stem}-summary.json")
    paging = folder / "rows.jsonl"
    view(rows, names).to_json(paging, orient="records", lines=True, force_ascii=False)
    files = [scored, note, pairs] if names else [scored, note]
    return [str(path) for path in files], str(paging)


def write_comparison(
    folder: Path,
    table: Table,
    rows: Sequence[comparison.Row],
    names: Sequence[str],
    summary: Mapping[str, Any],  # Any: JSON values
    stem: str,
) -> tuple[list[str], str]:
    """Write the scored file, the summary and what the cells show; return their places."""
    compared = folder / f"{stem}-compared.{table.form}"
    write_table(compared_frame(table, rows, names), compared)
    note = _write_json(summary, folder / f"{stem}-comparison.json")
    kept = folder / "compared.jsonl"
    keep(rows, kept)
    return [str(compared), str(note)], str(kept)


def _write_json(values: Mapping[str, Any], path: Path) -> Path:
    path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    return path
