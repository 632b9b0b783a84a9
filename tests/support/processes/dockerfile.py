"""Carries out the Dockerfile's steps without an engine.

`python -m tests.support.processes.dockerfile DIR`: DIR (new or empty) stands for the image and a
virtual environment in it for the image's Python. Nothing outside DIR changes, except that Debian
packages are installed where this user may.
"""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CONTEXT = Path(__file__).resolve().parents[3]
MAX_START_SECONDS = 180  # until the app has to be healthy


@dataclass(frozen=True)
class Step:
    """One instruction, its continued lines joined; `flags` are words such as --chown=user."""

    name: str
    flags: tuple[str, ...]
    text: str

    def argv(self) -> list[str]:
        """Return the command of a CMD or HEALTHCHECK in its JSON form."""
        return [str(word) for word in json.loads(self.text.removeprefix("CMD "))]

    def assignments(self) -> dict[str, str]:
        """Return what an ENV or ARG sets."""
        pairs = (word.partition("=") for word in shlex.split(self.text))
        return {name: value for name, _, value in pairs}

    def paths(self) -> tuple[list[str], str]:
        """Return the sources and the destination of a COPY."""
        *sources, destination = shlex.split(self.text)
        return sources, destination


def parse(text: str) -> list[Step]:
    """Return the instructions in order."""
    instructions = "\n".join(
        line for line in text.splitlines() if not line.lstrip().startswith("#")
    )
    lines = re.sub(r"[ \t]*\\\n\s*", " ", instructions).splitlines()
    return [_step(line.strip()) for line in lines if line.strip()]


def _step(line: str) -> Step:
    name, _, rest = line.partition(" ")
    flags = re.match(r"(?:--\S+\s+)*", rest)
    assert flags is not None  # the pattern matches the empty text too
    return Step(name.upper(), tuple(flags[0].split()), rest[flags.end() :].strip())


def ignored(path: str, patterns: list[str]) -> bool:
    """Whether .dockerignore's lines leave `path` or a folder above it out."""
    return any(_pattern(line).fullmatch(path) for line in patterns)


def _pattern(line: str) -> re.Pattern[str]:
    escaped = re.escape(line.strip("/")).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
    return re.compile(escaped + "(?:/.*)?")


def ignore_lines(context: Path) -> list[str]:
    """Return the patterns of .dockerignore."""
    lines = (context / ".dockerignore").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


@dataclass
class Build:
    """The image so far. `local_names` maps paths and ports of the image to those used here."""

    root: Path
    context: Path
    local_names: dict[str, str]
    env: dict[str, str]
    folder: Path
    health: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def localised(self, text: str) -> str:
        """Return `text` with the image's paths and ports replaced by those used here."""
        for name, local_name in self.local_names.items():
            text = text.replace(name, local_name)
        return text


def build_in(root: Path, context: Path, port: int) -> Build:
    """Return the state before the first step, `root/venv` first on the path."""
    root.mkdir(parents=True, exist_ok=True)
    local_names = {
        "/home/user": str(root / "home" / "user"),
        "7860": str(port),
        "0.0.0.0": "127.0.0.1",  # for this machine only
    }
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env["PATH"] = f"{root / 'venv' / 'bin'}{os.pathsep}{env['PATH']}"
    env.setdefault("PIP_QUIET", "2")  # errors only
    return Build(root, context, local_names, env, root)


def argument(build: Build, step: Step) -> None:
    """ARG: a variable of this shell, where it has one, stands for --build-arg."""
    for name, default in step.assignments().items():
        build.env.setdefault(name, default)


def environment(build: Build, step: Step) -> None:
    """ENV."""
    build.env |= {name: build.localised(value) for name, value in step.assignments().items()}


def workdir(build: Build, step: Step) -> None:
    """WORKDIR."""
    build.folder = Path(build.localised(step.text))
    build.folder.mkdir(parents=True, exist_ok=True)


def copy(build: Build, step: Step) -> None:
    """COPY: a folder's content, or files into the folder, less what .dockerignore names."""
    sources, destination = step.paths()
    target = build.folder / build.localised(destination)
    patterns = ignore_lines(build.context)
    for source in (build.context / name for name in sources):
        into = target if source.is_dir() or not destination.endswith("/") else target / source.name
        for file in _files(source):
            if not ignored(file.relative_to(build.context).as_posix(), patterns):
                copied = into / file.relative_to(source)
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, copied)


def _files(source: Path) -> Iterator[Path]:
    if not source.exists():
        raise SystemExit(f"COPY: there is no {source}")
    return iter([source]) if source.is_file() else filter(Path.is_file, source.rglob("*"))


def run(build: Build, step: Step) -> None:
    """RUN, command by command; those that would change this machine are left out, and printed."""
    for command in (part.strip() for part in step.text.split("&&")):
        reason = left_out(command)
        if reason:
            print(f"    left out: {command.split()[0]} ({reason})")
            continue
        local_command = build.localised(
            re.sub(r" -o \w+ -g \w+", "", command)
        )  # the image's user does not exist here
        subprocess.run(
            ["/bin/sh", "-c", local_command], cwd=build.folder, env=build.env, check=True
        )


def left_out(command: str) -> str:
    """Return why a command is not carried out here, or nothing."""
    if command.startswith("useradd"):
        return "the steps run as the user who started this"
    if command.startswith("rm "):
        return "it only makes the image smaller"
    if command.startswith("apt-get") and not (os.geteuid() == 0 and shutil.which("apt-get")):
        return "only root may, where apt-get exists"
    return ""


def healthcheck(build: Build, step: Step) -> None:
    """HEALTHCHECK."""
    build.health = [build.localised(word) for word in step.argv()]


def command(build: Build, step: Step) -> None:
    """CMD."""
    build.command = [build.localised(word) for word in step.argv()]


def nothing(build: Build, step: Step) -> None:
    """FROM, USER and EXPOSE change nothing in a folder."""


STEPS: dict[str, Callable[[Build, Step], None]] = {
    "ARG": argument,
    "CMD": command,
    "COPY": copy,
    "ENV": environment,
    "EXPOSE": nothing,
    "FROM": nothing,
    "HEALTHCHECK": healthcheck,
    "RUN": run,
    "USER": nothing,
    "WORKDIR": workdir,
}


def carry_out(build: Build, steps: list[Step]) -> None:
    """Carry out all steps up to the start of the app; raises on the first that fails."""
    for step in steps:
        started = time.monotonic()
        print(f"{step.name} {step.text}", flush=True)
        STEPS[step.name](build, step)
        if step.name == "RUN":
            print(f"    {time.monotonic() - started:.0f} s", flush=True)


def healthy(build: Build) -> bool:
    """Start the app, repeat the health check until it succeeds, stop the app."""
    app = subprocess.Popen(build.command, cwd=build.folder, env=build.env, start_new_session=True)
    started = time.monotonic()
    try:
        while app.poll() is None and time.monotonic() - started < MAX_START_SECONDS:
            if subprocess.run(build.health, env=build.env, capture_output=True).returncode == 0:
                print(f"healthy after {time.monotonic() - started:.0f} s")
                return True
            time.sleep(1)
        print(f"not healthy after {time.monotonic() - started:.0f} s")
        return False
    finally:
        _stop(app)


def _stop(app: subprocess.Popen[bytes]) -> None:
    if app.poll() is None:
        os.killpg(app.pid, signal.SIGTERM)
    try:
        app.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(app.pid, signal.SIGKILL)
        app.wait()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main(arguments: list[str]) -> int:
    """Build into the named folder; return 0 if the app becomes healthy."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    root = Path(arguments[0]).resolve()
    if root.exists() and any(root.iterdir()):
        print(f"{root} is not empty")
        return 2
    steps = parse((CONTEXT / "Dockerfile").read_text(encoding="utf-8"))
    print(f"# {steps[0].text} is replaced by Python {sys.version.split()[0]}")
    venv.create(root / "venv", with_pip=True)
    build = build_in(root, CONTEXT, free_port())
    carry_out(build, steps)
    return 0 if healthy(build) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
