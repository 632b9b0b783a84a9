"""The documentation: its commands are commands, its Python runs, its layout is the layout."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import finetune.cli.main
import probe.cli.main
import recipes.translators
from benchmarks.tables import results
from documentation.__main__ import PAGES
from probe.cli.group import Unloaded
from tests.support.checkout import ROOT, text

GROUPS: dict[str, Any] = {  # Any: a group of click or of typer's own, by typer's version
    "probe": get_command(probe.cli.main.app),
    "finetune": get_command(finetune.cli.main.app),
    "recipes.translators": get_command(recipes.translators.app),
}
HERE = ("*.md", "docs/**/*.md", "assets/**/*.md")
DOCS = sorted(str(path.relative_to(ROOT)) for form in HERE for path in ROOT.glob(form))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def commands() -> Iterator[list[str]]:
    """Yield the words after `python -m` of every command in a block of its own or result file."""
    for found in results().values():
        yield from (
            shlex.split(words)[2:] for words in found.commands if " benchmarks" not in words
        )
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
        below = command.commands[name]
        command = below.load() if isinstance(below, Unloaded) else below
    if rest == ["--help"]:
        return name
    return command.make_context(name, [word for word in rest if word != "..."]).params


def test_a_documented_command_is_one() -> None:
    every, wrong = list(commands()), []
    for words in every:
        try:
            assert help_or_options(words)
        except (Exception, SystemExit) as error:  # whatever the parser says of it
            wrong.append(f"{' '.join(words)}: {error}")
    assert len(every) > 100
    assert wrong == []


def test_the_python_of_the_interfaces_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code, *others = re.findall(r"```python\n(.*?)```", text("docs/interfaces.md"), re.DOTALL)
    assert all("gradio_client" in other for other in others)
    exec(code, {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["contradiction", "sort", "drop"]


def test_the_layout_names_every_folder() -> None:
    named = set(
        re.findall(r"^\| `((?:probe|finetune)/\w+)/` ", text("docs/layout.md"), re.MULTILINE)
    )
    places = [ROOT.glob(f"{package}/*/__init__.py") for package in ("probe", "finetune")]
    assert named == {str(path.parent.relative_to(ROOT)) for found in places for path in found}


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as the hub and its like make them."""
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()).strip() for heading in headings)
    return {word.replace(" ", "-") for word in words}


def test_a_link_leads_somewhere_and_every_page_of_the_docs_is_reached_from_the_readme() -> None:
    broken, targets = [], dict[Path, set[Path]]()
    for name in DOCS:
        page = ROOT / name
        for link in LINK.findall(re.sub(r"```.*?```|`[^`]*`", "", text(name), flags=re.DOTALL)):
            path, _, anchor = link.partition("#")
            if re.match(r"\w+:", link):
                continue
            place = (page.parent / path).resolve() if path else page
            targets.setdefault(page, set()).add(place)
            if not place.exists() or (anchor and anchor not in anchors(place.read_text())):
                broken.append(f"{name}: {link}")
    assert broken == []
    reached, ahead = set[Path](), {ROOT / "README.md"}
    while ahead:
        reached |= ahead
        ahead = set().union(*(targets.get(page, ()) for page in ahead)) - reached
    assert {path for path in ROOT.glob("docs/**/*.md")} - reached == set()


def test_the_readme_is_short_and_no_page_names_a_place_of_one_machine() -> None:
    assert len(text("README.md").split()) < 800
    place = re.compile(r"(?<![\w/])/(?:root|work|Users)/\S+|file:/\S+")
    assert {name: found for name in DOCS if (found := place.findall(text(name)))} == {}


def test_the_reference_has_no_other_pages() -> None:
    assert {path.name for path in (ROOT / "docs" / "reference").iterdir()} == set(PAGES)
