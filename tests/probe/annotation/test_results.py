"""What votes come to: majorities, failed controls, kappa, the paper beside them, and a model."""

import math
import random
from itertools import product
from pathlib import Path

import pytest

from probe.errors import SurveyError
from probe.models.bundled import BUNDLED
from probe.models.library import load_any
from probe.runs.store import Store
from probe.surveys.annotation_results import BROKEN, paper_share, results, results_json
from probe.surveys.annotation_set import set_control
from probe.surveys.batches import fleiss_kappa, majority
from probe.tasks.sentiment import SENTIMENT
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.annotation import answer_all, honest, person, small_set


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


def plain_kappa(votes: list[list[int]], answers: int) -> float:
    """Fleiss' kappa pair by pair: how often two people agree on an item, and by chance."""
    pairs = [
        first == second
        for row in votes
        for (one, first), (two, second) in product(enumerate(row), repeat=2)
        if one != two
    ]
    every = [vote for row in votes for vote in row]
    chance = sum((every.count(answer) / len(every)) ** 2 for answer in range(answers))
    return (sum(pairs) / len(pairs) - chance) / (1 - chance)


@pytest.mark.parametrize("seed", range(20))
def test_kappa_is_that_of_a_plain_computation(seed: int) -> None:
    rng = random.Random(seed)
    answers, people = rng.randint(2, 4), rng.randint(2, 6)
    votes = [[rng.randrange(answers) for _ in range(people)] for _ in range(rng.randint(3, 12))]
    votes.append(list(range(2)) + [0] * (people - 2))
    counts = [[row.count(answer) for answer in range(answers)] for row in votes]
    assert fleiss_kappa(counts) == pytest.approx(plain_kappa(votes, answers))


def test_kappa_of_fleiss_own_example() -> None:
    counts = [
        *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
        *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
    ]
    assert fleiss_kappa(counts) == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize("counts", [[], [[1, 0], [0, 1]], [[3, 0], [3, 0]]])
def test_kappa_is_not_defined_without_votes_to_compare(counts: list[list[int]]) -> None:
    assert math.isnan(fleiss_kappa(counts))


@pytest.mark.parametrize(
    ("votes", "wanted", "answer"),
    [
        (["a", "a", "b"], 3, "a"),
        (["a", "a"], 3, "a"),
        (["a", "b", "c"], 3, ""),
        (["a"], 3, ""),
        (["a", "a", "b", "b"], 4, ""),
        ([], 3, ""),
    ],
)
def test_a_majority_is_more_than_half_of_the_wanted_votes(
    votes: list[str], wanted: int, answer: str
) -> None:
    assert majority(votes, wanted) == answer


def test_shares_are_those_of_the_majorities(store: Store) -> None:
    annotated = small_set(store)
    for each in range(3):
        answer_all(store, annotated, person(each), honest)
    found = results(store, annotated)
    shares = {line.transform: (line.share.value, line.share.n) for line in found.lines}
    assert shares == {"": (0.0, 4), "sort": (1.0, 4)}
    assert (found.kappa, found.kappa_n) == (1.0, 8)
    assert [line.paper for line in found.lines] == [0.0783, 0.9407]
    told = results_json(annotated, found)
    assert [line["transform"] for line in told["lines"]] == ["untouched", "sort"]
    assert told["returned"] == {"batches": 6, "failed": 0}


def test_a_batch_that_failed_its_control_counts_for_nothing(store: Store) -> None:
    annotated = small_set(store)
    answer_all(store, annotated, person(0), lambda item: "valid" if item.transform else "invalid")
    found = results(store, annotated)
    assert (found.returned.batches, found.returned.failed) == (2, 2)
    assert [line.share.n for line in found.lines] == [0, 0]
    assert [line.open for line in found.lines] == [4, 4]
    assert math.isnan(found.kappa)


def test_an_item_without_a_majority_is_told_apart(store: Store) -> None:
    annotated = small_set(store, votes=2)
    answer_all(store, annotated, person(0), honest)
    answer_all(store, annotated, person(1), lambda item: item.control or "valid")
    undecided = {line.transform: line.undecided for line in results(store, annotated).lines}
    assert undecided == {"": 0, "sort": 4}


def test_people_and_a_model_answer_the_same_texts(store: Store) -> None:
    annotated = small_set(store, "labels")
    for each in range(3):
        answer_all(store, annotated, person(each), lambda item: item.control or "positive")
    model = load_any(next(name for name in BUNDLED if name == "minilm_sst2"), task=SENTIMENT)
    found = results(store, annotated, model)
    whole = found.lines[0]
    assert whole.share.value == 1.0
    assert whole.model is not None
    assert (whole.model.agreement.value, whole.model.agreement.n) == (1.0, 4)
    assert found.lines[1].model is not None
    assert 0.5 <= found.lines[1].model.confidence.value <= 1.0
    assert [paper_share(annotated, name) for name in ("", BROKEN, "sort")] == [0.83, 0.49, None]


def test_controls_can_be_changed_until_somebody_has_answered(store: Store) -> None:
    annotated = small_set(store)
    set_control(store, ME, annotated.survey.id, "i8", "invalid")
    changed = small_set(store)
    for ask in (
        lambda: set_control(store, YOU, changed.survey.id, "i8", "valid"),
        lambda: set_control(store, ME, changed.survey.id, "i1", "valid"),
        lambda: set_control(store, ME, changed.survey.id, "i8", "perhaps"),
    ):
        with pytest.raises(SurveyError):
            ask()
    answer_all(store, changed, person(0), honest)
    with pytest.raises(SurveyError, match="have answered already"):
        set_control(store, ME, changed.survey.id, "i8", "invalid")
