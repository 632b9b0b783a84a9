"""What `python -m probe batch` does with a model that answers questions with spans."""

from pathlib import Path
from typing import Any

import pandas as pd
import typer

from probe.analysis.reading import AnsweredRow, answer_rows, summary
from probe.cli.output import end_progress, show_progress, write_json
from probe.data.questions import question_rows
from probe.data.spreadsheets import guarded
from probe.data.tables import write_table
from probe.errors import FileError
from probe.models.classifier import Precision, resolve
from probe.models.reader import Reader
from probe.reports.frames import beside
from probe.runs.environment import environment

VARIANTS = {
    "original_f1": "the original questions",
    "adversarial_f1": "the worst adversarial variant of each question",
}
"""What the figures of rows with `base_id` are of."""


def batch_reading(
    file: Path,
    out: Path,
    summary_file: Path | None,
    reader: Reader,
    precision: Precision,
    guard: bool,
) -> None:
    """Answer the questions of a file and write them with their answers. Raises FileError."""
    rows = list(question_rows(file))
    if not rows:
        raise FileError(f"{file.name} has no questions")
    answered = list[AnsweredRow]()
    for chunk in answer_rows(rows, reader, precision):
        answered += chunk.rows
        show_progress(
            f"{chunk.done}/{chunk.total} questions, {chunk.per_second:.1f} a second, "
            f"{chunk.left:.0f} s left"
        )
    end_progress()
    given = pd.DataFrame([row.row.cells for row in answered])
    frame = beside(given, pd.DataFrame([_cells(row) for row in answered]), reader.name)
    write_table(guarded(frame) if guard else frame, out)
    figures = summary(answered)
    if summary_file:
        facts = {"model": reader.name, "revision": reader.revision, "precision": resolve(precision)}
        write_json({**facts, **figures, "environment": environment()}, summary_file)
    typer.echo(_words(figures))
    typer.echo(f"{figures['answered']} of {figures['rows']} questions answered, written to {out}")


def _cells(row: AnsweredRow) -> dict[str, Any]:  # Any: whatever a file may hold
    said = row.prediction
    return {
        "prediction": said.text if said else None,
        "start": said.start if said else None,
        "end": said.end if said else None,
        "confidence": said.confidence if said else None,
        "em": row.em,
        "f1": row.f1,
        "error": row.row.error,
    }


def _words(figures: dict[str, Any]) -> str:  # Any: JSON
    def percent(name: str) -> str:
        value = figures[name]
        return f"{100 * value['value']:.1f} ({100 * value['low']:.1f} to {100 * value['high']:.1f})"

    if not figures["n"]:
        return "no question has an answer to compare with"
    lines = [f"exact match {percent('em')}, F1 {percent('f1')}, n {figures['n']:,}"]
    for name, words in VARIANTS.items():
        if name in figures:
            lines.append(f"F1 of {words} {percent(name)}, n {figures[name]['n']:,}")
    return "\n".join(lines)
