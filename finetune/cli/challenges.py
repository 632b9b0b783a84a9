"""`python -m finetune challenges`: what a model can be inoculated against."""

from dataclasses import asdict
from typing import Annotated

import typer

from finetune.experiments.inoculation.challenges import KIND_TITLES, catalogue
from probe.cli.options import AsJson
from probe.cli.output import print_json
from probe.tasks.nli import NLI
from probe.tasks.task import task_named


def challenges_command(
    task: Annotated[str, typer.Option(help="The task of the model.")] = NLI.name,
    as_json: AsJson = False,
) -> None:
    """List what a model of a task can be inoculated against."""
    challenges = catalogue(task_named(task))
    if as_json:
        print_json([asdict(challenge) for challenge in challenges])
        return
    for kind, words in KIND_TITLES.items():
        of_kind = [challenge for challenge in challenges if challenge.kind == kind]
        if of_kind:
            typer.echo(f"{words}:")
        for challenge in of_kind:
            facts = "; ".join(filter(None, (challenge.labels, challenge.source)))
            about = f"{challenge.title}: {challenge.summary} ({facts})"
            typer.echo(f"  {challenge.name:20} {about}")
    typer.echo(f"{KIND_TITLES['file']}: --challenge-file FILE")
