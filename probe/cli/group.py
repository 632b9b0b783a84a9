"""Groups of commands, loaded when they run; what a person can put right is one sentence."""

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from probe.errors import FileQuestion, UserError
from probe.first_import import first_import

USAGE_ERROR: Any = typer.BadParameter.__base__  # Any: typer's own class or click's, by version


LAST_WORDS = dict[str, Callable[[], str]]()
"""What is said on standard error when a command has ended, by what it is about."""


class Unloaded(TyperCommand):
    """A command that stands elsewhere, as `module:function`, or a group of them as `module:app`."""

    def __init__(self, name: str, place: str) -> None:
        """Take the name under which the command is called; nothing is imported yet."""
        super().__init__(name)
        self._module, self._function = place.split(":")

    def load(self) -> Any:  # Any: typer's command is its own or click's, by version
        """Import the command."""
        with first_import:
            module = import_module(self._module)
        app = found = getattr(module, self._function)
        if not isinstance(found, typer.Typer):
            app = typer.Typer(add_completion=False)
            app.command(self.name)(found)
        command = get_command(app)
        command.name = self.name
        return command

    def read_help(self) -> None:
        """Read what the command says of itself, from the text of its module."""
        spec = find_spec(self._module)
        assert spec and spec.origin
        module = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
        name = "main" if self._function == "app" else self._function
        functions = (node for node in module.body if isinstance(node, ast.FunctionDef))
        self.help = next(ast.get_docstring(node) for node in functions if node.name == name)

    def make_context(self, *args: Any, **options: Any) -> Any:  # Any: as above
        """Go on with the command itself."""
        return self.load().make_context(*args, **options)


class Group(TyperGroup):
    """A group whose commands end with a sentence on stderr and exit code 2.

    So they do on a UserError, and on words that the command does not take.
    """

    places: Mapping[str, str] = {}  # a subclass has its own
    """Where commands stand, by name."""

    def __init__(self, **options: Any) -> None:  # Any: as of typer
        """Add the commands that stand elsewhere."""
        super().__init__(**options)
        self.commands.update({name: Unloaded(name, place) for name, place in self.places.items()})

    def list_commands(self, ctx: Any) -> list[str]:  # Any: as below
        """Return the names of the commands, for the help."""
        for command in self.commands.values():
            if isinstance(command, Unloaded):
                command.read_help()
        return super().list_commands(ctx)

    def make_context(self, *args: Any, **options: Any) -> Any:  # Any: as below
        """Read the options before the command's name."""
        with _one_sentence():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:  # Any: typer's context is its own or click's, by version
        """Run the command that is named."""
        try:
            with _one_sentence():
                return super().invoke(ctx)
        finally:
            while ctx.parent is None and LAST_WORDS:
                typer.echo(LAST_WORDS.popitem()[1](), err=True)


@contextmanager
def _one_sentence() -> Iterator[None]:
    try:
        yield
    except FileQuestion as question:
        known = []
        if question.tasks:
            from probe.models.library import entries  # which most commands never need

            here = {entry.name: entry.task.name for entry in entries() if entry.task}
            known = [f"--model {name}" for name, task in here.items() if task in question.tasks]
        _end(str(FileQuestion(question.sentence, *question.options, *known)), question)
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


def group(places: Mapping[str, str] | None = None, needs_command: bool = True) -> typer.Typer:
    """Return a group of commands that stand elsewhere, by name as `Unloaded` takes them.

    It prints its help without a command where it needs one.
    """
    kind = type("Commands", (Group,), {"places": places or {}})
    return typer.Typer(cls=kind, add_completion=False, no_args_is_help=needs_command)
