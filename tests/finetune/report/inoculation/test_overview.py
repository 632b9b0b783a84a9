"""What several runs say together, in a sentence."""

from dataclasses import replace

import pytest

from finetune.report.inoculation import COUNTS, MEANINGS, TONES, overview, seconds_left, status
from finetune.trials.inoculation import OUTCOMES
from finetune.trials.inoculation_plan import BASE, Cell, InoculationRun
from tests.support.runs.points import make_point, make_run

NAMES = ("negation", "spelling", "numerical", "length_mismatch", "word_overlap", "antonym")
AFTER = {
    "1": [(80, 78), (80, 80)],
    "2": [(80, 60), (80, 61)],
    "between": [(80, 66), (80, 70)],
    "3": [(60, 70), (60, 78)],
    "0": [(80, 80), (80, 80)],
    "too_little": [(80, 60), (80, 61)],
}


def run_with(outcome: str, challenge: str, model: str = "minilm") -> InoculationRun:
    """A run that came to an outcome: the original and challenge accuracies of its two sizes."""
    before = (800, 800) if outcome == "0" else (800, 600)
    points = [make_point(*before, n=1000)]
    points += [
        make_point(10 * original, 10 * challenge, n=1000, cell=Cell(size, 2e-5, 0))
        for size, (original, challenge) in zip(
            (10, 50 if outcome == "too_little" else 100), AFTER[outcome], strict=True
        )
    ]
    run = make_run(points, model, challenge, f"{model}-{challenge}")
    assert run.verdict["outcome"] == outcome
    return run


EVERY = [run_with(outcome, name) for outcome, name in zip(OUTCOMES, NAMES, strict=True)]


def test_of_one_model_it_is_said_which_challenge_came_to_what() -> None:
    assert overview(EVERY, "oracle_lr") == (
        "MiniLM recovers from “Add a negation” after 10 examples; on “Lengthen the other text” "
        "part of the gap closes; on “Misspell a word” it learns little; “Change a number” costs it "
        "part of what it knew; on “Add a tautology” it has no gap; on “Contradict by an "
        "antonym” there is too little to tell."
    )


def test_where_nothing_closes_the_model_is_named_all_the_same() -> None:
    assert overview([EVERY[1]], "oracle_lr") == "MiniLM: on “Misspell a word” it learns little."


def test_the_size_is_the_smallest_from_which_on_the_gap_stays_closed() -> None:
    points = [
        make_point(800, right, 1000, Cell(size, 2e-5, 0) if size else BASE)
        for size, right in {0: 600, 10: 800, 50: 620, 100: 800}.items()
    ]
    assert "after 100 examples" in overview([make_run(points)], "oracle_lr")


def test_of_several_models_the_challenges_are_counted() -> None:
    runs = [*EVERY[:2], run_with("3", "negation", "esim")]
    assert overview(runs, "oracle_lr") == (
        "Gaps closed by examples. MiniLM: 1 closed, 1 not; ESIM: 1 at the cost of the original set."
    )


def test_runs_that_are_not_judged_say_nothing() -> None:
    assert overview([make_run([], state="queued")], "oracle_lr") == ""


@pytest.mark.parametrize("words", [COUNTS, MEANINGS, TONES])
def test_each_outcome_has_its_words(words: dict[str, str]) -> None:
    assert set(words) == set(OUTCOMES)


def test_runs_under_way_say_how_far_they_are() -> None:
    run = replace(make_run([make_point(80, 60)]), state="running")
    assert status([run]) == "Learning “Add a negation”: 0 of 2 trainings done."


@pytest.mark.parametrize(
    ("state", "said"),
    [("failed", "It failed after 0 of 2"), ("cancelled", "It was stopped after 0 of 2")],
)
def test_runs_that_ended_early_say_where(state: str, said: str) -> None:
    ended = replace(make_run([make_point(80, 60)]), state=state)
    assert status([ended]).startswith(said)
    assert status([make_run([make_point(80, 60)])]) == ""


def test_the_time_left_grows_with_the_examples_that_are_missing() -> None:
    base = replace(make_point(80, 60), seconds=2.0)
    trained = replace(make_point(80, 70, cell=Cell(10, 2e-5, 0)), seconds=4.0)
    cells = make_run([base, trained, make_point(80, 80, cell=Cell(50, 2e-5, 0))])
    waiting = replace(cells.cells[-1], state="queued", result=None)
    run = replace(cells, state="running", cells=(*cells.cells[:-1], waiting))
    assert seconds_left(run) == pytest.approx(2 + 50 * (4 - 2) / 10)
    assert seconds_left(make_run([base])) is None
