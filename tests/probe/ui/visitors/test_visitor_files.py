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


def names(visitor: str) -> list[tuple[str, ...]]:
    """Return the names of a visitor's files."""
    return [files.names for files in files_of(visitor)]


def refused(ask: Callable[[str, str], object], visitor: str, *which: object) -> None:
    """Check that something is answered as if there were no such file."""
    for each in which:
        with pytest.raises(FileError) as told:
            ask(visitor, str(each))
        assert str(told.value) == GONE, each


def test_results_lie_at_random_addresses_of_their_visitor_who_alone_uses_them() -> None:
    first, second = fresh_folder(ME), fresh_folder(ME)
    assert first.parent == second.parent == folder_of(ME) != folder_of(YOU)
    assert len(first.name) >= 20 and first.name != second.name
    assert ME not in str(first)
    path = result(ME)
    assert own_file(ME, path) == path.resolve()
    for other in (YOU, ""):
        refused(own_file, other, path)


def test_an_upload_is_theirs_who_use_it_first_and_with_a_token(upload: Path) -> None:
    assert own_file("", upload) == upload.resolve()  # before the page has its token
    assert names("") == names(YOU) == []
    assert own_file(ME, upload) == own_file(ME, upload) == upload.resolve()
    for other in (YOU, ""):
        refused(own_file, other, upload)
    assert names(ME) == [("mine.csv",)] and names(YOU) == []
    path = result(ME)
    shutil.rmtree(path.parent)  # outside
    assert names(ME) == [("mine.csv",)]


def test_what_is_no_upload_or_not_there_is_nobodys_and_examples_are_everyones(
    tmp_path: Path, upload: Path
) -> None:
    refused(own_file, ME, upload.with_name("other.csv"), tmp_path)
    for number, place in enumerate(("mine.csv", "gradio/mine.csv", "gradio/a/b/mine.csv")):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("premise,hypothesis\n")
        link = cache_folder() / f"link{number}" / "mine.csv"
        link.parent.mkdir()
        link.symlink_to(path)
        refused(own_file, ME, path, link)
    example = uploaded(sorted((ASSETS / "examples").glob("*"))[0])
    assert own_file(ME, example) == own_file(YOU, example) == example.resolve()
    assert names(ME) == []


def test_a_visitor_deletes_files_of_their_own_alone(upload: Path) -> None:
    own_file(ME, upload)
    path = result(ME)
    both, never = (path.parent.name, upload.parent.name), ("..", "uploads", "")
    refused(delete_files, YOU, *both, *never)
    refused(delete_files, ME, *never, f"{path.parent.name}/scored.csv")
    for which in both:
        delete_files(ME, which)
    assert names(ME) == [] and not path.exists() and not upload.exists()


def test_files_are_listed_with_size_and_expiry_and_go_after_their_hours(
    upload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_KEEP_HOURS", "3")
    old, young = result(ME, "12345"), result(YOU)
    (files,) = files_of(ME)
    assert (files.id, files.names, files.size) == (old.parent.name, ("scored.csv",), 5)
    assert files.expires - files.created == 3 * HOUR
    assert abs(files.created - time.time()) < HOUR
    own_file(ME, upload)
    for folder in (old.parent, folder_of(ME) / "uploads" / upload.parent.name):
        os.utime(folder, (time.time() - 4 * HOUR,) * 2)
    delete_old_files()
    assert [old.exists(), upload.exists(), young.exists()] == [False, False, True]
    assert names(ME) == []


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
