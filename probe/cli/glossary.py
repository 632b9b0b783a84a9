"""`python -m probe glossary`: what the words of results and pages mean."""

from typing import Annotated

import typer

from probe.cli.options import AsJson
from probe.cli.output import print_json
from probe.glossary import SECTIONS, glossary
from probe.tasks.nli import NLI
from probe.tasks.task import task_named


def glossary_command(
    task: Annotated[str, typer.Option(help="The task whose words are used.")] = NLI.name,
    as_json: AsJson = False,
) -> None:
    """Say in a sentence each what measures, labels, transforms and models are."""
    found = glossary(task_named(task))
    if as_json:
        print_json(
            [
                {"section": name, "id": id, "title": term.title, "summary": term.summary}
                for name, terms in found.items()
                for id, term in terms.items()
            ]
        )
        return
    for name, terms in found.items():
        typer.echo(f"{SECTIONS[name].title}:")
        for term in terms.values():
            typer.echo(f"  {term.title}: {term.summary}")
