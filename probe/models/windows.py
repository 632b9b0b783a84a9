"""A premise that is longer than what a model reads, read in overlapping windows.

The windows are whole sentences. As in the zero-shot SummaC of Laban et al. 2022, and for both
labels in Schuster et al. 2022, what a document entails or contradicts is what its best part does.
The window to which the model gives entailment the highest probability decides for entailment, if
that is its answer; likewise for contradiction; if both do, the surer one; if neither does, the
window that came nearest to either is shown, and its answer stands. The papers score single
sentences; a window here has several, since evidence may lie in more than one. Every further window
is a further chance for entailment and contradiction, so that fewer long premises are neutral.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

from probe.graphemes import clusters
from probe.models.prediction import Prediction
from probe.tasks.task import Label
from probe.text.words import sentences

Long = Literal["cut", "windows"]
LONG_TITLE = "Texts longer than the model reads"
LONG: Mapping[Long, str] = {
    "cut": "the end is cut",
    "windows": "the premise is read in windows, of which the best decides",
}
"""What is done with a text that is longer than the model reads."""
WINDOW_TOKENS = 256
"""The most sub-words of a window and the other text: inference is learnt from short premises."""
OVERLAP = 2
"""Two neighbouring windows share at most this part, a half, of their tokens."""
Span = tuple[int, int]
"""The characters of a text from the first on and before the second."""


@dataclass(frozen=True)
class WindowPrediction(Prediction):
    """The answer of the window that decides, number `number` of `windows`: source[start:end]."""

    start: int
    end: int
    number: int
    windows: int


def window_json(prediction: Prediction) -> dict[str, Any]:  # Any: JSON
    """Return which window decided: number, of, start and end; nothing where there was one."""
    if not isinstance(prediction, WindowPrediction):
        return {}
    place = {"start": prediction.start, "end": prediction.end}
    return {"window": {"number": prediction.number, "of": prediction.windows, **place}}


def window_words(prediction: WindowPrediction) -> str:
    """Name the window that decided: "2 of 3"."""
    return f"{prediction.number} of {prediction.windows}"


def windows_of(text: str, room: int, length: Callable[[str], int]) -> list[Span]:
    """Return overlapping windows of whole sentences with at most so many sub-words each.

    `length` counts the sub-words of a text. A sentence that is longer is divided at a blank, or
    between two characters where it has none.
    """
    units = [
        unit for start, end in sentences(text) for unit in _divided(text, start, end, room, length)
    ]
    totals = [0, *accumulate(length(text[start:end]) for start, end in units)]
    spans: list[Span] = []
    first = 0
    while first < len(units):
        last = first + 1
        while last < len(units) and totals[last + 1] - totals[first] <= room:
            last += 1
        spans.append((units[first][0], units[last - 1][1]))
        if last == len(units):
            break
        first += 1
        while OVERLAP * (totals[last] - totals[first]) > room:
            first += 1
    return spans


def _divided(
    text: str, start: int, end: int, room: int, length: Callable[[str], int]
) -> list[Span]:
    """Return a stretch of text in parts of at most so many sub-words."""
    inside = text[start:end]
    if length(inside) <= room or len(clusters(inside)) < 2:
        return [(start, end)]
    middle = len(inside) // 2
    blanks = [at for at, character in enumerate(inside) if character.isspace()]
    ends = blanks or list(accumulate(map(len, clusters(inside))))[:-1]
    cut = start + min(ends, key=lambda at: abs(at - middle))
    begin = cut + (len(text[cut:end]) - len(text[cut:end].lstrip()))
    halves = ((start, cut), (begin, end))
    return [part for half in halves for part in _divided(text, *half, room, length)]


def decided(
    answers: Sequence[Prediction], windows: Sequence[Span], settled: Sequence[Label]
) -> Prediction:
    """Return the answer to a source by those to its windows; of equal ones the first.

    `settled` are the labels that a single window can settle.
    """
    if len(answers) == 1:
        return answers[0]
    best = {
        label: max(range(len(answers)), key=[it.by_label[label] for it in answers].__getitem__)
        for label in settled
    }
    said = {label: at for label, at in best.items() if answers[at].label == label} or best
    at = max(said.items(), key=lambda each: answers[each[1]].by_label[each[0]])[1]
    own, (start, end) = vars(answers[at]), windows[at]
    return WindowPrediction(**own, start=start, end=end, number=at + 1, windows=len(windows))
