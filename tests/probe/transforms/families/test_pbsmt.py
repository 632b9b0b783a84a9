"""The transforms that translate the premise."""

import random
from dataclasses import replace
from typing import Any

from probe.pbsmt import (
    MAX_WORDS,
)
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION, TextPair
from probe.tasks.sentiment import POSITIVE, SENTIMENT, Review
from probe.tasks.task import Label, Task
from probe.transforms import REGISTRY, Options
from probe.transforms import apply as apply_to_all
from probe.transforms.apply import Result
from probe.transforms.registry import Tools
from tests.support.cases import each


def apply(name: str, premise: str, label: Label | None = None) -> tuple[str, str] | None:
    """Return the new hypothesis and why it is not exact; None where the transform is not for it."""
    tools = Tools(random.Random(0), Options(), labels=(label,) if label else ())
    changed = REGISTRY[name].make(Pair(premise, "old", "neutral", "r1"), NLI, tools)
    return (changed.made[0].hypothesis, changed.why) if changed else None


def test_without_a_label_there_is_no_system_to_choose() -> None:
    assert apply("pbsmt", "A man sat.") is None


@each(
    ("label", "name"),
    zip(LABELS, ["pbsmt_e", "pbsmt_n", "pbsmt_c"], strict=True),
)
def test_the_label_chooses_the_system(label: Label, name: str) -> None:
    text = "The woman in the old house never reads a letter to her friends."
    assert apply("pbsmt", text, label) == apply(name, text)


def test_the_systems_differ() -> None:
    text = "The woman in the old house never reads a letter to her friends."
    assert len({apply(name, text) for name in ("pbsmt_e", "pbsmt_n", "pbsmt_c")}) == 3


def test_of_a_very_long_premise_the_first_words_are_translated() -> None:
    assert apply("pbsmt_e", "zqxv " * (MAX_WORDS + 1)) == (
        " ".join(["zqxv"] * MAX_WORDS),
        f"only the first {MAX_WORDS} words of the premise were translated",
    )


# other tasks


def translated(example: Any, task: Task, label: Label | None, **options: Any) -> Result:
    """Translate an example by the system of a label."""
    chosen = replace(Options(), **options)
    ((result,),) = apply_to_all(
        "pbsmt", [replace(example, gold=label)], task, 0, chosen, lambda unread: []
    )
    return result


def test_a_question_is_translated_into_the_second_by_the_system_of_its_label() -> None:
    pair = TextPair("How do I learn to cook?", "What is a good book?")
    results = [
        translated(pair, PARAPHRASE_IDENTIFICATION, label).example
        for label in PARAPHRASE_IDENTIFICATION.labels
    ]
    assert {result.text1 for result in results} == {pair.text1}
    assert all(result.text2 == result.text2.lower() != pair.text2 for result in results)


def test_the_second_half_of_a_single_text_is_translated_from_the_first() -> None:
    review = Review("The film is one of the best of this year.")
    alone = translated(review, SENTIMENT, POSITIVE).example.text
    whole = translated(review, SENTIMENT, POSITIVE, keep_first_half=True).example.text
    assert whole == f"the film is one of {alone}"  # five of ten words and marks


def test_a_text_of_one_word_has_no_half_to_translate() -> None:
    assert not translated(Review("Wonderful"), SENTIMENT, POSITIVE).changed
