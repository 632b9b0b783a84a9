"""The bundled examples of a task, scored by what the Batch tab calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from probe.analysis.batch import Chunk, score
from probe.analysis.summary import Summary, Totals
from probe.data.rows import Source, guess, of_frame
from probe.data.source import read_table
from probe.tasks.examples import bundled_examples, bundled_file
from probe.tasks.task import Task
from probe.text.duration import duration_words
from probe.ui.answers.shared_answers import model_key
from probe.ui.html.elements import meter, told
from probe.ui.lessons.lesson import Setting
from probe.ui.lessons.shared_results import once

ROWS = 240
"""Examples on which a lesson's rules rest."""
CHUNK = 24
"""Rows between two reports of the progress."""


@dataclass(frozen=True)
class Scored:
    """The summary of the rows so far, and how far that is."""

    summary: Summary
    chunk: Chunk[Any]  # Any: rows, or what else is counted

    @property
    def ended(self) -> bool:
        """Whether all rows are scored."""
        return self.chunk.done == self.chunk.total


def sample(task: Task, rows: int = ROWS) -> Source:
    """Return rows of the task's file from all over, of the test split where it has enough."""
    table = read_table(bundled_file(task))
    test = table.frame[table.frame["split"] == "test"]
    frame = test if len(test) >= rows else table.frame
    drawn = frame.sample(min(rows, len(frame)), random_state=0).sort_index()
    return of_frame(drawn.reset_index(drop=True), table.form)


def scored(setting: Setting, names: Sequence[str], rows: int = ROWS) -> Iterator[Scored]:
    """Score the sample with these transforms, once for a model."""
    classifier = setting.classifier
    key = model_key(classifier), "scores", tuple(names)
    yield from once(key, lambda: _scored(setting, names, rows))


def _scored(setting: Setting, names: Sequence[str], rows: int) -> Iterator[Scored]:
    table, classifier = sample(setting.task, rows), setting.classifier
    totals = Totals(classifier.task, names)
    columns = guess(table.columns, classifier.task)
    for chunk in score(table, columns, classifier, names, largest=CHUNK):
        totals.add(chunk.rows)
        yield Scored(totals.summary(), chunk)


def progress(chunk: Chunk[Any], unit: str) -> Markup:
    """Show how far the work is and, where it is measured, the time left."""
    left = f", {duration_words(chunk.left)} left" if chunk.seconds and chunk.left else ""
    return meter(f"{unit}s done", chunk.done / chunk.total) + told(
        f"{chunk.done} of {chunk.total} {unit}s{left}"
    )


def bundled_example(task: Task, id_: str) -> Any:  # Any: of the task's own dataclass
    """Return a bundled example by its id."""
    return next(example for example in bundled_examples(task) if example.id == id_)
