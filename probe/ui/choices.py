"""What several tabs let a person choose from."""

from collections.abc import Iterable

from probe.models.bundled import title_of


def model_choices(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return models as one chooses them: by title, with the code name where it is another."""
    return [
        (name if title_of(name) == name else f"{title_of(name)} · {name}", name) for name in names
    ]


def short_model_choices(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return models as one chooses them where there is little room: by title alone."""
    return [(title_of(name), name) for name in names]
