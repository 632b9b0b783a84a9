"""An experiment that is made up here and nowhere else: how often words stand in a text.

Its keys are words, it has no model, and it goes through store, engine, gallery and HTTP as an
inoculation does.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from probe.errors import ExperimentError
from probe.runs import gallery
from probe.runs.access import chosen_runs, start_runs
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
from probe.runs.run import Json, RunRequest, StoredRun, ended
from probe.runs.store import Store
from probe.stopping import halt
from probe.ui.html.run import cells_table, under_way
from tests.support.pages.visitors import ME, YOU
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


def test_it_is_stored_computed_and_concluded(store: Store) -> None:
    created = store.create("me", request())
    assert [cell.key for cell in created.cells] == [{"word": word} for word in COUNTS]
    run = computed(store, Engine(store, in_process=True), created.id)
    assert (run.state, run.error) == ("done", "")
    assert [cell.result for cell in run.cells] == [{"count": count} for count in COUNTS.values()]
    assert run.verdict == {"most": "rain", "of": 5}
    assert (run.kept, run.artefacts) == ("", {"form": 1})  # it begins with no model and keeps none


@pytest.mark.slow
def test_a_worker_process_computes_the_same(store: Store) -> None:
    run = computed(store, Engine(store), store.create("me", request()).id)
    assert (run.state, run.verdict["most"]) == ("done", "rain")
    assert [cell.result for cell in run.cells] == [{"count": count} for count in COUNTS.values()]


def test_a_listener_hears_of_every_step(store: Store) -> None:
    heard = []
    engine = Engine(
        store, in_process=True, listener=lambda run_id, number, row: heard.append((number, row))
    )
    computed(store, engine, store.create("me", request(words=["sun"])).id)
    steps = [(0, Progress({"read": read})) for read in range(1, 6)]
    assert heard == [*steps, (0, Result({"count": 1}))]


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
    assert (run.state, run.verdict["of"]) == ("done", 60)


def test_a_cell_that_fails_leaves_the_others_and_says_why(store: Store) -> None:
    run_id = store.create("me", request(words=["", "sun"])).id
    run = computed(store, Engine(store, in_process=True), run_id)
    assert (run.state, run.error) == ("failed", "an empty word stands nowhere")
    assert [cell.result for cell in run.cells] == [None, {"count": 1}]


def test_results_that_are_known_are_not_computed_again(store: Store) -> None:
    created = store.create("me", request(), {1: {"count": 40}})
    assert [cell.state for cell in created.cells] == ["queued", "done", "queued"]
    run = computed(store, Engine(store, in_process=True), created.id)
    assert (run.verdict["most"], run.cells[1].result) == ("sun", {"count": 40})


def test_it_is_told_to_other_programs(store: Store) -> None:
    run_id = store.create("me", request(words=["sun", "snow"])).id
    store.set_result(run_id, 0, {"count": 1, "longer": "than what is told"})
    run = store.get(run_id)
    answer = run_json(run)
    assert (answer["kind"], answer["plan"]["words"]) == ("word-count", ["sun", "snow"])
    assert answer["cells"] == [
        {"word": "sun", "state": "done", "error": "", "count": 1},
        {"word": "snow", "state": "queued", "error": "", "count": None},
    ]
    assert run_title(run) == "2 words"


def test_the_page_shows_it_without_knowing_it(store: Store) -> None:
    run_id = store.create("me", request(words=["sun", "<b>"])).id
    store.set_state(run_id, "running")
    store.set_result(run_id, 0, {"count": 0})
    store.set_cell_state(run_id, 1, "failed", "it is <no> word")
    run = store.get(run_id)
    shown = under_way(run, run_title(run), "1 of 2", cells_table(run))
    assert "<b>Running: 2 words</b>" in shown
    assert "<tr><td>sun</td><td>✓ done</td><td>count 0</td></tr>" in shown
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


def test_an_owner_finds_it(store: Store) -> None:
    engine = Engine(store, in_process=True)
    (run,) = start_runs(store, engine, ME, [request()])
    assert [own.id for own in chosen_runs(store, ME, [run.id, "gone"])] == [run.id]
    assert chosen_runs(store, YOU, [run.id]) == chosen_runs(store, "", [run.id]) == []
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
