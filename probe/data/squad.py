"""SQuAD's JSON: articles of paragraphs, and questions with their answers under each."""

import re
from collections.abc import Iterator
from typing import IO

from probe.data.json_rows import Row, json_value
from probe.errors import FileError
from probe.tasks.reading import squad_questions

BEGINNING = 1000
"""Characters of a file by which its form is known."""
SQUAD = re.compile(r'\s*\{\s*("version"\s*:\s*"[^"]*"\s*,\s*)?"data"\s*:\s*\[')


def is_squad(beginning: str) -> bool:
    """Whether a file that begins so is in SQuAD's form."""
    return bool(SQUAD.match(beginning))


def squad_rows(text: IO[str], name: str) -> Iterator[Row]:
    """Yield a row for each question, with `context` and `title` beside its own keys.

    Raises FileError.
    """
    try:
        yield from squad_questions(json_value(text.read(), name))
    except (KeyError, TypeError) as problem:
        raise FileError(
            f"{name} is not in SQuAD's form: data, then paragraphs, then qas; for one question a "
            "line let its name end in .jsonl"
        ) from problem
