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
    part_json,
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
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.waiting import until

ASKED = Asked(n=6, per_subcase=1, precision="fp32")
PAIRS = tiny_pairs(24)


def planned(model: str) -> Plan:
    return new_plan(model, NLI, ASKED)


def test_a_plan_is_read_from_its_json_and_has_a_cell_for_each_part(model: str) -> None:
    plan = replace(planned(model), labels=("entailment", "neutral"), reading=("--gold", "x"))
    assert plan_from(asdict(plan)) == plan
    assert [key["part"] for key in CHECKUP.cells(asdict(plan))] == parts_of(NLI)
    for wrong in ({"n": 0}, {"per_subcase": 0}, {"seed": -1}, {"seed": 2**31}):
        with pytest.raises(CheckupError, match=r"at least one|a whole number"):
            new_plan(model, NLI, replace(ASKED, **wrong))


def test_the_time_is_that_of_all_texts_and_of_a_few_changed_and_of_one_trial(
    classifier: Classifier,
) -> None:
    seen: list[int] = []
    classifier.model.register_forward_hook(lambda *_: seen.append(1))
    pairs = [Pair("12345", "67890", "neutral")] * 8
    times, passes = {}, []
    for parts, n, per_subcase in (
        *((("plain", "sort", "drop"), n, 1) for n in (4, 8, 800)),
        *((("plain", "sort", "drop", "hans"), 4, n) for n in (1, 2)),
    ):
        plan = Plan("checked up once", "nli", parts, Asked(n, per_subcase))
        times[len(parts), n, per_subcase] = estimate_seconds(plan, pairs, classifier)
        passes.append(len(seen))
    assert passes == [passes[0]] * 5 and passes[0] > 0  # one trial for all
    few, half, all_changed = (times[3, n, 1] for n in (4, 8, 800))
    assert 0 < few < half == all_changed  # no more are changed than there are
    once, twice = times[4, 4, 1], times[4, 4, 2]
    assert once - few == pytest.approx(twice - once) != 0


def test_a_stopped_check_up_goes_on_with_what_it_lacks_and_comes_to_the_same(
    home: Path, model: str
) -> None:
    store = Store()
    engine = Engine(store, in_process=True)
    request = run_request(planned(model), PAIRS)
    run_id = store.create("me", request).id
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
    subject = Subject(load(model), PAIRS, ASKED)
    found = {part: measure_part(subject, part) for part in parts_of(NLI)}
    assert list(figures_of(report_of(run))) == [
        f.name for each in found.values() for f in each.figures
    ]
    assert figures_of(report_of(run))["sort"] == found["sort"].figures[0]
    assert run.verdict["explanation"] == run.verdict["findings"][0]
    assert run.verdict["explanation"].startswith("It is right on ")
    engine.close()


def test_only_runs_that_did_not_end_well_are_taken_over(home: Path, model: str) -> None:
    store = Store()
    request, plan = run_request(planned(model), PAIRS), planned(model)
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


def test_whoever_changes_what_a_part_gives_raises_the_number_of_its_form(model: str) -> None:
    subject = Subject(load(model), PAIRS, ASKED)
    plain, sort = (part_json(measure_part(subject, name)) for name in ("plain", "sort"))
    keys = "name title group value low high n more_is_better rows"
    assert CHECKUP.form == 2 and " ".join(plain["figures"][0]) == keys
    assert {figure["name"] for figure in plain["figures"]} >= {
        *("accuracy", "confidence", "ece", "majority", "hypothesis_only", "label.neutral")
    }
    assert plain["bins"] and sort["examples"]
