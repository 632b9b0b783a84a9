"""What several tabs let a person choose from."""

from collections.abc import Iterable

from probe.models.bundled import title_of


def model_choices(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return models as one chooses them, those that come with the app by their titles."""
    return [(title_of(name), name) for name in names]
