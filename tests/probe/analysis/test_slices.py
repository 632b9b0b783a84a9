"""The slices: which examples are in them, and what is measured on each."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from probe.analysis import slices
from probe.analysis.comparison import Row
from probe.analysis.slices import (
    NEGATIONS,
    SLICES,
    answer_type,
    keys_of,
    measure,
    members,
    note_on,
    question_word,
    sliced,
    slices_of,
)
from probe.models.classifier import Prediction
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION, TextPair
from probe.tasks.reading import READING, Question
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Label, Task
from probe.templates import TemplatePair
from probe.text import wordnet

PREMISE = "The old man near the river saw a dog."
SHARED = "every hypothesis word in the premise"
HALF, FEW = "at least half of them", "fewer than half"
OVERLAP, NEGATION, LENGTH = "lexical overlap", "negation in the hypothesis", "hypothesis length"
HANS = "HANS heuristic"
PAIRS: dict[tuple[str, str], Sequence[str]] = {
    (OVERLAP, SHARED): ("The man saw the river.", "THE DOG!"),
    (OVERLAP, HALF): ("The man heard a cat.", "The dog slept well."),  # three of five, two of four
    (OVERLAP, FEW): ("Nobody saw it.", "Birds sing."),
    (NEGATION, "a negation word"): (
        "The man did not see it.", "The man didn't see it.", "Nobody was there.",
        "The man cannot swim.", "He left without it.",
    ),
    (NEGATION, "none"): ("The man saw a knot.", "A nothingness.", "The man saw it."),
    (LENGTH, "up to 5 words"): ("dog .", "dog , dog , dog , dog , dog", "She didn't say so ."),
    (LENGTH, "6 to 10 words"): ("dog , " * 6, "dog , " * 10),
    (LENGTH, "more than 10 words"): ("dog , " * 11,),
    (HANS, "lexical_overlap+subsequence"): ("The old man near the river.",),
    (HANS, "lexical_overlap"): ("The river saw the man.",),
    (HANS, ""): ("The woman saw a dog.",),
}  # fmt: skip


def of(premise: str, hypothesis: str, heuristic: str = "") -> set[tuple[str, str]]:
    """Return the slices a pair is in by group and name."""
    keys = keys_of(NLI, TemplatePair(premise, hypothesis, heuristic=heuristic))
    return {(each.group, each.name) for each in slices_of(NLI) if each.key in keys}


def test_a_pair_is_in_the_slices_of_its_words() -> None:
    for (group, names), several in PAIRS.items():
        for words in several:
            found = {name for own, name in of(PREMISE, words) if own == group}
            assert found == {*filter(None, names.split("+"))}, words
    assert all(word == word.lower() for word in NEGATIONS)
    asleep = ("If it rains, the man sleeps.", "The man sleeps.")  # only what a row says of itself
    assert of(*asleep, "constituent") - of(*asleep) == {(HANS, "constituent")}
    for other in ("guesswork", "a negation word"):
        assert of(PREMISE, "Birds sing.", other) == of(PREMISE, "Birds sing.")


def answer(label: Label, labels: Sequence[Label] = LABELS) -> Prediction:
    return Prediction(label, tuple(0.8 if each == label else 0.1 for each in labels), tuple(labels))


def row(number: int, example: object, *said: Prediction, task: Task = NLI) -> Row:
    return Row(number, task, example, said, "", (False,) * len(said))


E, N, C = LABELS
ROWS = [
    row(0, Pair(PREMISE, "The man saw a dog.", E), answer(E), answer(E)),
    row(1, Pair(PREMISE, "The dog saw a man.", N), answer(E), answer(C)),
    row(2, Pair(PREMISE, "The man saw the river.", C), answer(C), answer(E)),
    row(3, Pair(PREMISE, "Nobody was there.", C), answer(C), answer(C)),
    row(4, Pair(PREMISE, "The man saw the dog.", None), answer(E), answer(E)),
]


def numbers(rows: Sequence[Row], group: str = "") -> list[int]:
    """Return the numbers of rows, or of those of all slices of a group."""
    if group:
        rows = [row for each, own in sliced(rows).items() if each.group == group for row in own]
    return sorted(each.number for each in rows)


def test_each_slice_is_measured_over_all_over_entailed_and_over_the_others() -> None:
    names = {each.name: numbers(group) for each, group in sliced(ROWS).items()}
    assert (names[SHARED], names["a negation word"]) == ([0, 1, 2], [3])
    assert "more than 10 words" not in names
    for group in (OVERLAP, NEGATION, LENGTH):  # its slices part the pairs
        assert numbers(ROWS, group) == [0, 1, 2, 3], group
    place = [each.name for each in slices_of(NLI)].index(SHARED)
    assert [numbers(members(ROWS, place, gold)) for gold in ("all", E)] == [[0, 1, 2], [0]]
    assert [one.gold for one in members(ROWS, place, "non-entailment")] == [N, C]  # as they were
    found = {one.gold: one for one in measure(ROWS) if one.slice.name == SHARED}
    assert {gold: (one.n, [each.value for each in one.scores]) for gold, one in found.items()} == {
        "all": (3, [2 / 3, 1 / 3]),
        E: (1, [1.0, 1.0]),
        # in two classes the second model's contradiction is right where the label is neutral
        "non-entailment": (2, [1 / 2, 1 / 2]),
    }
    test = found["all"].test
    assert (test.n, test.first_higher, test.second_higher, test.p) == (3, 1, 0, 1.0)
    golds = [one.gold for one in measure(ROWS) if one.slice.name == "a negation word"]
    assert golds == ["all", "non-entailment"]
    assert measure(ROWS[4:]) == []
    task = PARAPHRASE_IDENTIFICATION
    pair = TextPair("The dog saw the cat.", "The cat saw the dog.", "non-paraphrase")
    measured = measure([row(0, pair, *[answer("paraphrase", task.labels)] * 2, task=task)])
    overlap = [one for one in measured if one.slice.title == "Every word shared"]
    shares = [(one.gold, one.scores[0].value) for one in overlap]
    assert shares == [("all", 0.0), ("non-paraphrase", 0.0)]


def test_each_task_has_its_slices_with_titles_in_its_words() -> None:
    pair = {"lexical overlap", "negation in the second text", "second text length"}
    for task, groups in (
        (SENTIMENT, {"negation in the text", "text length"}),
        (PARAPHRASE_IDENTIFICATION, pair),
        (NLI, {OVERLAP, NEGATION, LENGTH, HANS}),
    ):
        assert {each.group for each in slices_of(task)} == groups
        for each in slices_of(task):
            assert each.title and each.where and "{" not in each.group + each.name + each.where
    names = {each.name for each in SLICES if each.fits(READING)}
    words = {*slices.QUESTION_WORDS.values(), "how many/much", "other"}
    assert names == words | {*slices.ANSWER_TYPES.values(), "anything else"}


def test_a_question_is_of_the_first_word_that_asks() -> None:
    asked = {
        "Who painted the boats?": "who", "To whom did she write?": "who", "Whose boat sank?": "who",
        "When did the storm come?": "when", "Where is the harbour?": "where",
        "How many boats were there?": "how many/much", "For how much was it sold?": "how many/much",
        "How did the boat sink?": "how", "What sank?": "what", "In what year did it sink?": "what",
        "WHICH boat sank?": "which", "Why did it sink?": "why",
        "What did the man who sank it say?": "what", "Name the boat that sank.": "other",
        "Did the somewhat old boat sink?": "other", "": "other",
    }  # fmt: skip
    assert {question: question_word(question) for question in asked} == asked


def test_an_answer_is_of_the_kind_of_the_shortest() -> None:
    number, other = "number or date", "organisation or other name"
    for question, answers, kind in (
        ("When was it?", ["1956"], number),
        ("When was it?", ["14 May"], number),
        ("When was it?", ["Wednesday"], number),
        ("How many?", ["thirty boats"], number),
        ("What fell?", ["three per cent"], number),
        ("Whom did he meet?", ["President Obama"], "person"),
        ("What did he see?", ["Rome"], "place"),
        ("What did he join?", ["Stanford University"], other),
        ("What was it?", ["the nests of other birds"], "anything else"),
        ("Why did he stay?", ["he was the only one left"], "anything else"),
        ("Who was it?", ["Zofia Lamm"], "person"),
        ("Where was it?", ["Zirat"], "place"),
        ("What was it?", ["the Hadza"], other),
        ("When was it?", ["in the long summer of that year", "1956"], number),
    ):
        assert answer_type(question, answers) == kind, answers


TEXT = "Rome had thirty boats in 1956. They were blue."
QUESTIONS = [
    row(at, Question(text, TEXT, gold), *(answer(each, [each]) for each in said), task=READING)
    for at, (text, gold, *said) in enumerate(
        (
            ("How many boats had Rome?", "thirty", "thirty", "thirty boats"),
            ("When was it?", "1956", "1956", "1956"),
            ("When was it blue?", "1956", "thirty", "1956"),
            ("What colour were they?", "blue", "Rome", "They were blue"),
        )
    )
]


def test_a_slice_of_questions_has_the_f1_of_each_model_and_the_bootstrap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for group in ("question word", "answer type"):  # every question is in one slice of each
        assert numbers(QUESTIONS, group) == [0, 1, 2, 3], group
    (when,) = [one for one in measure(QUESTIONS) if one.slice.name == "when"]
    assert (when.gold, when.n, [one.value for one in when.scores]) == ("all", 2, [0.5, 1.0])
    assert when.test.name == "bootstrap" and not when.has_labels
    assert (when.test.difference, when.test.second_higher) == (-0.5, 1)
    place = [each.name for each in slices_of(READING)].index("number or date")
    assert numbers(members(QUESTIONS, place, "all")) == [0, 1, 2]
    keys = keys_of(READING, replace(QUESTIONS[0].example, gold=None))
    assert "how many/much" in keys and "number or date" not in keys
    assert "in place of a recogniser of names" in note_on(READING)
    monkeypatch.setattr(wordnet, "missing", lambda: "WordNet is not on this machine.")
    assert {each.group for each in slices.SLICES if each.fits(READING)} == {"question word"}
    assert note_on(READING) == (
        "Slices by the type of the answer are left out. WordNet is not on this machine."
    )
