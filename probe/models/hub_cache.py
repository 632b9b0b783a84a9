"""The disk that a public app gives to the hub's models; the least recently used make room."""

from pathlib import Path

from huggingface_hub import CacheNotFound, scan_cache_dir

from probe.errors import ModelError
from probe.settings import settings, variable


def make_room(name: str, folder: Path, size: int) -> None:
    """Remove the least recently used models of a cache until `size` bytes more keep the bound.

    Raises ModelError for a model that is larger than all the room there is.
    """
    bound = settings().hub_mb * 1_000_000
    if size > bound:
        raise ModelError(
            f"the model {name!r} does not fit: its files take {size / 1e9:,.1f} GB, and "
            f"{bound / 1e9:,.1f} GB of disk are for the hub's models (this app's "
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
