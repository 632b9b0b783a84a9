"""Who comes in: logins as they are set, and the admin's door."""

import asyncio
from pathlib import Path

import pytest

from probe.errors import AccessError, SettingsError
from probe.ui.server.passwords import MAX_OPEN, MAX_WAITING, OPEN_SECONDS, AdminDoor, Door, login
from probe.ui.server.passwords import read_logins as logins
from tests.support.coroutines import result_of

RIGHT = "correct horse: battery, staple"


@pytest.fixture(autouse=True)
def admin_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_ADMIN_PASSWORD", RIGHT)


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def opened(door: AdminDoor) -> str:
    return result_of(door.open(RIGHT))


def closed(door: AdminDoor, token: str) -> str:
    with pytest.raises(AccessError) as refusal:
        door.require_open(token)
    return str(refusal.value)


# logins


def test_logins_are_pairs_with_commas_between_or_lines_of_a_file(tmp_path: Path) -> None:
    expected = {"ann": "a", "bob": "b:c"}
    assert logins("ann:a, bob:b:c") == expected
    (tmp_path / "logins").write_text("ann:a\n\nbob:b:c\n")
    assert logins(str(tmp_path / "logins")) == expected


@pytest.mark.parametrize("setting", ["hunter2", ":hunter2", "ann:", "ann:a,hunter2", "/no/hunter2"])
def test_a_login_that_cannot_be_read_is_a_sentence_without_its_password(setting: str) -> None:
    with pytest.raises(SettingsError, match="NLI_CLINIC_LOGIN") as refusal:
        logins(setting)
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "password", "comes_in"),
    [
        ("ann", "a", True),
        ("ann", "b", False),
        ("ann", "", False),
        ("ann", "ä", False),
        ("bob", "a", False),
        ("bob", "", False),
    ],
)
def test_who_knows_the_password_of_a_name_comes_in(
    name: str, password: str, comes_in: bool
) -> None:
    assert result_of(login({"ann": "a"}, Door(0))(name, password)) is comes_in


def test_tries_wait_for_one_another_and_of_too_many_the_last_are_sent_away() -> None:
    order: list[str] = []

    async def attempt(door: Door, password: str) -> None:
        try:
            assert await door.lets_in(password, RIGHT) is (password == RIGHT)
            order.append(password)
        except AccessError:
            order.append("sent away")

    async def all_at_once() -> None:
        door = Door(0.001)
        tries = [str(number) for number in range(MAX_WAITING - 1)]
        await asyncio.gather(*(attempt(door, one) for one in [*tries, RIGHT, "late"]))

    result_of(all_at_once())
    numbers = [str(number) for number in range(MAX_WAITING - 1)]
    assert order == ["sent away", *numbers, RIGHT]


# the admin's door


def test_the_right_password_opens_the_admin_s_door() -> None:
    door = AdminDoor(Door(0))
    first, second = opened(door), opened(door)
    assert first != second
    door.require_open(first)
    door.require_open(second)


@pytest.mark.parametrize("password", ["", "wrong", RIGHT[:-1], RIGHT + " "])
def test_another_does_not(password: str) -> None:
    with pytest.raises(AccessError, match="this is not the admin's password"):
        result_of(AdminDoor(Door(0)).open(password))


def test_where_no_password_is_set_none_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_ADMIN_PASSWORD", "")
    with pytest.raises(AccessError):
        result_of(AdminDoor(Door(0)).open(""))


def test_a_made_up_token_does_not_open_it() -> None:
    door = AdminDoor(Door(0))
    token = opened(door)
    for made_up in ("", "0", token[:-1], token + "0", "None"):
        assert closed(door, made_up) == "the admin's view is closed; give the password"


def test_it_shuts_after_an_hour_or_when_it_is_shut() -> None:
    clock = Clock()
    door = AdminDoor(Door(0), clock)
    first, second = opened(door), opened(door)
    door.shut(first)
    assert closed(door, first)
    clock.now = OPEN_SECONDS - 1
    door.require_open(second)
    clock.now = OPEN_SECONDS
    assert closed(door, second)


def test_it_is_open_for_so_many_pages_at_once() -> None:
    door = AdminDoor(Door(0))
    tokens = [opened(door) for _ in range(MAX_OPEN + 1)]
    assert closed(door, tokens[0])
    door.require_open(tokens[1])
