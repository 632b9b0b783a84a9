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
from finetune.trials.inoculation import Plan, run_request
from probe.errors import FileError, SettingsError
from probe.runs.access import browser_secret
from probe.runs.backup import GENERATIONS, LISTS, NEW_SECONDS, back_up, restore, start_backups
from probe.runs.models import save_model_files
from probe.runs.store import Store
from probe.settings import settings
from tests.support.commands import refusal, run
from tests.support.pages.visitors import ME

PLAN = Plan("tiny", "negation", (6, 12), (1e-3,), (0,))
FILES = {"config.json": b"{}", "model.safetensors": b"weights"}


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for back-ups, which is not there yet."""
    return tmp_path_factory.mktemp("bucket") / "clinic"


GoHome = Callable[[str], Path]


@pytest.fixture
def go_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GoHome:
    """Go on with a home of that name, empty as that of an app whose disk was not kept."""

    def go(name: str) -> Path:
        monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path / name))
        return tmp_path / name

    return go


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


def lists(folder: Path) -> list[Path]:
    """Return the lists of files, oldest first."""
    return sorted(folder.glob(LISTS))


def test_runs_models_and_the_browsers_key_come_back_and_the_commands_say_so(
    store: Store, folder: Path, sets: Sets, go_home: GoHome
) -> None:
    key, created = browser_secret(), store.create(ME, run_request(PLAN, sets))
    store.set_result(created.id, 0, {"score": 1.0})
    for name in ("kept", "new", "old"):
        save_model_files(FILES, name)
    old = time.time() - NEW_SECONDS - 1
    os.utime(settings().home / "models" / "old", (old, old))  # "new" waits for its run
    store.set_kept(created.id, "kept")
    assert run("backup", str(folder)).output == f"backed up to {folder}\n"
    assert run("backup", str(folder)).output == "nothing has changed\n"
    assert "holds runs or models already" in refusal("restore", str(folder))
    before, inputs = store.get(created.id), store.inputs(created.id)
    new = go_home("new")
    for half in (new / "restore.half" / "runs.sqlite", new / "models" / "kept" / "config.json"):
        half.parent.mkdir(parents=True)  # a restoring that was cut off is done again
        half.write_text("half")
    assert run("restore", str(folder)).output == f"restored to {new}\n"
    assert (Store().get(created.id), Store().inputs(created.id)) == (before, inputs)
    assert browser_secret() == key
    assert (new / "browser-secret").stat().st_mode & 0o077 == 0
    assert {path.name for path in (new / "models").iterdir()} == {"kept", "old"}
    model = {file.name: file.read_bytes() for file in (new / "models" / "kept").iterdir()}
    assert model == FILES
    assert not (new / "restore.half").exists()


def test_a_database_that_is_written_meanwhile_is_copied_as_it_was_at_one_moment(
    store: Store, folder: Path, sets: Sets, go_home: GoHome
) -> None:
    stop, many = Event(), Plan("tiny", "negation", (6,), (1e-3,), tuple(range(99)))

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
    new = go_home("new")
    restore(folder)
    runs = Store().runs()
    assert len(runs) >= 3
    assert {len(each.cells) for each in runs} == {100}
    with sqlite3.connect(new / "runs.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_back_up_is_made_where_something_changed_and_the_newest_are_kept(
    store: Store, folder: Path, sets: Sets
) -> None:
    for _ in range(GENERATIONS + 2):
        store.create(ME, run_request(PLAN, sets))
        assert back_up(folder)
        before = sorted(folder.rglob("*"))
        assert not back_up(folder)
        assert sorted(folder.rglob("*")) == before
    assert len(lists(folder)) == GENERATIONS
    listed = {h for path in lists(folder) for h in json.loads(path.read_text())["files"].values()}
    assert {path.name for path in (folder / "files").iterdir()} == listed


def half(path: Path) -> None:
    """Leave half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def newest_copy(folder: Path) -> Path:
    """Return the newest copy of the database."""
    return folder / "files" / json.loads(lists(folder)[-1].read_text())["files"]["runs.sqlite"]


DAMAGES: dict[str, Callable[[Path], None]] = {
    "half of a list": lambda folder: half(lists(folder)[-1]),
    "no list, which is written last": lambda folder: lists(folder)[-1].unlink(),
    "half of a file": lambda folder: half(newest_copy(folder)),
    "a file less": lambda folder: newest_copy(folder).unlink(),
}


def test_a_back_up_that_was_cut_off_is_passed_over_and_made_anew(
    home: Path, store: Store, folder: Path, sets: Sets, go_home: GoHome
) -> None:
    whole = []
    for name, damage in DAMAGES.items():
        whole.append(store.create(ME, run_request(PLAN, sets)).id)
        back_up(folder)
        cut_off = store.create(ME, run_request(PLAN, sets)).id
        back_up(folder)
        damage(folder)
        go_home(name)
        restore(folder)
        assert {each.id for each in Store().runs()} == set(whole), name
        go_home(str(home))
        later = store.create(ME, run_request(PLAN, sets)).id
        assert back_up(folder)
        go_home(f"after {name}")
        restore(folder)
        whole += [cut_off, later]
        assert {each.id for each in Store().runs()} == set(whole), name
        go_home(str(home))


def test_nothing_is_restored_of_what_is_not_whole_or_into_a_home_that_holds_something(
    store: Store, folder: Path, sets: Sets, go_home: GoHome
) -> None:
    store.create(ME, run_request(PLAN, sets))
    back_up(folder)
    for there in ("runs.sqlite", "models/mine/config.json"):
        mine = go_home(f"new {Path(there).name}") / there
        mine.parent.mkdir(parents=True)
        mine.write_text("mine")
        with pytest.raises(FileError, match="holds runs or models already"):
            restore(folder)
        assert mine.read_text() == "mine"
    with pytest.raises(FileError, match="holds the back-up of another home"):
        back_up(folder)
    assert len(lists(folder)) == 1
    half(newest_copy(folder))
    new = go_home("new")
    for place in (folder, folder / "nowhere"):
        with pytest.raises(FileError, match="there is no whole back-up in "):
            restore(place)
    assert not (new / "runs.sqlite").exists()


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
    home: Path, folder: Path, sets: Sets, go_home: GoHome
) -> None:
    end = start_backups(folder)
    run_id = Store().create(ME, run_request(PLAN, sets)).id
    end()
    go_home("new")
    end = start_backups(folder)
    assert [each.id for each in Store().runs()] == [run_id]
    end()
