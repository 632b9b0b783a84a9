"""The options of reading a file, as every command offers them."""

from collections.abc import Iterator
from typing import Any

import typer

from finetune.cli.main import app as finetune_app
from probe.cli.group import Unloaded
from probe.cli.main import app as probe_app
from probe.data.rows import NO_COLUMN

WITHOUT_LABELS = {"batch"}
"""The commands that do something with a file that has no gold labels."""


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a command, or those of a group, with their names.  # Any: typer's or click's own"""
    if isinstance(command, Unloaded):
        command = command.load()
    if not hasattr(command, "commands"):
        yield name, command
        return
    for inner, below in command.commands.items():
        yield from commands(below, f"{name} {inner}".strip())


FOUND = {
    name: {option.name: option for option in command.params}
    for app in (probe_app, finetune_app)
    for name, command in commands(typer.main.get_command(app))
}
READING = {name: options for name, options in FOUND.items() if "label_value" in options}


def test_a_file_without_labels_is_offered_only_where_something_can_be_done_with_it() -> None:
    offered = {
        name
        for name, options in READING.items()
        if "gold" in options and f"{NO_COLUMN}:" in (options["gold"].help or "")
    }
    assert offered == WITHOUT_LABELS
    assert len(READING) > 10
