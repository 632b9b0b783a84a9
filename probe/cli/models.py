"""`python -m probe models`: the models on disk."""

import typer

from probe.cli.options import AsJson
from probe.cli.output import print_json
from probe.models.library import entries
from probe.reports.json import model_json


def models_command(as_json: AsJson = False) -> None:
    """List the models on disk."""
    rows = [model_json(entry) for entry in entries()]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(f"{row['name']:30} {row['source']:11} {row['parameters'] / 1e6:.1f} M weights")
