"""`python -m probe models`: the models on disk, and one of them as a folder of its own."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from probe.cli.group import group
from probe.cli.options import AsJson
from probe.cli.output import print_answer
from probe.errors import OptionError
from probe.models.classifier import FIELD, TEMPLATE
from probe.models.library import entries, locate, served_names
from probe.models.weights import CONFIG, export_model, read_config
from probe.tasks.task import TASKS

app = group(needs_command=False)
SERVED = "A language model that is asked at an address."


@app.callback(invoke_without_command=True)
def main(context: typer.Context, as_json: AsJson = False) -> None:
    """List the models on disk."""
    if context.invoked_subcommand:
        return
    rows: list[dict[str, Any]] = [  # Any: JSON
        {
            **{name: getattr(entry, name) for name in ("name", "title", "summary", "source")},
            "task": entry.task.name if entry.task else None,
            "parameters": entry.parameters,
            "bytes": entry.size,
        }
        for entry in entries()
    ]
    rows += [
        {"name": name, "title": name, "summary": SERVED, "source": "served", "task": task.name}
        for name, task in served_names().items()
    ]
    lines = []
    for row in rows:
        size = row.get("parameters")
        weights = f"{size / 1e6:.1f} M weights" if size else "damaged" if size == 0 else ""
        facts = f"{row['name']:30} {row['source']:11} {row['task'] or '':12} {weights:16}"
        lines.append(f"{facts} {row['summary']}")
    print_answer(as_json, rows, lines)


@app.command("export")
def export_command(
    name: Annotated[str, typer.Argument(help="A model on disk, a folder, or a hub id.")],
    folder: Annotated[Path, typer.Argument(help="A new folder, which needs no other file.")],
    template: Annotated[
        str, typer.Option(help="How it reads its texts as one, such as '{premise} {hypothesis}'.")
    ] = "",
) -> None:
    """Write a model as a folder of its own, with the weights that it shares with others.

    With a template, a decoder reads its texts in that form from then on, wherever it is opened.
    """
    place = locate(name)[0]
    config = read_config(name, place)
    if template and sorted(FIELD.findall(template)) not in [
        sorted(t.fields) for t in TASKS.values()
    ]:
        raise OptionError(
            f"--template {template!r} does not name each text of a task once, as {{premise}} and "
            "{hypothesis}"
        )
    export_model(place, folder)
    if template:
        text = json.dumps({**config, TEMPLATE: template}, indent=2, ensure_ascii=False)
        (folder / CONFIG).write_text(text + "\n", encoding="utf-8")
    typer.echo(f"{name} written to {folder}")
