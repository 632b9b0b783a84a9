"""Keeps an inoculated model beside the others of the catalogue."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from probe.settings import settings


def put(files: Mapping[str, bytes], name: str) -> Path:
    """Write a model's folder at one stroke, so that none sees half of it, and return it.

    Raises OSError where there is no room, and leaves nothing behind then.
    """
    half, whole = settings().home / f"{name}.half", settings().home / "models" / name
    shutil.rmtree(half, ignore_errors=True)
    try:
        half.mkdir(parents=True)
        whole.parent.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            (half / file).write_bytes(content)
        shutil.rmtree(whole, ignore_errors=True)
        half.rename(whole)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return whole
