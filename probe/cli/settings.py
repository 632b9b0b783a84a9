"""`python -m probe settings`: the settings in force."""

import typer

from probe.cli.options import AsJson
from probe.cli.output import print_json
from probe.settings import ASSETS, settings, variable


def settings_command(as_json: AsJson = False) -> None:
    """Print the settings in force, each under its variable, and where the assets lie."""
    values = settings().model_dump(mode="json")
    if as_json:
        print_json(
            {variable(name): value for name, value in values.items()} | {"assets": str(ASSETS)}
        )
        return
    for name, value in values.items():
        typer.echo(f"{variable(name):24} {'' if value is None else value}".rstrip())
    typer.echo(f"{'(assets)':24} {ASSETS}")
