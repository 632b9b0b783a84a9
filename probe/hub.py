"""The hub: as whom it is asked, where its files are kept, and what is said where it refuses.

A public app asks without a token, whatever HF_TOKEN or a login on this machine holds, and keeps
what it fetches in a folder of its own: its visitors open nothing that only its owner may read, nor
anything that the owner has fetched before. That folder has a bound.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huggingface_hub import CacheNotFound, scan_cache_dir
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from probe.errors import UserError, library_words
from probe.settings import settings, variable

Messages = tuple[tuple[type[Exception], str], ...]
"""Sentences by the error; the first whose type fits is used. `thing` is a model or a data set."""
MESSAGES: Messages = (
    (HFValidationError, "{name!r} is no name of a {thing}; those of the hub are like owner/name"),
    (GatedRepoError, "the {thing} {name!r} is gated: agree to its terms, and set HF_TOKEN"),
    (
        RepositoryNotFoundError,
        "the hub has no {thing} {name!r}, or it is private and needs HF_TOKEN",
    ),
    (RevisionNotFoundError, "the {thing} {name!r} has no revision {revision!r}"),
    (HfHubHTTPError, "the hub did not hand out {name!r}: {problem}"),
    (Exception, "the hub cannot be reached from here, and the {thing} {name!r} {unreached}"),
)
WITHOUT_TOKEN: Messages = (
    (
        GatedRepoError,
        "the {thing} {name!r} is gated, and only open {thing}s of the hub can be used here",
    ),
    (RepositoryNotFoundError, "the hub has no open {thing} {name!r}"),
)
"""What a public app says instead."""


def access() -> dict[str, Any]:  # Any: arguments of several types
    """Return as whom the hub is asked, and where files are kept: the client's own way, or a public
    app's."""
    return {"token": False, "cache_dir": settings().home / "hub"} if settings().public else {}


@contextmanager
def asking(
    thing: str, name: str, revision: str | None, unreached: str, refusal: type[UserError]
) -> Iterator[None]:
    """Raise `refusal` with a sentence for what goes wrong while the hub is asked.

    `unreached` ends the sentence about a hub that does not answer.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as problem:  # the errors of its HTTP client have no common base
        messages = (*(WITHOUT_TOKEN if settings().public else ()), *MESSAGES)
        message = next(text for kind, text in messages if isinstance(problem, kind))
        known = {"thing": thing, "name": name, "revision": revision, "unreached": unreached}
        raise refusal(message.format(problem=library_words(problem), **known)) from problem


def make_room(thing: str, name: str, size: int, refusal: type[UserError]) -> None:
    """Remove the least recently used of a public app's folder until `size` bytes more fit.

    Raises `refusal` for what is larger than all the room there is. Elsewhere nothing is removed.
    """
    folder: Path | None = access().get("cache_dir")
    if folder is None:
        return
    bound = settings().hub_mb * 1_000_000
    if size > bound:
        raise refusal(
            f"the {thing} {name!r} does not fit: its files take {size / 1e9:,.1f} GB, and "
            f"{bound / 1e9:,.1f} GB of disk are for what comes from the hub (this app's "
            f"{variable('hub_mb')})"
        )
    try:
        cache = scan_cache_dir(folder)
    except CacheNotFound:
        return
    kept = cache.size_on_disk
    for repo in sorted(cache.repos, key=lambda repo: repo.last_accessed):
        if kept + size <= bound:
            return
        cache.delete_revisions(*(revision.commit_hash for revision in repo.revisions)).execute()
        kept -= repo.size_on_disk
