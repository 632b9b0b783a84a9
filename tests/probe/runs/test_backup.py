"""Back-ups of the home as files: whole, cut off, of another home, into a home that is used."""

import json
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Plan, run_request
from probe.errors import FileError, SettingsError
from probe.runs.access import browser_secret
from probe.runs.backup import GENERATIONS, LISTS, NEW_SECONDS, back_up, restore, start_backups
from probe.runs.models import save_model_files
from probe.runs.store import Store
from tests.support.commands import refusal, run
from tests.support.pages.visitors import ME

PLAN = Plan("tiny", "negation", (6, 12), (1e-3,), (0,))
FILES = {"config.json": b"{}", "model.safetensors": b"weights"}


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for back-ups, which is not there yet."""
    return tmp_path_factory.mktemp("bucket") / "clinic"


def move_to_new_home(monkeypatch: pytest.MonkeyPatch, parent: Path) -> Path:
    """Go on with an empty home, as an app does whose disk was not kept."""
    home = parent / "new home"
    monkeypatch.setenv("NLI_CLINIC_HOME", str(home))
    return home


def lists(folder: Path) -> list[Path]:
    """Return the lists of files, oldest first."""
    return sorted(folder.glob(LISTS))


def test_runs_models_and_the_browsers_key_come_back(
    home: Path, folder: Path, sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, key = Store(), browser_secret()
    created = store.create(ME, run_request(PLAN, sets))
    store.set_result(created.id, 0, {"score": 1.0})
    save_model_files(FILES, "kept")
    store.set_kept(created.id, "kept")
    assert back_up(folder)
    before, inputs = store.get(created.id), store.inputs(created.id)
    new = move_to_new_home(monkeypatch, tmp_path)
    restore(folder)
    assert (Store().get(created.id), Store().inputs(created.id)) == (before, inputs)
    assert browser_secret() == key
    assert (new / "browser-secret").stat().st_mode & 0o077 == 0
    model = {file.name: file.read_bytes() for file in (new / "models" / "kept").iterdir()}
    assert model == FILES
    assert not (new / "restore.half").exists()


def test_a_database_that_is_written_meanwhile_is_copied_as_it_was_at_one_moment(
    home: Path, folder: Path, sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, stop, many = Store(), Event(), Plan("tiny", "negation", (6,), (1e-3,), tuple(range(99)))

    def write() -> None:
        while not stop.is_set():
            store.create(ME, run_request(many, sets))

    writer = Thread(target=write)
    writer.start()
    while len(store.runs()) < 3:
        time.sleep(0.01)
    back_up(folder)
    stop.set()
    writer.join()
    move_to_new_home(monkeypatch, tmp_path)
    restore(folder)
    runs = Store().runs()
    assert len(runs) >= 3
    assert {len(each.cells) for each in runs} == {100}
    with sqlite3.connect(tmp_path / "new home" / "runs.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_back_up_is_made_where_something_changed_and_the_newest_are_kept(
    home: Path, folder: Path, sets: Sets
) -> None:
    store = Store()
    for _ in range(GENERATIONS + 2):
        store.create(ME, run_request(PLAN, sets))
        assert back_up(folder)
        before = sorted(folder.rglob("*"))
        assert not back_up(folder)
        assert sorted(folder.rglob("*")) == before
    assert len(lists(folder)) == GENERATIONS
    listed = {h for path in lists(folder) for h in json.loads(path.read_text())["files"].values()}
    assert {path.name for path in (folder / "files").iterdir()} == listed


def newest_copy(folder: Path) -> Path:
    """Return the newest copy of the database."""
    return folder / "files" / json.loads(lists(folder)[-1].read_text())["files"]["runs.sqlite"]


def half(path: Path) -> None:
    """Leave half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES: dict[str, Callable[[Path], None]] = {
    "half of a list": lambda folder: half(lists(folder)[-1]),
    "no list, which is written last": lambda folder: lists(folder)[-1].unlink(),
    "half of a file": lambda folder: half(newest_copy(folder)),
    "a file less": lambda folder: newest_copy(folder).unlink(),
}


def test_a_back_up_that_was_cut_off_is_passed_over_and_made_anew(
    home: Path, folder: Path, sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, whole = Store(), []
    for name, damage in DAMAGES.items():
        whole.append(store.create(ME, run_request(PLAN, sets)).id)
        back_up(folder)
        cut_off = store.create(ME, run_request(PLAN, sets)).id
        back_up(folder)
        damage(folder)
        move_to_new_home(monkeypatch, tmp_path / name)
        restore(folder)
        assert {each.id for each in Store().runs()} == set(whole), name
        monkeypatch.setenv("NLI_CLINIC_HOME", str(home))
        later = store.create(ME, run_request(PLAN, sets)).id
        assert back_up(folder)
        move_to_new_home(monkeypatch, tmp_path / f"after {name}")
        restore(folder)
        whole += [cut_off, later]
        assert {each.id for each in Store().runs()} == set(whole), name
        monkeypatch.setenv("NLI_CLINIC_HOME", str(home))


def test_a_folder_without_a_whole_back_up_restores_nothing(
    home: Path, folder: Path, sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store().create(ME, run_request(PLAN, sets))
    back_up(folder)
    half(newest_copy(folder))
    new = move_to_new_home(monkeypatch, tmp_path)
    for place in (folder, tmp_path / "nowhere"):
        with pytest.raises(FileError, match="there is no whole back-up in "):
            restore(place)
    assert not (new / "runs.sqlite").exists()


def test_a_home_that_holds_something_is_neither_restored_into_nor_backed_up_over_another_s(
    home: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store()
    back_up(folder)
    for there in ("runs.sqlite", "models/mine/config.json"):
        mine = move_to_new_home(monkeypatch, tmp_path / f"new {Path(there).name}") / there
        mine.parent.mkdir(parents=True)
        mine.write_text("mine")
        with pytest.raises(FileError, match="holds runs or models already"):
            restore(folder)
        assert mine.read_text() == "mine"
    with pytest.raises(FileError, match="holds the back-up of another home"):
        back_up(folder)
    assert len(lists(folder)) == 1


def test_a_restoring_that_was_cut_off_is_done_again(
    home: Path, folder: Path, sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = Store().create(ME, run_request(PLAN, sets)).id
    save_model_files(FILES, "kept")
    Store().set_kept(run_id, "kept")
    back_up(folder)
    new = move_to_new_home(monkeypatch, tmp_path)
    for half in (new / "restore.half" / "runs.sqlite", new / "models" / "kept" / "config.json"):
        half.parent.mkdir(parents=True)
        half.write_text("half")
    restore(folder)
    assert Store().get(run_id).kept == "kept"
    assert (new / "models" / "kept" / "config.json").read_bytes() == b"{}"


def test_a_new_model_without_its_run_is_not_backed_up(home: Path, folder: Path) -> None:
    Store()
    for name in ("new", "old"):
        save_model_files(FILES, name)
    old = time.time() - NEW_SECONDS - 1
    os.utime(home / "models" / "old", (old, old))
    back_up(folder)
    files = json.loads(lists(folder)[-1].read_text())["files"]
    assert {path.split("/")[1] for path in files if path.startswith("models/")} == {"old"}


def test_what_is_no_run_database_of_a_file_is_not_backed_up(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "runs.sqlite").write_bytes(b"no database at all" * 1000)
    with pytest.raises(FileError, match="cannot be backed up: file is not a database"):
        back_up(folder)
    assert lists(folder) == []
    monkeypatch.setenv("NLI_CLINIC_DATABASE", "postgresql+psycopg://clinic:secret@db/clinic")
    with pytest.raises(SettingsError, match="only a SQLite run database is backed up") as refused:
        back_up(folder)
    assert "secret" not in str(refused.value)


def test_an_app_restores_at_its_start_and_backs_up_until_its_end(
    home: Path, folder: Path, sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = start_backups(folder)
    run_id = Store().create(ME, run_request(PLAN, sets)).id
    end()
    move_to_new_home(monkeypatch, tmp_path)
    end = start_backups(folder)
    assert [each.id for each in Store().runs()] == [run_id]
    end()


def test_the_commands_say_what_they_did(
    home: Path, folder: Path, sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store().create(ME, run_request(PLAN, sets))
    assert run("backup", str(folder)).output == f"backed up to {folder}\n"
    assert run("backup", str(folder)).output == "nothing has changed\n"
    assert "holds runs or models already" in refusal("restore", str(folder))
    new = move_to_new_home(monkeypatch, tmp_path)
    assert run("restore", str(folder)).output == f"restored to {new}\n"
