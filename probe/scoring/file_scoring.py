"""The scoring of a file: chunk by chunk, from its beginning or where it stopped."""

from collections.abc import Iterator, Mapping
from typing import Any

from probe.analysis.batch import Chunk, Row, score
from probe.analysis.fp32_sample import fp32_sample
from probe.analysis.summary import Totals
from probe.data.source import Source
from probe.models.classifier import Model
from probe.reports.summary import summary_json
from probe.scoring.checkpoint import Checkpoint, changed, read_checkpoint, write_checkpoint
from probe.scoring.files import Places, ScoringFiles, check_forms, lost
from probe.scoring.request import ScoringRequest
from probe.scoring.values import value_columns


class FileScoring:
    """A file that is scored; after every chunk all that is done is on the disk.

    It begins with the row `start`. `anew` says why it does not go on where an earlier one stopped,
    "" where there was none or it does.
    """

    def __init__(
        self,
        source: Source,
        model: Model,
        request: ScoringRequest,
        places: Places,
        identity: Mapping[str, str] | None = None,
    ) -> None:
        """Without an `identity` it begins anew and cannot go on later. Raises FileError."""
        check_forms(places, source, tuple(request.columns.texts.values()), request.names)
        self._source, self._model, self._places = source, model, places
        self._request = request.judged(source, model.task)
        self._identity = identity
        self._columns = value_columns(model, request.names)
        self.anew = ""
        begun = self._begun()
        self.start = begun.rows
        self.totals = Totals(model.task, request.names)
        if begun.totals:
            self.totals.merge(begun.totals)
        self._files = ScoringFiles(
            source, self._columns, model.name, places, request.guard, begun.sizes
        )

    def _begun(self) -> Checkpoint:
        """Return where a scoring of the same file in the same way stopped."""
        fresh = Checkpoint(self._identity or {})
        found = read_checkpoint(self._places.work) if self._identity else None
        if found is None:
            return fresh
        if different := changed(found.identity, fresh.identity):
            self.anew = f"{' and '.join(different)} changed since {found.rows:,} rows were scored"
        elif gone := lost(found.sizes):
            self.anew = f"{' and '.join(gone)} of an earlier call is not there any more"
        return fresh if self.anew else found

    def chunks(self) -> Iterator[Chunk[Row]]:
        """Score and write; whoever drives it may stop after any chunk.

        Raises FileError, and UnknownTransform or Unavailable before the first chunk.
        """
        request = self._request
        for chunk in score(
            self._source, request.columns, self._model, request.names, request.seed,
            request.options, request.precision, request.chunk_rows, self.start,
            fp32_sample(len(self._source), request.seed), request.below,
        ):  # fmt: skip
            self._files.add((row.record for row in chunk.rows), self._columns.values(chunk.rows))
            self.totals.add(chunk.rows)
            if self._identity:
                self._store(chunk.done)
            yield chunk

    def _store(self, rows: int) -> None:
        checkpoint = Checkpoint(self._identity or {}, rows, self._files.sizes, self.totals.state)
        write_checkpoint(self._places.work, checkpoint)

    def hand_over(self) -> dict[str, Any]:  # Any: JSON
        """Complete the files with the rows that are done, and return the summary of these."""
        self._files.finish()
        request = self._request
        shape = summary_json(
            self.totals.summary(), self._model, request.precision, request.seed, request.options
        )
        shape |= self._files.variants_json() | {"forms": self._files.forms}
        if self.totals.rows == len(self._source) or not self._identity:
            self._files.clean()
        return shape
