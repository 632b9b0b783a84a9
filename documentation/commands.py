"""The commands of `python -m probe` and `python -m finetune`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

import finetune.cli.main
import probe.cli.main
from documentation.markdown import code, page, table
from probe.cli.group import Unloaded
from probe.settings import ASSETS

ABOUT = (
    "Installed as a package all of them are commands of `nli-clinic`. `--help` prints the same. "
    "What a person can put right ends with one sentence and exit code 2."
)
PROGRAMS: Mapping[str, typer.Typer] = {
    "python -m probe": probe.cli.main.app,
    "python -m finetune": finetune.cli.main.app,
}


def commands_page() -> str:
    """Return the page of the commands."""
    parts = [text for name, app in PROGRAMS.items() for text in _commands(get_command(app), name)]
    return page("Commands", ABOUT, *parts)


def _commands(command: Any, name: str) -> Iterator[str]:  # Any: click's, or typer's own copy of it
    """Yield a section for each command that can be run."""
    if isinstance(command, Unloaded):
        command = command.load()
    inner = getattr(command, "commands", {})
    if not inner or command.invoke_without_command:
        yield f"## `{name}`\n\n{_about(command)}\n\n{_parameters(command)}".rstrip()
    for each, below in sorted(inner.items()):
        yield from _commands(below, f"{name} {each}")


def _about(command: Any) -> str:  # Any: as above
    return "\n".join(line.strip() for line in (command.help or "").splitlines())


def _parameters(command: Any) -> str:  # Any: as above
    context = command.make_context("", [], resilient_parsing=True)
    rows = [
        (_name(each, context), _default(each), getattr(each, "help", None) or "")
        for each in command.params
        if each.name != "help"
    ]
    return table(("argument", "default", "what it is"), rows) if rows else ""


def _name(parameter: Any, context: Any) -> str:  # Any: as above
    if parameter.param_type_name == "argument":
        return code(parameter.metavar or parameter.name.upper())
    names = ", ".join((*parameter.opts, *parameter.secondary_opts))
    taken = "" if parameter.is_flag else f" {parameter.metavar or _type(parameter, context)}"
    return code(f"{names}{taken}")


def _type(parameter: Any, context: Any) -> str:  # Any: as above
    """Return the word for what an option takes: of typer, or of click under an older typer."""
    shown = getattr(parameter, "display_type", None)
    word = shown(context) if shown else parameter.type.name
    return str(word).strip("<>").upper()


def _default(parameter: Any) -> str:  # Any: as above
    if parameter.required:
        return "needed"
    value = parameter.default
    if value is None or value is False or value in ("", [], ()):
        return ""
    if isinstance(value, Path) and value.is_relative_to(ASSETS):
        value = Path(ASSETS.name) / value.relative_to(ASSETS)  # not where this machine has it
    return code(",".join(map(str, value)) if isinstance(value, (list, tuple)) else value)
