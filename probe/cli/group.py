"""Groups of commands, which show what a person can put right as one sentence."""

from typing import Any

import typer
from typer.core import TyperGroup

from probe.errors import UserError


class Group(TyperGroup):
    """A group whose commands end with a sentence on stderr and exit code 2 on a UserError."""

    def invoke(self, ctx: Any) -> Any:  # Any: typer's context is its own or click's, by version
        """Run the command that is named."""
        try:
            return super().invoke(ctx)
        except UserError as problem:
            typer.echo(f"error: {problem}", err=True)
            raise typer.Exit(2) from problem


def group(needs_command: bool = True) -> typer.Typer:
    """Return an empty group, which prints its help without a command where it needs one."""
    return typer.Typer(cls=Group, add_completion=False, no_args_is_help=needs_command)
