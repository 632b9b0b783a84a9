"""`python -m probe` and `python -m finetune` called in this process."""

import json
from typing import Any

from typer.testing import CliRunner, Result

from finetune.cli.main import app as finetune_app
from probe.cli.main import app

PAIR = ["pair", "--premise", "A man walks to the park.", "--hypothesis", "The man isn't happy!"]


def run(*words: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(words))


def call(*words: object) -> Result:
    """Run a command of finetune in this process."""
    return CliRunner().invoke(finetune_app, [str(word) for word in words])


def answer(*words: str) -> Any:  # Any: JSON
    """Return the JSON a command prints."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refusal(*words: str) -> str:
    """Return the one sentence a command ends with; notes and warnings may come before it."""
    result = run(*words)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    messages = result.stderr.strip().splitlines()
    lines = [line for line in messages if not line.startswith(("warning: ", "note: "))]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    return lines[0].removeprefix("error: ")
