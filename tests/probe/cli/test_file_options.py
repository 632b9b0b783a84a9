"""The options of reading a file, as every command offers them."""

from collections.abc import Iterator
from typing import Any

import click
import pytest
import typer

from finetune.cli.main import app as finetune_app
from probe.cli.main import app as probe_app
from probe.data.rows import NO_COLUMN

WITHOUT_LABELS = {"batch"}
"""The commands that do something with a file that has no gold labels."""


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a command, or those of a group, with their names.  # Any: typer's or click's own"""
    if not hasattr(command, "list_commands"):
        yield name, command
        return
    context = click.Context(command)
    for inner in command.list_commands(context):
        yield from commands(command.get_command(context, inner), f"{name} {inner}".strip())


FOUND = {
    name: {option.name: option for option in command.params}
    for app in (probe_app, finetune_app)
    for name, command in commands(typer.main.get_command(app))
}
READING = {name: options for name, options in FOUND.items() if "label_value" in options}


@pytest.mark.parametrize("name", READING)
def test_a_file_without_labels_is_offered_only_where_something_can_be_done_with_it(
    name: str,
) -> None:
    offered = "gold" in READING[name] and f"{NO_COLUMN}:" in (READING[name]["gold"].help or "")
    assert offered == (name in WITHOUT_LABELS)
    assert len(READING) > 10
