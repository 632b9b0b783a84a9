"""The files of a scoring, which grow together."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probe.analysis.variants import variants_json
from probe.data.questions import BASE
from probe.data.records import NO_RECORD, Record
from probe.data.source import Source, form_of
from probe.data.writers.appended import AppendedFile
from probe.data.writers.blocks import check_rows
from probe.data.writers.cells import free_names
from probe.data.writers.output import Output, check_cells, read_spool, spooled
from probe.errors import writing
from probe.scoring.values import RowValues, ValueColumns


@dataclass(frozen=True)
class Places:
    """Where the scored file goes, and that of every example that was made, if it is wanted.

    However a place is written, it is the same one: by it an interrupted scoring is known again.
    """

    scored: Path
    pairs: Path | None = None

    def __post_init__(self) -> None:
        """Write both from the root of the disk on."""
        object.__setattr__(self, "scored", self.scored.resolve())
        object.__setattr__(self, "pairs", self.pairs and self.pairs.resolve())

    @property
    def work(self) -> Path:
        """The folder in which an unfinished scoring keeps what it needs to go on."""
        return self.scored.with_name(f"{self.scored.name}.unfinished")


class ScoringFiles:
    """The scored file, that of the examples made, and the figures of variants for the summary."""

    def __init__(
        self,
        source: Source,
        columns: ValueColumns,
        model: str,
        places: Places,
        guard: bool = False,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        """`model` stands behind our names that the input has too; `sizes` are as below.

        Without them the files are begun anew. Raises FileError.
        """
        self._places, known = places, sizes or {}
        with writing(places.work):
            if not known:
                shutil.rmtree(places.work, ignore_errors=True)
            places.work.mkdir(parents=True, exist_ok=True)
        names = free_names(source.columns, columns.scored, Path(model).name)
        spool, made = places.work / "scored.spool", places.work / "pairs.spool"
        self._scored = Output(places.scored, names, spool, source, guard, known)
        self._pairs = None
        if places.pairs:
            self._pairs = Output(places.pairs, columns.made, made, None, guard, known)
        self._variants = None
        if columns.task.f1 and BASE in source.names:
            path = places.work / "variants.spool"
            self._variants = AppendedFile(path, known.get(str(path), 0))

    def add(self, records: Iterable[Record], values: RowValues) -> None:
        """Write rows and see that they are on the disk. Raises FileError."""
        self._scored.write(zip(records, values.scored, strict=True))
        if self._pairs:
            self._pairs.write((NO_RECORD, made) for made in values.made)
        if self._variants:
            self._variants.append(b"".join(map(spooled, values.variants)))

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes of each file that are on the disk, by its path."""
        files = (self._scored, self._pairs, self._variants)
        return {str(file.place): file.size for file in files if file}

    @property
    def forms(self) -> dict[str, str]:
        """In what form each file is, in words."""
        forms = {"scored": self._scored.words}
        return forms | ({"pairs": self._pairs.words} if self._pairs else {})

    def variants_json(self) -> dict[str, Any]:  # Any: JSON
        """Return what the variants of questions come to so far."""
        return variants_json(read_spool(self._variants.place)) if self._variants else {}

    def finish(self) -> None:
        """Close the files with what they hold by now. Raises FileError."""
        for output in filter(None, (self._scored, self._pairs)):
            output.finish()
        if self._variants:
            self._variants.close()

    def clean(self) -> None:
        """Remove what is needed only to go on."""
        shutil.rmtree(self._places.work, ignore_errors=True)


def check_forms(
    places: Places, source: Source, texts: Sequence[str], transforms: Sequence[str]
) -> None:
    """Refuse files whose forms cannot hold what may be written, before a row is scored.

    `texts` are the columns of which examples are made. Raises FileError.
    """
    scored, pairs = places.scored, places.pairs
    check_rows(scored.name, form_of(scored), len(source))
    check_cells(scored, source, source.form, source.columns)
    if pairs and transforms:
        check_rows(pairs.name, form_of(pairs), len(source) * len(transforms))
        if form_of(pairs) == "tsv":
            check_cells(pairs, source, source.form, texts)


def forms_words(forms: Mapping[str, str]) -> str:
    """Say in what form the files are, as `ScoringFiles.forms` has it."""
    names = {"scored": "The scored file", "pairs": "The file of the texts that were made"}
    return " ".join(f"{names[name]} is {words}." for name, words in forms.items())


def lost(sizes: Mapping[str, int]) -> list[str]:
    """Return the names of files that do not hold any more what was written."""
    return [
        Path(place).name
        for place, size in sizes.items()
        if not Path(place).is_file() or Path(place).stat().st_size < size
    ]
