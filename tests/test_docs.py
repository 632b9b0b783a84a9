"""The documentation: its commands are commands, its Python runs, its layout is the layout."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

import finetune.cli.main
import probe.cli.main
from tests.support.checkout import ROOT, text

GROUPS: dict[str, Any] = {  # Any: a group of click or of typer's own, by typer's version
    "probe": get_command(probe.cli.main.app),
    "finetune": get_command(finetune.cli.main.app),
}
DOCS = ["README.md", "BENCHMARKS.md", "SECURITY.md", *map(str, ROOT.glob("assets/**/README.md"))]


def commands() -> Iterator[list[str]]:
    """Yield the words after `python -m` of every command that stands in a block of its own."""
    for name in DOCS:
        joined = re.sub(r"\\\n *", "", (ROOT / name).read_text(encoding="utf-8"))
        for line in re.findall(r"^    python -m ((?:probe|finetune) .*)$", joined, re.MULTILINE):
            yield shlex.split(line.replace("<", "'<").replace(">", ">'"), comments=True)


def help_or_options(words: list[str]) -> Any:  # Any: what the parser reads
    """Parse a command without running it; `--help` asks only whether the command is there."""
    package, *rest = words
    command, name = GROUPS[package], package
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        command = command.commands[name]
    if rest == ["--help"]:
        return name
    return command.make_context(name, [word for word in rest if word != "..."]).params


@pytest.mark.parametrize("words", commands(), ids=lambda words: " ".join(words)[:60])
def test_a_documented_command_is_one(words: list[str]) -> None:
    assert help_or_options(words)


def test_the_python_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code, *others = re.findall(r"```python\n(.*?)```", text("README.md"), re.DOTALL)
    assert all("gradio_client" in other for other in others)
    exec(code, {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["contradiction", "sort", "drop"]


def test_the_layout_names_every_folder() -> None:
    layout = text("README.md").split("## Layout")[1].split("\n## ")[0]
    for package in ("probe", "finetune"):
        inside = re.split(r"\n    \S", layout.split(f"\n    {package}/")[1])[0]
        folders = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
        assert set(re.findall(r"^      (\w+)/", inside, re.MULTILINE)) == folders
