"""An experiment that is made up here and nowhere else: how often words stand in a text.

Its keys are words, it has no model, and it goes through store, engine, gallery and HTTP as an
inoculation does.
"""

import json
import time
from collections.abc import Iterable, Iterator
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
from probe.runs.experiment import (
    EXPERIMENTS,
    CellContext,
    Experiment,
    Progress,
    Result,
    register,
    run_json,
    run_title,
)
from probe.runs.models import hash_if_there, load_unchanged
from probe.runs.run import Json, RunRequest, StoredRun, ended, environment
from probe.runs.store import Store, renewed_words
from probe.stopping import halt
from probe.ui.html.background import background_runs
from probe.ui.html.elements import NOTHING
from probe.ui.html.run import cells_table, under_way
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.logged_cells import LOGGED, Log
from tests.support.waiting import training, until

PLAN = {"words": ["rain", "sun", "snow"], "seconds": 0.0}
INPUTS = {"text": "rain and sun and rain"}
COUNTS = {"rain": 2, "sun": 1, "snow": 0}


def count_word(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Read the text word by word, as slowly as the plan says; an empty word cannot be counted."""
    if not key["word"]:
        raise ValueError("an empty word stands nowhere")
    count = 0
    for place, word in enumerate(inputs["text"].split()):
        halt(context.stop)
        time.sleep(plan["seconds"] if key["word"] != plan["words"][0] else 0.0)
        count += word == key["word"]
        yield Progress({"read": place + 1})
    yield Result({"count": count})


def most_frequent(run: StoredRun, inputs: Json) -> Json | None:
    """Name the word that stands there most often, once all are counted."""
    if len(run.results) < len(run.cells):
        return None
    best = max(run.cells, key=lambda cell: (cell.result or {})["count"])
    return {"most": best.key["word"], "of": len(inputs["text"].split())}


WORD_COUNT = Experiment(
    kind="word-count",
    cells=lambda plan: [{"word": word} for word in plan["words"]],
    run_cell=count_word,
    title=lambda plan: f"{len(plan['words'])} words",
    brief=lambda result: {"count": result and result["count"]},
    conclude=most_frequent,
    pack=lambda result: {"bits": f"{result['count']:b}"},
    unpack=lambda values, artefacts: {"count": int(values["bits"], 2)},
)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the experiment known for a test."""
    monkeypatch.setattr("probe.runs.experiment.EXPERIMENTS", dict(EXPERIMENTS))
    register(WORD_COUNT)


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


def request(**plan: object) -> RunRequest:
    return RunRequest("word-count", {**PLAN, **plan}, INPUTS, {"machine": "made up"})


def computed(store: Store, engine: Engine, run_id: str) -> StoredRun:
    """Compute a run to its end."""
    engine.submit(run_id)
    run = until(store, run_id, ended)
    engine.close()
    return run


def test_it_is_stored_computed_and_concluded_and_a_listener_hears_of_every_step(
    store: Store,
) -> None:
    heard = []
    engine = Engine(store, in_process=True, listener=lambda _, *row: heard.append(row))
    created = store.create("me", request())
    assert [cell.key for cell in created.cells] == [{"word": word} for word in COUNTS]
    run = computed(store, engine, created.id)
    assert (run.state, run.error) == ("done", "")
    assert [cell.result for cell in run.cells] == [{"count": count} for count in COUNTS.values()]
    assert run.verdict == {"most": "rain", "of": 5}
    assert (run.kept, run.artefacts) == ("", {"form": 1})  # it begins with no model and keeps none
    steps = [(0, Progress({"read": read})) for read in range(1, 6)]
    assert [row for row in heard if row[0] == 0] == [*steps, (0, Result({"count": 2}))]


@pytest.mark.slow
def test_a_worker_process_computes_the_same(store: Store) -> None:
    run = computed(store, Engine(store), store.create("me", request()).id)
    assert (run.state, run.verdict["most"]) == ("done", "rain")
    assert [cell.result for cell in run.cells] == [{"count": count} for count in COUNTS.values()]


def test_it_is_cancelled_and_taken_up_with_the_cells_it_lacks(store: Store) -> None:
    long = RunRequest("word-count", {**PLAN, "seconds": 0.02}, {"text": "rain " * 60})
    run_id = store.create("me", long).id
    engine = Engine(store, in_process=True)
    engine.submit(run_id)
    until(store, run_id, training)
    engine.cancel(run_id)
    before = until(store, run_id, ended)
    assert [cell.state for cell in before.cells] == ["done", "cancelled", "cancelled"]
    assert (before.state, before.verdict) == ("cancelled", {})
    engine.reopen(run_id)
    run = until(store, run_id, ended)
    engine.close()
    assert [cell.result for cell in run.cells] == [{"count": 60}, {"count": 0}, {"count": 0}]
    assert (run.state, run.verdict["of"], run.cancelling) == ("done", 60, False)


def test_a_cell_that_fails_leaves_the_others_and_what_is_known_is_not_computed_again(
    store: Store,
) -> None:
    run = store.create("me", request(words=["", "sun", "rain"]), {2: {"count": 40}})
    assert [cell.state for cell in run.cells] == ["queued", "queued", "done"]
    run = computed(store, Engine(store, in_process=True), run.id)
    assert (run.state, run.error) == ("failed", "an empty word stands nowhere")
    assert [cell.result for cell in run.cells] == [None, {"count": 1}, {"count": 40}]


def test_other_programs_and_the_page_are_told_of_it(store: Store) -> None:
    run_id = store.create("me", request(words=["sun", "<b>"])).id
    store.set_result(run_id, 0, {"count": 1, "longer": "than what is told"})
    store.set_state(run_id, "running")
    store.set_cell_state(run_id, 1, "failed", "it is <no> word")
    run = store.get(run_id)
    answer = run_json(run)
    assert (answer["kind"], answer["plan"]["words"]) == ("word-count", ["sun", "<b>"])
    assert answer["cells"] == [
        {"word": "sun", "state": "done", "error": "", "count": 1},
        {"word": "<b>", "state": "failed", "error": "it is <no> word", "count": None},
    ]
    shown = under_way(run, run_title(run), "1 of 2", cells_table(run))
    assert "<b>Running: 2 words</b>" in shown
    assert "<tr><td>sun</td><td>✓ done</td><td>count 1</td></tr>" in shown
    assert "<td>&lt;b&gt;</td><td>✕ failed</td><td>it is &lt;no&gt; word</td>" in shown


def test_a_gallery_holds_it_packed_and_gives_it_back(store: Store, tmp_path: Path) -> None:
    run = computed(store, Engine(store, in_process=True), store.create("me", request()).id)
    path = gallery.write(tmp_path / "gallery", "weather", run)
    row = json.loads(path.read_text())
    assert row["points"][0] == {"cell": {"word": "rain"}, "bits": "10"}
    assert "inputs" not in row and INPUTS["text"] not in path.read_text()
    (back,) = gallery.gallery_runs(tmp_path / "gallery")
    assert (back.id, back.kind, back.owner) == ("gallery-weather", "word-count", "gallery")
    assert (back.plan, back.results, back.verdict) == (run.plan, run.results, run.verdict)


def test_a_button_that_is_pressed_twice_starts_its_runs_once(store: Store) -> None:
    engine = Engine(store, in_process=True)
    slow = request(seconds=5.0)
    (run,) = start_runs(store, engine, ME, [slow])
    assert start_runs(store, engine, ME, [slow])[0].id == run.id
    assert start_runs(store, engine, YOU, [slow])[0].id != run.id
    engine.close()


def test_a_kind_that_is_not_known_is_listed_but_not_begun(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = store.create("me", request()).id
    store.set_result(run_id, 0, {"count": 2})
    monkeypatch.setattr("probe.runs.experiment.EXPERIMENTS", {})
    run = store.get(run_id)
    assert (run_title(run), run_json(run)["cells"][0]["count"]) == ("word-count", 2)
    with pytest.raises(ExperimentError, match="'word-count' are not known here; known: none"):
        store.create("me", request())
    failed = computed(store, Engine(store, in_process=True), run_id)
    assert failed.error.startswith("runs of the kind 'word-count' are not known here")


AGAIN = "2 parts that an earlier version of this program computed are computed again"


def test_parts_of_another_form_are_computed_again_once_and_the_page_says_so(
    store: Store, log: Log, one_worker: Engine
) -> None:
    def stopped(name: str) -> StoredRun:
        """Store a run of which two cells of three are done."""
        known = {number: {"number": number + 1} for number in range(2)}
        run = store.create("me", log.request(name, 3, gated=False), known)
        store.set_cell_state(run.id, 2, "cancelled")
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
    assert AGAIN in under_way(run, "", "", NOTHING) and AGAIN not in under_way(
        same, "", "", NOTHING
    )
    assert AGAIN in background_runs(
        [replace(run, state="cancelled", plan={"rows": 3, "name": "a"})]
    )
    one = AGAIN.replace("2 parts", "1 part").replace(" are ", " is ")
    assert [renewed_words(count) for count in range(3)] == ["", one, AGAIN]


def test_a_command_takes_over_what_has_this_form_and_says_what_has_not(
    store: Store, log: Log, capsys: pytest.CaptureFixture[str]
) -> None:
    def known(runs: Iterable[StoredRun]) -> dict[int, Json]:
        return {cell.number: cell.result for run in runs for cell in run.cells if cell.result}

    def compute() -> str:
        asked = log.request("b", 3, gated=False)
        compute_run(asked, known, lambda key, row: f"cell {key['number']}", in_process=True)
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
