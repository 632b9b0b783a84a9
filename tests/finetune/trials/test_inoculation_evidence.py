"""What a run must hold to show an outcome, and what stands in its headline."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from finetune.trials.inoculation import (
    Conclusion,
    current_verdict,
    judge,
    telling_plan,
    verdict_json,
)
from finetune.trials.inoculation_plan import Cell, Plan, Point
from tests.support.runs.points import make_point

PLAN = Plan("minilm", "negation", (10, 400), (2e-5,), (0,))
N = 1000
CLOSED, OPEN_STILL, LOST = (800, 790), (800, 610), (750, 790)


def trained(
    right: tuple[int, int], size: int = 400, lr: float = 2e-5, learnt: float | None = 1.0,
    n: int = N, **facts: Any,  # Any: the fields of a point
) -> Point:  # fmt: skip
    """Return what a training came to: so many right of 1,000, of n as many in proportion."""
    original, challenge = (round(each * n / N) for each in right)
    dose = None if learnt is None else learnt * size
    return replace(make_point(original, challenge, n, Cell(size, lr, 0)), dose=dose, **facts)


def concluded(*points: Point, plan: Plan = PLAN, n: int = N, **facts: Any) -> Conclusion:
    """Conclude a run whose model was right on 80 % of the original set and 60 % of the other."""
    base = replace(
        make_point(round(0.8 * n), round(0.6 * n), n), control=facts.pop("control", None)
    )
    return judge(plan, base, points, **facts).conclusion


QUICK = replace(PLAN, mode="fast")
CASES = {
    "2, learnt with all weights": (concluded(trained(OPEN_STILL)), "2", []),
    "2, quick": (concluded(trained(OPEN_STILL), plan=QUICK), "too_little", ["weights"]),
    "2, small dose": (concluded(trained(OPEN_STILL, 50)), "too_little", ["examples"]),
    "2, all there is": (concluded(trained(OPEN_STILL, 50), available=50), "2", []),
    "2, nearly learnt": (concluded(trained(OPEN_STILL, learnt=0.9)), "2", []),
    "2, not learnt": (concluded(trained(OPEN_STILL, learnt=0.89)), "too_little", ["learnt"]),
    "2, not recorded": (concluded(trained(OPEN_STILL, learnt=None)), "too_little", ["record"]),
    "2, learnt at one of two rates": (
        concluded(trained(OPEN_STILL, learnt=0.2), trained((800, 605), lr=1e-4)), "2", [],
    ),
    "3, enough rows": (concluded(trained(LOST)), "3", []),
    "3, quick": (concluded(trained(LOST), plan=QUICK), "3", []),
    "3, few rows": (concluded(trained(LOST, n=200), n=200), "too_little", ["original"]),
    "3 after 1": (concluded(trained(CLOSED, 10), trained(LOST)), "3", []),
    "1, quick and a small dose": (concluded(trained(CLOSED, 10), plan=QUICK), "1", []),
    "1 at one dose alone": (concluded(trained(CLOSED, 10), trained(OPEN_STILL)), "1", []),
    "1, wide interval": (concluded(trained((800, 760), n=50), n=50), "too_little", ["interval"]),
}  # fmt: skip


def test_an_outcome_stands_only_with_its_evidence() -> None:
    for name, (found, outcome, missing) in CASES.items():
        assert (found.outcome, [each.missing for each in found.lacks]) == (outcome, missing), name


def test_too_little_is_said_with_what_is_missing() -> None:
    for name, (found, outcome, _) in CASES.items():
        assert found.headline.startswith("Too little to tell: ") == (outcome == "too_little"), name
    assert (
        "of the 400 examples themselves only 89 % were learnt" in CASES["2, not learnt"][0].headline
    )


def test_the_size_that_shows_outcome_1_is_told() -> None:
    assert CASES["1 at one dose alone"][0].size == 10


MARKED = {
    "upper layers only": concluded(trained(CLOSED), plan=QUICK),
    "this wording only": concluded(trained(CLOSED, control=0.65), control=0.6),
    "one label prevails": concluded(trained(CLOSED), majority=0.7),
    "a rule does as well": concluded(trained(CLOSED), rules={"numerical": 0.79, "other": 0.78}),
    "original may be lost": concluded(
        trained((770, 780), original_right=tuple(at % 100 < 77 for at in range(N))),
        trained(CLOSED, 10),
    ),
}


def test_what_changes_the_meaning_stands_in_headline_and_badge() -> None:
    for badge, found in MARKED.items():
        assert [mark.badge for mark in found.marks] == [badge]
        assert found.headline == f"Outcome 1: dataset weakness, but {found.marks[0].clause}"


def test_nothing_is_marked_where_nothing_changes_the_meaning() -> None:
    plain = (
        concluded(trained(CLOSED)),
        concluded(trained(CLOSED, control=0.79), control=0.6),
        concluded(trained(CLOSED, control=0.78), control=0.79),
        concluded(trained(OPEN_STILL, control=0.6), control=0.6),
        concluded(trained(CLOSED), majority=0.69, rules={"numerical": 0.78}),
    )
    assert {found.marks for found in plain} == {()}


def test_what_would_tell_is_a_plan_unless_texts_are_missing() -> None:
    quick = telling_plan(replace(QUICK, lrs=(1e-3,)), ["weights", "examples"], 50, 400)
    assert quick == replace(PLAN, sizes=(100,), lrs=(2e-5,))
    assert telling_plan(PLAN, ["examples"], 10, 60) == replace(PLAN, sizes=(60,))
    longer = telling_plan(PLAN, ["learnt"], 400, 400)
    assert longer and len(longer.lrs) == 2 and longer.max_epochs > PLAN.max_epochs
    for missing in ([], ["original"], ["interval"]):
        assert telling_plan(PLAN, missing, 400, 400) is None  # type: ignore[arg-type]  # a list of names


def test_a_stored_verdict_is_read_by_the_same_rule() -> None:
    told = json.loads((Path("assets/gallery") / "esim-spelling.json").read_text(encoding="utf-8"))
    read = current_verdict(told["plan"], told["artefacts"], told["verdict"])
    assert (told["verdict"]["outcome"], read["outcome"]) == ("2", "too_little")
    assert "not recorded" in read["headline"]
    assert read["oracle_lr"]["closed"] == told["verdict"]["oracle_lr"]["closed"]


def test_a_new_verdict_is_read_as_it_was() -> None:
    base = make_point(800, 600, N)
    new = verdict_json(judge(PLAN, base, [trained(OPEN_STILL)]))
    assert current_verdict({}, {}, new) is new and new["outcome"] == "2"


def test_each_outcome_can_be_shown_and_missed() -> None:
    found = {(each.figures, each.outcome) for each, _, _ in CASES.values()}
    assert {(outcome, shown) for outcome in "123" for shown in (outcome, "too_little")} <= found
