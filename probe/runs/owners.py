"""Whose a run is: tokens by which browsers find their runs again, and how many may be open."""

import re
import secrets
from collections.abc import Sequence

from probe.errors import RunError
from probe.runs.compute.engine import Engine
from probe.runs.run import OPEN, RunRequest, StoredRun
from probe.runs.store import Store
from probe.settings import settings

MAX_OPEN_RUNS = 20
"""Runs of one owner at a time: four models on five challenges."""
COMMAND_LINE = "command line"
"""The owner of the runs of the command line, whose user owns the machine."""
TOKEN = re.compile("[0-9a-f]{32}")


def new_owner() -> str:
    """Return a token for a browser that has none."""
    return secrets.token_hex(16)


def as_token(owner: object) -> str:
    """Return what a browser says its token is, "" where it is none.

    Other owners have names, such as COMMAND_LINE: nobody is them by saying so.
    """
    return owner if isinstance(owner, str) and TOKEN.fullmatch(owner) else ""


def browser_secret() -> str:
    """Return the key that seals a browser's token, the same after a restart."""
    path = settings().home / "browser-secret"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(secrets.token_hex(32), encoding="utf-8")
        path.chmod(0o600)
    return path.read_text(encoding="utf-8")


def start_runs(
    store: Store, engine: Engine, owner: str, requests: Sequence[RunRequest]
) -> tuple[StoredRun, ...]:
    """Store a run for each request and hand them to the engine.

    Raises RunError where the owner would have more than MAX_OPEN_RUNS open, StoreError, and
    ExperimentError for an unknown kind.
    """
    still = sum(run.state in OPEN for run in store.runs(owner))
    if still + len(requests) > MAX_OPEN_RUNS:
        raise RunError(
            f"{still} of your runs are still going and {len(requests)} more would pass "
            f"{MAX_OPEN_RUNS}; wait, cancel some or choose less"
        )
    runs = tuple(store.create(owner, request) for request in requests)
    for run in runs:
        engine.submit(run.id)
    return runs
