"""What is said of fast mode before it runs, from runs that were measured in both modes."""

from dataclasses import replace

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import (
    MEASURED,
    MeasuredModes,
    conclude,
    fast_notes,
    known_differences,
)
from finetune.trials.inoculation_plan import Cell, Plan
from tests.support.cases import failures
from tests.support.runs.points import make_point

PLAN = Plan("minilm", "negation", (10,), (1e-3,), (0,), "fast")


def notes(plan: Plan) -> str:
    return " ".join(fast_notes([plan]))


def test_a_run_that_was_measured_is_warned_of_as_it_came_out() -> None:
    def told(row: MeasuredModes) -> None:
        said = notes(replace(PLAN, model=row.model, challenge=row.challenge))
        assert ("another outcome" in said) == (row.fast != row.full)
        assert ("ruined the original set" in said) == (row.fast_loss >= row.full_loss + 5)
        assert "not measured" not in said

    assert failures(told, MEASURED) == {}


def test_numbers_ruin_the_original_set_in_fast_mode() -> None:
    assert "MiniLM on “Change a number” 25.3 points instead of 5" in notes(
        replace(PLAN, challenge="numerical")
    )


def test_a_run_that_was_not_measured_says_so() -> None:
    assert "not measured for mine on “Add a negation”" in notes(replace(PLAN, model="mine"))
    assert list(known_differences([replace(PLAN, model="mine")])) == []
    for silent in ({"challenge": "word_overlap"}, {"mode": "full"}, {"mode": "full", "model": "x"}):
        assert notes(replace(PLAN, **silent)) == ""  # type: ignore[arg-type]  # of several types


def test_several_runs_are_told_of_in_one_sentence_a_kind() -> None:
    plans = [replace(PLAN, challenge=name) for name in ("negation", "length_mismatch", "numerical")]
    first, second = fast_notes(plans)
    assert "“Add a negation”" in first and "“Lengthen the other text”" in first
    assert "“Change a number”" in second


def test_a_verdict_repeats_what_was_known(sets: Sets) -> None:
    points = [make_point(80, 40), make_point(78, 70, cell=Cell(10, 1e-3, 0))]
    (known,) = known_differences([PLAN])
    assert known in conclude(PLAN, sets, points).warnings
    assert known not in conclude(replace(PLAN, mode="full"), sets, points).warnings
