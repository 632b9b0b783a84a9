"""All ways to fill the slots of a premise with words, addressed by number."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod


@dataclass(frozen=True)
class Slot:
    """A slot, the words it may hold and the earlier slots that are filled from the same list."""

    name: str
    words: tuple[str, ...]
    earlier: tuple[str, ...]


@dataclass(frozen=True)
class Combinations:
    """Every combination of words, each once; no list gives the same word to two slots."""

    words: Mapping[str, tuple[str, ...]]

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The slots in order."""
        names = list(self.words)
        return tuple(
            Slot(
                name,
                self.words[name],
                tuple(other for other in names[:number] if self.words[other] == self.words[name]),
            )
            for number, name in enumerate(names)
        )

    @cached_property
    def size(self) -> int:
        """The number of combinations."""
        return prod(len(slot.words) - len(slot.earlier) for slot in self.slots)

    def __getitem__(self, index: int) -> dict[str, str]:
        """Return one combination: the word of each slot."""
        fillers: dict[str, str] = {}
        for slot in self.slots:
            used = {fillers[name] for name in slot.earlier}
            free = [word for word in slot.words if word not in used] if used else slot.words
            index, choice = divmod(index, len(free))
            fillers[slot.name] = free[choice]
        return fillers
