"""What holds of a family beyond its golden rows: for any text, any seed and each option."""

import sys
from collections import Counter
from operator import eq, gt, lt
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from probe.pbsmt import MAX_WORDS
from probe.tasks.nli import LABELS, NEUTRAL, NLI, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION, TextPair
from probe.tasks.reading import READING, Question, Span
from probe.tasks.sentiment import POSITIVE, SENTIMENT, Review
from probe.tasks.task import Label, Task
from probe.transforms import REGISTRY, Options, Result, apply
from probe.transforms.families.heuristics import CLAUSE, left_alone
from tests.probe.transforms.test_transforms import ODD
from tests.support.cases import each
from tests.support.models.scored_tokens import made
from tests.support.property_settings import STEADY

SENTENCE = "Her happy uncle quickly bought a large boat and his employer rarely agreed."
TEXT = st.lists(st.sampled_from(["a", "A", "man", "sat.", "Sat.", "é", "?!"]), max_size=9).map(
    " ".join
)
SEEDS = st.integers(0, 99)


def transformed(name: str, pair: Pair, seed: int = 0, **options: object) -> tuple[Pair, ...]:
    """Return the pairs of a transform."""
    return made(name, pair, seed, **options)[0]


def hypothesis_of(name: str, text: str, seed: int = 0, **options: object) -> str | None:
    """Return what becomes of a hypothesis, None where the transform does not apply."""
    pairs = transformed(name, Pair("It rained.", text, NEUTRAL, "r1"), seed, **options)
    return pairs[0].hypothesis if pairs else None


# distractors

PASSAGE = "Anna Weber rebuilt the mill in 1850. It stands in Oldtown."
WHO = "Who rebuilt the mill in Germany?"
FALSE = {
    "addsent": f"{PASSAGE} Jeff Dean rebuilt the mill in England.",
    "addsent_first": f"Jeff Dean rebuilt the mill in England. {PASSAGE}",
    "addsent_other": f"{PASSAGE} Charles Babbage rebuilt the mill in England.",
}


def distracted(name: str, question: Question, predicted: str = "Oldtown") -> Result:
    """Return what a transform makes of a question, which a model answers so."""
    return apply(name, [question], READING, 0, Options(), lambda read: [], [predicted])[0][0]


@each("name", FALSE)
def test_a_false_sentence_stands_in_the_passage_and_the_question_stays(name: str) -> None:
    result = distracted(name, Question(WHO, PASSAGE, "Anna Weber", "q1", (Span("Anna Weber", 0),)))
    example, passage = result.example, result.example.passage
    assert (passage, example.question, example.gold) == (FALSE[name], WHO, "Anna Weber")
    assert passage.startswith("Anna Weber", example.answers[0].start)
    assert "false answer: " in result.note and "altered: Germany → England" in result.note
    result = distracted(name, Question("When was the mill in Germany rebuilt?", PASSAGE), "1850")
    assert "1825" in result.example.passage and result.gold is None  # the predicted one is faked
    result = distracted(name, Question("Who?", PASSAGE, "Anna Weber"))
    assert not result.changed and "a word in the question" in result.note
    for text in ODD.values() if name == "addsent_first" else ():
        for question in (Question(text, PASSAGE, "1850"), Question(WHO, text, text)):
            example = distracted(name, question, text).example
            assert text in example.passage or example.question == text


# translations


def translated(
    example: Any, task: Task = NLI, label: Label = "", name: str = "pbsmt", half: bool = False
) -> tuple[Any, str]:
    """Return the new example, None where the transform is not for it, and why it is not exact."""
    examples, why = made(name, example, 0, task, (label,) if label else (), keep_first_half=half)
    return (examples[0] if examples else None), why


def test_the_label_chooses_the_system_and_the_task_the_text_to_translate() -> None:
    pair = Pair("The woman in the old house never reads a letter to her friends.", "old")
    by_name = [translated(pair, name=f"pbsmt_{letter}") for letter in "enc"]
    assert [translated(pair, label=label) for label in LABELS] == by_name
    assert len({new for new, _ in by_name if new}) == 3 and translated(pair)[0] is None
    asked = TextPair("How do I learn to cook?", "What is a good book?")
    for label in PARAPHRASE_IDENTIFICATION.labels:
        new, _ = translated(asked, PARAPHRASE_IDENTIFICATION, label)
        assert new.text1 == asked.text1 and new.text2 == new.text2.lower() != asked.text2
    review = Review("The film is one of the best of this year.")
    alone, whole = (translated(review, SENTIMENT, POSITIVE, half=half) for half in (False, True))
    assert whole[0].text == f"the film is one of {alone[0].text}"  # five of ten words and marks
    assert translated(Review("Wonderful"), SENTIMENT, POSITIVE)[0] is None
    long = "zqxv " * (MAX_WORDS + 1)
    assert translated(Pair(long, "old"), name="pbsmt_e") == (
        Pair(long, " ".join(["zqxv"] * MAX_WORDS)),
        f"only the first {MAX_WORDS} words of the premise were translated",
    )


# heuristics


def small(text: str) -> list[str]:
    """Return a text's words, case aside."""
    return text.lower().split()


@each("name", [name for name, entry in REGISTRY.items() if entry.family == "heuristic"])
def test_gold_labels_follow_from_the_kind_of_change(name: str) -> None:
    expected: tuple[str, ...] = ("non-entailment",) * 3
    if name.endswith("ant") or name == "neghyp":
        expected = ("non-entailment", "neutral", "entailment")
    elif name.endswith("syn"):
        expected = LABELS
    pairs = [Pair(SENTENCE, SENTENCE, gold) for gold in LABELS]
    results = apply(name, pairs, NLI, 0, Options(), lambda examples: [])
    assert tuple(result.gold for (result,) in results) == expected


@STEADY
@given(TEXT, TEXT, SEEDS, st.sampled_from(["contiguous", "gappy"]))
def test_orders_parts_and_negations_keep_the_words(
    premise: str, hypothesis: str, seed: int, kind: str
) -> None:
    before = Pair(premise, hypothesis)
    can = [len(set(small(text))) > 1 for text in (premise, hypothesis)]
    for name, source in (("shuffleboth", hypothesis), ("shuffleprem", premise)):
        pairs = transformed(name, before, seed)
        assert bool(pairs) == (any(can) if name == "shuffleboth" else can[0])
        for pair in pairs:
            assert Counter(pair.premise.split()) == Counter(premise.split())
            assert Counter(pair.hypothesis.split()) == Counter(source.split())
            assert [
                small(pair.premise) != small(premise),
                small(pair.hypothesis) != small(source),
            ] == (can if name == "shuffleboth" else [False, True])
    words = premise.split()
    pairs = transformed("premsubseq", before, seed, subsequence=kind)
    assert bool(pairs) == (len(words) > 1)
    for pair in pairs:
        part, rest = pair.hypothesis.split(), iter(words)
        assert 0 < len(part) < len(words) and all(word in rest for word in part)
        starts = range(len(words) - len(part))  # a stretch never has the last word
        assert kind == "gappy" or any(words[at : at + len(part)] == part for at in starts)
    for name, read, edited in (
        ("neghyp", "hypothesis", "hypothesis"),
        ("negprem", "premise", "premise"),
        ("negprem_hyp", "premise", "hypothesis"),
    ):
        pairs = transformed(name, before)
        assert bool(pairs) == bool(getattr(before, read).split())
        for pair in pairs:
            assert small(getattr(pair, edited)) == small(f"{CLAUSE} {getattr(before, read)}")
            other = "premise" if edited == "hypothesis" else "hypothesis"
            assert getattr(pair, other) == getattr(before, other)


@each("text", ["Mr. Smith left.", "Dr. Ames sang.", "St. Ives is far.", "I ran."])
def test_a_denied_text_keeps_the_capital_of_a_title(text: str) -> None:
    assert hypothesis_of("neghyp", text) == f"{CLAUSE} {text}"


@each(
    ("alone", "position", "text"),
    [
        (True, 1, "He has/VBZ gone/VBN ./."),
        (True, 0, "Has/VBZ the/DT man/NN gone/VBN ?/."),
        (True, 1, "He has/VBZ to/TO go/VB ./."),
        (True, 1, "He did/VBD n't/RB go/VB ./."),
        (True, 1, "Where/WRB did/VBD the/DT man/NN go/VB ?/."),
        (True, 3, "It/PRP rained/VBD ,/, did/VBD it/PRP ?/."),
        (True, 1, "He is/VBZ tall/JJ ./."),
        (True, 0, "Paul/NNP sat/VBD ./."),
        (True, 2, "He is/VBZ not/RB tall/JJ ./."),
        (False, 1, "He has/VBZ a/DT dog/NN ./."),
        (False, 1, "He did/VBD the/DT work/NN ./."),
        (False, 1, "He had/VBD a/DT dog/NN named/VBN Rex/NNP ./."),
    ],
)
def test_names_auxiliaries_copulas_and_negations_are_left_alone(
    alone: bool, position: int, text: str
) -> None:
    pairs = [item.rpartition("/") if "/" in item else (item, "/", "PRP") for item in text.split()]
    assert left_alone([p[0] for p in pairs], [p[2] for p in pairs], position) == alone


# misspellings

ROWS_OF_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
WORDS = ["The", "old", "NASA", "He", "a", "it", "can't", "well-known", "12,500", "Über", "sees"]
MISSPELT = st.builds(
    lambda words, mark: " ".join(words) + mark,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=7),
    st.sampled_from(["", ".", "!", " ?"]),
)


def one_word(before: str, after: str | None) -> tuple[str, str]:
    """Return the word that changed and what it became, both between blanks."""
    words = list(zip(before.split(" "), (after or "").split(" "), strict=True))
    ((old, new),) = [(first, second) for first, second in words if first != second]
    return old, new


@each("name", ["spelling_swap", "spelling_keyboard", "spelling"])
@STEADY
@given(MISSPELT, SEEDS)
def test_one_word_changes_and_keeps_its_capitals_and_marks(name: str, text: str, seed: int) -> None:
    old, new = one_word("12-planet plan", hypothesis_of(name, "12-planet plan", seed))
    assert old in (("plan",) if name == "spelling_swap" else ("plan", "12-planet"))
    after = hypothesis_of(name, text, seed)
    if after is None:
        return
    old, new = one_word(text, after)
    assert [c for c in new if not c.isalpha()] == [c for c in old if not c.isalpha()]
    assert [c.isupper() for c in after] == [c.isupper() for c in text]
    changed = [i for i in range(len(old)) if old[i].lower() != new[i].lower()]
    if name == "spelling_swap":
        assert Counter(new.lower()) == Counter(old.lower())
        assert changed == [changed[0], changed[0] + 1]
    if name == "spelling_keyboard":
        (at,) = changed
        (row,) = [row for row in ROWS_OF_KEYS if old[at].lower() in row]
        assert abs(row.index(old[at].lower()) - row.index(new[at].lower())) == 1


def test_every_word_and_either_error_may_be_the_one() -> None:
    ways = [hypothesis_of("spelling", "maps", seed) for seed in range(400)]
    swaps = sum(Counter(way) == Counter("maps") for way in ways if way)
    assert 150 < swaps < 250  # 200 and five standard deviations
    changed = [hypothesis_of("spelling_swap", "cold rain fell", seed) for seed in range(100)]
    assert {one_word("cold rain fell", after)[0] for after in changed} == {"cold", "rain", "fell"}
    # content words leave out singular nouns
    assert hypothesis_of("spelling_keyboard", "The dog saw us.", spelling="content") is None


# antonyms and numbers


@each(
    ("premise", "option", "expected"),
    [
        ("Impolite!", "paper", ["Polite!"]),
        ("She was impolite.", "naik_code", []),  # the head of a cluster of adjectives
        ("Her wife sang.", "naik_code", ["Her husband sang."]),
        # WordNet has one sense of "daughter", with the lemmas daughter (son) and girl (boy)
        ("Her daughter sang.", "paper", ["Her boy sang.", "Her son sang."]),
    ],
)
def test_each_antonym_makes_a_contradiction(premise: str, option: str, expected: list[str]) -> None:
    pairs = transformed("antonym", Pair(premise, "?", None, "r7"), antonym=option)
    assert sorted(pair.hypothesis for pair in pairs) == expected
    assert {(p.premise, p.gold, p.id) for p in pairs} <= {(premise, "contradiction", "r7")}


def test_antonyms_end_at_32_pairs_and_leave_the_global_reader_of_nltk_alone() -> None:
    assert len(transformed("antonym", Pair("war " * 40, "It rained."))) == 32
    loader = sys.modules["nltk.wsd"].wordnet
    assert type(loader).__name__ == "LazyCorpusLoader"  # it would have become a reader


def counts(statement: str) -> set[int]:
    """Return the counts that a statement allows, of 0 to 10,000."""
    *words, bound = statement.removeprefix("Tim has ").removesuffix(" nails.").split()
    holds = {"": eq, "more than": gt, "less than": lt}[" ".join(words)]
    return {n for n in range(10_001) if holds(n, int(bound))}


@STEADY
@given(st.integers(1, 9999), SEEDS)
def test_every_label_follows_from_arithmetic(number: int, seed: int) -> None:
    pairs = transformed("numerical", Pair(f"Tim has {number} nails.", "It rained."), seed)
    solved = []
    for pair in pairs:
        premise, hypothesis = counts(pair.premise), counts(pair.hypothesis)
        other = "neutral" if premise & hypothesis else "contradiction"
        solved.append("entailment" if premise <= hypothesis else other)
    assert [pair.gold for pair in pairs] == ["entailment", "contradiction", "neutral"] == solved


@each(("number", "changed"), [("first", {"30"}), ("random", {"30", "40"})])
def test_the_first_number_or_any_is_changed(number: str, changed: set[str]) -> None:
    pair = Pair("Tim has 30 nails and 40 bolts.", "?")
    made = [transformed("numerical", pair, seed, number=number)[0] for seed in range(40)]
    gone = {n for each in made for n in ("30", "40") if n not in each.hypothesis.split()}
    assert gone == changed


@each(
    ("premise", "pairs"),
    [
        ("Tim has at least 5 hats.", 0),
        ("Tim paid €5.", 0),
        ("Tim won 2:1.", 0),
        ("Tim has ٣ hats.", 0),
        ("Tim has ² hats", 0),
        (f"Tim has {'7' * 5000} nails.", 3),
    ],
)
def test_what_is_not_a_bare_count_is_passed_over(premise: str, pairs: int) -> None:
    assert len(transformed("numerical", Pair(premise, "?"))) == pairs
