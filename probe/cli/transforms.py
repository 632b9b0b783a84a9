"""`python -m probe transforms`: the transforms, or their options."""

from typing import Annotated, Any

import typer

from probe.cli.options import AsJson
from probe.cli.output import print_json
from probe.reports.json import options_json, transforms_json
from probe.tasks.nli import NLI
from probe.tasks.task import task_named


def transforms_command(
    as_json: AsJson = False,
    task: Annotated[
        str, typer.Option(help="The task that they are for; if empty nli, or options of any.")
    ] = "",
    options: Annotated[bool, typer.Option("--options", help="List the options instead.")] = False,
) -> None:
    """List the transforms, or their options."""
    asked = task_named(task) if task else None
    rows = options_json(asked) if options else transforms_json(asked or NLI)
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(_option_text(row) if options else _transform_text(row))


def _transform_text(row: dict[str, Any]) -> str:  # Any: JSON
    lacks = f" NOT AVAILABLE: {row['missing']}" if row["missing"] else ""
    words = f"{row['title']}: {row['summary']}{lacks}"
    return f"{row['name']:18} {row['family']:12} {row['label_rule']:15} {words}"


def _option_text(row: dict[str, Any]) -> str:  # Any: JSON
    line = f"{row['name']:18} {row['family']:12} {row['default']!s:12} {row['words']}"
    values = [f"{'':32}{value}: {words}" for value, words in row["values"].items()]
    return "\n".join([line, *values])
