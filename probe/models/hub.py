"""Downloads of the hub's models: only the files that are needed, at one commit.

A public app asks without a token, whatever HF_TOKEN or a login on this machine holds, and keeps
what it fetches in a folder of its own: its visitors open no model that only its owner may read, nor
one that the owner has fetched before. That folder has a bound.
"""

from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # has no types
from huggingface_hub import DryRunFileInfo, snapshot_download
from huggingface_hub.errors import (
    DryRunError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from probe.errors import ModelError
from probe.models.hub_cache import make_room
from probe.settings import settings

FILE_PATTERNS = [
    *("config.json", "model.safetensors", "model-*.safetensors", "model.safetensors.index.json"),
    *("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt"),
    *("spiece.model", "spm.model", "sentencepiece.bpe.model"),
]
Messages = tuple[tuple[type[Exception], str], ...]
"""Sentences by the error; the first whose type fits is used."""
MESSAGES: Messages = (
    (HFValidationError, "{name!r} is no name of a model; those of the hub are like owner/name"),
    (GatedRepoError, "the model {name!r} is gated: agree to its terms, and set HF_TOKEN"),
    (RepositoryNotFoundError, "the hub has no model {name!r}, or it is private and needs HF_TOKEN"),
    (RevisionNotFoundError, "the model {name!r} has no revision {revision!r}"),
    (HfHubHTTPError, "the hub did not hand out {name!r}: {problem}"),
    (
        Exception,
        "the hub cannot be reached from here, and the model {name!r} was not fetched before",
    ),
)
WITHOUT_TOKEN: Messages = (
    (
        GatedRepoError,
        "the model {name!r} is gated, and only open models of the hub can be used here",
    ),
    (RepositoryNotFoundError, "the hub has no open model {name!r}"),
)
"""What a public app says instead."""


def fetch(name: str, revision: str | None, max_bytes: int) -> tuple[Path, str]:
    """Return the folder of a hub's model and its commit; files on disk are not fetched again.

    `max_bytes` is the largest size of its weights. Raises ModelError.
    """
    asked = {"revision": revision, "allow_patterns": FILE_PATTERNS, **_access()}
    try:
        files = _files(name, asked)
        size = sum(file.file_size or 0 for file in files if file.filename.endswith(".safetensors"))
        if size > max_bytes:
            raise ModelError(too_large_message(name, size, max_bytes))
        if "cache_dir" in asked:
            new = sum(file.file_size or 0 for file in files if file.will_download)
            make_room(name, asked["cache_dir"], new)
        folder = Path(snapshot_download(name, **asked))
    except ModelError:
        raise
    except Exception as problem:  # the errors of its HTTP client have no common base
        messages = (*(WITHOUT_TOKEN if settings().public else ()), *MESSAGES)
        message = next(text for kind, text in messages if isinstance(problem, kind))
        raise ModelError(message.format(name=name, revision=revision, problem=problem)) from problem
    return folder, folder.name


def _access() -> dict[str, Any]:  # Any: arguments of several types
    """Return as whom the hub is asked, and where files are kept: the client's own way, or a public
    app's."""
    return {"token": False, "cache_dir": settings().home / "hub"} if settings().public else {}


def _files(name: str, asked: dict[str, Any]) -> list[DryRunFileInfo]:
    """Return the files that are needed, none where the hub cannot be asked."""
    try:
        files: list[DryRunFileInfo] = snapshot_download(name, **asked, dry_run=True)
    except DryRunError:
        return []  # off the network the model may have been fetched before
    return files


def free_memory_bytes() -> int:
    """Return the number of free bytes of memory."""
    return int(psutil.virtual_memory().available)


def too_large_message(name: str, size: int, free: int) -> str:
    """Return the sentence for weights of `size` bytes that `free` bytes do not hold."""
    return (
        f"the model {name!r} does not fit: its weights take {size / 1e9:,.1f} GB, and "
        f"{free / 1e9:,.1f} GB of memory are free"
    )
