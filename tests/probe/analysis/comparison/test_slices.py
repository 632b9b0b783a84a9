"""The slices: which pairs are in them, and what is measured on each."""

import pytest

from probe.analysis.comparison import Row
from probe.analysis.slices import NEGATIONS, facts_of, measure, members, sliced, slices_of
from probe.models.classifier import Prediction
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION, TextPair
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Label, Task
from probe.templates import TemplatePair

PREMISE = "The old man near the river saw a dog."


def of(premise: str, hypothesis: str, heuristic: str = "") -> dict[str, str]:
    """Return the slices a pair is in, by group; several of a group joined."""
    pair = TemplatePair(premise, hypothesis, heuristic=heuristic)
    facts = facts_of(NLI, pair)
    found: dict[str, str] = {}
    for each in slices_of(NLI):
        if each.holds(facts):
            found[each.group] = "+".join(filter(None, [found.get(each.group, ""), each.name]))
    return found


@pytest.mark.parametrize(
    ("hypothesis", "name"),
    [
        ("The man saw the river.", "every hypothesis word in the premise"),
        ("THE DOG!", "every hypothesis word in the premise"),
        ("The man heard a cat.", "at least half of them"),  # the man a of five words
        ("The dog slept well.", "at least half of them"),  # two of four: exactly half
        ("Nobody saw it.", "fewer than half"),  # one of three
        ("Birds sing.", "fewer than half"),
    ],
)
def test_lexical_overlap_is_the_share_of_the_hypothesis(hypothesis: str, name: str) -> None:
    assert of(PREMISE, hypothesis)["lexical overlap"] == name


@pytest.mark.parametrize(
    ("hypothesis", "negated"),
    [
        ("The man did not see it.", True),
        ("The man didn't see it.", True),
        ("Nobody was there.", True),
        ("The man cannot swim.", True),
        ("He left without it.", True),
        ("The man saw a knot.", False),
        ("A nothingness.", False),
        ("The man saw it.", False),
    ],
)
def test_a_negation_is_a_whole_word_of_the_hypothesis(hypothesis: str, negated: bool) -> None:
    said = of("No man saw nothing.", hypothesis)["negation in the hypothesis"]
    assert said == ("a negation word" if negated else "none")


def test_negations_are_lower_case() -> None:
    assert all(word == word.lower() for word in NEGATIONS)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (1, "up to 5 words"),
        (5, "up to 5 words"),
        (6, "6 to 10 words"),
        (10, "6 to 10 words"),
        (11, "more than 10 words"),
    ],
)
def test_length_counts_words_and_no_marks(words: int, name: str) -> None:
    assert of(PREMISE, " , ".join(["dog"] * words) + " .")["hypothesis length"] == name


def test_a_contraction_is_one_word_long() -> None:
    assert facts_of(NLI, Pair("A.", "She didn't say so.")).length == 4


@pytest.mark.parametrize(
    ("hypothesis", "heuristics"),
    [
        ("The old man near the river.", "lexical_overlap+subsequence"),
        ("The river saw the man.", "lexical_overlap"),
        ("The woman saw a dog.", ""),
    ],
)
def test_heuristics_are_those_that_the_rules_find(hypothesis: str, heuristics: str) -> None:
    assert of(PREMISE, hypothesis).get("HANS heuristic", "") == heuristics


def test_constituent_is_only_what_a_row_says_of_itself() -> None:
    premise, hypothesis = "If it rains, the man sleeps.", "The man sleeps."
    assert "constituent" not in of(premise, hypothesis)["HANS heuristic"]
    assert "constituent" in of(premise, hypothesis, "constituent")["HANS heuristic"]


def test_a_heuristic_of_another_name_is_in_no_slice() -> None:
    assert "HANS heuristic" not in of(PREMISE, "Birds sing.", "guesswork")


def row(number: int, hypothesis: str, gold: Label | None, *said: Label) -> Row:
    predictions = tuple(
        Prediction(label, tuple(0.8 if each == label else 0.1 for each in LABELS), LABELS)
        for label in said
    )
    return Row(number, NLI, Pair(PREMISE, hypothesis, gold), predictions, "", (False,) * len(said))


ROWS = [
    row(0, "The man saw a dog.", "entailment", "entailment", "entailment"),
    row(1, "The dog saw a man.", "neutral", "entailment", "contradiction"),
    row(2, "The man saw the river.", "contradiction", "contradiction", "entailment"),
    row(3, "Nobody was there.", "contradiction", "contradiction", "contradiction"),
    row(4, "The man saw the dog.", None, "entailment", "entailment"),
]


def test_a_slice_holds_answered_pairs_with_a_gold_label() -> None:
    found = {each.name: [one.number for one in group] for each, group in sliced(ROWS).items()}
    assert found["every hypothesis word in the premise"] == [0, 1, 2]
    assert found["a negation word"] == [3]


def test_a_slice_without_pairs_is_left_out() -> None:
    assert "more than 10 words" not in {each.name for each in sliced(ROWS)}


def test_each_slice_is_measured_over_all_over_entailed_and_over_the_others() -> None:
    found = {
        one.gold: (one.n, [each.value for each in one.scores])
        for one in measure(ROWS)
        if one.slice.name == "every hypothesis word in the premise"
    }
    assert found == {
        "all": (3, [2 / 3, 1 / 3]),
        "entailment": (1, [1.0, 1.0]),
        # in two classes the second model's contradiction is right where the label is neutral
        "non-entailment": (2, [1 / 2, 1 / 2]),
    }


def test_the_test_of_a_slice_is_that_of_its_pairs() -> None:
    test = next(one.test for one in measure(ROWS) if one.slice.group == "lexical overlap")
    assert (test.n, test.only_first, test.only_second, test.p) == (3, 1, 0, 1.0)


def test_a_gold_class_without_pairs_is_left_out() -> None:
    golds = [one.gold for one in measure(ROWS) if one.slice.name == "a negation word"]
    assert golds == ["all", "non-entailment"]


def test_the_rows_of_a_slice_are_found_by_its_place() -> None:
    place = [each.name for each in slices_of(NLI)].index("every hypothesis word in the premise")
    assert [one.number for one in members(ROWS, place, "all")] == [0, 1, 2]
    assert [one.number for one in members(ROWS, place, "entailment")] == [0]
    others = members(ROWS, place, "non-entailment")
    assert [one.gold for one in others] == ["neutral", "contradiction"]  # as they were


def test_slices_of_a_group_of_shares_or_lengths_part_the_pairs() -> None:
    by_group: dict[str, list[int]] = {}
    for each, group in sliced(ROWS).items():
        by_group.setdefault(each.group, []).extend(one.number for one in group)
    for group in ("lexical overlap", "negation in the hypothesis", "hypothesis length"):
        assert sorted(by_group[group]) == [0, 1, 2, 3]


def test_without_gold_labels_there_is_nothing_to_measure() -> None:
    assert measure(ROWS[4:]) == []


def test_slices_of_a_task_of_one_text_are_those_of_its_words() -> None:
    assert {each.group for each in slices_of(SENTIMENT)} == {
        "negation in the text",
        "text length",
    }


def test_only_inference_has_slices_of_hans() -> None:
    groups = {each.group for each in slices_of(PARAPHRASE_IDENTIFICATION)}
    assert groups == {"lexical overlap", "negation in the second text", "second text length"}


def test_a_paraphrase_slice_is_measured_over_each_label_alone() -> None:
    task = PARAPHRASE_IDENTIFICATION
    pair = TextPair("The dog saw the cat.", "The cat saw the dog.", "non-paraphrase")
    answer = Prediction("paraphrase", (0.9, 0.1), task.labels)
    measured = measure([Row(0, task, pair, (answer, answer), "", (False, False))])
    overlap = [one for one in measured if one.slice.title == "Every word shared"]
    assert [(one.gold, one.scores[0].value) for one in overlap] == [
        ("all", 0.0),
        ("non-paraphrase", 0.0),
    ]


@pytest.mark.parametrize("task", [NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT])
def test_every_slice_has_a_title_and_a_clause_in_the_words_of_its_task(task: Task) -> None:
    for each in slices_of(task):
        assert each.title and each.where
        assert "{" not in each.group + each.name + each.where
