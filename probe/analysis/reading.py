"""Score a reader: exact match and F1 of each question, and the worst of a question's variants."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from probe.analysis.batch import CHUNK_ROWS, Chunk, in_chunks
from probe.data.questions import QuestionRow
from probe.metrics import mean
from probe.models.classifier import Precision
from probe.models.reader import Reader, SpanPrediction
from probe.span_scores import best, f1, same_span


@dataclass(frozen=True)
class AnsweredRow:
    """A row with its answer, or the reason why it has none; scores are None without references."""

    row: QuestionRow
    prediction: SpanPrediction | None = None
    em: float | None = None
    f1: float | None = None


def answer_rows(
    rows: Sequence[QuestionRow],
    reader: Reader,
    precision: Precision = "auto",
    largest: int = CHUNK_ROWS,
) -> Iterator[Chunk[AnsweredRow]]:
    """Answer rows in chunks of so many at most; whoever drives it may stop after any."""

    def answer(some: Sequence[QuestionRow]) -> list[AnsweredRow]:
        some = [_readable(row, reader) for row in some]
        asked = [row.question for row in some if row.question]
        said = iter(reader.predict(asked, precision))
        return [_scored(row, next(said)) if row.question else AnsweredRow(row) for row in some]

    yield from in_chunks(rows, answer, largest)


def _readable(row: QuestionRow, reader: Reader) -> QuestionRow:
    """Return the row, without a question and with the reason where that is too long to be read."""
    if row.question is None or not reader.too_long(row.question):
        return row
    return replace(row, question=None, error="the question is too long for the model")


def _scored(row: QuestionRow, prediction: SpanPrediction) -> AnsweredRow:
    references = row.question.references if row.question else []
    if not references:
        return AnsweredRow(row, prediction)
    exact = best(prediction.text, references, same_span)
    return AnsweredRow(row, prediction, exact, best(prediction.text, references, f1))


def summary(rows: Sequence[AnsweredRow]) -> dict[str, Any]:  # Any: JSON
    """Return n, EM and F1 with 95 % intervals, and where rows are variants what they come to.

    Rows with `base_id` are variants of that question, those with `adversarial` false the question
    as it was: `adversarial_f1` is the mean over the questions of the lowest F1 of the adversarial
    variants, of the original where there are none (as the code of Jia and Liang counts), and
    `original_f1` that of the originals. A figure that no row is counted for is left out.
    """
    scored = [row for row in rows if row.f1 is not None]
    figures: dict[str, Any] = {
        "rows": len(rows),
        "answered": sum(row.prediction is not None for row in rows),
        "n": len(scored),
    }
    if scored:
        figures["em"] = asdict(mean([row.em or 0.0 for row in scored]))
        figures["f1"] = asdict(mean([row.f1 or 0.0 for row in scored]))
    variants = [row for row in scored if "base_id" in row.row.cells]
    if variants:
        figures |= _of_variants(variants)
    return figures


def _of_variants(rows: Sequence[AnsweredRow]) -> dict[str, Any]:  # Any: JSON
    """Return the figures over questions; what no row is counted for is left out."""
    questions: dict[str, list[AnsweredRow]] = {}
    for row in rows:
        questions.setdefault(str(row.row.cells["base_id"]), []).append(row)
    return {
        "questions": len(questions),
        "variants_each": fmean(len(same) for same in questions.values()),
        **{
            f"{name}_{measure}": asdict(mean(values))
            for name, chosen in (("original", _originals), ("adversarial", _counted))
            for measure in ("em", "f1")
            if (values := _over(questions, measure, chosen))
        },
    }


def _over(
    questions: Mapping[str, Sequence[AnsweredRow]],
    measure: str,
    chosen: Callable[[Sequence[AnsweredRow]], Sequence[AnsweredRow]],
) -> list[float]:
    """Return for each question that has such rows the lowest value of a measure over them."""
    counted = [chosen(same) for same in questions.values()]
    return [min(getattr(row, measure) for row in same) for same in counted if same]


def _is_adversarial(row: AnsweredRow) -> bool:
    return str(row.row.cells.get("adversarial", True)).strip().lower() not in ("false", "0", "no")


def _originals(same: Sequence[AnsweredRow]) -> list[AnsweredRow]:
    return [row for row in same if not _is_adversarial(row)]


def _counted(same: Sequence[AnsweredRow]) -> list[AnsweredRow]:
    return [row for row in same if _is_adversarial(row)] or list(same)
