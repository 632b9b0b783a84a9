"""Two visitors of the page, what it opens models with, and their uploads."""

import secrets
import shutil
from pathlib import Path

from probe.models.library import ModelCache
from probe.runs.access import ModelAccess
from probe.runs.store import Store
from probe.ui.visitors.visitor_files import cache_folder

ME, YOU = "a" * 32, "b" * 32


def page_models(cache: ModelCache | None = None) -> ModelAccess:
    """Return models for visitors, beside an empty run database in memory."""
    return ModelAccess(cache or ModelCache(), Store("sqlite://"))


def uploaded(path: Path) -> Path:
    """Put a copy of a file where gradio puts an upload; GRADIO_TEMP_DIR is the test's own."""
    folder = cache_folder() / secrets.token_hex(32)
    folder.mkdir()
    return Path(shutil.copy(path, folder / path.name))
