"""How a command ends where a person can put something right."""

from typing import Any, NoReturn

import typer


def stop(problem: Exception | str) -> NoReturn:
    """End with one sentence and exit code 2."""
    typer.echo(f"error: {problem}", err=True)
    raise typer.Exit(2)


def one_of(
    name: str, value: str, choices: tuple[str, ...]
) -> Any:  # Any: one of a Literal's values
    """Return the value if it is a choice; end with a sentence otherwise."""
    if value not in choices:
        stop(f"--{name} {value!r} is not one of {', '.join(choices)}")
    return value
