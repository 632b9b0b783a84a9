"""Mine: a visitor's own things are listed, taken away, shared, stopped, and asked about first."""

import json
import os
import re
import time
import zipfile
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import gradio as gr
import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.errors import ModelError
from probe.runs.access import NOBODY, brought, chosen_runs, redeem, require_for_runs, share
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.surveys.survey import join, start_class
from probe.tasks.nli import NLI
from probe.ui.lessons.attribution import ATTRIBUTION
from probe.ui.lessons.lesson import places_of
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.tabs.learn import remember, remembered
from probe.ui.tabs.mine import EVERYTHING, Handlers, bring
from probe.ui.tabs.teaching import write_guesses
from probe.ui.visitors.belongings import (
    CLASS_FILES,
    GONE,
    KINDS,
    REMEMBERED,
    belongings,
    count_of,
    delete_all,
    moment,
    remove_old,
    size,
)
from probe.ui.visitors.visitor_files import HOUR, files_of, fresh_folder, own_file
from tests.support.models.tiny_bert import tiny_bert
from tests.support.pages.visitors import ME, YOU, page_models, uploaded
from tests.support.processes.database_trouble import locked
from tests.support.runs.annotation import small_set

PLAN = Plan("tiny", "negation", (5,), (2e-5,), (0,))


@pytest.fixture
def handlers(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Handlers:
    """What the buttons do, with an empty store and cache."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return Handlers(store := Store(), Engine(store, in_process=True))


@pytest.fixture
def run(handlers: Handlers, sets: Sets, home: Path) -> str:
    """A run of ME with a model and a link that YOU opened; a result file; a set, answered by ME."""
    run = handlers.store.create(ME, run_request(PLAN, sets)).id
    handlers.store.set_state(run, "done")
    handlers.store.set_kept(run, "tiny-negation-5-abc")
    tiny_bert(home / "models" / "tiny-negation-5-abc")
    redeem(handlers.store, YOU, share(handlers.store, ME, run))
    (fresh_folder(ME) / "mine-scored.csv").write_text("a")
    join(handlers.store, small_set(handlers.store).survey, ME, "fox")
    return run


def shown(handlers: Handlers, visitor: str = ME) -> str:
    """Return what stands in the lists."""
    _, above, below, _ = handlers.show(visitor, "nli")
    return str(above + below)


def press(handlers: Handlers, cell: str, visitor: str = ME) -> str:
    """Return what a button's press is answered with."""
    return str(handlers.press(visitor, "nli", cell)[0])


def test_all_of_a_visitors_own_is_listed_counted_and_opens_and_nothing_of_anothers(
    handlers: Handlers, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = shown(handlers)
    for words in (
        "mine-scored.csv", "Inoculate · negation on tiny", "tiny-negation-5-abc",
        "opened by 1 other", "set of 8 texts, 0 % answered", "until you delete it",
        f"train?aim=inoculate&amp;task=nli&amp;run={run}", "measure?view=people",
        "measure?task=nli&amp;models=tiny-negation-5-abc", "0 answers of yours",
    ):  # fmt: skip
        assert words in listed, words
    counts = {kind: len(rows) for kind, rows in belongings(handlers.store, ME).items()}
    assert counts == dict.fromkeys(KINDS, 1)
    assert handlers.show(ME, "nli")[0] == f'<b class="count">{len(KINDS)}</b>'
    for stranger in (YOU, "", "command line"):
        listed = shown(handlers, stranger)
        assert all(kind.none in listed for kind in KINDS.values()), stranger
        assert run not in listed and "mine-" not in listed, stranger
        assert count_of(handlers.store, stranger) == 0, stranger
    assert "kept until" not in shown(handlers)
    monkeypatch.setenv("NLI_CLINIC_KEEP_DAYS", "1")
    assert "kept until tomorrow" in belongings(handlers.store, ME)["runs"][0].when


def test_an_upload_says_how_many_rows_it_has_and_opens_also_where_it_cannot_be_read(
    handlers: Handlers, tmp_path: Path
) -> None:
    for name, text, words in (
        ("two.csv", "premise,hypothesis\na,b\nc,d\n", "2 rows, uploaded today"),
        ("one.csv", "premise,hypothesis\na,b\n", "1 row, uploaded today"),
        ("none.csv", "premise\n", "waits for how it is read"),
    ):
        (tmp_path / name).write_text(text)
        own_file(ME, uploaded(tmp_path / name))
        (row,) = (each for each in belongings(handlers.store, ME)["files"] if each.name == name)
        assert words in row.says, name
        assert row.opens["Open"].startswith("measure?texts=file%3A"), name


def test_of_a_strangers_press_nothing_comes_and_nothing_is_learnt(
    handlers: Handlers, run: str
) -> None:
    for kind, (mine,) in belongings(handlers.store, ME).items():
        for verb in ("ask", "delete", "files", "share", "stop", "end"):
            told = {press(handlers, f"{verb}:{kind}:{which}", YOU) for which in (mine.id, "gone")}
            assert len(told) == 1 and GONE in told.pop(), (kind, verb)
        assert belongings(handlers.store, ME)[kind] == [mine]
    for none in (
        "", "ask", "ask:runs:", "delete:votes:1", "files:files:../..", ":", "share:answers:1", "x::"
    ):  # fmt: skip
        assert 'role="alert"' in press(handlers, none), none
        assert all(belongings(handlers.store, ME).values()), none


def test_a_thing_is_asked_about_by_name_and_all_goes_at_once_when_confirmed(
    handlers: Handlers, run: str, home: Path
) -> None:
    asked = press(handlers, f"ask:runs:{run}")
    assert "Delete: Inoculate · negation on tiny?" in asked
    assert press(handlers, "keep") == "" and belongings(handlers.store, ME)["runs"]
    delete_all(handlers.store, handlers.engine, YOU)
    assert "opened by 0 others" in shown(handlers)  # opened links are forgotten
    everything = press(handlers, f"ask:{EVERYTHING}:")
    assert "runs: 1, files: 1, models: 1, links that you gave: 1" in everything
    cell = re.findall(r'data-cell="(delete[^"]*)"', asked)[0]
    assert "is gone" in press(handlers, cell)
    left = belongings(handlers.store, ME)
    assert [kind for kind, rows in left.items() if rows] == ["files", "sets", "answers"]
    assert handlers.press(ME, "nli", "keep")[-1] == gr.skip()
    told, *_, remembered = handlers.press(ME, "nli", f"delete:{EVERYTHING}:")
    assert "Deleted." in told and remembered == {}  # of the lessons
    assert not any(belongings(handlers.store, ME).values())
    assert list((home / "models").iterdir()) == []


def test_a_link_lets_others_in_until_it_is_taken_back(handlers: Handlers, run: str) -> None:
    shared = press(handlers, f"share:runs:{run}")
    assert "until you take it back here" in shared and f"run={run}" in shared
    (link,) = belongings(handlers.store, ME)["links"]
    assert f"grant={link.id}" in shared == press(handlers, f"share:links:{link.id}")
    assert chosen_runs(handlers.store, YOU, [run])
    assert "Take back" in press(handlers, f"ask:links:{link.id}")
    press(handlers, f"delete:links:{link.id}")
    assert not chosen_runs(handlers.store, YOU, [run])
    (survey,) = belongings(handlers.store, ME)["sets"]
    assert f"set?{survey.id}" in press(handlers, f"share:sets:{survey.id}")
    assert "has ended" in press(handlers, f"end:sets:{survey.id}")
    assert "cannot be done" in press(handlers, f"share:sets:{survey.id}")


def test_what_is_taken_away_is_a_file_of_the_visitors_own(
    handlers: Handlers, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CLASS_FILES, "guesses", partial(write_guesses, [WORD_SALAD]))
    start_class(handlers.store, ME, "Word salad", "word_salad", "nli", "minilm")
    names = {}
    for kind, rows in belongings(handlers.store, ME).items():
        for row in rows:
            if "files" in row.verbs:
                told = press(handlers, f"files:{kind}:{row.id}")
                path = Path(unquote(re.findall(r'href="gradio_api/file=([^"]*)"', told)[0]))
                packed = zipfile.ZipFile(path).namelist() if path.suffix == ".zip" else []
                names[row.name] = sorted(packed) or [path.name]
    assert names.pop("tiny-negation-5-abc")[:2] == ["config.json", "model.safetensors"]
    assert names == {
        "mine-scored.csv": ["mine-scored.csv"],
        "Is it a text at all?": ["items.csv", "results.json", "votes.csv"],
        "Word salad": ["guesses.csv"],
    }  # and nothing of a run without results
    listed = [row.name for row in belongings(handlers.store, ME)["files"]]
    assert listed == ["mine-scored.csv"]  # nothing that was taken of what is kept
    assert files_of(ME, taken=True) != files_of(ME)
    press(handlers, f"delete:runs:{run}")
    assert files_of(ME, taken=True) == files_of(ME)  # it goes with what it was taken of


def test_a_lesson_that_the_browser_remembers_is_an_answer_and_is_forgotten(
    handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REMEMBERED, "lessons", partial(remembered, [WORD_SALAD, ATTRIBUTION]))
    first, second, *others = places_of(WORD_SALAD, NLI)
    kept = remember({"seen": [first.key, "attribution.x"]}, second.key, (second.key, "da", 1), True)
    listed = str(handlers.show(ME, "nli", kept)[2])
    assert listed.count("in this browser") == 1
    assert f"step 2 of {len(others) + 2}, 1 of 1 guessed right" in listed
    assert "learn?lesson=word-salad&amp;step=2&amp;task=nli" in listed
    asked, *_, same = handlers.press(ME, "nli", "ask:answers:word_salad", kept)
    assert "Forget Lesson · Word salad?" in asked and same == gr.skip()
    told, *shown, left = handlers.press(ME, "nli", "delete:answers:word_salad", kept)
    assert "is forgotten" in told and "Word salad" not in str(shown)
    assert left == {"seen": ["attribution.x"], "guesses": {}, "right": {}}


def test_an_open_run_says_how_far_it_is_and_can_be_stopped(handlers: Handlers, sets: Sets) -> None:
    first, second = (handlers.store.create(ME, run_request(PLAN, sets)) for _ in range(2))
    listed = shown(handlers)
    assert "next in line" in listed and "waits, place 2 in line" in listed
    handlers.store.set_state(first.id, "running")
    listed = shown(handlers)
    assert "0 of 2" in listed and 'role="progressbar"' in listed
    assert handlers.show(ME, "nli")[-1].active is True
    assert "being stopped" in press(handlers, f"stop:runs:{second.id}")
    assert handlers.store.get(second.id).cancelling


def test_a_model_that_was_brought_stands_in_every_list_also_after_a_restart(
    tmp_path: Path, home: Path
) -> None:
    models, folder = page_models(), tiny_bert(tmp_path / "brought")
    config = folder / "config.json"
    unnamed = {"id2label": {str(at): f"LABEL_{at}" for at in range(3)}}
    config.write_text(json.dumps(json.loads(config.read_text()) | unnamed))
    asked = bring(models, ME, str(folder), "")
    assert asked[1].visible and models.names(ME) == models.names("")
    for labels in ("n, e", "n, e, x", "n, n, c"):
        assert 'role="alert"' in bring(models, ME, str(folder), labels)[0], labels
        assert models.names(ME) == models.names(""), labels
    bring(models, ME, str(folder), "n, e, c")
    name = f"{folder} (neutral, entailment, contradiction)"
    assert [row.name for row in brought(models.store, ME)] == [name]
    assert models.names(ME)[-1] == name and name not in models.names(YOU)
    again = page_models()
    again = type(again)(again.cache, models.store)
    assert again.get(ME, name).order == ("neutral", "entailment", "contradiction")
    with pytest.raises(ModelError, match="save it with names for its outputs"):
        require_for_runs(models.store, ME, name)
    clear = str(tiny_bert(tmp_path / "clear"))
    with pytest.raises(ModelError, match="no model called"):
        require_for_runs(models.store, ME, clear)
    models.open(YOU, clear)
    require_for_runs(models.store, ME, clear)
    handlers = Handlers(models.store, Engine(models.store, in_process=True))
    assert "brought by you" in shown(handlers)
    assert "is gone" in press(handlers, f"delete:models:{name}") and name not in models.names(ME)


def test_times_and_sizes_are_for_people() -> None:
    assert [size(count) for count in (0, 1500, 2_340_000)] == ["0.0 kB", "1.5 kB", "2.3 MB"]
    now = time.time()
    days = [moment(now + days * 86_400).partition(",")[0] for days in (-1, 0, 1)]
    assert days == ["yesterday", "today", "tomorrow"]
    assert re.fullmatch(r"\d+ [A-Z][a-z]+( \d{4})?, \d\d:\d\d", moment(now - 40 * 86_400))


def test_old_files_and_deleted_runs_go_also_after_a_locked_database(
    home: Path, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(home / "gradio"))
    store = Store(patience=0.05)
    store.set_state(store.create(NOBODY, run_request(PLAN, sets)).id, "done")
    folder = fresh_folder(ME)
    os.utime(folder, (time.time() - 25 * HOUR,) * 2)
    with locked(home):
        remove_old(store)
    assert not folder.exists()
    assert len(store.runs()) == 1
    remove_old(store)
    assert store.runs() == ()
