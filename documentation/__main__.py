"""`python -m documentation [--check]`: write docs/reference, or say which pages are stale."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from documentation.challenges import challenges_page
from documentation.commands import commands_page
from documentation.endpoints import endpoints_page
from documentation.glossary import glossary_page
from documentation.models import models_page
from documentation.settings import settings_page
from documentation.transforms import transforms_page
from finetune.trials.planning import register_experiments

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
PAGES: Mapping[str, Callable[[], str]] = {
    "transforms.md": transforms_page,
    "models.md": models_page,
    "challenges.md": challenges_page,
    "glossary.md": glossary_page,
    "commands.md": commands_page,
    "endpoints.md": endpoints_page,
    "settings.md": settings_page,
}
"""The pages by the name of their file."""


def stale(folder: Path = FOLDER) -> list[str]:
    """Return the pages that the code would write otherwise."""
    return [name for name, text in written().items() if _read(folder / name) != text]


def written() -> dict[str, str]:
    """Return the text of each page."""
    register_experiments()
    return {name: page() for name, page in PAGES.items()}


def main(arguments: list[str]) -> int:
    """Write the pages; with --check only name the stale ones, and return 1 where there are any."""
    if arguments == ["--check"]:
        names = stale()
        for name in names:
            print(f"stale: docs/reference/{name}; run make docs")
        return bool(names)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in written().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
