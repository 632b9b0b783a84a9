"""Whose a run is: tokens by which browsers find their runs again, and how many may be open."""

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock

from probe.limits import check
from probe.runs.compute.engine import Engine
from probe.runs.experiment import experiment_of
from probe.runs.run import Json, RunRequest, StoredRun
from probe.runs.store import Store
from probe.settings import make_home, settings

DAY = 86_400
"""Seconds of a day."""
COMMAND_LINE = "command line"
"""The owner of the runs of the command line, whose user owns the machine."""
TOKEN = re.compile("[0-9a-f]{32}")
_starting = Lock()
"""Two pages of one owner may start runs at once: the second counts those of the first."""


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
        make_home()
        with NamedTemporaryFile("w", dir=path.parent, encoding="utf-8") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            _name_once(Path(file.name), path)
    return path.read_text(encoding="utf-8")


def _name_once(whole: Path, path: Path) -> None:
    """Give a file its name unless another app on this home has made one meanwhile."""
    try:
        os.link(whole, path)
    except FileExistsError:
        pass
    except OSError:  # a disk without second names of a file
        shutil.copy(whole, path)


def start_runs(
    store: Store, engine: Engine, owner: str, requests: Sequence[RunRequest]
) -> tuple[StoredRun, ...]:
    """Store a run for each request and hand them to the engine.

    Where runs of the owner's, open and not to be stopped, compute all of this already, they are
    returned: a button that is pressed twice starts its runs once. What the command line starts goes
    through no limit, nor through here.

    Raises LimitError where the owner asks for too much, StoreError, and ExperimentError for an
    unknown kind.
    """
    with _starting:
        going = [run for run in store.open_runs(owner) if not run.cancelling]
        under_way = [_alike(store, going, request) for request in requests]
        if all(under_way):
            return tuple(filter(None, under_way))
        _check_limits(store, owner, requests)
        runs = tuple(store.create(owner, request) for request in requests)
    for run in runs:
        engine.submit(run.id)
    return runs


def _alike(store: Store, runs: Sequence[StoredRun], request: RunRequest) -> StoredRun | None:
    """Return the run that computes what is asked for, None where none does."""
    plan, alike = _as_stored(request.plan), experiment_of(request.kind).alike
    for run in runs:
        same = run.kind == request.kind and alike(run.plan, plan)
        if same and store.inputs(run.id) == _as_stored(request.inputs):
            return run
    return None


def _as_stored(value: Json) -> Json:
    """Return what is read again of JSON that is stored: lists for tuples."""
    stored: Json = json.loads(json.dumps(value))
    return stored


def _check_limits(store: Store, owner: str, requests: Sequence[RunRequest]) -> None:
    for request in requests:
        check("max_cells", len(experiment_of(request.kind).cells(request.plan)))
    check("max_open_runs", store.count_open(owner) + len(requests))
    check("max_runs_a_day", store.count_since(owner, time.time() - DAY) + len(requests))
    check("max_all_open_runs", store.count_open() + len(requests))
