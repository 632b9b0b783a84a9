"""`python -m probe backup`, `restore` and `space`: the home and the checkout, put elsewhere."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from probe.errors import FileError, UserError, library_words
from probe.runs.backup import back_up, restore
from probe.settings import CHECKOUT, INSTALLED, settings

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Of the back-ups.")]


def backup_command(folder: Folder) -> None:
    """Back up runs and inoculated models, also while the app is in use."""
    changed = back_up(folder)
    typer.echo(f"backed up to {folder}" if changed else "nothing has changed")


def restore_command(folder: Folder) -> None:
    """Restore the newest whole back-up into an empty home."""
    restore(folder)
    typer.echo(f"restored to {settings().home}")


BELONGS = (
    *("README.md", "LICENSE", "app.py", "requirements.txt", "packages.txt"),
    *("assets", "probe", "finetune"),
)
"""What a Space needs of the repository; the Dockerfile copies the same and the exact versions."""
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
NAME = re.compile(r"[\w.-]+/[\w.-]+")
THUMBNAIL = "thumbnail: https://huggingface.co/spaces/{}/resolve/main/assets/screenshot.png\n"
"""The picture of a link to the Space; the hub takes a whole address."""


def space_command(
    space: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The Space on the hub.")],
    dry_run: Annotated[bool, typer.Option(help="Only list what would be uploaded.")] = False,
) -> None:
    """Upload this checkout to a Gradio Space, which is made where it is not there.

    As who `hf auth login` or HF_TOKEN says. What is gone here is removed there. The hub refuses
    files over 10 MiB in a git push and takes them in an upload.
    """
    if not NAME.fullmatch(space):
        raise UserError(f"{space!r} is no Space's name; those are like owner/name")
    if INSTALLED:
        raise FileError("a Space is made from a checkout of the repository, not from its wheel")
    with TemporaryDirectory() as folder:
        files = sorted(staged(Path(folder), space))
        for path, size in files:
            typer.echo(f"{size:>12,}  {path}")
        total = f"{len(files)} files, {sum(size for _, size in files) / 1e6:.1f} MB"
        if dry_run:
            typer.echo(f"{total}; nothing was uploaded")
            return
        upload(Path(folder), space)
    typer.echo(f"{total}, uploaded to https://huggingface.co/spaces/{space}")


def staged(folder: Path, space: str) -> Iterator[tuple[str, int]]:
    """Copy what belongs to the Space into a folder; yield the name and size of each file."""
    for name in BELONGS:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        else:
            shutil.copy(source, folder / name)
    card = folder / "README.md"
    header = f"---\n{THUMBNAIL.format(space)}"
    text = card.read_text(encoding="utf-8").replace("---\n", header, 1)
    card.write_text(text, encoding="utf-8")
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.stat().st_size


def upload(folder: Path, space: str) -> None:
    """Make a Space of a folder. Raises UserError where the hub refuses or cannot be reached."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api = HfApi()
    try:
        api.create_repo(space, repo_type="space", space_sdk="gradio", exist_ok=True)
        api.upload_folder(
            repo_id=space,
            repo_type="space",
            folder_path=folder,
            commit_message="Upload NLI Clinic",
            delete_patterns="*",
        )
    except HfHubHTTPError as problem:
        raise UserError(f"the hub does not take the Space: {library_words(problem)}") from problem
    except Exception as problem:  # the errors of its HTTP client have no common base
        raise UserError(
            f"the hub cannot be reached from here, and {space} was not uploaded: "
            f"{library_words(problem)}"
        ) from problem
