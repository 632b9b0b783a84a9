"""The outcomes of Liu et al. 2019 with our thresholds, what a run must hold to show them."""

import json
import math
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import pytest

from finetune.report import files
from finetune.report.inoculation import counter_lines, curve_frame, details, point_rows
from finetune.training.recipes import default_rate
from finetune.trials.base import row_json
from finetune.trials.datasets import Sets, sets_facts, worst_variants
from finetune.trials.inoculation import (
    ALL,
    BASE,
    INOCULATION,
    KIND,
    LIU_SIZES,
    MEASURED,
    MEASURES,
    OUTCOMES,
    TRIALS,
    Cell,
    Conclusion,
    Epoch,
    Outcome,
    Plan,
    Point,
    SizeOutcome,
    Thresholds,
    badge,
    baseline_scores,
    cells,
    check,
    choose,
    classify,
    conclude,
    counter_sentence,
    counter_tests,
    current_verdict,
    fast_notes,
    inoculation_run,
    judge,
    kept_name,
    known_differences,
    known_results,
    merge,
    nested,
    outcome_of,
    pack_scores,
    read_sizes,
    resolved,
    sets_from,
    sets_json,
    telling_plan,
    unpack_scores,
    verdict_json,
)
from finetune.trials.params import param_of
from finetune.trials.planning import Choices
from finetune.ui.html.inoculation import outcome
from probe.errors import ExperimentError
from probe.models.weights import pairs_hash
from probe.pictures.curves import counter_tests_in
from probe.statistics import Estimate, mean
from probe.tasks.nli import NLI
from probe.tasks.reading import READING, Question, Span
from tests.support.cases import failures
from tests.support.models.tiny_word_models import QUESTIONS
from tests.support.runs.points import make_point, make_run
from tests.support.runs.stored import stored

PLAN = Plan("minilm", "negation", (10, 400), (2e-5,), (0,))
QUICK = replace(PLAN, mode="fast", lrs=(1e-3,))
SMALL, LARGE, N = Cell(10, 2e-5, 0), Cell(400, 2e-5, 0), 1000


def certain(value: float) -> Estimate:
    """Return an estimate with a narrow interval on the value's side of zero."""
    return Estimate(value, value - 0.005, value + 0.005, 1000)


def unsure(value: float) -> Estimate:
    """Return an estimate whose interval includes zero."""
    return Estimate(value, -0.01, abs(value) + 0.1, 1000)


TABLE: list[tuple[Estimate, Estimate, Estimate, Estimate, Outcome]] = [
    (certain(0.019), certain(0.9), certain(0.0), certain(0.0), "0"),
    (unsure(0.10), certain(0.9), certain(0.0), certain(0.09), "0"),
    (certain(0.01), certain(0.9), certain(0.05), certain(0.0), "3"),
    (certain(0.15), certain(0.80), certain(0.0), certain(0.12), "1"),
    (certain(0.15), certain(0.79), certain(0.0), certain(0.12), "between"),
    (certain(0.15), certain(0.24), certain(0.0), certain(0.04), "2"),
    (certain(0.15), certain(0.25), certain(0.0), certain(0.04), "between"),
    (certain(0.15), certain(-0.5), certain(0.0), certain(-0.08), "2"),
    (certain(0.15), certain(0.5), certain(0.0), unsure(0.08), "2"),
    (certain(0.15), certain(0.95), certain(0.85 - 0.82), certain(0.14), "3"),
    (certain(0.15), certain(0.1), certain(0.07), certain(0.01), "3"),
    (certain(0.15), certain(0.95), certain(0.029), certain(0.14), "1"),
    (certain(0.15), certain(0.95), unsure(0.04), certain(0.14), "between"),
]


def test_the_outcome_follows_the_table_and_thresholds_are_settings() -> None:
    assert [classify(*row[:4]) for row in TABLE] == [row[4] for row in TABLE]
    quantities = (certain(0.15), certain(0.85), certain(0.0), certain(0.13))
    strict = classify(*quantities, Thresholds(cured=0.90))
    assert (classify(*quantities), strict) == ("1", "between")
    assert set(OUTCOMES) == set(get_args(Outcome))
    assert set(MEASURES) == {f.name for f in fields(SizeOutcome) if f.type is Estimate}
    assert (badge("1"), badge("between")) == ("1 · gap closes", "between")


def test_gap_closed_and_drop_are_those_of_the_paper() -> None:
    before, after = make_point(80, 60), make_point(78, 75, cell=LARGE)
    found = outcome_of(before, [after])
    assert found == outcome_of(before, [after])  # intervals too
    values = [each.value for each in (found.gap, found.closed, found.drop, found.gain)]
    assert values == pytest.approx([0.20, 0.75, 0.02, 0.15])  # 15 of 20 points closed
    same = outcome_of(before, [make_point(80, 60, cell=LARGE)])
    assert (same.drop.low, same.drop.value, same.drop.high) == (0, 0, 0)
    no_gap = outcome_of(make_point(60, 60), [make_point(60, 60, cell=LARGE)])
    assert no_gap.outcome == "0" and math.isnan(no_gap.closed.value)
    short = replace(before, challenge_right=(True,) * 6 + (False,) * 4)
    longer = replace(after, challenge_right=(True,) * 7 + (False,) * 3)
    assert outcome_of(short, [longer]).gap.n == 10  # test sets may differ in length
    before, after = make_point(80, 60), make_point(80, 75, cell=LARGE)
    loose, tight = (outcome_of(before, [after], paired=paired).gap for paired in (False, True))
    assert tight.high - tight.low < loose.high - loose.low  # the same rows are right


def test_the_paper_chooses_the_rate_by_the_challenge_and_we_also_by_dev() -> None:
    points = [
        make_point(80, 62, cell=Cell(400, 1e-6, 0), dev=0.81),
        make_point(75, 78, cell=Cell(400, 1e-4, 0), dev=0.76),
    ]
    assert [one.cell.lr for one, *_ in choose(points, "oracle_lr")] == [1e-4]
    assert [one.cell.lr for one, *_ in choose(points, "dev_lr")] == [1e-6]
    tied = [make_point(80, 70, cell=Cell(400, lr, 0)) for lr in (1e-4, 1e-5)]
    assert choose(tied, "oracle_lr")[0][0].cell.lr == 1e-5
    seeds = [
        replace(make_point(80, right, cell=Cell(400, 1e-5, right)), control=right / 100)
        for right in (60, 70)
    ]
    chosen = merge(*choose(seeds, "oracle_lr"))
    assert chosen.challenge == pytest.approx(0.65)
    assert outcome_of(make_point(80, 60), seeds).seeds == 2
    assert chosen.challenge_right[65] == 0.5  # one of the two seeds
    verdict = verdict_json(judge(PLAN, replace(make_point(80, 60), control=0.4), seeds))
    assert verdict["control"] == {"before": 0.4, "after": pytest.approx(0.65)}


def test_a_verdict_is_plain_json_of_every_size_and_both_choices() -> None:
    flat = judge(PLAN, make_point(60, 60), [make_point(60, 60, cell=LARGE)])
    row = json.loads(json.dumps(verdict_json(flat), allow_nan=False))
    assert (row["outcome"], row["closed"], row["oracle_lr"]["size"]) == ("0", None, 400)
    points = [
        make_point(800, 605, N, Cell(10, 1e-6, 0), dev=0.81),
        make_point(800, 790, N, Cell(10, 1e-4, 0), dev=0.80),
        make_point(800, 610, N, LARGE),
    ]
    verdict = judge(PLAN, make_point(800, 600, N), points)
    assert [one.outcome for one in verdict.by_size] == ["1", "2"]
    assert verdict.by_size[-1].name == "Outcome 2: model weakness"
    row = verdict_json(verdict)
    assert [one["lr"] for one in row["by_size"].values()] == [1e-4, 2e-5]
    assert [one["lr"] for one in row["by_size_dev"].values()] == [1e-6, 2e-5]
    with pytest.raises(ValueError, match="no size has been computed"):
        judge(PLAN, make_point(80, 60), [])


def test_what_to_beware_of_is_said_where_it_holds() -> None:
    def warnings(**change: object) -> str:
        settings = {"base": make_point(800, 600, N), "points": [make_point(800, 790, N, LARGE)]}
        return " ".join(judge(PLAN, **{**settings, **change}).warnings)  # type: ignore[arg-type]  # of several types

    assert warnings(majority=0.69) == ""
    assert "70% of the challenge training pairs have the same label" in warnings(majority=0.70)
    few = [make_point(239, right, 299, cell) for right, cell in ((150, BASE), (230, LARGE))]
    assert "only 299 pairs" in warnings(base=few[0], points=few[1:])
    broken = make_point(400, 400, N, Cell(400, 1e-2, 0), dev=0.42)
    damage = "learning rate 0.01 even the best epoch scores 38.0 points less"
    assert damage in warnings(points=[broken])
    otherwise = [
        make_point(800, 605, N, Cell(400, 1e-6, 0), dev=0.81),
        make_point(800, 790, N, Cell(400, 1e-4, 0), dev=0.80),
    ]
    told = "1e-06, gives another outcome: Outcome 2: model weakness"
    assert told in warnings(points=otherwise)


def test_a_conclusion_takes_the_thresholds_of_the_plan_and_measures_the_rules(sets: Sets) -> None:
    limits, points = Thresholds(tests=10, majority=0.2), [make_point(10, 8, 12)]
    trained = [*points, make_point(10, 9, 12, LARGE)]
    verdict = conclude(replace(PLAN, thresholds=limits), sets, trained)
    assert "33% of the challenge training pairs" in verdict.warnings[0]
    assert not any("test set has only" in one for one in verdict.warnings)
    row = verdict_json(verdict)
    assert row["thresholds"]["tests"] == 10
    assert row["baselines"] == baseline_scores(sets)
    assert set(row["baselines"]) >= {"majority", "hypothesis_only", "numerical", "subsequence"}
    with pytest.raises(ValueError, match="the model as it was has not been measured"):
        conclude(PLAN, sets, trained[1:])


def test_rules_are_scored_in_the_classes_of_the_challenge(sets: Sets) -> None:
    learnt = sets.challenge_train[1:3] + sets.challenge_train[4:5]  # neutral comes twice
    tested = (*sets.challenge_test[:2], sets.challenge_test[0])  # and once in three here
    uneven = replace(sets, challenge_train=learnt, challenge_test=tested)
    assert baseline_scores(uneven)["majority"] == pytest.approx(1 / 3)
    assert replace(sets, challenge_train=sets.challenge_train[:4]).majority == 0.5
    only = tuple(replace(pair, gold="non-entailment") for pair in sets.challenge_train[:4])
    assert replace(sets, challenge_train=(*only, sets.challenge_train[1])).majority == 1.0
    # no hypothesis is inside its premise, so the rule never says entailment; neutral comes first
    assert baseline_scores(sets)["lexical_overlap"] == pytest.approx(1 / 3)
    two = {"neutral": "non-entailment", "contradiction": "non-entailment"}
    merged = tuple(replace(p, gold=two.get(str(p.gold), p.gold)) for p in sets.challenge_test)
    scores = baseline_scores(replace(sets, challenge_test=merged))
    assert scores["lexical_overlap"] == pytest.approx(2 / 3)


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


def test_what_a_prompt_does_not_teach_is_said_with_its_number_of_examples() -> None:
    found = concluded(trained(OPEN_STILL, 4), plan=replace(PLAN, mode="context"))
    assert found.headline.startswith("It does not take it up from 4 examples in its prompt")


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
    "2, in a prompt": (
        concluded(trained(OPEN_STILL, 4), plan=replace(PLAN, mode="context")), "not_taken_up", [],
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
    def stands(name: str) -> None:
        found, outcome, missing = CASES[name]
        assert (found.outcome, [each.missing for each in found.lacks]) == (outcome, missing)
        assert found.headline.startswith("Too little to tell: ") == (outcome == "too_little")

    assert failures(stands, CASES) == {}
    shown = {(each.figures, each.outcome) for each, _, _ in CASES.values()}
    assert {(outcome, seen) for outcome in "123" for seen in (outcome, "too_little")} <= shown
    only = "of the 400 examples themselves only 89 % were learnt"
    assert only in CASES["2, not learnt"][0].headline
    assert CASES["1 at one dose alone"][0].size == 10


def test_what_changes_the_meaning_stands_in_headline_and_badge() -> None:
    marked = {
        "upper layers only": concluded(trained(CLOSED), plan=QUICK),
        "this wording only": concluded(trained(CLOSED, control=0.65), control=0.6),
        "one label prevails": concluded(trained(CLOSED), majority=0.7),
        "a rule does as well": concluded(trained(CLOSED), rules={"numerical": 0.79, "other": 0.78}),
        "original may be lost": concluded(
            trained((770, 780), original_right=tuple(at % 100 < 77 for at in range(N))),
            trained(CLOSED, 10),
        ),
    }
    for name, found in marked.items():
        assert [mark.badge for mark in found.marks] == [name]
        assert found.headline == f"Outcome 1: dataset weakness, but {found.marks[0].clause}"
    plain = (
        concluded(trained(CLOSED)),
        concluded(trained(CLOSED, control=0.79), control=0.6),
        concluded(trained(CLOSED, control=0.78), control=0.79),
        concluded(trained(OPEN_STILL, control=0.6), control=0.6),
        concluded(trained(CLOSED), majority=0.69, rules={"numerical": 0.78}),
    )
    assert {found.marks for found in plain} == {()}


def test_what_would_tell_is_a_plan_unless_texts_are_missing() -> None:
    quick = telling_plan(QUICK, ["weights", "examples"], 50, 400)
    assert quick == replace(PLAN, sizes=(100,), lrs=(2e-5,))
    assert telling_plan(PLAN, ["examples"], 10, 60) == replace(PLAN, sizes=(60,))
    longer = telling_plan(PLAN, ["learnt"], 400, 400)
    assert longer and len(longer.lrs) == 2 and longer.max_epochs > PLAN.max_epochs
    for missing in ([], ["original"], ["interval"]):
        assert telling_plan(PLAN, missing, 400, 400) is None  # type: ignore[arg-type]  # a list of names


def test_a_stored_verdict_is_read_by_the_same_rule_and_a_new_one_as_it_was() -> None:
    told = json.loads((Path("assets/gallery") / "esim-spelling.json").read_text(encoding="utf-8"))
    read = current_verdict(told["plan"], told["artefacts"], told["verdict"])
    assert (told["verdict"]["outcome"], read["outcome"]) == ("2", "too_little")
    assert "not recorded" in read["headline"]
    assert read["oracle_lr"]["closed"] == told["verdict"]["oracle_lr"]["closed"]
    new = verdict_json(judge(PLAN, make_point(800, 600, N), [trained(OPEN_STILL)]))
    assert current_verdict({}, {}, new) is new and new["outcome"] == "2"


def test_fast_mode_is_warned_of_as_it_came_out_where_it_was_measured(sets: Sets) -> None:
    def notes(**change: Any) -> str:  # Any: fields of a plan
        return " ".join(fast_notes([replace(QUICK, **change)]))

    def told(model: str, challenge: str) -> None:
        said, row = notes(model=model, challenge=challenge), MEASURED[model, challenge]
        assert ("another outcome" in said) == (row.fast != row.full)
        assert ("ruined the original set" in said) == (row.fast_loss >= row.full_loss + 5)
        assert "not measured" not in said

    assert failures(told, MEASURED) == {}
    assert "MiniLM on “Change a number” 25.3 points instead of 5" in notes(challenge="numerical")
    assert "not measured for mine on “Add a negation”" in notes(model="mine")
    assert list(known_differences([replace(QUICK, model="mine")])) == []
    silent: list[dict[str, str]] = [{"challenge": "word_overlap"}, {"mode": "full", "model": "x"}]
    assert [notes(**change) for change in silent] == [""] * 2
    points, (known,) = [make_point(80, 40), make_point(78, 70, cell=LARGE)], fast_notes([QUICK])
    assert known in conclude(QUICK, sets, points).warnings
    assert known not in conclude(PLAN, sets, points).warnings


def test_sizes_and_rates_are_read_as_liu_gave_them(sets: Sets) -> None:
    plan = replace(PLAN, sizes=(6, ALL))
    assert resolved(plan, sets).sizes == (6, 30)
    assert resolved(replace(plan, sizes=(30, ALL)), sets).sizes == (30,)
    assert read_sizes("--sizes", "5,10,50,100,400,500,750,1000, all") == LIU_SIZES
    for task, rates in (
        (NLI, (0.000001, 0.00001, 0.0001, 0.0004, 0.001, 0.01)),
        (READING, (0.00001, 0.0001, 0.001, 0.01)),
    ):
        chosen = Choices(KIND, task, {"lrs": "Grid"})
        assert chosen.read(param_of(KIND, "lrs")) == rates
    with pytest.raises(ExperimentError, match="'grid' is not a list of numbers"):
        Choices("generalisation", NLI, {"lrs": "grid"}).read(param_of("generalisation", "lrs"))
    assert read_sizes("--sizes", "5,10,5,010") == (5, 10)
    for text in ("-1", "5,-5", "0", "-0"):
        with pytest.raises(ExperimentError, match="each size must be 1 or more"):
            read_sizes("--sizes", text)
    for text in ("5,most", "9" * 4301, "10,50," * 200_000 + "x", "nan", "inf", "1e400"):
        with pytest.raises(ExperimentError) as refusal:
            read_sizes("--sizes", text)
        assert str(refusal.value).endswith("is not a list of numbers such as 10,50,100")
        assert len(str(refusal.value)) < 150
    rates = {"da": 0.01, "esim": 4e-4, "esim_char": 4e-4, "minilm": 2e-5, "who/knows": 2e-5}
    assert {model: default_rate(model) for model in rates} == rates
    assert (default_rate("minilm", "fast"), default_rate("esim", "fast")) == (1e-3, 4e-4)


def test_cells_begin_with_the_model_as_it_was_and_smaller_sets_lie_in_larger(sets: Sets) -> None:
    plan = replace(PLAN, sizes=(10, 5, 10), lrs=(1e-3, 1e-2), seeds=(0, 1, 2, 0))
    planned = cells(plan)
    assert planned[0] == BASE
    assert [cell.size for cell in planned[1:]] == [5] * 6 + [10] * 6
    learnt = sets.challenge_train
    assert nested(learnt, 0, 20)[:6] == nested(learnt, 0, 6)
    assert nested(learnt, 0, 10) != nested(learnt, 1, 10)
    with pytest.raises(ExperimentError, match="there are 30 examples to train on, not 31"):
        nested(learnt, 0, 31)
    # few questions are about passages of their own
    same = [replace(each, id=f"{each.id}-{at}") for at in range(3) for each in QUESTIONS[:6]]
    drawn = nested(same, 0, 18, READING)
    passages = [len({each.passage for each in drawn[at : at + 6]}) for at in (0, 6, 12)]
    assert (passages, nested(same, 0, 4, READING)) == ([6] * 3, drawn[:4])
    plan, pairs = replace(PLAN, sizes=(6,)), list(learnt)
    with pytest.raises(ExperimentError, match="empty"):
        check(plan, replace(sets, original_dev=()))
    check(
        plan, replace(sets, challenge_train=(*pairs[1:], replace(pairs[0], gold="non-entailment")))
    )
    with pytest.raises(ExperimentError, match="needs a gold label"):
        check(plan, replace(sets, challenge_train=(*pairs[1:], replace(pairs[0], gold=None))))


def test_the_kept_model_is_named_after_its_plan_and_leads_to_no_run() -> None:
    plan = replace(PLAN, model="/models/minilm")
    first, second = kept_name(plan), kept_name(plan)
    assert re.fullmatch("minilm-negation-400-[0-9a-f]{8}", first)
    assert first != second
    assert "/" not in kept_name(replace(plan, challenge="../../x y"))
    assert len(kept_name(replace(plan, challenge="é" * 500)).encode()) < 200


def test_a_running_run_has_its_own_types_and_lends_what_is_known(sets: Sets) -> None:
    plan, cell = replace(PLAN, model="tiny", sizes=(6, 12), lrs=(1e-3,)), Cell(6, 1e-3, 0)
    epoch = Epoch(Cell(12, 1e-3, 0), 3, 0.7, 0.8, 1e-3, 55.5)
    points = [make_point(8, 6, 10), make_point(8, 7, 10, cell)]
    artefacts = {"model": "ab12", "sets": sets_facts(sets)}
    run = stored(TRIALS, plan, points, artefacts=artefacts)
    running = replace(run.cells[2], state="running", progress=row_json(epoch))
    typed = inoculation_run(replace(run, cells=(*run.cells[:2], running)))
    assert (list(typed.results), typed.cells[2].progress) == (points, epoch)
    wider = replace(plan, sizes=(3, 6), lrs=(1e-4, 1e-3), thresholds=Thresholds(gap=0.5))
    # the cells of size 3 come first: 0, then 3 at two rates, then 6
    known = {0: row_json(points[0]), 4: row_json(points[1])}
    assert known_results([run], wider, artefacts) == known
    for change in ({"patience": 1}, {"mode": "fast"}, {"challenge": "spelling"}):
        assert known_results([run], replace(plan, **change), artefacts) == {}, change  # type: ignore[arg-type]  # of several types
    fewer = sets_facts(replace(sets, challenge_train=sets.challenge_train[:20]))
    assert known_results([run], plan, {**artefacts, "sets": fewer}) == {}


QUESTION = Question("Who sat?", "The man sat.", "man", "q1", (Span("man", 4),))
AFTER = Cell(50, 2e-5, 0)


def counted(challenge: int, first: int, other: int, cell: Cell = BASE) -> Point:
    """Return a point with so many right of 200 on the challenge and on its counter-tests."""
    tests = {
        name: tuple(float(row < right) for row in range(200))
        for name, right in (("addsent_first", first), ("addsent_other", other))
    }
    return replace(make_point(150, challenge, 200, cell), counter_tests=tests)


COUNTED = [counted(60, 50, 60), counted(140, 52, 138, AFTER)]


def test_a_counter_test_that_gains_less_shows_what_was_learnt_instead() -> None:
    first, other = counter_tests(*COUNTED)
    assert (first.name, first.before, first.after) == ("addsent_first", 0.25, 0.26)
    assert first.gain.value == pytest.approx(0.01)
    assert first.lead.value == pytest.approx(0.40 - 0.01)
    assert first.lead.low < 0.39 < first.lead.high
    assert (first.shows, other.shows) == (True, False)
    said = counter_sentence(first, "F1")
    assert said.startswith("Did it learn the position? On “A false look-alike in front” F1 went")
    assert "from 25.0 to 26.0 %" in said
    assert said.endswith("of what was learnt is the position, not to see through the sentence.")
    assert counter_sentence(other, "F1").endswith("which may be chance: no sign of that.")
    more, _ = counter_tests(COUNTED[0], counted(80, 180, 60, AFTER))
    assert counter_sentence(more, "F1").endswith("so this test gained more: no sign of that.")


def test_card_and_figure_of_one_run_carry_the_counter_tests() -> None:
    verdict = verdict_json(judge(PLAN, COUNTED[0], COUNTED[1:], task=READING))
    lines = [line.split("?")[0] for line in counter_lines(verdict)]
    assert lines == ["Did it learn the position", "Did it learn the false answers"]
    run = replace(make_run(COUNTED, challenge="addsent"), verdict=verdict)
    assert all(line in str(outcome(run)) for line in counter_lines(verdict))
    assert counter_lines(make_run([make_point(8, 6), make_point(8, 7, cell=AFTER)]).verdict) == []
    assert counter_tests_in(curve_frame(COUNTED, task=READING)) == [
        "addsent_first",
        "addsent_other",
    ]
    both = "A false look-alike in front · Another false look-alike"
    assert both in files.curves([run], "oracle_lr")
    two = [run, replace(make_run(COUNTED, "da", "addsent"), id="run2")]
    assert "A false look-alike in front" not in files.curves(two, "oracle_lr")
    assert [row["on_addsent_first"] for row in point_rows([run])] == [0.25, 0.26]


def test_scores_of_rows_are_packed_and_come_back() -> None:
    thirds = (1 / 3, 0.0, 1.0)
    assert unpack_scores(pack_scores(thirds), 7) == pytest.approx(thirds)
    point = replace(
        make_point(8, 6, 10),
        original_right=(0.0, 0.5, 1.0),
        challenge_right=(True, False) * 5,
        counter_tests={"addsent_first": (0.5, 1.0)},
    )
    names = {"original_test": 3, "challenge_test": 10, "addsent_first": 2}
    counts = {"sets": {name: {"n": n} for name, n in names.items()}}
    packed = INOCULATION.pack(row_json(point))
    read = json.loads(json.dumps(INOCULATION.unpack(packed, counts)))
    assert (read, type(packed["challenge_right"])) == (row_json(point), str)


def test_questions_are_scored_stored_and_hashed_with_places_and_variants(sets: Sets) -> None:
    questions = [replace(QUESTION, base=name) for name in ("a", "b", "a", "", "", "b")]
    worst = worst_variants(READING, questions, (0.9, 0.4, 0.2, 0.7, 0.6, 0.5))
    assert worst == (0.2, 0.4, 0.7, 0.6)  # of the variants of a question the worst counts
    scores = [True, False] * (len(sets.challenge_test) // 2)
    assert worst_variants(NLI, sets.challenge_test, scores) == tuple(scores)
    variant = replace(QUESTION, base="q0")
    own = Sets((QUESTION,), (QUESTION,), (variant,), (variant,), task=READING)
    assert sets_from(sets_json(own)) == own
    assert own.majority == 0.0  # no label is
    assert "man" not in str(sets_facts(own))
    several = (QUESTION, replace(QUESTION, answers=()), variant)
    assert len({pairs_hash([question]) for question in several}) == 3


def test_a_gap_of_f1_is_judged_as_one_of_accuracy() -> None:
    before = replace(
        make_point(0, 0), original=0.75, challenge=0.25, original_right=(0.5, 1.0) * 200,
        challenge_right=(0.5, 0.0) * 200,
    )  # fmt: skip
    after = replace(before, cell=AFTER, challenge=0.75, challenge_right=(0.5, 1.0) * 200)
    verdict = verdict_json(judge(PLAN, before, [after], task=READING))
    assert (verdict["outcome"], verdict["measure"]) == ("1", "F1")
    assert (verdict["gap"], verdict["closed"]) == (pytest.approx(0.5), pytest.approx(1.0))
    row, expected = curve_frame([before], task=READING).iloc[0], mean(before.challenge_right)
    assert (row["accuracy"], row["low"]) == (25.0, pytest.approx(100 * expected.low))
    other = replace(after, cell=replace(AFTER, seed=AFTER.seed + 1), challenge_right=(0.5,) * 400)
    row = curve_frame([after, other], task=READING).iloc[0]  # over 400 texts, of two seeds
    assert (row["accuracy"], row["seeds"]) == (62.5, 2)
    assert (row["low"], row["high"]) == (0, 100)
    control = {**verdict, "control": {"before": 0.2, "after": 0.3}}
    assert "F1 went from 20.0 to 30.0 %" in " ".join(details(control, "oracle_lr"))
