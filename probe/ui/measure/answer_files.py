"""Files of answers in the place of models: how Measure names, offers and reads them.

A visitor drops one where files are dropped. It then stands among the models by the name of its
upload, as `texts=file:` names one in an address.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import gradio as gr

from probe.analysis.cartography import holds_dynamics
from probe.data.file_options import FileOptions
from probe.data.reading import LabelValue
from probe.data.rows import Columns, Source, cell, guess_some, is_missing
from probe.data.source import FORMS, end_of
from probe.errors import FileError, FileQuestion, UserError
from probe.limits import visitor_bounds
from probe.models.prediction_file import ANSWERS_OF, NUMBERED, AnswerFile, Predicted, holds_answers
from probe.tasks.task import Task, label_word
from probe.ui.choices import model_choices
from probe.ui.visitors.visitor_files import (
    cache_folder,
    open_upload,
    own_file,
    upload_called,
)

STAND = (
    "This file holds answers, in {column}: they stand among the models above, to be scored, and "
    "compared with others."
)
BARE = " Their texts are in another file: drop that one next."
BY_EPOCH = "This file holds what a training says of its rows by epoch: "
MAPPED = "Data draws a map of them."
TO_MAP = "drop the training set here, and this file in Data, as what a training said, for a map."
SAY = "{question}: say it below the file, or write labels as words there"


UPLOAD = re.compile("[0-9a-f]{64}")
"""The folder of an upload, and so the name of one."""


def is_answers(name: str) -> bool:
    """Whether a model's name stands for a file of answers."""
    return name.startswith(ANSWERS_OF)


def is_file(name: str) -> bool:
    """Whether what a result calls its model is the name of a file: models are not called so."""
    return end_of(Path(name)) in FORMS


def names_here(visitor: str, names: Sequence[str]) -> dict[str, Path]:
    """Return the files of answers among models by their names, those that are here."""
    found = dict[str, Path]()
    for name in filter(is_answers, names):
        with suppress(FileError):
            found[name] = upload_called(visitor, name.removeprefix(ANSWERS_OF))
    return found


def uploads(visitor: str, names: Sequence[str]) -> dict[str, Path]:
    """Return files of answers that a caller over HTTP has uploaded and names as models.

    They are the caller's from then on. Raises FileError for one that is not there, or another's.
    """
    found = dict[str, Path]()
    for name in filter(is_answers, names):
        folder = cache_folder() / name.removeprefix(ANSWERS_OF)
        files = list(folder.iterdir()) if UPLOAD.fullmatch(folder.name) and folder.is_dir() else []
        found[name] = own_file(visitor, files[0] if files else folder)
    return found


def choices(visitor: str, names: Sequence[str], known: Sequence[str]) -> list[tuple[str, str]]:
    """Return what can be chosen: the files of answers among the names, and the models."""
    files = names_here(visitor, names)
    return [(f"{path.name} · answers", name) for name, path in files.items()] + model_choices(known)


def offered(
    visitor: str, known: Sequence[str], path: str | None, models: Sequence[str]
) -> Any:  # Any: gradio's mark to skip
    """Let a dropped file of answers stand among the models, in the place of those chosen before.

    Other files of answers stay chosen beside it.
    """
    try:
        file = own_file(visitor, path or "")
        if not holds_answers(open_upload(visitor, path).names):
            return gr.skip()
    except UserError:  # what is wrong with a file is said beside it
        return gr.skip()
    name = f"{ANSWERS_OF}{file.parent.name}"
    if name in models:
        return gr.skip()
    chosen = [*filter(is_answers, models), name]
    return gr.Dropdown(choices=choices(visitor, chosen, known), value=chosen)


def told_of(table: Source, task: Task) -> tuple[str, bool]:
    """Say that a file holds answers, "" where it does not, and whether it has no texts for them."""
    if holds_dynamics(table.names):
        bare = len(guess_some(table.names, task).texts) < len(task.fields)
        return BY_EPOCH + (TO_MAP if bare else MAPPED), bare
    if not holds_answers(table.names):
        return "", False
    try:
        file = AnswerFile("", table.path, table)
        words = STAND.format(column=file.column or "its scores")
        bare = not file.has_texts(task)
    except FileQuestion as question:
        return f"{question.sentence}.", False
    return words + BARE * bare, bare


def numbered_answers(table: Source) -> list[LabelValue]:
    """Return the numbers that a file has for answers, none where words or choices tell them."""
    file = AnswerFile("", table.path, table)
    if not holds_answers(table.names) or file.is_samples:
        return []
    with suppress(FileQuestion):
        cells = (cell(record.cells, file.column) for record in table.records() if file.column)
        counts = Counter(label_word(value) for value in cells if not is_missing(value))
        if all(map(NUMBERED.fullmatch, counts)):
            return [LabelValue(word, rows, None, "unknown") for word, rows in counts.items()]
    return []


def bare_numbers(visitor: str, names: Sequence[str], task: Task) -> dict[str, list[LabelValue]]:
    """Return the numbers that files of answers without texts have, by the names of these files."""
    found = dict[str, list[LabelValue]]()
    for path in names_here(visitor, names).values():
        with suppress(UserError):  # what is wrong with a file is said where it is read
            table = open_upload(visitor, str(path))
            numbers = numbered_answers(table)
            if numbers and not AnswerFile("", path, table).has_texts(task):
                found[path.name] = numbers
    return found


def answers_on(
    visitor: str, names: Sequence[str], table: Source, columns: Columns, task: Task,
    options: FileOptions, uploaded: Mapping[str, Path] | None = None,
) -> dict[str, Predicted]:  # fmt: skip
    """Return the answers of the files among models to the rows of a table, by their names.

    Each is called as its file is, with a number where another is too. They are those `uploaded`,
    or the visitor's. Raises FileError.
    """
    given = dict[str, Predicted]()
    files = names_here(visitor, names) if uploaded is None else uploaded
    if gone := next((name for name in names if is_answers(name) and name not in files), None):
        raise FileError(f"the file of answers {gone.removeprefix(ANSWERS_OF)[:8]} is not here any "
                        "more: drop it again")  # fmt: skip
    titles = list[str]()
    for path in files.values():
        titles += [path.name if path.name not in titles else f"{len(titles) + 1} {path.name}"]
    for (name, path), title in zip(files.items(), titles, strict=True):
        try:
            file = AnswerFile.open(path, bounds=visitor_bounds(), name=title)
            given[name] = file.on(table, columns, task, options)
        except FileQuestion as question:
            raise FileError(SAY.format(question=question.sentence)) from None
    return given


def words_of(given: Mapping[str, Predicted]) -> str:
    """Say how files of answers are read."""
    return " ".join(f"{each.words}." for each in given.values())
