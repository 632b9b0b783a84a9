"""All ways to fill the places of a premise with words, by number."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod


@dataclass(frozen=True)
class Slot:
    """A place, the words it may hold and the earlier places that took theirs from the same list."""

    place: str
    words: tuple[str, ...]
    earlier: tuple[str, ...]


@dataclass(frozen=True)
class Combinations:
    """Every combination of words, each once; no list gives the same word to two places."""

    lists: Mapping[str, tuple[str, ...]]

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Return the places in order."""
        names = list(self.lists)
        return tuple(
            Slot(
                name,
                self.lists[name],
                tuple(other for other in names[:at] if self.lists[other] == self.lists[name]),
            )
            for at, name in enumerate(names)
        )

    @cached_property
    def size(self) -> int:
        """How many combinations there are."""
        return prod(len(slot.words) - len(slot.earlier) for slot in self.slots)

    def __getitem__(self, index: int) -> dict[str, str]:
        """Return one combination, place by place."""
        found: dict[str, str] = {}
        for slot in self.slots:
            taken = {found[place] for place in slot.earlier}
            free = [word for word in slot.words if word not in taken] if taken else slot.words
            index, at = divmod(index, len(free))
            found[slot.place] = free[at]
        return found
