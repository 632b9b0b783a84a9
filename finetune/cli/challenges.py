"""`python -m finetune challenges`: what a model can be inoculated against."""

from dataclasses import asdict

import typer

from finetune.experiments.inoculation.challenges import KIND_TITLES, catalogue
from probe.cli.options import AsJson
from probe.cli.output import print_json


def challenges_command(as_json: AsJson = False) -> None:
    """List what a model can be inoculated against."""
    challenges = catalogue()
    if as_json:
        print_json([asdict(challenge) for challenge in challenges])
        return
    for kind, words in KIND_TITLES.items():
        of_kind = [challenge for challenge in challenges if challenge.kind == kind]
        typer.echo(f"{words}:" if of_kind else f"{words}: --challenge-file FILE")
        for challenge in of_kind:
            typer.echo(f"  {challenge.name:20} {challenge.summary} ({challenge.labels})")
