"""The model that a run begins with, which must stay the same, and the one that is kept of it."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from probe.errors import ModelError
from probe.models.asked import Asked
from probe.models.classifier import Classifier
from probe.models.library import AnyModel, asked_in_words, load_any, locate, without_labels
from probe.models.prompts import split_name
from probe.models.served import is_served, served_hash
from probe.models.weights import model_hash
from probe.settings import kept_private, make_home, settings
from probe.tasks.task import Label

NOT_FOUND = (
    "the worker does not find the model {model!r}: it opens models by their name, so let it share "
    "the app's folder of models (NLI_CLINIC_HOME) or reach the hub ({problem})"
)


def named_model_hash(name: str) -> str:
    """Return the hash of a model by its name, and of how a language model is asked.

    Raises ModelError where it is not there.
    """
    address, asking = split_name(name)
    found = served_hash(address) if is_served(name) else model_hash(locate(name)[0])
    if name == address:
        return found
    prompt = Path(asking.prompt)
    told = [found, asking.suffix, prompt.read_text("utf-8") if prompt.is_file() else ""]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def hash_if_there(name: str) -> str | None:
    """Return the hash of a model by its name, None where it is not there."""
    try:
        return named_model_hash(name)
    except ModelError:
        return None


def load_unchanged(name: str, expected: str, order: tuple[Label, ...] = ()) -> Classifier:
    """Load a model as `load_any_unchanged` does. Raises ModelError also for one without labels."""
    model = load_any_unchanged(name, expected, order)
    if isinstance(model, Classifier):
        return model
    raise asked_in_words(name) if isinstance(model, Asked) else without_labels(name)


@lru_cache(maxsize=1)
def load_any_unchanged(
    name: str, expected: str, order: tuple[Label, ...] = (), template: str = ""
) -> AnyModel:
    """Load a model once for all runs that begin with it. Raises ModelError for none or another one.

    `order` is that of its outputs where its config does not say it, `template` takes the place of a
    decoder's own.
    """
    try:
        found = named_model_hash(name)
    except ModelError as problem:
        raise ModelError(NOT_FOUND.format(model=name, problem=problem)) from problem
    if found != expected:
        raise ModelError(f"the model {name!r} where this was computed is not the app's")
    return load_any(name, order or None, template=template)


def save_model_files(files: Mapping[str, bytes], name: str) -> Path:
    """Write a model's folder beside the other models and return it.

    It appears at one stroke, so that nobody sees half of it. Raises OSError where there is no
    room, and leaves nothing behind then.
    """
    half, whole = settings().home / f"{name}.half", settings().home / "models" / name
    shutil.rmtree(half, ignore_errors=True)
    try:
        make_home()
        half.mkdir(mode=0o700)
        whole.parent.mkdir(mode=0o700, exist_ok=True)
        for file, content in files.items():
            (half / file).write_bytes(content)
            kept_private(half / file)
        shutil.rmtree(whole, ignore_errors=True)
        half.rename(whole)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return whole


def remove_model_files(name: str) -> None:
    """Remove a model's folder at one stroke, so that nobody sees half of it."""
    whole, gone = settings().home / "models" / name, settings().home / f"{name}.gone"
    shutil.rmtree(gone, ignore_errors=True)
    with suppress(FileNotFoundError):
        whole.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
