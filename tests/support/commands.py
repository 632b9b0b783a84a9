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
    """Return the one sentence that a command ends with."""
    return one_sentence(run(*words))


def one_sentence(ended: Result) -> str:
    """Return the sentence that ended a command; notes and warnings may come before it."""
    assert ended.exit_code == 2, ended.output
    assert isinstance(ended.exception, SystemExit)
    assert ended.stdout == ""
    messages = ended.stderr.strip().splitlines()
    (line,) = (each for each in messages if not each.startswith(("warning: ", "note: ")))
    assert line.startswith("error: ")
    return line.removeprefix("error: ")
