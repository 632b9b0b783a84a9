"""Changed texts in the form of the data set that theirs are from, to train on elsewhere.

Pairs are JSON lines with `gold_label`, `sentence1` and `sentence2`, as SNLI and MNLI have them
(Bowman et al. 2015, Williams et al. 2018), questions JSON as SQuAD's (Rajpurkar et al. 2016).
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from probe.analysis.slices import is_negated
from probe.data.questions import question_of
from probe.data.rows import Record
from probe.data.writers import Values
from probe.errors import ExampleError, FileError, writing
from probe.tasks.nli import Pair
from probe.tasks.reading import NO_ANSWER, READING, Span, references
from probe.tasks.task import Task
from probe.text.words import tokenise

LINES, SQUAD = ".jsonl", ".json"
NO_LABEL, UNCHANGED = "{} without a defined label", "{} that are as they were"
NO_PLACE = "{} whose answer has no sure place in the passage"
NEGATED = "{} with an antonym under a negation, whose label is doubtful"
"""Why a text is left out."""


def end_for(task: Task) -> str:
    """Return how the name of such a file ends, "" for a task whose sources have no form here."""
    if task is READING:
        return SQUAD
    return LINES if task.example is Pair else ""


def check_source_form(path: Path, task: Task, names: Sequence[str]) -> None:
    """Refuse what cannot be written before a row is scored. Raises FileError."""
    end = end_for(task)
    if not end:
        raise FileError(
            f"{task.title.lower()} has no form of SNLI or SQuAD; --pairs has every changed text"
        )
    if not names:
        raise FileError("--training takes changed texts: name changes with --transforms")
    if path.suffix != end:
        raise FileError(f"{path.name}: name it {end}, as the form is")


class SourceForm:
    """A file of changed texts whose label is defined, by the rules of their transforms.

    The others are left out and counted, with texts that are as they were, and questions whose
    answer has no sure place in the changed passage.
    """

    def __init__(self, path: Path, task: Task, columns: Sequence[str]) -> None:
        """`columns` are those of the texts that were made. Raises FileError."""
        self._path, self._columns, self._is_squad = path, columns, end_for(task) == SQUAD
        self._written, self._left = 0, Counter[str]()
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w", encoding="utf-8", newline="\n")  # until the end
            if self._is_squad:
                self._file.write('{"version": "1.1", "data": [')

    def write(self, records: Sequence[Record], made: Iterable[Values]) -> None:
        """Write what was made of rows. Raises FileError."""
        known = {record.number + 1: record for record in records}
        with writing(self._path):
            for values in made:
                cells = dict(zip(self._columns, values, strict=False))
                if not (cells["gold"] and cells["changed"]):
                    self._left[NO_LABEL if cells["changed"] else UNCHANGED] += 1
                    continue
                if _is_doubtful(cells):
                    self._left[NEGATED] += 1
                    continue
                several = f"-{cells['number']}" if cells["of"] > 1 else ""
                name = f"{cells['row']}-{cells['transform']}{several}"
                if not self._is_squad:
                    row = {
                        "gold_label": cells["gold"],
                        "sentence1": cells["premise"],
                        "sentence2": cells["hypothesis"],
                        "pairID": name,
                    }
                    self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
                elif (spans := _places(cells, known[cells["row"]])) is None:
                    self._left[NO_PLACE] += 1
                    continue
                else:
                    asked = {
                        "id": name,
                        "question": cells["question"],
                        "answers": [
                            {"text": span.text, "answer_start": span.start} for span in spans
                        ],
                        **({} if spans else {"is_impossible": True}),
                    }
                    passage = {"context": cells["passage"], "qas": [asked]}
                    article = json.dumps(
                        {"title": name, "paragraphs": [passage]}, ensure_ascii=False
                    )
                    self._file.write(("," if self._written else "") + "\n" + article)
                self._written += 1

    def finish(self) -> None:
        """Close the file; one without any text is taken away. Raises FileError."""
        with writing(self._path), self._file:
            if self._is_squad:
                self._file.write("\n]}\n")
        if not self._written:
            os.remove(self._path)

    @property
    def words(self) -> str:
        """What the file holds, and what is left out."""
        left = [why.format(f"{count:,}") for why, count in self._left.items()]
        held = f"as {'SQuAD' if self._is_squad else 'SNLI'} has them: {self._written:,} texts"
        held = held if self._written else "not written, since no text can be"
        return f"{held}; left out: {', '.join(left)}" if left else held


def _is_doubtful(cells: Mapping[str, Any]) -> bool:
    """Whether a sentence is set against itself by an antonym under a negation.

    Who is not tall may be not short either, so that nothing is contradicted.
    """
    if "antonym" not in cells["transform"].split("+"):
        return False
    return is_negated([word.lower() for word in tokenise(cells["premise"])])


def _places(cells: Mapping[str, Any], record: Record) -> list[Span] | None:
    """Return the answers of a question in its changed passage, None where a place is not sure.

    It is sure where the passage holds the old one whole, or the answer once.
    """
    passage, gold = cells["passage"], cells["gold"]
    if gold == NO_ANSWER:
        return []
    try:
        before = question_of(record.cells, record.number)
    except ExampleError:
        before = None
    if before and {span.text for span in before.answers} == {*references(gold)}:
        at = passage.find(before.passage)
        if at >= 0:
            return [Span(span.text, span.start + at) for span in before.answers]
    texts = references(gold)
    if any(passage.count(text) != 1 for text in texts):
        return None
    return [Span(text, passage.find(text)) for text in texts]
