"""A check-up through store and engine: stopped, taken up again, and with its worker killed."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from probe.checkup.experiment import CHECKUP, known_results, run_request
from probe.checkup.measuring import (
    Asked,
    Plan,
    Subject,
    estimate_seconds,
    measure_part,
    new_plan,
    parts_of,
    plan_from,
)
from probe.checkup.report import figures_of, report_of
from probe.errors import CheckupError
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.runs.engine import Engine
from probe.runs.run import Json, RunRequest, ended
from probe.runs.store import Store
from probe.tasks.nli import NLI, Pair
from probe.templates import subcases
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.waiting import until

ASKED = Asked(n=6, per_subcase=1, precision="fp32")
PAIRS = tiny_pairs(24)


def test_a_plan_is_read_from_its_json_and_has_a_cell_for_each_part(model: str) -> None:
    plan = replace(
        new_plan(model, NLI, ASKED), labels=("entailment", "neutral"), reading=("--gold", "x")
    )
    assert plan_from(asdict(plan)) == plan
    assert [key["part"] for key in CHECKUP.cells(asdict(plan))] == parts_of(NLI)
    for wrong in ({"n": 0}, {"per_subcase": 0}, {"seed": -1}, {"seed": 2**31}):
        with pytest.raises(CheckupError, match=r"is .* but .*at (least|most)"):
            new_plan(model, NLI, replace(ASKED, **wrong))


def test_the_time_is_that_of_all_texts_and_of_a_few_changed_and_of_one_trial(
    classifier: Classifier,
) -> None:
    seen: list[int] = []
    classifier.model.register_forward_hook(lambda *_: seen.append(1))
    pairs, passes = [Pair("12345", "67890", "neutral")] * 8, set()

    def estimated(n: int, per_subcase: int, *hans: str) -> float:
        plan = Plan("checked up once", "nli", ("plain", "sort", *hans), Asked(n, per_subcase))
        seconds = estimate_seconds(plan, pairs, classifier)
        passes.add(len(seen))
        return seconds

    few, half, all_changed = (estimated(n, 1) for n in (4, 8, 800))
    assert 0 < few < half == all_changed  # no more are changed than there are
    once, twice = (estimated(4, n, "hans") for n in (1, 2))
    assert once - few == pytest.approx(twice - once) != 0
    assert len(passes) == 1 and min(passes) > 0  # one trial for all


def test_a_stopped_check_up_goes_on_with_what_it_lacks_and_comes_to_the_same(
    home: Path, model: str
) -> None:
    store = Store()
    engine = Engine(store, in_process=True)
    run_id = store.create("me", run_request(new_plan(model, NLI, ASKED), PAIRS)).id
    engine.submit(run_id)
    until(store, run_id, lambda run: bool(run.results))
    engine.cancel(run_id)
    before = until(store, run_id, ended)
    assert (before.state, before.verdict) == ("cancelled", {})
    assert 1 <= len(before.results) < len(before.cells)
    assert report_of(before)["missing"] == [c.key["part"] for c in before.cells if not c.result]
    engine.reopen(run_id)
    run = until(store, run_id, ended)
    assert (run.state, run.error, run.kept) == ("done", "", "")
    assert run.results[: len(before.results)] == before.results  # seconds too: not done again
    subject, figures = Subject(load(model), PAIRS, ASKED), figures_of(report_of(run))
    assert figures["sort"] == measure_part(subject, "sort").figures[0]
    assert {"accuracy", "drop", "negation", *(f"hans.{each}" for each in subcases())} <= {*figures}
    # whoever changes what a part gives raises the number of its form
    keys = "name title group value low high n more_is_better rows"
    assert CHECKUP.form == 3 and " ".join(run.results[0]["figures"][0]) == keys
    assert run.results[0]["bins"] and report_of(run)["examples"]["sort"]
    assert run.verdict["explanation"] == run.verdict["findings"][0]
    assert run.verdict["explanation"].startswith("It is right on ")
    engine.close()


def test_only_runs_that_did_not_end_well_are_taken_over(home: Path, model: str) -> None:
    store, plan = Store(), new_plan(model, NLI, ASKED)
    request = run_request(plan, PAIRS)
    run_id = store.create("me", request).id
    store.set_result(run_id, 0, {"figures": [], "revision": None, "seconds": 1.0})

    def known(plan: Plan, request: RunRequest, environment: Json) -> list[int]:
        return list(known_results(store.runs(), plan, environment, request.artefacts))

    here = request.environment
    assert known(plan, request, here) == [0]
    assert known(replace(plan, file="the same.csv"), request, here) == [0]  # its hash counts
    assert known(replace(plan, asked=replace(ASKED, seed=1)), request, here) == []
    assert known(plan, request, {**here, "torch": "another"}) == []
    assert known(plan, run_request(plan, PAIRS[:20]), here) == []
    store.set_state(run_id, "running")
    store.set_state(run_id, "done")
    assert known(plan, request, here) == []
