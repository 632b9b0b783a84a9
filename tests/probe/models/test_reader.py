"""Spans by brute force, windows over long passages, and what is refused."""

import math
from collections.abc import Sequence
from itertools import product

import pytest
import torch

from probe.analysis.importance import Method, attribute
from probe.analysis.transformed import examine
from probe.errors import ModelError
from probe.models.library import load, load_any
from probe.models.reader import (
    CANDIDATES,
    MAX_ANSWER_TOKENS,
    Reader,
    SpanPrediction,
    best_spans,
)
from probe.models.text_model import TokenPlace
from probe.tasks.nli import NLI
from probe.tasks.reading import Question
from tests.support.cases import each
from tests.support.files.questions import asked
from tests.support.models.tiny_bert import tiny_reader

SHORT = asked("The old mill stood by the river. Anna fixed it.", "Who fixed the mill?", (), "1")
LONG = asked(" ".join(f"word{n} stood here." for n in range(120)), "Who stood there?", (), "2")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A reader of random weights."""
    return load_any(str(tiny_reader(tmp_path_factory.mktemp("reader"))))


def answered(reader: Reader, questions: list[Question]) -> list[SpanPrediction]:
    """Return the answers, which are spans."""
    answers = reader.predict(questions)
    spans = [answer for answer in answers if isinstance(answer, SpanPrediction)]
    assert len(spans) == len(questions)
    return spans


def by_brute_force(
    start: torch.Tensor, end: torch.Tensor, inside: Sequence[int]
) -> tuple[int, int, float]:
    """Return first and last token of the best span, and the log of the sum over all spans."""
    spans = [
        (first, last)
        for first, last in product(inside, inside)
        if 0 <= last - first < MAX_ANSWER_TOKENS
    ]
    scores = {span: float(start[span[0]] + end[span[1]]) for span in spans}
    best = max(spans, key=lambda span: scores[span])
    return *best, math.log(sum(math.exp(score) for score in scores.values()))


@each("seed", range(20))
def test_the_best_span_and_its_probability_are_those_of_brute_force(seed: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    n = 45
    start, end = torch.randn(2, n, generator=chance)
    inside = range(4, n - 1)
    places = [
        TokenPlace(1, "", 0, 10 * at, 10 * at + 9) if at in inside else None for at in range(n)
    ]
    first, last, total = by_brute_force(start, end, inside)
    (best, second), summed = best_spans(start, end, places, 2)
    assert (best.start, best.end) == (10 * first, 10 * last + 9)
    assert (
        best.score == pytest.approx(float(start[first] + end[last])) and best.score > second.score
    )
    assert summed == pytest.approx(total, rel=1e-5)
    assert best_spans(torch.zeros(3), torch.zeros(3), [None] * 3, 2) == ([], -math.inf)


def test_an_answer_stands_where_it_says_and_a_long_passage_takes_several_windows(
    reader: Reader,
) -> None:
    short, long = answered(reader, [SHORT, LONG])
    assert short.windows == 1
    assert long.windows > 1
    for question, answer in ((SHORT, short), (LONG, long)):
        assert question.passage[answer.start : answer.end] == answer.label != ""
        assert len(set(answer.labels)) == len(answer.labels) <= CANDIDATES
        assert answer.labels[0] == answer.label and 0 < answer.confidence <= 1
        assert sorted(answer.probabilities, reverse=True) == list(answer.probabilities)
    for question, answer in ((SHORT, short), (LONG, long)):  # whatever stands beside it
        (alone,) = answered(reader, [question])
        assert (alone.start, alone.end) == (answer.start, answer.end)
        assert alone.confidence == pytest.approx(answer.confidence, rel=1e-4)
    words = LONG.passage.split(" ")
    turned = [" ".join(words[by:] + words[:by]) for by in range(0, 100, 20)]
    answers = answered(reader, [asked(passage, LONG.question, (), "3") for passage in turned])
    assert max(answer.start for answer in answers) > 600


def test_a_reader_answers_one_task_and_has_no_labels(reader: Reader) -> None:
    assert load_any(reader.name).task.name == "reading"
    with pytest.raises(ModelError, match="not natural language inference"):
        load_any(reader.name, task=NLI)
    with pytest.raises(ModelError, match="no labels to order"):
        load_any(reader.name, order=("entailment", "neutral", "contradiction"))
    with pytest.raises(ModelError, match="answers with spans of a passage, not with labels"):
        load(reader.name)


def test_only_the_beginning_of_an_endless_question_is_read(reader: Reader) -> None:
    endless = asked(SHORT.passage, "who fixed the mill " * 100)
    assert reader.too_long(endless) and not reader.too_long(SHORT)
    (window,) = reader.windows(endless)
    assert sum(not place.text for place in window.places if place) == reader.max_question
    (answer,) = answered(reader, [endless])
    assert answer.label in SHORT.passage


def test_the_scores_of_an_answer_add_up_to_what_the_model_says_without_any_word(
    reader: Reader,
) -> None:
    (answer,) = answered(reader, [SHORT])  # whatever stands beside it
    (scores,) = attribute(reader, [SHORT], [answer.label], "integrated_gradients", steps=100)
    beside = attribute(reader, [SHORT, LONG], [answer.label, "word1"])[0]
    (alone,) = attribute(reader, [SHORT], [answer.label])
    for first, second in zip(beside.tokens("passage"), alone.tokens("passage"), strict=True):
        assert first.score == pytest.approx(second.score, abs=1e-6)
    assert scores.delta == pytest.approx(0, abs=0.02)
    for name in ("question", "passage"):
        text = getattr(SHORT, name)
        assert [text[token.start : token.end].lower() for token in scores.tokens(name)] == [
            token.token.removeprefix("##") for token in scores.tokens(name)
        ]


def test_an_answer_that_is_nowhere_rests_on_nothing_and_only_the_question_is_transformed(
    reader: Reader,
) -> None:
    methods: list[Method] = ["gradient_x_input", "saliency", "occlusion"]
    for method in methods:
        (scores,) = attribute(reader, [SHORT], ["a bridge"], method)
        assert {token.score for token in scores.tokens("passage")} == {0.0}, method
    for transformed in examine(reader, SHORT, ["sort", "drop", "replace"]).transformed:
        assert transformed.result.example.passage == SHORT.passage
        assert transformed.result.example.question != SHORT.question
