"""`python -m probe settings`: the settings in force."""

import re

import typer

from probe.cli.options import AsJson
from probe.cli.output import print_json
from probe.settings import ASSETS, settings, variable


def settings_command(as_json: AsJson = False) -> None:
    """Print the settings in force, each under its variable, and where the assets lie.

    No password is printed.
    """
    values = settings().model_dump(mode="json")
    values["database"] = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", values["database"])
    rows = {variable(name): value for name, value in values.items()} | {"assets": str(ASSETS)}
    if as_json:
        print_json(rows)
        return
    for name, value in rows.items():
        typer.echo(f"{name:24} {'' if value is None else value}".rstrip())
