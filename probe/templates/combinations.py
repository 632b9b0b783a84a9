"""All ways to fill the places of a premise with words, by number."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod


@dataclass(frozen=True)
class Wheel:
    """A place, the words it may hold and the earlier places that took theirs from the same list."""

    place: str
    words: tuple[str, ...]
    earlier: tuple[str, ...]


@dataclass(frozen=True)
class Arguments:
    """Every combination of words, each once; no list gives the same word to two places."""

    lists: Mapping[str, tuple[str, ...]]

    @cached_property
    def wheels(self) -> tuple[Wheel, ...]:
        """Return the places in order."""
        names = list(self.lists)
        return tuple(
            Wheel(
                name,
                self.lists[name],
                tuple(other for other in names[:at] if self.lists[other] == self.lists[name]),
            )
            for at, name in enumerate(names)
        )

    @cached_property
    def size(self) -> int:
        """How many combinations there are."""
        return prod(len(wheel.words) - len(wheel.earlier) for wheel in self.wheels)

    def __getitem__(self, index: int) -> dict[str, str]:
        """Return one combination, place by place."""
        found: dict[str, str] = {}
        for wheel in self.wheels:
            taken = {found[place] for place in wheel.earlier}
            free = [word for word in wheel.words if word not in taken] if taken else wheel.words
            index, at = divmod(index, len(free))
            found[wheel.place] = free[at]
        return found
