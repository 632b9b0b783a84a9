"""The processes of compose.yaml, started on this machine as a person would start them by hand.

Folders of the image become folders of a test, names of services and ports those of this machine.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.checkout import ROOT, text
from tests.support.processes.dockerfile import free_port, parse

IMAGE = {"/home/user/app": str(ROOT)}
READ_ONLY = ROOT / "tests" / "support" / "read_only"


def compose() -> dict[str, Any]:
    """Return compose.yaml as YAML reads it."""
    loaded: dict[str, Any] = yaml.safe_load(text("compose.yaml"))
    return loaded


def image_environment() -> dict[str, str]:
    """Return what the Dockerfile sets for every service of its image."""
    steps = [step for step in parse(text("Dockerfile")) if step.name == "ENV"]
    return {name: value for step in steps for name, value in step.assignments().items()}


@dataclass(frozen=True)
class Machine:
    """Where the image's folders, services and ports are here."""

    folder: Path
    services: Mapping[str, str]
    ports: Mapping[str, int]

    def localised(self, words: str, variables: Mapping[str, str]) -> str:
        """Return a word of a command or an environment as it is here."""
        for name, value in variables.items():
            words = re.sub(rf"\$\{{{name}[^}}]*\}}", value, words)
        words = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", words)
        folders = {**IMAGE, "/home/user": f"{self.folder}/home", "/tmp": f"{self.folder}/tmp"}
        pattern = rf"(?<![\w/])({'|'.join(folders)})(?=/|$)"
        words = re.sub(pattern, lambda found: folders[found[0]], words)
        for name, place in self.services.items():
            words = re.sub(rf"(?<=[/@]){name}(?=[:/])", place, words)
        for port, here in self.ports.items():
            words = re.sub(rf"\b{port}\b", str(here), words)
        return words


def machine(folder: Path, database: str) -> Machine:
    """Return folders inside `folder`, and free ports; `database` is the server's host and port."""
    for name in ("home/data", "home/certificates", "tmp"):
        (folder / name).mkdir(parents=True)
    services = {"database": database, "scheduler": "127.0.0.1"}
    return Machine(folder, services, {port: free_port() for port in ("7860", "8786", "8788")})


def environment_of(
    service: Mapping[str, Any], here: Machine, variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a service of the app's image, and what keeps it from writing."""
    asked = {**image_environment(), **service.get("environment", {})}
    local = {name: here.localised(str(value), variables) for name, value in asked.items()}
    log = here.folder / "written.log"
    log.touch()
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **local,
        "PYTHONPATH": f"{READ_ONLY}{os.pathsep}{ROOT}",
        "TMPDIR": str(here.folder / "tmp"),
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "NLI_CLINIC_PUBLIC": "1",  # as at the address that the image has
        "OMP_NUM_THREADS": "1",
        "WRITABLE": os.pathsep.join([f"{here.folder}/home/", f"{here.folder}/tmp"]),
        "WRITE_LOG": str(log),
    }


def command_of(words: Sequence[str], here: Machine) -> list[str]:
    """Return a command with this machine's folders and ports, and the tests' Python."""
    program, *others = (here.localised(word, {}) for word in words)
    known = {"python": [sys.executable], "dask": [sys.executable, "-m", "dask"]}
    return [*known.get(program, [program]), *others]


@contextmanager
def running(
    words: Sequence[str], environment: Mapping[str, str], output: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a service, and end it as Docker does: SIGTERM, then SIGKILL."""
    with output.open("w") as log:
        process = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
