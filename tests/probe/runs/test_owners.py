"""The key that seals browsers' tokens: one for all apps on a home, which nobody else reads."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from probe.runs.access import browser_secret

APPS = 16


def test_apps_that_start_at_once_have_one_key(home: Path) -> None:
    with ThreadPoolExecutor(APPS) as pool:
        keys = set(pool.map(lambda _: browser_secret(), range(APPS)))
    assert keys == {browser_secret()}
    assert len(browser_secret()) == 64
    assert [path.name for path in home.iterdir()] == ["browser-secret"]


def test_the_key_is_its_owners_alone(home: Path) -> None:
    browser_secret()
    assert (home / "browser-secret").stat().st_mode & 0o077 == 0


def test_a_disk_without_second_names_of_files_will_do(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("os.link", refuse)
    assert len(browser_secret()) == 64
    assert (home / "browser-secret").stat().st_mode & 0o077 == 0
