"""SQuAD's and MRQA's questions: under each passage, or article, its questions and answers."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from probe.data.formats.json_rows import Row
from probe.data.records import Record
from probe.errors import FileError
from probe.tasks.reading import squad_questions

ARTICLE, PASSAGE, HEADER = "paragraphs", "qas", "header"
"""The key by which an article and a passage is known, and that of MRQA's first line."""


def with_questions(records: Iterable[Record], name: str) -> Iterator[Record]:
    """Yield rows as they are, but for articles and passages with questions a row for each question.

    Such a row has `context` and `title` beside the question's own keys, and its `qid` as `id` where
    it has no other. The first line of MRQA's files, which tells the data set, is left out. Raises
    FileError.
    """
    count = 0
    for record in records:
        cells = record.cells
        if record.number == 0 and set(cells) == {HEADER}:
            continue
        if not any(isinstance(cells.get(key), list) for key in (ARTICLE, PASSAGE)):
            yield record if record.number == count else _numbered(record, count)
            count += 1
            continue
        try:
            for row in _questions(cells):
                yield Record(count, row)
                count += 1
        except (KeyError, TypeError) as problem:
            raise FileError(
                f"{name} is not in SQuAD's form: data, then paragraphs, then qas; for one question "
                "a line let its name end in .jsonl"
            ) from problem


def _numbered(record: Record, number: int) -> Record:
    return Record(number, record.cells, record.written, record.end, record.broken)


def _questions(cells: Mapping[str, Any]) -> Iterator[Row]:  # Any: JSON
    if ARTICLE in cells:
        yield from squad_questions({"data": [cells]})
        return
    given = {key: value for key, value in cells.items() if key != PASSAGE}
    for asked in cells[PASSAGE]:
        row = {**given, **asked}
        yield row if "id" in asked or "qid" not in asked else {**row, "id": asked["qid"]}
