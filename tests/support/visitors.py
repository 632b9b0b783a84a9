"""Two visitors of the page, and what it opens models with."""

from probe.models.cache import ModelCache
from probe.runs.model_access import ModelAccess
from probe.runs.store import Store

ME, YOU = "a" * 32, "b" * 32


def page_models(cache: ModelCache | None = None) -> ModelAccess:
    """Return models for visitors, beside an empty run database in memory."""
    return ModelAccess(cache or ModelCache(), Store("sqlite://"))
