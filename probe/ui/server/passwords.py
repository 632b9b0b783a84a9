"""Passwords: who may come in, and for how long the admin's door stays open.

Passwords are compared in constant time. Each wrong one costs a second, during which nobody else is
answered at the same door, so that a thousand tries take a quarter of an hour; of many who wait at
once the last are sent away.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path

from probe.errors import AccessError, SettingsError
from probe.settings import settings

PAUSE_SECONDS = 1.0
"""Seconds that a wrong password costs."""
MAX_WAITING = 20
"""Tries that wait at a door at once."""
OPEN_SECONDS = 3600
"""Seconds for which the admin's door stays open."""
MAX_OPEN = 100
"""Pages at once for which it is open; above, the oldest are shut."""


class Door:
    """Answers tries one after another, a wrong one late."""

    def __init__(self, pause: float = PAUSE_SECONDS) -> None:
        self._pause, self._waiting = pause, 0
        self._lock = asyncio.Lock()

    async def lets_in(self, given: str, right: str) -> bool:
        """Whether a password is right. Raises AccessError where too many try at once."""
        if self._waiting >= MAX_WAITING:
            raise AccessError("too many passwords are being tried here; try again in a minute")
        self._waiting += 1
        try:
            async with self._lock:
                if same := bool(right) and hmac.compare_digest(given.encode(), right.encode()):
                    return same
                await asyncio.sleep(self._pause)
                return False
        finally:
            self._waiting -= 1


def read_logins(setting: str) -> dict[str, str]:
    """Return passwords by name: of the setting itself, or of the file that it names.

    Raises SettingsError, which repeats no password.
    """
    if ":" in setting and not Path(setting).is_file():
        lines = setting.split(",")
    else:
        try:
            lines = Path(setting).expanduser().read_text(encoding="utf-8").splitlines()
        except OSError as problem:
            raise SettingsError(
                "NLI_CLINIC_LOGIN is neither name:password nor a file that can be read"
            ) from problem
    pairs = [line.strip().partition(":") for line in lines if line.strip()]
    if not pairs or not all(name and password for name, _, password in pairs):
        raise SettingsError("NLI_CLINIC_LOGIN needs a name, a colon and a password in each place")
    return {name: password for name, _, password in pairs}


def login(
    passwords: Mapping[str, str], door: Door | None = None
) -> Callable[[str, str], Awaitable[bool]]:
    """Return what gradio asks whether somebody may come in."""
    entrance = door or Door()

    async def may_enter(name: str, password: str) -> bool:
        try:
            return await entrance.lets_in(password, passwords.get(name, ""))
        except AccessError:
            return False

    return may_enter


class AdminDoor:
    """The door to the admin's view: opened by the password, shut again after an hour.

    A page that opened it holds a random token, of which only the hash is kept here.
    """

    def __init__(self, door: Door | None = None, clock: Callable[[], float] = time.monotonic):
        self._door, self._clock = door or Door(), clock
        self._open_until = dict[str, float]()

    async def open(self, password: str) -> str:
        """Return a token for the right password. Raises AccessError."""
        if not await self._door.lets_in(password, settings().admin_password.get_secret_value()):
            raise AccessError("this is not the admin's password")
        token = secrets.token_urlsafe(32)
        self._open_until[_hash(token)] = self._clock() + OPEN_SECONDS
        while len(self._open_until) > MAX_OPEN:
            del self._open_until[next(iter(self._open_until))]
        return token

    def require_open(self, token: str) -> None:
        """Refuse a page whose token is not, or no longer, good. Raises AccessError."""
        if self._open_until.get(_hash(token), 0.0) <= self._clock():
            self.shut(token)
            raise AccessError("the admin's view is closed; give the password")

    def shut(self, token: str) -> None:
        """Forget a token."""
        self._open_until.pop(_hash(token), None)


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()
