"""Spans by brute force, windows over long passages, and what is refused."""

import math
from itertools import product
from pathlib import Path

import pytest
import torch

from probe.data.questions import Question
from probe.errors import ModelError
from probe.models.reader import (
    MAX_ANSWER_TOKENS,
    BestSpan,
    Reader,
    answers_with_spans,
    best_span,
    load_reader,
)
from tests.support.tiny_bert import tiny_bert
from tests.support.tiny_reader import tiny_reader

SHORT = Question("The old mill stood by the river. Anna fixed it.", "Who fixed the mill?", (), "1")
LONG = Question(" ".join(f"word{n} stood here." for n in range(120)), "Who stood there?", (), "2")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A reader of random weights."""
    return load_reader(str(tiny_reader(tmp_path_factory.mktemp("reader"))))


def by_brute_force(
    start: torch.Tensor, end: torch.Tensor, places: list[tuple[int, int] | None]
) -> tuple[int, int, float]:
    """Return first and last token of the best span, and the log of the sum over all spans."""
    inside = [at for at, place in enumerate(places) if place]
    spans = [
        (first, last)
        for first, last in product(inside, inside)
        if 0 <= last - first < MAX_ANSWER_TOKENS
    ]
    scores = {span: float(start[span[0]] + end[span[1]]) for span in spans}
    best = max(spans, key=lambda span: scores[span])
    return *best, math.log(sum(math.exp(score) for score in scores.values()))


@pytest.mark.parametrize("seed", range(20))
def test_the_best_span_and_its_probability_are_those_of_brute_force(seed: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    n = 45
    start, end = torch.randn(2, n, generator=chance)
    places = [(10 * at, 10 * at + 9) if 4 <= at < n - 1 else None for at in range(n)]
    first, last, total = by_brute_force(start, end, places)
    found = best_span(start, end, places)
    assert (found.start, found.end) == (10 * first, 10 * last + 9)
    assert found.score == pytest.approx(float(start[first] + end[last]))
    assert found.total == pytest.approx(total, rel=1e-5)


def test_a_window_without_the_passage_has_no_span() -> None:
    assert best_span(torch.zeros(3), torch.zeros(3), [None] * 3) == BestSpan(
        0, 0, -math.inf, -math.inf
    )


def test_an_answer_stands_where_it_says_and_a_long_passage_takes_several_windows(
    reader: Reader,
) -> None:
    short, long = reader.predict([SHORT, LONG])
    assert short.windows == 1
    assert long.windows > 1
    for question, answer in ((SHORT, short), (LONG, long)):
        assert question.passage[answer.start : answer.end] == answer.text != ""
        assert 0 < answer.confidence <= 1


def test_what_stands_beside_a_question_does_not_change_its_answer(reader: Reader) -> None:
    together = reader.predict([SHORT, LONG, SHORT])
    for question, answer in zip((SHORT, LONG, SHORT), together, strict=True):
        (alone,) = reader.predict([question])
        assert (alone.start, alone.end) == (answer.start, answer.end)
        assert alone.confidence == pytest.approx(answer.confidence, rel=1e-4)


def test_an_end_far_down_in_a_long_passage_can_be_the_answer(reader: Reader) -> None:
    starts = {reader.predict([_turned(by)])[0].start for by in range(0, 100, 20)}
    assert max(starts) > 600


def _turned(by: int) -> Question:
    words = LONG.passage.split(" ")
    return Question(" ".join(words[by:] + words[:by]), LONG.question, (), "3")


def test_a_classifier_is_no_reader(tmp_path: Path, reader: Reader) -> None:
    folder = str(tiny_bert(tmp_path / "classifier"))
    assert answers_with_spans(reader.name)
    assert not answers_with_spans(folder)
    with pytest.raises(ModelError, match="no trained reader"):
        load_reader(folder)


def test_a_model_that_is_not_there_is_refused() -> None:
    with pytest.raises(ModelError, match="no model or folder"):
        answers_with_spans("no-such-reader")
