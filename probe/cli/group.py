"""Groups of commands, which show what a person can put right as one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from probe.errors import UserError

USAGE_ERROR: Any = typer.BadParameter.__base__  # Any: typer's own class or click's, by version


class Group(TyperGroup):
    """A group whose commands end with a sentence on stderr and exit code 2.

    So they do on a UserError, and on words that the command does not take.
    """

    def make_context(self, *args: Any, **options: Any) -> Any:  # Any: as below
        """Read the options before the command's name."""
        with _one_sentence():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:  # Any: typer's context is its own or click's, by version
        """Run the command that is named."""
        with _one_sentence():
            return super().invoke(ctx)


@contextmanager
def _one_sentence() -> Iterator[None]:
    try:
        yield
    except UserError as problem:
        _end(str(problem), problem)
    except USAGE_ERROR as problem:
        if type(problem).__name__ == "NoArgsIsHelpError":  # shows the help of a group
            raise
        words = problem.format_message().rstrip(".")
        _end(words[:1].lower() + words[1:], problem)


def _end(sentence: str, problem: Exception) -> None:
    typer.echo(f"error: {sentence}", err=True)
    raise typer.Exit(2) from problem


def group(needs_command: bool = True) -> typer.Typer:
    """Return an empty group, which prints its help without a command where it needs one."""
    return typer.Typer(cls=Group, add_completion=False, no_args_is_help=needs_command)
