"""A report as the files that a person takes away."""

import json
from collections.abc import Sequence
from pathlib import Path

from probe.checkup.page.page import checkup_page
from probe.errors import writing
from probe.runs.run import Json


def report_files(folder: Path) -> tuple[Path, Path]:
    """Return where the page and the values of a report lie in their folder."""
    return folder / "report.html", folder / "report.json"


def write_report(report: Json, folder: Path, changes: Sequence[Json] | None = None) -> list[Path]:
    """Write report.html and report.json into a folder and return their paths. Raises FileError.

    `changes` are what differs from an older report.
    """
    page, values = report_files(folder)
    whole = report if changes is None else {**report, "changes": list(changes)}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        page.write_text(checkup_page(report, changes), encoding="utf-8")
        values.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return [page, values]
