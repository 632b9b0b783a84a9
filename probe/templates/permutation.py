"""A seeded order of any number of things that takes no memory."""

import random
from dataclasses import dataclass
from functools import cached_property

ROUNDS = 4
ODD = 0x9E3779B97F4A7C15
"""The golden ratio in 64 bits, which spreads neighbouring numbers apart."""
WORD = (1 << 64) - 1


@dataclass(frozen=True)
class Permutation:
    """A permutation of range(size): a Feistel network over the next even number of bits.

    What falls outside the range is put through the network again (cycle walking), which comes
    back into the range because the network is a permutation itself; two turns on average.
    """

    size: int
    seed: str

    @cached_property
    def _half(self) -> int:
        return max(1, ((self.size - 1).bit_length() + 1) // 2)

    @cached_property
    def _keys(self) -> tuple[int, ...]:
        rng = random.Random(self.seed)
        return tuple(rng.getrandbits(64) for _ in range(ROUNDS))

    def __getitem__(self, index: int) -> int:
        """Return what stands at a place. Raises IndexError outside range(size)."""
        if not 0 <= index < self.size:
            raise IndexError(index)
        for _ in range(1 << (2 * self._half)):
            index = self._turn(index)
            if index < self.size:
                break
        return index

    def _turn(self, index: int) -> int:
        mask = (1 << self._half) - 1
        left, right = index >> self._half, index & mask
        for key in self._keys:
            mixed = ((right ^ key) * ODD) & WORD
            left, right = right, left ^ ((mixed ^ mixed >> 29) * ODD >> 32 & mask)
        return left << self._half | right
