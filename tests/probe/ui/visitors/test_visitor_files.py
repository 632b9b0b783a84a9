"""A visitor's files: found by them alone, listed, deleted, and gone after their hours."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from probe.errors import FileError, LimitError
from probe.runs.store import Store
from probe.settings import ASSETS
from probe.ui.visitors.visitor_files import (
    GONE,
    HOUR,
    cache_folder,
    check_room,
    delete_files,
    delete_old_files,
    files_of,
    folder_of,
    fresh_folder,
    own_file,
)
from tests.support.pages.visitors import ME, YOU, uploaded


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    """A file as gradio has stored it."""
    path = tmp_path / "mine.csv"
    path.write_text("premise,hypothesis\n")
    return uploaded(path)


def result(visitor: str, text: str = "scored") -> Path:
    """Write a result file of a visitor."""
    path = fresh_folder(visitor) / "scored.csv"
    path.write_text(text)
    return path


def refused(ask: Callable[[], object]) -> None:
    """Check that something is answered as if there were no such file."""
    with pytest.raises(FileError) as told:
        ask()
    assert str(told.value) == GONE


def test_results_lie_at_random_addresses_of_their_visitor() -> None:
    first, second = fresh_folder(ME), fresh_folder(ME)
    assert first.parent == second.parent == folder_of(ME) != folder_of(YOU)
    assert len(first.name) >= 20 and first.name != second.name
    assert ME not in str(first)


def test_a_visitor_uses_results_of_their_own_and_nobody_elses() -> None:
    path = result(ME)
    assert own_file(ME, path) == path.resolve()
    refused(lambda: own_file(YOU, path))
    refused(lambda: own_file("", path))


def test_an_upload_is_theirs_who_use_it_first(upload: Path) -> None:
    assert own_file(ME, upload) == own_file(ME, upload) == upload.resolve()
    refused(lambda: own_file(YOU, upload))
    refused(lambda: own_file("", upload))
    assert own_file(ME, upload) == upload.resolve()


def test_an_upload_before_the_page_has_its_token_is_nobodys_yet(upload: Path) -> None:
    assert own_file("", upload) == upload.resolve()
    assert files_of("") == []
    assert own_file(ME, upload) == upload.resolve()
    refused(lambda: own_file("", upload))
    assert [files.names for files in files_of(ME)] == [("mine.csv",)]
    assert files_of(YOU) == []


def test_a_file_that_is_not_there_is_answered_as_anothers(upload: Path, tmp_path: Path) -> None:
    refused(lambda: own_file(ME, upload.with_name("other.csv")))
    refused(lambda: own_file(ME, tmp_path))


@pytest.mark.parametrize("place", ["mine.csv", "gradio/mine.csv", "gradio/a/b/mine.csv"])
def test_a_file_that_is_no_upload_is_nobodys(tmp_path: Path, place: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("premise,hypothesis\n")
    refused(lambda: own_file(ME, path))
    (cache_folder() / "link").mkdir()
    (cache_folder() / "link" / "mine.csv").symlink_to(path)
    refused(lambda: own_file(ME, cache_folder() / "link" / "mine.csv"))


def test_the_bundled_examples_are_everyones() -> None:
    example = uploaded(sorted((ASSETS / "examples").glob("*"))[0])
    assert own_file(ME, example) == own_file(YOU, example) == example.resolve()
    assert files_of(ME) == []


def test_files_are_listed_with_size_and_expiry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_KEEP_HOURS", "3")
    path = result(ME, "12345")
    (files,) = files_of(ME)
    assert (files.id, files.names, files.size) == (path.parent.name, ("scored.csv",), 5)
    assert files.expires - files.created == 3 * HOUR
    assert abs(files.created - time.time()) < HOUR


def test_a_visitor_deletes_files_of_their_own_alone(upload: Path) -> None:
    own_file(ME, upload)
    path = result(ME)
    for which in (path.parent.name, upload.parent.name, "..", "uploads", ""):
        refused(lambda which=which: delete_files(YOU, which))  # type: ignore[misc]  # mypy reads no default of a lambda
    for which in ("..", "uploads", "", f"{path.parent.name}/scored.csv"):
        refused(lambda which=which: delete_files(ME, which))  # type: ignore[misc]  # as above
    for which in (path.parent.name, upload.parent.name):
        delete_files(ME, which)
    assert files_of(ME) == []
    assert not path.exists() and not upload.exists()


def test_files_go_after_their_hours(upload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_KEEP_HOURS", "2")
    own_file(ME, upload)
    old, young = result(ME), result(YOU)
    link = folder_of(ME) / "uploads" / upload.parent.name
    for folder in (old.parent, link):
        os.utime(folder, (time.time() - 3 * HOUR,) * 2)
    delete_old_files()
    assert [old.exists(), upload.exists(), young.exists()] == [False, False, True]
    assert files_of(ME) == []


def test_more_than_is_stored_for_a_visitor_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_STORED_MB", "1")
    store = Store()
    result(ME, "x" * 1_000_000)
    check_room(store, ME)
    result(ME, "x")
    with pytest.raises(LimitError, match="more than 1; delete some in Mine"):
        check_room(store, ME)
    check_room(store, YOU)


def test_what_was_deleted_outside_is_passed_over(upload: Path) -> None:
    own_file(ME, upload)
    path = result(ME)
    shutil.rmtree(path.parent)
    assert [files.names for files in files_of(ME)] == [("mine.csv",)]
