"""A PostgreSQL server of a test's own, from the programs that Debian installs."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.processes.dockerfile import free_port

USER = "postgres"
"""Who runs the server where the tests are root's, whom it refuses."""


def programs() -> Path | None:
    """Return the folder of the newest server's programs, None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    path = found[-1] if found else shutil.which("initdb")
    return Path(path).resolve().parent if path else None


@contextmanager
def server(user: str, password: str, database: str) -> Iterator[str]:
    """Start an empty server with a user and a database; yield its host and port."""
    folder, port = programs(), free_port()
    assert folder is not None
    with tempfile.TemporaryDirectory(prefix="postgresql-", ignore_cleanup_errors=True) as place:
        data, secret, log = (Path(place) / name for name in ("data", "password", "log"))
        secret.write_text(password)
        who = _owner(Path(place), secret)
        login = ["--username", user]
        asked = ["--pgdata", data, *login, "--pwfile", secret, "--auth", "scram-sha-256"]
        _run([folder / "initdb", *asked], who)
        control = [folder / "pg_ctl", "--pgdata", data, "--log", log, "--wait"]
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={place}"
        _run([*control, "--options", options, "start"], who)
        try:
            at = ["--host", "127.0.0.1", "--port", str(port)]
            environment = {**os.environ, "PGPASSWORD": password}
            _run([folder / "createdb", *at, *login, database], {"env": environment})
            yield f"127.0.0.1:{port}"
        finally:
            _run([*control, "--mode", "fast", "stop"], who)


def _run(words: Sequence[str | Path], options: Mapping[str, Any]) -> None:
    """Run a program; its output goes nowhere, since the server keeps what it was given."""
    nowhere = subprocess.DEVNULL
    subprocess.run(words, check=True, stdout=nowhere, stderr=nowhere, **options)


def _owner(*paths: Path) -> Mapping[str, Any]:
    """Give paths to the server's user, and return as whom its programs run."""
    if os.geteuid() != 0:
        return {}
    for path in paths:
        shutil.chown(path, USER, USER)
    return {"user": USER, "group": USER, "extra_groups": []}
