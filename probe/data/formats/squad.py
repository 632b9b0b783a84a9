"""SQuAD's JSON: articles of paragraphs, and questions with their answers under each."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import IO

from probe.data.formats.encodings import TextFile
from probe.data.formats.json_rows import Parts, Row, json_value
from probe.data.formats.lines import longest_row
from probe.data.records import Record
from probe.errors import FileError
from probe.tasks.reading import squad_questions

BEGINNING = 1000
"""Characters of a file by which its form is known."""
SQUAD = re.compile(r'\s*\{\s*("version"\s*:\s*"[^"]*"\s*,\s*)?"data"\s*:\s*\[')


def is_squad(file: TextFile) -> bool:
    """Whether a file is in SQuAD's form, by its beginning."""
    with file.open() as text:
        return bool(SQUAD.match(text.read(BEGINNING)))


def squad_rows(file: TextFile) -> Iterator[Record]:
    """Yield a row for each question, with `context` and `title` beside its own keys.

    One article at a time is in memory. Raises FileError, LimitError.
    """
    name = file.path.name
    try:
        with file.open() as text:
            for number, row in enumerate(_questions(text, file)):
                yield Record(number, row)
    except (KeyError, TypeError) as problem:
        raise FileError(
            f"{name} is not in SQuAD's form: data, then paragraphs, then qas; for one question a "
            "line let its name end in .jsonl"
        ) from problem


def _questions(text: IO[str], file: TextFile) -> Iterator[Row]:
    name, beginning = file.path.name, text.read(BEGINNING)
    start = SQUAD.match(beginning)
    whole = replace(file.bounds, max_cell=None)  # an article is no cell
    parts = Parts(text, name, whole, beginning[start.end() if start else 0 :])
    for number, (article, _) in enumerate(parts.listed()):
        file.bounds.check("max_rows", number)
        yield from squad_questions({"data": [article]})
    rest = parts.rest(longest_row(file.bounds))
    json_value("{" + rest.lstrip().removeprefix(","), name)
