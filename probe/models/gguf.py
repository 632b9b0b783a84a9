"""GGUF files, of llama.cpp: dequantised once to safetensors, which the app's home keeps."""

import os
import re
import shutil
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from probe.errors import ModelError, writing
from probe.first_import import first_import
from probe.models.errors import reading_part
from probe.models.weights import (
    BYTES_PER_WEIGHT,
    WHOLE,
    file_hash,
    free_memory_bytes,
    has_weights,
    several_files,
    too_large_message,
)
from probe.settings import kept_private, make_home, settings, variable

SUFFIX = ".gguf"
PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
"""Ends the name of a file that is one of several of the same model."""
NEEDS = "{} is GGUF, which needs further packages: pip install 'nli-clinic[gguf]'"


def gguf_in(name: str, path: Path) -> Path | None:
    """Return the GGUF file at a path, or the one of a folder that has no safetensors.

    Raises ModelError where it has several.
    """
    if path.is_file():
        return path if path.suffix == SUFFIX else None
    files = sorted(path.glob(f"*{SUFFIX}"))
    if not files or has_weights(path):
        return None
    if len(files) > 1:
        raise several_files(name, [file.name for file in files])
    return files[0]


def converted(name: str, file: Path) -> Path:
    """Return the folder of a GGUF file's weights in fp32, its tokenizer and config.

    What was converted before is found by the hash of the file. Raises ModelError.
    """
    if PART.search(file.name):
        raise ModelError(f"{file.name} is one part of several of {name!r}; join them into one file")
    whole = make_home() / "gguf" / file_hash(file)
    if whole.is_dir():
        with suppress(OSError):
            os.utime(whole)  # the least used are removed first
        return whole
    if not (find_spec("gguf") and find_spec("accelerate")):
        raise ModelError(NEEDS.format(file.name))
    with first_import:
        import torch
        from gguf import GGUFReader
        from safetensors.torch import save_model
        from transformers import AutoModelForCausalLM, AutoTokenizer

        from probe.models.checkpoint import in_a_sentence, loading
    with reading_part(name, file, "GGUF"):
        needed = BYTES_PER_WEIGHT * sum(int(each.n_elements) for each in GGUFReader(file).tensors)
    if needed > (free := free_memory_bytes()):
        raise ModelError(too_large_message(name, needed, free))
    with writing(whole):
        whole.parent.mkdir(mode=0o700, exist_ok=True)
        _make_room(name, whole.parent, needed)
        half = Path(tempfile.mkdtemp(dir=whole.parent))
    try:
        options = {"gguf_file": file.name, "local_files_only": True, "trust_remote_code": False}
        with in_a_sentence(name), loading:
            tokenizer = AutoTokenizer.from_pretrained(str(file.parent), **options)
            model = AutoModelForCausalLM.from_pretrained(
                str(file.parent), dtype=torch.float32, **options
            )
        with writing(whole):
            save_model(model, str(half / WHOLE), metadata={"format": "pt"})
            model.config.architectures = [type(model).__name__]
            vars(model.config).pop("quantization_config", None)  # it is dequantised
            model.config.save_pretrained(half)
            tokenizer.save_pretrained(half)
            kept_private(half)
            if not whole.is_dir():  # as by another process meanwhile
                half.rename(whole)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return whole


def _make_room(name: str, folder: Path, needed: int) -> None:
    """Remove the least used of the converted until so many bytes more fit. Raises ModelError."""
    bound = settings().gguf_mb * 1_000_000
    if needed > bound:
        raise ModelError(
            f"{name!r} does not fit: it takes {needed / 1e9:,.1f} GB once it is converted, and "
            f"{bound / 1e9:,.1f} GB of disk are for that (this app's {variable('gguf_mb')})"
        )
    kept = {each: sum(file.stat().st_size for file in each.iterdir()) for each in folder.iterdir()}
    for each in sorted(kept, key=lambda each: each.stat().st_mtime):
        if sum(kept.values()) + needed <= bound:
            return
        shutil.rmtree(each, ignore_errors=True)
        del kept[each]
