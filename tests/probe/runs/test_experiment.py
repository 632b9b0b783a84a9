"""A kind of run that is made up here goes through store, engine, gallery and HTTP as others do."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from sqlalchemy import update

from probe.cli.compute import compute_run
from probe.errors import ExperimentError, ModelError
from probe.models.library import locate
from probe.models.weights import model_hash
from probe.runs import gallery
from probe.runs.access import COMMAND_LINE, start_runs
from probe.runs.database import RunRow
from probe.runs.engine import Engine
from probe.runs.experiment import Progress, Result, register, run_json, run_title
from probe.runs.models import hash_if_there, load_unchanged
from probe.runs.run import Json, StoredRun, ended, environment
from probe.runs.store import Store, renewed_words
from probe.ui.html.elements import NOTHING
from probe.ui.html.run import cells_table, under_way
from probe.ui.measure.score import background_runs
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.logged_cells import LOGGED, Log
from tests.support.waiting import until


@pytest.fixture
def store(log: Log) -> Store:
    return Store()


def computed(store: Store, engine: Engine, run_id: str) -> StoredRun:
    """Compute a run to its end."""
    engine.submit(run_id)
    run = until(store, run_id, ended)
    engine.close()
    return run


def test_it_is_computed_and_concluded_heard_of_step_by_step_and_kept_in_a_gallery(
    store: Store, log: Log, tmp_path: Path
) -> None:
    heard = []
    engine = Engine(store, in_process=True, listener=lambda _, *row: heard.append(row))
    created = store.create("me", log.request("weather", 3, gated=False))
    assert [cell.key for cell in created.cells] == [{"cell": number} for number in (1, 2, 3)]
    run = computed(store, engine, created.id)
    assert (run.state, run.error, run.verdict) == ("done", "", {"sum": 6})
    assert run.results == tuple({"number": number} for number in (1, 2, 3))
    assert (run.kept, run.artefacts) == ("", {"form": 1})  # it begins with no model and keeps none
    assert [row for row in heard if row[0] == 0] == [
        (0, Progress({"logged": True})),
        (0, Result({"number": 1})),
    ]
    path = gallery.write(tmp_path / "gallery", "weather", run)
    row = json.loads(path.read_text())
    assert row["points"][1] == {"cell": {"cell": 2}, "bits": "10"}
    assert "inputs" not in row and "secret" not in path.read_text()
    (back,) = gallery.gallery_runs(tmp_path / "gallery")
    assert (back.id, back.kind, back.owner) == ("gallery-weather", "logged", "gallery")
    assert (back.plan, back.results, back.verdict) == (run.plan, run.results, run.verdict)


@pytest.mark.slow
def test_a_worker_process_computes_the_same(store: Store, log: Log) -> None:
    asked = log.request("a", 3, gated=False)
    run = computed(store, Engine(store), store.create("me", asked).id)
    assert (run.state, run.verdict, len(run.results)) == ("done", {"sum": 6}, 3)


def test_a_cell_that_fails_leaves_the_others_and_programs_and_the_page_are_told(
    store: Store, log: Log
) -> None:
    asked = log.request("<i>", 3, gated=False, fails=1)
    run = store.create("me", asked, {2: {"number": 40, "longer": "than what is told"}})
    run = computed(store, Engine(store, in_process=True), run.id)
    assert (run.state, run.error, log.lines()) == ("failed", "this one <b>fails</b>", [
        "<i>1", "<i>2",
    ])  # fmt: skip
    answer = run_json(run)
    assert (answer["kind"], answer["plan"]["name"]) == ("logged", "<i>")
    assert answer["cells"] == [
        {"cell": 1, "state": "failed", "error": "this one <b>fails</b>", "number": None},
        {"cell": 2, "state": "done", "error": "", "number": 2},
        {"cell": 3, "state": "done", "error": "", "number": 40},
    ]
    shown = under_way(run, run_title(run), "2 of 3", cells_table(run))
    assert "&lt;i&gt;</b>" in shown
    assert "<tr><td>2</td><td>✓ done</td><td>number 2</td></tr>" in shown
    assert "<td>✕ failed</td><td>this one &lt;b&gt;fails&lt;/b&gt;</td>" in shown


def test_a_button_that_is_pressed_twice_starts_its_runs_once(store: Store, log: Log) -> None:
    engine, slow = Engine(store, in_process=True), log.request("a", 1)
    (run,) = start_runs(store, engine, ME, [slow])
    assert start_runs(store, engine, ME, [slow])[0].id == run.id
    assert start_runs(store, engine, YOU, [slow])[0].id != run.id
    engine.close()


def test_a_kind_that_is_not_known_is_listed_but_not_begun(
    store: Store, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = log.request("a", 1)
    run_id = store.create("me", asked).id
    store.set_result(run_id, 0, {"number": 2})
    monkeypatch.setattr("probe.runs.experiment.EXPERIMENTS", {})
    run = store.get(run_id)
    assert (run_title(run), run_json(run)["cells"][0]["number"]) == ("logged", 2)
    with pytest.raises(ExperimentError, match="'logged' are not known here; known: none"):
        store.create("me", asked)
    failed = computed(store, Engine(store, in_process=True), run_id)
    assert failed.error.startswith("runs of the kind 'logged' are not known here")


AGAIN = "2 parts that an earlier version of this program computed are computed again"


def test_parts_of_another_form_are_computed_again_once_and_the_page_says_so(
    store: Store, log: Log, one_worker: Engine
) -> None:
    def stopped(name: str) -> StoredRun:
        """Store a run of which two cells of three are done."""
        known = {number: {"number": number + 1} for number in range(2)}
        run = store.create("me", log.request(name, 3, gated=False), known)
        store.set_cell(run.id, 2, "cancelled")
        store.set_state(run.id, "cancelled")
        return store.get(run.id)

    def taken_up(run: StoredRun) -> StoredRun:
        one_worker.reopen(run.id)
        return until(store, run.id, ended)

    same, unformed, other, cancelled = map(stopped, "abcd")
    store.database.write(update(RunRow).where(RunRow.id == unformed.id).values(artefacts={}))
    assert [taken_up(run).state for run in (same, unformed)] == ["done", "done"]
    register(replace(LOGGED, form=2))
    run = taken_up(other)
    assert (run.state, len(run.results)) == ("done", 3)
    one_worker.submit(run.id)
    store.reopen(cancelled.id)
    store.request_cancel(cancelled.id)
    one_worker.submit(cancelled.id)
    assert len(until(store, cancelled.id, ended).results) == 2
    assert sorted(log.lines()) == ["a3", "b3", "c1", "c2", "c3"]
    assert AGAIN in under_way(run, "", "", NOTHING)
    assert AGAIN not in under_way(same, "", "", NOTHING)
    asked = replace(
        run, state="cancelled", plan={"rows": 3, "name": "a", "task": "nli", "names": []}
    )
    assert AGAIN in background_runs([asked])
    one = AGAIN.replace("2 parts", "1 part").replace(" are ", " is ")
    assert [renewed_words(count) for count in range(3)] == ["", one, AGAIN]


def test_a_command_takes_over_what_has_this_form_and_says_what_has_not(
    store: Store, log: Log, capsys: pytest.CaptureFixture[str]
) -> None:
    def known(runs: Iterable[StoredRun]) -> dict[int, Json]:
        return {cell.number: cell.result for run in runs for cell in run.cells if cell.result}

    def compute() -> str:
        asked = log.request("b", 3, gated=False)
        compute_run(asked, known, lambda key, row: f"cell {key['cell']}", in_process=True)
        return capsys.readouterr().out

    store.create("me", log.request("a", 3), {0: {"number": 1}, 1: {"number": 2}})
    register(replace(LOGGED, form=2))
    assert f"note: {AGAIN}" in compute()
    (mine,) = store.runs(COMMAND_LINE)
    assert sorted(log.lines()) == ["b1", "b2", "b3"] and mine.state == "done"
    told = compute()
    assert "note" not in told and told.count("(from an earlier call)") == 3


def test_a_worker_loads_a_model_once_and_only_if_it_is_the_app_s(model: str, home: Path) -> None:
    expected = model_hash(Path(model))
    assert load_unchanged(model, expected) is load_unchanged(model, expected)
    with pytest.raises(ModelError, match="is not the app's"):
        load_unchanged(model, "another hash")
    with pytest.raises(ModelError, match=r"^the worker does not find the model 'mine': .*HOME"):
        load_unchanged("mine", "a hash")
    assert hash_if_there("da") == model_hash(locate("da")[0])
    assert hash_if_there("nobody") is None


def test_the_environment_says_versions_precision_and_the_cards_that_are_the_app_s_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    facts = environment()
    assert facts["precision"] in ("fp32", "bf16") and "gpu" not in facts
    assert {"python", "torch", "transformers"} <= set(facts)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: f"card {number}")
    assert environment()["gpu"] == "card 0, card 1"
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")  # lent for each answer
    assert "gpu" not in environment()
