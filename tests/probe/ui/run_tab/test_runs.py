"""The list of runs and what is looked at: what is shown, stopped, shared, and taken away."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from markupsafe import Markup

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.errors import LimitError, ModelError, UnknownRun, UserError
from probe.runs.access import as_token, delete_model, redeem
from probe.runs.engine import Engine
from probe.runs.gallery import gallery_runs
from probe.runs.run import Json, Run, RunCell, RunRequest, StoredRun
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.ui.run_tab.api import start_for_owner
from probe.ui.run_tab.shown import Looked, RunView, how_far, results, seconds_left, share_done
from probe.ui.run_tab.tab import RunArea, Runs
from probe.ui.visitors.visitor_files import fresh_folder
from tests.support.pages.attacks import ATTACKS
from tests.support.pages.built import alone
from tests.support.pages.markup import require_ours
from tests.support.pages.visitors import ME, YOU
from tests.support.processes.database_trouble import locked

PLAN = Plan("minilm", "negation", (6,), (1e-3,), (0,))


def written(runs: Sequence[StoredRun], folder: Path, looked: Looked) -> list[Path]:
    (folder / "ids.txt").write_text(" ".join(run.id for run in runs))
    return [folder / "ids.txt"]


VIEW = RunView(
    name="trial", title="Trial", kinds=("inoculation",),
    named=lambda run: f"{run.plan['challenge']} on {run.plan['model']}",
    badge=lambda run: ("good", f"came to {run.id}"),
    results=lambda runs, looked: Markup("<p>{}</p>").format(", ".join(run.id for run in runs)),
    files=written, empty=("Nothing yet", "Press Start."),
)  # fmt: skip


@pytest.fixture
def runs(waiting_engine: tuple[Store, Engine], home: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """The runs of one view, beside the gallery's; all wait."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(home / "gradio"))
    return Runs([VIEW], *waiting_engine, gallery_runs())


def looked(*ids: str, owner: str = ME, **more: Any) -> Looked:
    return Looked(owner, NLI, ids, **more)


def request(sets: Sets, **changed: Any) -> RunRequest:
    return run_request(replace(PLAN, **changed), sets)


def listed(runs: Runs, at: Looked) -> str:
    return runs.rows(at, runs.looked_at(at))


def test_a_row_and_the_results_say_how_far_a_run_is_and_offer_what_its_state_allows(
    runs: Runs, sets: Sets
) -> None:
    assert "Press Start." in results([VIEW], [], looked())
    (run,) = runs.start(ME, [request(sets)])
    for state, said, acts, result in (
        ("queued", "Waiting · next in line · for ", ["stop"], "Waiting for its turn"),
        ("running", "Running · 0 of 2 steps · ", ["stop"], "The first step is under way"),
        ("cancelled", ">stopped</span> <span class=\"tiny soft\">0 of 2 steps · ",
         ["again", "link", "delete"], "Take the run up again"),
    ):  # fmt: skip
        runs.store.set_state(run.id, state)
        rows = listed(runs, looked(run.id))
        own = rows.partition("</li>")[0]
        assert said in own and 'class="mine ticked' in own, (state, own)
        assert [act for act in ("stop", "again", "link", "delete") if f'"{act}"' in own] == acts
        assert 'class="ready"' in rows
        assert result in results([VIEW], runs.looked_at(looked(run.id)), looked(run.id))
    shown = results([VIEW], runs.looked_at(looked("gallery-esim-negation")), looked())
    assert "<p>gallery-esim-negation</p>" in shown
    planned = replace(request(sets), artefacts={"seconds": 300})
    runs.start(YOU, [planned])
    (mine,) = runs.start(ME, [replace(planned, plan={**planned.plan, "seeds": [1]})])
    rows = listed(runs, looked())
    assert "1 run is before it · begins in about 5 min · takes about 5 min" in rows
    assert YOU not in rows
    assert "should take about 5 min." in results([VIEW], runs.looked_at(looked(mine.id)), looked())


def test_a_page_begins_with_the_newest_sweep_and_a_newcomers_with_the_gallerys(
    runs: Runs, sets: Sets
) -> None:
    usual = runs.usual(looked(), "trial")
    assert len(usual.runs) == 5 and all(run.startswith("gallery-minilm-") for run in usual.runs)
    of_esim = runs.usual(looked(), "trial", ["esim"]).runs
    assert of_esim and all(run.startswith("gallery-esim-") for run in of_esim)
    other = Looked(ME, PARAPHRASE_IDENTIFICATION)
    assert runs.usual(other, "trial").runs[0].startswith("gallery-minilm_qqp")
    together = replace(request(sets, seeds=(1,)), artefacts={"sweep": "a"})
    runs.start(ME, [request(sets)])
    begun = runs.start(ME, [together, replace(together, plan={**together.plan, "seeds": [2]})])
    assert sorted(runs.usual(looked(), "trial").runs) == sorted(run.id for run in begun)


def test_a_browser_sees_its_own_runs_and_those_that_were_shared_with_it(
    runs: Runs, sets: Sets
) -> None:
    (theirs,) = runs.start(YOU, [request(sets)])
    assert runs.looked_at(looked(theirs.id)) == [] and theirs.id not in listed(runs, looked())
    assert runs.looked_at(looked(theirs.id, owner="")) == []
    for act in ("stop", "again", "delete"):
        with pytest.raises(UnknownRun):
            runs.act(act, looked(), [theirs.id])
    link = runs.link(looked(theirs.id, owner=YOU))
    assert f"train?aim=trial&amp;task=nli&amp;run={theirs.id}&amp;grant=" in link
    assert "uses models of yours" in link
    redeem(runs.store, ME, link.partition("grant=")[2].partition('"')[0])
    own = listed(runs, looked(theirs.id)).partition("</li>")[0]
    assert "negation on minilm" in own and "data-do" not in own
    assert "models of yours" not in runs.link(looked("gallery-esim-negation"))


def test_a_browser_is_not_trusted_with_what_it_looks_at() -> None:
    for value in (None, "x", {"runs": "abc"}, {"runs": [1, None, {}]}, {"asked": "yes"}):
        read = Looked.read(ME, "nli", value)
        assert read.runs == () and not read.asked, value
    many = Looked.read(ME, "nli", {"runs": ["a,b", "b", *map(str, range(999))], "by": "dev_lr"})
    assert many.runs[:2] == ("a", "b") and len(many.runs) == 60 and many.by == "dev_lr"
    assert Looked.read(ME, "nli", many.value) == many


def test_no_name_or_message_becomes_markup(runs: Runs) -> None:
    (ready,) = [run for run in gallery_runs() if run.id == "gallery-esim-negation"]
    for attack in ATTACKS:
        plan = {**ready.plan, "challenge": attack, "model": attack}
        for state in ("queued", "running", "failed", "done"):
            run = replace(ready, id=attack, owner=ME, plan=plan, error=attack, state=state)
            drawn = replace(runs, gallery=[run])
            assert attack in require_ours(listed(drawn, looked(attack))).text
            require_ours(results([VIEW], [replace(run, cells=())], looked()))


def area_of(store: Store) -> RunArea:
    kept = list[RunArea]()
    alone(lambda page: kept.append(RunArea(page, [VIEW], "trial", "train")), store)
    return kept[0]


def test_the_page_draws_only_what_is_new_and_asks_again_while_something_runs(
    runs: Runs, sets: Sets
) -> None:
    area = area_of(runs.store)
    assert not area.draw(looked())[area.timer].active
    (run,) = runs.start(ME, [request(sets)])
    first = area.draw(looked(run.id))
    assert area.results in first and first[area.timer].active
    seen = first[area.list].value["seen"]
    assert area.results not in area.draw(looked(run.id, seen=seen))
    runs.store.set_state(run.id, "failed")
    after = area.draw(looked(run.id, seen=seen))
    assert "Take the run up again" in after[area.results] and not after[area.timer].active
    title = after[area.list].constructor_args["rows"]
    assert 'data-state="finished" data-title="Failed: negation on minilm · 0 of 2 steps"' in title


def test_presses_in_list_and_results_are_answered(runs: Runs, sets: Sets, home: Path) -> None:
    area, ready = area_of(runs.store), "gallery-esim-negation"
    area.runs = runs
    (run,) = runs.start(ME, [request(sets)])

    def at(*ids: str) -> dict[Any, Any]:
        value = {"runs": list(ids), "asked": True}
        return {area.page.owner: ME, area.page.task: "nli", area.list: value}

    def event(**data: str) -> gr.EventData:
        return gr.EventData(None, data)

    assert "run=" + ready in area.press(at(), event(act="link", run=ready))[area.share]
    area.press(at(run.id), event(act="stop", run=run.id))
    assert runs.store.get(run.id).cancelling and "Stopping" in listed(runs, looked())
    runs.store.set_state(run.id, "cancelled")
    with locked(home):
        told = area.press(at(run.id), event(act="again", run=run.id))[area.problem]
    assert "locked by another program" in told and runs.store.get(run.id).state == "cancelled"
    area.press(at(run.id), event(act="again", run=run.id))
    assert runs.store.get(run.id).state == "queued"
    runs.store.set_state(run.id, "cancelled")
    gone = area.press(at(run.id, ready), event(act="delete", run=run.id))
    assert gone[area.list].value["runs"] == [ready] and not runs.own(ME, NLI)
    for said in ({"opened": ready}, {"by": "dev_lr"}, {"rule": f"{ready}:5"}):
        value = area.change(at(ready), event(**said))[area.list].value
        assert said.items() <= value.items() and value["asked"]
    assert "there is no run" in area.change(at(), event(begin="gone"))[area.problem]
    (path,) = area.make_files(at(ready, "gallery-minilm-negation"))[area.files].value
    assert Path(path["path"]).read_text() == f"{ready} gallery-minilm-negation"
    here, problem = area.linked(ME, NLI, {"run": ready, "opened": ready}, "trial")
    assert (here.runs, here.opened, here.asked, problem) == ((ready,), ready, True, "")
    other, problem = area.linked(ME, NLI, {"run": "0123456789ab"}, "trial")
    assert "0123456789ab, which is not here" in problem and len(other.runs) == 5


def test_a_run_over_http_belongs_to_its_owner_or_to_a_new_one(
    runs: Runs, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun(owner: str, model: str = "minilm") -> Json:
        return start_for_owner(runs.store, runs.engine, owner, model, lambda: request(sets))

    for owner in (ME, ""):
        started = begun(owner)
        assert as_token(started["owner"]) and started["owner"] == (owner or started["owner"])
        assert [run.id for run in runs.store.runs(started["owner"])] == [started["run"]]
    with pytest.raises(ModelError, match="no-such-model"):
        begun(YOU, "no-such-model")
    monkeypatch.setenv("NLI_CLINIC_MAX_KEPT_MODELS", "1")
    with pytest.raises(LimitError, match="1"):
        begun(ME)
    assert len(runs.store.runs(ME)) == 1 and not runs.store.runs(YOU)


def start(runs: Runs, sets: Sets, owner: str = ME, seed: int = 0) -> str:
    """Start a run as the form does; return what is wrong."""
    try:
        runs.start(owner, [request(sets, seeds=(seed,))])
    except UserError as trouble:
        return str(trouble)
    return ""


def test_each_limit_of_what_a_visitor_may_start_is_kept(
    runs: Runs, sets: Sets, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fresh() -> Runs:
        for run in runs.store.runs():
            runs.store.set_state(run.id, "cancelled")
            runs.act("delete", looked(owner=run.owner), [run.id])
        return runs

    for name, limit, said in (
        ("MAX_OPEN_RUNS", "2", "3 of your runs would be going at once, more than 2"),
        ("MAX_RUNS_A_DAY", "2", "3 runs in 24 hours would be more than 2"),
        ("MAX_ALL_OPEN_RUNS", "2", "3 runs of all visitors would be going at once"),
        ("MAX_KEPT_MODELS", "2", "3 models of yours would be kept, more than 2"),
    ):
        with monkeypatch.context() as own:
            own.setenv(f"NLI_CLINIC_{name}", limit)
            told = [start(fresh(), sets), *(start(runs, sets, seed=seed) for seed in (1, 2))]
            assert told[:2] == ["", ""] and said in told[2], (name, told)
            assert bool(start(runs, sets, YOU)) == (name == "MAX_ALL_OPEN_RUNS")
    assert [start(fresh(), sets) for _ in range(3)] == [""] * 3 and len(runs.store.runs(ME)) == 1
    for nobody in ("", "api", "command line"):
        assert "does not know your browser yet; load it again" in start(runs, sets, nobody)


def test_a_visitor_stores_so_many_megabytes_of_files_and_models(
    runs: Runs, sets: Sets, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_STORED_MB", "1")
    (run,) = runs.start(ME, [request(sets)])
    runs.store.set_kept(run.id, "model")
    (home / "models" / "model").mkdir(parents=True)
    (home / "models" / "model" / "weights").write_bytes(bytes(600_000))
    assert start(runs, sets, seed=1) == ""
    (fresh_folder(ME) / "scored.csv").write_bytes(bytes(600_000))
    said = "your files and models would take 2 megabytes, more than 1"
    assert said in start(runs, sets, seed=2) and start(runs, sets, YOU) == ""
    delete_model(runs.store, ME, run.id)
    assert start(runs, sets, seed=2) == ""


def running(done: int, each: float, passed: float) -> StoredRun:
    """A run of four steps, `passed` seconds after its begin, whose steps took `each`."""
    result, began = {"seconds": each}, 1000.0
    cells = [RunCell[Json, Json, Json](at, {}, "done", result=result) for at in range(done)]
    cells += [RunCell(at, {}, "queued") for at in range(done, 4)]
    return Run(
        "run1", "checkup", "me", {}, "running", False, "", began, began, began + passed, {}, {}, "",
        tuple(cells),
    )  # fmt: skip


def test_what_is_left_is_told_by_the_steps_that_are_done() -> None:
    for done, passed, left in (
        (1, 60, 180), (1, 100, 140), (1, 120, 120),
        (1, 180, 180),  # the second step takes 120 s so far, and each 90 s on average
        (2, 1, 120),  # taken up again
    ):  # fmt: skip
        assert seconds_left(running(done, 60, passed)) == pytest.approx(left)
    assert how_far(running(3, 60, 230)).endswith("4 min · about 10 s left")
    assert how_far(running(3, 60, 400)).endswith("7 min · longer than expected")
    begun = running(0, 60, 30)
    assert " left" not in how_far(begun)
    assert how_far(replace(begun, artefacts={"seconds": 0.0})).endswith(
        "measuring how long it takes"
    )
    cells = (replace(begun.cells[0], state="running", progress={"epoch": 2}), *begun.cells[1:])
    for plan, said in (({"max_epochs": 5}, "epoch 2 of at most 5"), ({}, "epoch 2 · ")):
        assert said in how_far(replace(begun, plan=plan, cells=cells))
    for done, each, passed, left in (
        (0, 0, 30, 210), (0, 0, 300, 0),
        (1, 10, 10, 150), (3, 60, 180, 60),  # a short first step tells little
    ):  # fmt: skip
        planned = replace(running(done, each, passed), artefacts={"seconds": 240})
        assert seconds_left(planned) == pytest.approx(left), (done, passed)
    late = [share_done(replace(planned, artefacts={"seconds": at})) for at in (250, 300, 900)]
    assert late == sorted(late, reverse=True) and 0.75 <= late[0] < 1
