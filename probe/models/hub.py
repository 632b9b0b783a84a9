"""Downloads of the hub's models: only the files that are needed, at one commit."""

from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # has no types
from huggingface_hub import DryRunFileInfo, snapshot_download
from huggingface_hub.errors import DryRunError

from probe.errors import ModelError
from probe.hub import access, asking, make_room

FILE_PATTERNS = [
    *("config.json", "model.safetensors", "model-*.safetensors", "model.safetensors.index.json"),
    *("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt"),
    *("spiece.model", "spm.model", "sentencepiece.bpe.model"),
    *("adapter_config.json", "adapter_model.safetensors"),
]
UNREACHED = "was not fetched before"


def fetch(name: str, revision: str | None, max_bytes: int) -> tuple[Path, str]:
    """Return the folder of a hub's model and its commit; files on disk are not fetched again.

    `max_bytes` is the largest size of its weights. Raises ModelError.
    """
    asked = {"revision": revision, "allow_patterns": FILE_PATTERNS, **access()}
    with asking("model", name, revision, UNREACHED, ModelError):
        files = _files(name, asked)
        size = sum(file.file_size or 0 for file in files if file.filename.endswith(".safetensors"))
        if size > max_bytes:
            raise ModelError(too_large_message(name, size, max_bytes))
        new = sum(file.file_size or 0 for file in files if file.will_download)
        make_room("model", name, new, ModelError)
        folder = Path(snapshot_download(name, **asked))
    return folder, folder.name


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
