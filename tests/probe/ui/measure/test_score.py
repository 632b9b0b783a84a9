"""A file is scored as a run: in the answer or by the engine, whole or stopped, and shown again."""

import csv
import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from probe.analysis.batch import FIRST_ROWS
from probe.data.rows import guess
from probe.data.source import open_source
from probe.errors import FileError
from probe.models.weights import file_hash
from probe.runs.access import redeem, share
from probe.runs.engine import Engine
from probe.runs.models import named_model_hash
from probe.runs.run import Run, RunCell, StoredRun, ended
from probe.runs.store import Store
from probe.scoring.files import SCORING, ScoringRequest, input_file, scoring_request
from probe.scoring.ready import ready_run
from probe.tasks.nli import LABELS, NLI
from probe.tasks.task import Task, offered_tasks
from probe.text.words import tokenise
from probe.ui.measure.answer_files import offered
from probe.ui.measure.choice import FILE, fill
from probe.ui.measure.progress import FileProgress, file_progress, in_words, per_second_words
from probe.ui.measure.result_files import files_of, files_view, kept_folder
from probe.ui.measure.rows import PAGE_ROWS, Selection, browse, rows_page
from probe.ui.measure.score import Score, background_runs, result_of, start
from probe.ui.measure.texts import NO_GOLD, show_file
from probe.ui.panels import options
from probe.ui.visitors.visitor_files import bundled_copy, folder_of, own_file
from probe.ui.visitors.visitor_files import files_of as stored
from tests.support.cases import each
from tests.support.files.scoring_files import pair_file
from tests.support.pages.choices import chosen
from tests.support.pages.views import asked_by, each_named, named, pressed, view_of
from tests.support.pages.visitors import ME, YOU, uploaded
from tests.support.waiting import until

MODEL = "da"
ROWS, PARTS = 600, (256, 256, 88)
DONE = PARTS[0] + PARTS[2]


@pytest.fixture(autouse=True)
def home_of_its_own(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return home


@pytest.fixture
def view() -> Iterator[Score]:
    """The view, with a store of its own and an engine in this process."""
    store = Store()
    engine = Engine(store, in_process=True)
    yield view_of(Score, store, engine)
    engine.close()


@pytest.fixture
def run(view: Score, tmp_path: Path) -> StoredRun:
    """A file of three parts that the engine has scored."""
    file = pair_file(tmp_path / "mine.csv", ROWS)
    source = open_source(file)
    columns = guess(source.names, NLI)
    request = ScoringRequest(columns, ("reverse",), precision="fp32", importance="saliency")
    store, engine = view.core.store, view.core.engine
    run_id = store.create(ME, scoring_request(file, source, MODEL, NLI, request)).id
    engine.submit(run_id)
    until(store, run_id, ended)
    return store.get(run_id)


def only(run: StoredRun, *parts: int) -> StoredRun:
    """Return the run as if it had been stopped when these parts were done."""
    cells = [
        cell if cell.number in parts else replace(cell, state="cancelled", result=None)
        for cell in run.cells
    ]
    return replace(run, cells=tuple(cells), state="cancelled")


def fields(
    upload: Path, model: str = MODEL, gold: str = "label", meanings: str = "", importance: str = ""
) -> tuple[Any, ...]:
    """Return what a visitor has entered to score a file."""
    with gr.Blocks():
        controls = [control.value for control in options.build()]
    columns = ("premise", "hypothesis", gold, None)
    file = str(uploaded(upload))
    given = chosen([model], FILE, file, columns, meanings=meanings, precision="fp32")
    return (ME, "nli", *given, ["reverse"], importance, *controls)


def scoring(view: Score, file: Path, model: str = MODEL, **said: str) -> Iterator[dict[str, Any]]:
    """Press Score."""
    return each_named(view, view.score(asked_by(), *fields(file, model, **said)))


def key_in(shown: dict[str, Any]) -> str:
    """Return the key of the results that are shown."""
    found = re.search(r'name="key" value="([^"]+)"', str(shown["rows"]))
    assert found
    return found[1]


def test_a_file_that_is_scored_in_the_answer_is_a_run_with_the_same_result_as_the_engines(
    view: Score, run: StoredRun, tmp_path: Path
) -> None:
    *steps, last = scoring(view, tmp_path / "mine.csv", importance="saliency")
    first = next(step for step in steps if "figures" in step)
    assert f"n = {FIRST_ROWS};" in str(first["figures"]) and "data-cell" not in first["figures"]
    mine = view.core.store.get(last["run"])
    assert (mine.state, len(mine.results)) == ("done", len(PARTS))
    assert f"{ROWS} rows, {ROWS} scored" in last["head"] and "Only you see" in last["who"]
    here, there = (files_of(key_in(each)) for each in (last, named(view, view.shown(run, ME))))
    assert [path.name for path in here.values()] == [
        *("mine-scored.csv", "mine-summary.json", "mine-pairs.csv", "mine-importance.csv"),
        *(f"mine-tables.{form}" for form in ("csv", "md", "tex")),
    ]
    for kind in here:
        assert here[kind].read_bytes() == there[kind].read_bytes()
    written = list(csv.DictReader(here["-scored"].open(newline="", encoding="utf-8")))
    right = [row["prediction"] == row["label"] for row in written]
    assert len(written) == ROWS and [row["right"] == "True" for row in written] == right
    words = Counter(row["row"] for row in csv.DictReader(here["-importance"].open()))
    for number, row in enumerate(written, 1):
        texts = (row["premise"], row["hypothesis"])
        assert words[str(number)] == sum(map(len, map(tokenise, texts)))
    first_row = str(last["rows"]).partition("<tbody>")[2].partition("</tr>")[0]
    assert first_row.count('class="token for"') == words["1"]
    assert f"Scored for “{written[0]['label']}”" in first_row and "darker" in last["rows"]


def test_a_file_of_answers_is_a_run_without_changes(view: Score, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(
        "premise,hypothesis,label,prediction\n"
        "A cat sleeps.,It rests.,entailment,entailment\n"
        "A cat sleeps.,It runs.,contradiction,neutral\n"
    )
    *_, last = scoring(view, file, offered(ME, [], str(uploaded(file)), []).value[0])
    assert "50.0 %" in last["figures"]
    assert "Changes and importance are left out" in last["trouble"]
    assert "there is no confidence" in last["trouble"]
    (stored_run,) = view.core.store.runs(ME, "scoring")
    assert (stored_run.state, stored_run.plan["model"]) == ("done", "mine.csv")
    selection = Selection(key_in(last), gold="contradiction", answer="neutral")
    assert [row["row"] for row in rows_page(selection).rows] == [2]
    opened = named(view, view.shown(stored_run, ME))  # as by its link
    assert opened["figures"] == last["figures"]
    assert "Accuracy by slice" in last["figures"] and "by how sure" not in last["figures"]


def test_numbers_for_answers_are_asked_about_and_how_sure_they_are_is_drawn(
    view: Score, tmp_path: Path
) -> None:
    rows = [
        {"premise": "A cat sleeps.", "hypothesis": f"It rests {at}.", "predicted_label": at % 3,
         "predicted_scores": [float(at % 3 == label) for label in range(3)]}
        for at in range(6)
    ]  # fmt: skip
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = str(uploaded(file))
    _, labels, *_ = show_file(ME, "nli", path)
    assert "This file has the labels 0 and 1 and 2" in labels and "It rests 0." in labels
    name = offered(ME, [], path, []).value[0]
    *_, last = scoring(view, file, name, gold=NO_GOLD)
    assert "say it below the file" in last["trouble"]
    meant = json.dumps(dict(zip("012", LABELS, strict=True)))
    *_, last = scoring(view, file, name, gold=NO_GOLD, meanings=meant)
    assert "0 as entailment, 1 as neutral, 2 as contradiction, as you say" in last["trouble"]
    file = tmp_path / "gold.jsonl"
    file.write_text("".join(json.dumps(row | {"label": LABELS[0]}) + "\n" for row in rows))
    name = offered(ME, [], str(uploaded(file)), []).value[0]
    *_, last = scoring(view, file, name, meanings=meant)
    assert "right on 33.3 %" in last["figures"] and "n = 6" in last["figures"]


def test_a_stop_keeps_the_parts_that_are_done_and_goes_on_later(
    view: Score, tmp_path: Path
) -> None:
    steps = scoring(view, pair_file(tmp_path / "mine.csv", ROWS))
    for shown in steps:
        if "256 of 600" in str(shown.get("progress")):
            view.stops.ask("me")
            break
    *_, last = steps
    run = view.core.store.get(last["run"])
    assert (run.state, len(run.results)) == ("cancelled", 1)
    assert "256 of 600 rows are scored" in last["progress"]
    assert f'data-cell="go-on:{run.id}"' in last["listed"]
    view.press(pressed(f"go-on:{run.id}"), ME)
    until(view.core.store, run.id, ended)
    assert len(view.core.store.get(run.id).results) == len(PARTS)


def test_a_stop_before_the_first_part_leaves_nothing_behind(
    view: Score, tmp_path: Path, home: Path
) -> None:
    steps = scoring(view, pair_file(tmp_path / "mine.csv", ROWS))
    first = next(steps)["progress"]
    assert "Loading the model and scoring the first rows" in first and "600 rows" in first
    view.stops.ask("me")
    *_, last = steps
    assert "nothing to show" in last["trouble"] and "alert" not in last["trouble"]
    assert not view.core.store.runs() and not list((home / "scoring").iterdir())


@each("way", ["left", "late"])
def test_what_is_left_or_takes_too_long_goes_on_in_the_background(
    way: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    view = view_of(Score, store, Engine(store, in_process=True))
    monkeypatch.setenv("NLI_CLINIC_FILE_MINUTES", "1")
    steps = scoring(view, pair_file(tmp_path / "mine.csv", ROWS))
    for shown in steps:
        if "256 of 600" in str(shown.get("progress")):
            break
    if way == "left":
        steps.close()  # type: ignore[attr-defined]  # a generator
        del steps
    else:
        now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: now + 61)
        *_, last = steps
        monkeypatch.undo()
        assert "scored in the background" in last["trouble"]
    (run,) = store.runs(ME)
    until(store, run.id, ended)
    assert store.get(run.id).state == "done" and len(store.get(run.id).results) == len(PARTS)
    view.core.engine.close()


def test_a_large_file_is_the_engines_from_the_start(
    view: Score, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_BACKGROUND_ROWS", "10")
    (shown,) = scoring(view, pair_file(tmp_path / "mine.csv", 20))
    assert "20 rows are scored in the background" in shown["trouble"]
    assert shown["timer"].active and f'data-cell="stop:{shown["run"]}"' in shown["listed"]
    until(view.core.store, shown["run"], ended)
    looked = named(view, view.look(ME, shown["run"]))
    assert "20 rows, 20 scored" in looked["head"] and not looked["timer"].active


def test_who_comes_second_sees_the_file_that_is_before_theirs(view: Score, tmp_path: Path) -> None:
    with view.line.place(("", "first"), lambda: "") as ahead:
        assert list(ahead) == []
        steps = scoring(view, pair_file(tmp_path / "mine.csv", 20))
        assert "One file is scored before yours" in next(steps)["progress"]
        view.stops.ask("me")
        assert "nothing to show" in next(steps)["trouble"]


def test_a_file_that_is_under_way_is_not_begun_again(
    tmp_path: Path, home: Path, waiting_engine: tuple[Store, Engine]
) -> None:
    store, engine = waiting_engine
    file = pair_file(tmp_path / "mine.csv", 300)
    other = pair_file(tmp_path / "other.csv", 301).rename(tmp_path / "other")
    (tmp_path / "more").mkdir()
    other = other.rename(tmp_path / "more" / "mine.csv")
    request = ScoringRequest(guess(open_source(file).names, NLI), ("reverse",))

    def begun(asked: ScoringRequest, path: Path = file) -> int:
        start(store, engine, ME, scoring_request(path, open_source(path), "da", NLI, asked))
        return len(store.runs(ME))

    assert [begun(request), begun(request)] == [1, 1]
    (run,) = store.runs(ME)
    assert [path.name for path in (home / "scoring").iterdir()] == [run.plan["folder"]]
    assert [begun(replace(request, seed=1)), begun(request, other)] == [2, 3]
    store.request_cancel(store.runs(ME)[-1].id)
    assert begun(request) == 4


def test_a_file_that_is_scored_at_once_is_none_of_the_runs_of_a_day(
    view: Score, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_RUNS_A_DAY", "1")
    file = pair_file(tmp_path / "mine.csv", 20)
    shown = [list(scoring(view, file))[-1] for _ in range(2)]
    assert all("20 rows, 20 scored" in each["head"] for each in shown)
    monkeypatch.setenv("NLI_CLINIC_BACKGROUND_ROWS", "1")
    (begun,) = scoring(view, file)
    assert "scored in the background" in begun["trouble"]
    until(view.core.store, begun["run"], ended)
    (refused,) = scoring(view, file)
    assert "2 runs in 24 hours would be more than 1" in refused["trouble"]


@each("order", [None, NLI.labels[::-1]])
def test_a_model_that_was_brought_scores_in_the_background_as_here(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, order: Any
) -> None:
    monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path))
    monkeypatch.setenv("NLI_CLINIC_OWN_MODELS", "folder")
    store = Store()
    view = view_of(Score, store, engine := Engine(store, in_process=True))
    name = view.core.models.open(ME, model, order).model.name
    file = pair_file(tmp_path / "mine.csv", 20)
    *_, here = scoring(view, file, name)
    monkeypatch.setenv("NLI_CLINIC_BACKGROUND_ROWS", "1")
    (begun,) = scoring(view, file, name)
    until(store, begun["run"], ended)
    there = named(view, view.look(ME, begun["run"]))
    first, second = (files_of(key_in(each))["-scored"].read_text() for each in (here, there))
    assert first.split("\n")[1:] == second.split("\n")[1:]
    opened = named(view, view.open(ME, "nli", asked_by(run=begun["run"])))
    assert "20 rows, 20 scored" in opened["head"]
    engine.close()


def test_an_address_opens_a_run_for_its_owner_and_by_a_link_for_others(
    view: Score, run: StoredRun
) -> None:
    request = asked_by(run=run.id)
    mine = named(view, view.open(ME, "nli", request))
    assert "mine.csv" in mine["head"] and mine["changes"] == ["reverse"]
    refused = named(view, view.open(YOU, "nli", request))
    assert "you may not see" in refused["trouble"] and "head" not in refused
    assert 'role="alert"' in named(view, view.press(pressed(f"stop:{run.id}"), YOU))["trouble"]
    redeem(view.core.store, YOU, share(view.core.store, ME, run.id))
    shown = named(view, view.open(YOU, "nli", request))
    assert "mine.csv" in shown["head"] and "Shown to you by a link" in shown["who"]
    assert key_in(shown).partition("/")[0] == folder_of(YOU).name
    assert (
        rows_page(Selection(key_in(shown))).rows[0]["texts"]
        == rows_page(Selection(key_in(mine))).rows[0]["texts"]
    )
    models = view.core.models
    for who in (ME, YOU, YOU):  # the texts are theirs from then on, once
        file = fill(models, who, NLI, {"run": run.id, "texts": "file:gone"})[7]
        assert Path(file).read_bytes() == input_file(run.plan["folder"], "mine.csv").read_bytes()
        assert own_file(who, file) and len([each for each in stored(who) if each.upload]) == 1
    with pytest.raises(FileError):
        own_file(YOU, fill(models, ME, NLI, {"run": run.id})[7])


def test_a_result_is_written_once_and_anew_where_it_is_not_whole(
    view: Score, run: StoredRun
) -> None:
    folder, _ = result_of(run, ME)
    whole = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    assert result_of(view.core.store.get(run.id), ME)[0] == folder
    files_view(f"{folder.parent.name}/{folder.name}", guard=True)  # beside it, no part of it
    assert {name: (folder / name).stat().st_mtime_ns for name in whole} == {
        name: written for name, (_, written) in whole.items()
    }
    for name, (content, _) in whole.items():
        (folder / name).write_bytes(content[: len(content) // 2])
        again, _ = result_of(run, ME)
        assert len((again / name).read_bytes()) == len(content)
    assert list(folder_of(ME).iterdir()) == [folder]
    more = [result_of(only(run, 0, part), ME)[0] for part in (1, 2)]
    later = result_of(replace(run, finished=run.finished + 1), ME)[0]
    assert len({folder, *more, later}) == 4


def test_the_rows_of_a_stopped_run_are_those_of_its_parts(view: Score, run: StoredRun) -> None:
    shown = named(view, view.shown(only(run, 0, 2), ME))
    assert f"{DONE} of {ROWS} rows are scored" in shown["progress"]
    page = rows_page(Selection(key_in(shown), page="13"))
    assert [page.rows[at]["row"] for at in (15, 16)] == [256, 513] and page.count == DONE


def test_what_cannot_be_put_together_leaves_no_files_behind(view: Score, run: StoredRun) -> None:
    SCORING.store_content(run.plan, run.cells[1].key, gzip.compress(b"{"))
    with pytest.raises(ValueError, match="Expecting"):
        result_of(run, ME)
    assert list(folder_of(ME).iterdir()) == []


@each("task", offered_tasks())
def test_what_was_scored_before_is_of_todays_texts_and_model_and_shown_unasked(task: Task) -> None:
    run, view = ready_run(task), view_of(Score)
    assert run and run.artefacts["model"] == named_model_hash(run.plan["model"])
    shown = named(view, view.open(ME, task.name, asked_by()))
    assert "Scored before" in shown["who"] and shown["run"] == ""
    file = input_file(run.plan["folder"], run.plan["file"])
    assert file_hash(file) == file_hash(bundled_copy(task))
    assert len(rows_page(Selection(key_in(shown))).rows) == PAGE_ROWS
    for query in ({"texts": "one"}, {"models": "da"}, {"changes": "sort"}, {"seed": "1"}):
        if task is NLI:
            assert "head" not in named(view, view.open(ME, task.name, asked_by(**query)))
    other = json.loads((kept_folder(key_in(shown)) / "scored.json").read_text())
    assert other["shape"]["model"] == run.plan["model"]


def test_how_far_a_file_is_and_what_can_be_pressed() -> None:
    cells = (
        RunCell(0, {}, "done", {"rows": 200, "seconds": 30.0}, {"rows": 200, "scored": 200}),
        RunCell(1, {}, "running"),
    )
    plan = {"file": "big.csv", "rows": 600, "model": "da", "names": [], "task": "nli"}
    run: StoredRun = Run(
        *("a", "scoring", "me", plan, "running", False, "", 1.0, 1.0, 0.0, {}, {}, ""), cells=cells
    )
    untimed = replace(cells[0], progress=None)
    for shown, left in {
        background_runs([run]): "6.7 a second · about 60 s left",
        background_runs([replace(run, cells=(*cells, cells[1]))]): "about 30 s left",
        background_runs([replace(run, state="queued")], 2): "2 runs before it",
        background_runs([replace(run, cancelling=True)]): 'data-cell="stop:a" disabled',
        background_runs([replace(run, state="failed")]): 'data-cell="go-on:a"',
    }.items():
        assert left in shown and "Show what is done" in shown
    for quiet in (replace(run, cells=(untimed, cells[1])), replace(run, cancelling=True)):
        assert " left" not in background_runs([quiet])
    waiting = file_progress(FileProgress("a", "waiting", ahead=3))
    assert "3 files are scored before" in waiting
    going = FileProgress("a.csv", "scoring", done=50, total=200, seconds=10)
    assert in_words(going) == "50 of 200 rows, 5 a second, about 30 s left"
    assert 'data-title="25 % · a.csv"' in file_progress(going)
    speeds = {0.04: "0.04", 0.36: "0.36", 3.2: "3.2", 12.6: "13", 1234.0: "1,234"}
    assert [per_second_words(each) for each in speeds] == [f"{s} a second" for s in speeds.values()]


def test_rows_are_joined_to_contrast_sets_by_a_column_that_is_pressed(
    view: Score, tmp_path: Path
) -> None:
    lines = pair_file(tmp_path / "mine.csv", 24).read_text().splitlines()
    keyed = [f"key,{lines[0]}", *(f"k{at // 4},{line}" for at, line in enumerate(lines[1:]))]
    (tmp_path / "mine.csv").write_text("\n".join(keyed) + "\n")
    *_, last = scoring(view, tmp_path / "mine.csv")
    key = key_in(last)
    offered = re.findall(r'name="bundle" value="(\w+)"', str(last["rows"]))
    assert offered == ["key", "id"] and "Contrast sets by" not in last["rows"]
    written = list(csv.DictReader(files_of(key)["-scored"].open(newline="", encoding="utf-8")))
    right = [[row["right"] == "True" for row in written[at : at + 4]] for at in range(0, 24, 4)]
    shown = browse(pressed(Selection(key, bundle="key").asked))
    split = sum(any(each) and not all(each) for each in right)
    assert f"of the bundles, on some of {split}, on none of" in shown
    assert f"{sum(map(all, right)) / 6:.1%}".replace("%", " %") in shown
    assert shown.count("<h4>k") == split
    alone = browse(pressed(Selection(key, bundle="id").asked))
    assert "there are no contrast sets" in alone
