"""The smallest changes: each way against a plain search, within its budget, the same each time."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pytest

from probe.analysis.smallest import (
    BUDGET,
    MOST,
    WAYS,
    Edit,
    Smallest,
    smallest,
    smallest_json,
    words_in,
)
from probe.errors import OptionError
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI, Pair
from probe.tasks.reading import READING
from probe.text.words import substitute
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import shared
from tests.support.pages.lessons import setting


def without(text: str, out: Sequence[Edit]) -> str:
    return " ".join(substitute(text, out).split())


def answers(model: Classifier, pair: Pair, texts: Sequence[str]) -> list[str]:
    return [each.label for each in model.predict([replace(pair, hypothesis=t) for t in texts])]


def found_of(pair: Pair, way: str, budget: int = BUDGET) -> Smallest:
    (found,) = smallest(shared(), pair, [way], budget=budget)  # type: ignore[list-item]
    return found


def test_fewest_words_out_are_those_that_all_sets_show() -> None:
    model, flipped = load("da"), 0
    for pair in bundled_examples(NLI, "test")[:40:5]:
        (found,) = smallest(model, pair, ["delete"], budget=5000)
        words = words_in(pair.hypothesis)
        (before,) = answers(model, pair, [pair.hypothesis])
        for size in range(1, min(MOST, len(words)) + 1):
            texts = [without(pair.hypothesis, out) for out in combinations(words, size)]
            others = {
                text
                for text, label in zip(texts, answers(model, pair, texts), strict=True)
                if label != before
            }
            if others:
                break
        assert found.found == bool(others), pair
        if others:
            flipped += 1
            assert found.steps[-1].text in others and len(found.steps[-1].changes) == size
            assert found.sure == size - 1 and ("no fewer do" in found.sentence) == (size > 1)
        else:
            assert found.sure == min(MOST, len(words)) and "Nothing up to" in found.sentence
    assert 0 < flipped < 8


def test_of_a_reduced_text_no_single_word_can_go() -> None:
    for pair in tiny_pairs(6):
        found = found_of(pair, "reduce")
        (before,) = answers(shared(), pair, [pair.hypothesis])
        assert {step.prediction.label for step in found.steps} == {before}
        lengths = [len(words_in(step.text)) for step in found.steps]
        assert lengths == sorted(set(lengths), reverse=True), pair
        text = found.steps[-1].text
        rest = [without(text, [word]) for word in words_in(text)] if len(words_in(text)) > 1 else []
        assert before not in answers(shared(), pair, rest)
        assert found == found_of(pair, "reduce")  # chance has no part in it


def test_each_way_changes_the_words_that_it_says_within_its_budget() -> None:
    pair = Pair("A man sleeps.", "The good man is awake.", None)
    for way, facts in WAYS.items():
        found = found_of(pair, way)
        assert 1 <= found.asked <= BUDGET and found.field == "hypothesis", way
        for old, new in found.steps[-1].changes:
            assert old in pair.hypothesis and (not new) == (facts.edits is WAYS["delete"].edits)
        assert smallest_json(found)["steps"][-1]["text"] == found.steps[-1].text
    assert Edit(4, 8, "bad") in WAYS["antonym"].edits(shared(), pair.hypothesis)
    assert Edit(0, 3, "It is not the case that the") in WAYS["negation"].edits(
        shared(), pair.hypothesis
    )
    one = found_of(pair, "delete", 1)  # too small for all single words
    assert (one.found, one.sure, one.asked) == (False, 0, 0)
    assert "not all single changes were" in one.sentence
    short = found_of(pair, "reduce", 6)
    assert short.asked <= 6 and (short.sure == 1 or "the budget ended there" in short.sentence)


def test_of_a_span_words_are_taken_out_alone_and_what_is_not_there_is_refused() -> None:
    reader = setting(READING).classifier
    question = bundled_examples(READING, "test")[0]
    (found,) = smallest(reader, question, budget=60)
    assert (found.way, found.field) == ("reduce", "question")
    labels = {step.prediction.label for step in found.steps}
    assert all(READING.agrees(label, found.steps[0].prediction.label) for label in labels)
    pair = tiny_pairs(1)[0]
    (whole,) = smallest(shared(), pair, ["delete"], "premise")
    assert whole.field == "premise" and whole.steps[0].text == pair.premise
    for model, example, asked, sentence in (
        (reader, question, {"ways": ["delete"]}, "the way 'delete' is none of those of reading"),
        (shared(), pair, {"field": "passage"}, "has no text 'passage'"),
        (shared(), pair, {"budget": 0}, "the budget is 1 to 5,000 texts"),
    ):
        with pytest.raises(OptionError, match=sentence):
            next(smallest(model, example, **asked))  # type: ignore[arg-type]
