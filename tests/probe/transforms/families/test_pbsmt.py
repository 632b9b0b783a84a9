"""The transforms that translate the premise."""

from typing import Any

from probe.pbsmt import MAX_WORDS
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION, TextPair
from probe.tasks.sentiment import POSITIVE, SENTIMENT, Review
from probe.tasks.task import Label, Task
from tests.support.models.scored_tokens import made

TEXT = "The woman in the old house never reads a letter to her friends."


def translated(
    example: Any, task: Task = NLI, label: Label = "", name: str = "pbsmt", half: bool = False
) -> tuple[Any, str]:
    """Return the new example, None where the transform is not for it, and why it is not exact."""
    examples, why = made(name, example, 0, task, (label,) if label else (), keep_first_half=half)
    return (examples[0] if examples else None), why


def test_the_label_chooses_the_system_and_without_one_there_is_none() -> None:
    by_name = [translated(Pair(TEXT, "old"), name=f"pbsmt_{letter}") for letter in "enc"]
    assert [translated(Pair(TEXT, "old"), label=label) for label in LABELS] == by_name
    assert len({new for new, _ in by_name if new}) == 3
    assert translated(Pair(TEXT, "old"))[0] is None


def test_of_a_very_long_premise_the_first_words_are_translated() -> None:
    long = "zqxv " * (MAX_WORDS + 1)
    assert translated(Pair(long, "old"), name="pbsmt_e") == (
        Pair(long, " ".join(["zqxv"] * MAX_WORDS)),
        f"only the first {MAX_WORDS} words of the premise were translated",
    )


def test_a_question_is_translated_into_the_second_by_the_system_of_its_label() -> None:
    pair = TextPair("How do I learn to cook?", "What is a good book?")
    for label in PARAPHRASE_IDENTIFICATION.labels:
        new, _ = translated(pair, PARAPHRASE_IDENTIFICATION, label)
        assert new.text1 == pair.text1
        assert new.text2 == new.text2.lower() != pair.text2


def test_the_second_half_of_a_single_text_is_translated_from_the_first() -> None:
    review = Review("The film is one of the best of this year.")
    alone, whole = (translated(review, SENTIMENT, POSITIVE, half=half) for half in (False, True))
    # five of ten words and marks are kept
    assert whole[0].text == f"the film is one of {alone[0].text}"
    assert translated(Review("Wonderful"), SENTIMENT, POSITIVE)[0] is None
