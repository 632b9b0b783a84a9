"""A hub's model, brought onto this disk: only the files that are needed, at one commit."""

from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import (
    DryRunError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from probe.errors import ModelError

FILES = [
    *("config.json", "model.safetensors", "model-*.safetensors", "model.safetensors.index.json"),
    *("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt"),
    *("spiece.model", "spm.model", "sentencepiece.bpe.model"),
]
SENTENCES: tuple[tuple[type[Exception], str], ...] = (  # the first that fits is said
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


def fetch(name: str, revision: str | None, room: int) -> tuple[Path, str]:
    """Return the folder of a hub's model and its commit; nothing is fetched that is there.

    `room` is how many bytes its weights may have. Raises ModelError.
    """
    try:
        weight = _weight(name, revision)
        if weight > room:
            raise ModelError(too_heavy(name, weight, room))
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=FILES))
    except ModelError:
        raise
    except Exception as problem:  # what its HTTP client raises has no base of its own
        sentence = next(words for kind, words in SENTENCES if isinstance(problem, kind))
        raise ModelError(
            sentence.format(name=name, revision=revision, problem=problem)
        ) from problem
    return folder, folder.name


def _weight(name: str, revision: str | None) -> int:
    """Return the bytes of the weights that would be fetched, 0 where the hub cannot be asked."""
    try:
        files = snapshot_download(name, revision=revision, allow_patterns=FILES, dry_run=True)
    except DryRunError:
        return 0  # off the network the model may have been fetched before
    return sum(file.file_size or 0 for file in files if file.filename.endswith(".safetensors"))


def too_heavy(name: str, weight: int, room: int) -> str:
    """Say that a model does not fit."""
    return (
        f"the model {name!r} does not fit: its weights take {weight / 1e9:,.1f} GB, and "
        f"{room / 1e9:,.1f} GB of memory are free"
    )
