"""Score a whole table: rows in chunks, each with its prediction and its transformed versions."""

import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from statistics import fmean
from typing import Any, Generic, TypeVar

from probe.analysis.importance import PAPER, Importance, Method, attribute, require_importance
from probe.analysis.transformed import (
    UNJUDGED,
    Legibility,
    Transformed,
    explained,
    legibility,
    require_usable,
    transform_all,
)
from probe.data.questions import ADVERSARIAL, BASE, is_adversarial
from probe.data.rows import NO_RECORD, Columns, InputRow, Record, Source, is_missing, read_rows
from probe.errors import AttributionError, ExampleError
from probe.models.classifier import Model, Precision, Prediction, predict_each, resolve
from probe.models.library import AnyModel
from probe.statistics import mean
from probe.tasks.task import Label, Task
from probe.text.language import BEYOND_DOUBT
from probe.transforms import Options

FIRST_ROWS, CHUNK_ROWS = 32, 256  # a small first chunk shows something at once
Input = TypeVar("Input")
Output = TypeVar("Output")


@dataclass(frozen=True)
class Chunk(Generic[Output]):
    """Some answered rows and how far the work is; `seconds` since it began with row `start`."""

    rows: tuple[Output, ...]
    done: int
    total: int
    seconds: float
    start: int = 0

    @property
    def per_second(self) -> float:
        """Rows per second so far."""
        return (self.done - self.start) / max(self.seconds, 1e-9)

    @property
    def left(self) -> float:
        """Seconds still to go at this speed."""
        return (self.total - self.done) / max(self.per_second, 1e-9)


def chunk_end(done: int, largest: int) -> int:
    """Return the number of the row behind the chunk that begins with a row."""
    return (done // largest + 1) * largest if done else min(FIRST_ROWS, largest)


def in_chunks(
    rows: Iterable[Input],
    total: int,
    answer: Callable[[Sequence[Input]], Sequence[Output]],
    largest: int = CHUNK_ROWS,
    start: int = 0,
) -> Iterator[Chunk[Output]]:
    """Answer rows in chunks of so many at most; whoever drives it may stop after any.

    `rows` begin with number `start` of `total`. Where a chunk ends depends on its rows' numbers
    alone, so that who goes on behind one makes the same chunks.
    """
    began, done, waiting = time.monotonic(), start, iter(rows)
    while True:
        chunk = tuple(islice(waiting, chunk_end(done, largest) - done))
        if not chunk:
            return
        answers = tuple(answer(chunk))
        done += len(chunk)
        yield Chunk(answers, done, total, time.monotonic() - began, start)


@dataclass(frozen=True)
class Row:
    """One scored row, or the reason why it was not; `record` is what the file has of it.

    `legible` says what the model reads of it. `fp32` is the answer in fp32 to a sampled row that is
    scored in bf16, `importance` that of its words where it was asked for, or why there is none.
    """

    number: int
    task: Task
    example: Any = None  # Any: of the task's own dataclass
    prediction: Prediction | None = None
    transformed: Mapping[str, tuple[Transformed, ...]] = field(default_factory=dict)
    error: str = ""
    legible: Legibility = UNJUDGED
    record: Record = NO_RECORD
    fp32: Label | None = None
    importance: Importance | str | None = None

    @property
    def right(self) -> bool | None:
        """Whether the prediction is the gold label, None where there is none."""
        if self.prediction is None or not self.example.gold:
            return None
        return self.task.matches(self.prediction.label, self.example.gold)

    @property
    def f1(self) -> float | None:
        """How much of the gold answer is there, None where answers are labels or none is known."""
        if self.prediction is None or not self.example.gold or not self.task.f1:
            return None
        return self.task.f1(self.prediction.label, self.example.gold)


def score(
    table: Source,
    columns: Columns,
    model: Model,
    names: Sequence[str] = (),
    seed: int = 0,
    options: Options = Options(),
    precision: Precision = "auto",
    largest: int = CHUNK_ROWS,
    start: int = 0,
    sample: Container[int] = (),
    below: float = BEYOND_DOUBT,
    importance: Method | None = None,
) -> Iterator[Chunk[Row]]:
    """Score rows from number `start` on in chunks; whoever drives it may stop after any.

    No more than a chunk of so many rows at most is in memory, in which they are sorted by length
    and given back in their order. In bf16 the rows whose numbers are in the sample are answered in
    fp32 too; `below` is as `other_language` has it; `importance` is the method by which the words
    of each row are scored, by the sign of the options. Raises FileError for a missing column and
    UnknownTransform, Unavailable or AttributionError before the first chunk.
    """
    columns.check(table.names)
    for name in names:
        require_usable(name, model)
    if importance:
        require_importance(model, importance)
    # the sub-word transforms read these scores where they would take the same
    ranks = importance and (options.ranks == "shown" or importance == PAPER)

    def answer(rows: Sequence[InputRow]) -> list[Row]:
        asked = [row for row in rows if row.example]
        several = predict_each(model, [row.example for row in asked], precision)
        scored, given = {row.number: row.error for row in rows}, dict[int, Prediction]()
        for row, said in zip(asked, several, strict=True):
            if isinstance(said, ExampleError):
                scored[row.number] = str(said)
            else:
                given[row.number] = said
        examples = {row.number: row.example for row in asked if row.number in given}
        sampled = {number: example for number, example in examples.items() if number in sample}
        if resolve(precision) == "fp32":
            sampled = {}  # all are
        in_fp32 = model.predict(list(sampled.values()), "fp32")
        labels = {number: said.label for number, said in zip(sampled, in_fp32, strict=True)}
        several_legible = legibility(model, list(examples.values()), below)
        legible = dict(zip(examples, several_legible, strict=True))

        def scored_words(numbers: Sequence[int]) -> dict[int, Importance | str]:
            """Score the words of rows; one of which that cannot be has its reason."""
            if not (importance and numbers and isinstance(model, AnyModel)):
                return {}
            several = [examples[at] for at in numbers]
            own = explained(model.task, several, [given[at].answer for at in numbers])
            try:
                found = attribute(model, several, own, importance, options.sign)
            except (AttributionError, ExampleError) as problem:  # of a text without a word, too
                if len(numbers) == 1:
                    return {numbers[0]: str(problem)}
                middle = len(numbers) // 2
                return scored_words(numbers[:middle]) | scored_words(numbers[middle:])
            return dict(zip(numbers, found, strict=True))

        words = scored_words(list(examples))

        def changed(numbers: Sequence[int]) -> dict[int, dict[str, tuple[Transformed, ...]]]:
            """Change some rows; one of which a changed text cannot be answered has its reason."""
            try:
                made = transform_all(
                    model, [examples[at] for at in numbers], [given[at] for at in numbers], names,
                    seed, options, precision,
                    [words[at] for at in numbers] if ranks and resolve(precision) == "fp32" else (),
                    [legible[at].foreign for at in numbers], importance or "auto",
                )  # fmt: skip
            except ExampleError as problem:
                if len(numbers) == 1:
                    scored[numbers[0]] = f"of a changed text: {problem}"
                    return {}
                middle = len(numbers) // 2
                return changed(numbers[:middle]) | changed(numbers[middle:])
            return {
                number: {name: made[name][at] for name in names}
                for at, number in enumerate(numbers)
            }

        made = {
            number: {
                "example": examples[number],
                "prediction": given[number],
                "transformed": transformed,
                "legible": legible[number],
                "fp32": labels.get(number),
                "importance": words.get(number),
            }
            for number, transformed in changed(list(examples)).items()
        }
        return [
            Row(
                row.number,
                model.task,
                error=scored[row.number],
                record=row.record,
                **made.get(row.number, {}),
            )
            for row in rows
        ]

    rows = read_rows(table, columns, model.task, start)
    yield from in_chunks(rows, len(table), answer, largest, start)


VariantScore = Sequence[Any]  # Any: JSON
"""A question's name, whether the variant is adversarial, its exact match and its F1."""


def variant_scores(rows: Iterable[Row]) -> Iterator[VariantScore]:
    """Yield what counts of each scored row whose file names the question that it is a variant of.

    The rows of a file without `adversarial` count as adversarial.
    """
    for row in rows:
        base = row.record.cells.get(BASE)
        if row.prediction is None or row.f1 is None or is_missing(base):
            continue
        adversarial = is_adversarial(row.record.cells.get(ADVERSARIAL, True))
        yield str(base), adversarial, float(bool(row.right)), row.f1


def variants_json(scores: Iterable[VariantScore]) -> dict[str, Any]:  # Any: JSON
    """Return what the variants of questions come to, nothing where there are none.

    `adversarial_f1` is the mean over the questions of the lowest F1 of their adversarial variants,
    of the original where there are none (as the code of Jia and Liang counts), `worst_f1` that of
    the lowest of all, the original included (as their paper can be read), and `original_f1` that of
    the originals. A figure that no row is counted for is left out.
    """
    questions: dict[str, list[tuple[bool, dict[str, float]]]] = {}
    for base, adversarial, em, f1 in scores:
        questions.setdefault(base, []).append((adversarial, {"em": em, "f1": f1}))
    if not questions:
        return {}
    every = list(questions.values())
    chosen = {
        "original": [[row for row in same if not row[0]] for same in every],
        "adversarial": [[row for row in same if row[0]] or same for same in every],
        "worst": every,
    }
    figures: dict[str, Any] = {
        "questions": len(every),
        "variants_each": fmean(map(len, every)),
    }
    for name, rows in chosen.items():
        for measure in ("em", "f1"):
            lowest = [min(scored[measure] for _, scored in same) for same in rows if same]
            if lowest:
                figures[f"{name}_{measure}"] = asdict(mean(lowest))
    return figures
