"""`python -m probe models`: the models on disk, and one of them as a folder of its own."""

from pathlib import Path
from typing import Annotated

import typer

from probe.cli.group import group
from probe.cli.options import AsJson
from probe.cli.output import print_json
from probe.models.library import entries, locate
from probe.models.weights.shared import export_model
from probe.reports.json import model_json

app = group(needs_command=False)


@app.callback(invoke_without_command=True)
def list_command(context: typer.Context, as_json: AsJson = False) -> None:
    """List the models on disk."""
    if context.invoked_subcommand:
        return
    rows = [model_json(entry) for entry in entries()]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        weights = f"{row['parameters'] / 1e6:.1f} M weights"
        facts = f"{row['name']:30} {row['source']:11} {row['task'] or '':12} {weights:16}"
        typer.echo(f"{facts} {row['summary']}")


@app.command("export")
def export_command(
    name: Annotated[str, typer.Argument(help="A model on disk, a folder, or a hub id.")],
    folder: Annotated[Path, typer.Argument(help="A new folder, which needs no other file.")],
) -> None:
    """Write a model as a folder of its own, with the weights that it shares with others."""
    export_model(locate(name)[0], folder)
    typer.echo(f"{name} written to {folder}")
