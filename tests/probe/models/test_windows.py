"""A long premise in windows: whole sentences that overlap, and the best of them decides."""

from dataclasses import replace
from itertools import pairwise

import pytest

from probe.analysis.importance import attribute
from probe.errors import OptionError
from probe.models.library import that_reads
from probe.models.prediction import Prediction
from probe.models.windows import (
    WINDOW_TOKENS,
    WindowPrediction,
    decided,
    window_words,
    windows_of,
)
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, LABELS, Pair
from probe.tasks.sentiment import SENTIMENT
from tests.support.cases import each
from tests.support.models.tiny_models import shared

SENTENCES = [f"Man number {at} walks here with his dog." for at in range(60)]
LONG = Pair(" ".join(SENTENCES), "He moves.")
SHORT = Pair("A man walks.", "He moves.")


def words(text: str) -> int:
    return len(text.split())


def answer(*probabilities: float) -> Prediction:
    return Prediction(LABELS[probabilities.index(max(probabilities))], probabilities, LABELS)


@each("room", [8, 9, 17, 40, 200, 10_000])
def test_windows_are_whole_sentences_that_cover_all_and_overlap_by_a_half_at_most(
    room: int,
) -> None:
    text = LONG.premise
    spans = windows_of(text, room, words)
    assert (spans[0][0], spans[-1][1]) == (0, len(text))
    for start, end in spans:
        assert words(text[start:end]) <= room
        assert text[start:].startswith("Man") and text[end - 1] == "."
    for (_, end), (start, _) in pairwise(spans):
        assert not text[end:start].strip()  # nothing is between them
        assert 2 * words(text[start:end]) <= room
        assert room < 16 or start < end


def test_a_sentence_that_is_too_long_is_divided_where_it_can_be() -> None:
    for text, length in (("word " * 50, words), ("字" * 50, len)):
        spans = windows_of(text, 8, length)
        assert len(spans) >= 7
        covered = {at for start, end in spans for at in range(start, end)}
        assert "".join(text[at] for at in range(len(text)) if at not in covered).strip() == ""


@each(
    "answers, number",
    [
        ([answer(0.2, 0.7, 0.1), answer(0.6, 0.3, 0.1), answer(0.3, 0.5, 0.2)], 1),
        ([answer(0.2, 0.1, 0.7), answer(0.6, 0.3, 0.1)], 0),  # both: the surer one
        ([answer(0.6, 0.3, 0.1), answer(0.1, 0.2, 0.7), answer(0.1, 0.1, 0.8)], 2),
        # the second entails, though the first has more for contradiction than it for entailment
        ([answer(0.09, 0.46, 0.45), answer(0.44, 0.3, 0.26)], 1),
        ([answer(0.2, 0.7, 0.1), answer(0.1, 0.6, 0.3)], 1),  # neither: what came nearest
        ([answer(0.2, 0.7, 0.1)], 0),
    ],
)
def test_the_best_window_decides(answers: list[Prediction], number: int) -> None:
    spans = [(at, at + 1) for at in range(len(answers))]
    found = decided(answers, spans, (ENTAILMENT, CONTRADICTION))
    if len(answers) == 1:
        assert found is answers[0]
        return
    assert isinstance(found, WindowPrediction)
    assert (found.number, found.start, found.windows) == (number + 1, number, len(answers))


def test_a_long_premise_gets_answer_and_importance_of_the_window_that_is_named() -> None:
    plain, windowed = shared(), that_reads(shared(), "windows")
    (whole, short) = windowed.predict([LONG, SHORT])
    assert isinstance(whole, WindowPrediction) and whole.windows > 1
    assert window_words(whole) == f"{whole.number} of {whole.windows}"
    part = replace(LONG, premise=LONG.premise[whole.start : whole.end])
    (alone,) = plain.predict([part])
    assert whole.by_label == pytest.approx(alone.by_label, abs=1e-5)
    assert type(short) is Prediction
    assert short.by_label == pytest.approx(plain.predict([SHORT])[0].by_label, abs=1e-5)
    assert plain.too_long(LONG) and not windowed.too_long(LONG)
    assert windowed.too_long(Pair("A man.", "word " * WINDOW_TOKENS))
    (scores,) = attribute(windowed, [LONG], [whole.label])
    tokens = scores.tokens("premise")
    assert tokens[0].start == whole.start and tokens[-1].end == whole.end
    assert LONG.premise[tokens[0].start : tokens[0].end].lower() == "man"
    model = replace(shared(), task=SENTIMENT)
    with pytest.raises(OptionError, match="long=cut"):
        that_reads(model, "windows")
    assert that_reads(model, "cut") is model
