"""A visitor's file that is scored: its result files, its rows for the page, what rules reach."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from probe.analysis.batch import Chunk, Row
from probe.analysis.summary import Totals
from probe.data.names import stem_of
from probe.data.rows import Source
from probe.models.library import AnyModel
from probe.scoring.files import FileScoring, Places, ScoringRequest
from probe.tasks.task import Label
from probe.ui.results.batch_tables import Record, view
from probe.ui.results.result_files import result_key, write_json
from probe.ui.results.row_numbers import PAGE_ROWS
from probe.ui.results.row_pages import RowsWriter
from probe.ui.results.rule_shares import RuleShares


class BatchResult:
    """What comes of a file; `first` are its first rows as the page shows them."""

    def __init__(
        self, folder: Path, upload: Path, source: Source, model: AnyModel, request: ScoringRequest
    ) -> None:
        """Begin the files in a folder of their own. Raises FileError."""
        stem = stem_of(upload)
        pairs = folder / f"{stem}-pairs.{source.form}" if request.names else None
        self._places = Places(folder / f"{stem}-scored.{source.form}", pairs)
        self._scoring = FileScoring(source, model, request, self._places)
        self._note = folder / f"{stem}-summary.json"
        self._rows = RowsWriter(folder, model.task, request.names)
        self._names, self._columns = request.names, request.columns
        self.rules = RuleShares(model.task)
        self.first: list[Record] = []

    @property
    def totals(self) -> Totals:
        """What the rows so far come to."""
        return self._scoring.totals

    @property
    def golds(self) -> list[Label]:
        """The gold labels that rows have, in the order in which they come."""
        return self._rows.golds

    def chunks(self) -> Iterator[Chunk[Row]]:
        """Score the file; after each chunk all that is done is in the files."""
        for chunk in self._scoring.chunks():
            records = view(chunk.rows, self._names, self._columns)
            self._rows.add(records)
            self.first += records[: PAGE_ROWS - len(self.first)]
            self.rules.add(row.example for row in chunk.rows)
            yield chunk

    def hand_over(self) -> tuple[dict[str, Any], list[str], str]:  # Any: JSON
        """Complete the files; return the summary, their places, and the key of the result."""
        summary = self._scoring.hand_over()
        self._rows.finish()
        write_json(summary, self._note)
        files = filter(None, (self._places.scored, self._note, self._places.pairs))
        return summary, [str(path) for path in files], result_key(self._note.parent)
