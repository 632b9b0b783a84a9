"""Groups of commands, which show what a person can put right as one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from probe.errors import FileQuestion, UserError

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
    except FileQuestion as question:
        _end(str(_with_models(question)), question)
    except UserError as problem:
        _end(str(problem), problem)
    except USAGE_ERROR as problem:
        if type(problem).__name__ == "NoArgsIsHelpError":  # shows the help of a group
            raise
        words = problem.format_message().rstrip(".")
        _end(words[:1].lower() + words[1:], problem)


def _with_models(question: FileQuestion) -> FileQuestion:
    """Name the models that are here for the tasks that a file fits."""
    if not question.tasks:
        return question
    from probe.models.library import entries  # which most commands never need

    models = [entry.name for entry in entries() if entry.task and entry.task.name in question.tasks]
    return FileQuestion(
        question.sentence, *question.options, *(f"--model {name}" for name in models)
    )


def _end(sentence: str, problem: Exception) -> None:
    typer.echo(f"error: {sentence}", err=True)
    raise typer.Exit(2) from problem


def group(needs_command: bool = True) -> typer.Typer:
    """Return an empty group, which prints its help without a command where it needs one."""
    return typer.Typer(cls=Group, add_completion=False, no_args_is_help=needs_command)
