"""A seeded permutation of any number of items that takes no memory."""

import random
from dataclasses import dataclass
from functools import cached_property

ROUNDS = 4
GOLDEN_RATIO_64 = 0x9E3779B97F4A7C15
"""The golden ratio in 64 bits; multiplied by it, neighbouring numbers lie far apart."""
MASK_64 = (1 << 64) - 1


@dataclass(frozen=True)
class Permutation:
    """A permutation of range(size): a Feistel network over the next even number of bits.

    An output outside the range is put through the network again (cycle walking), which ends
    inside the range because the network is a permutation itself; it takes two passes on average.
    """

    size: int
    seed: str

    @cached_property
    def _half_bits(self) -> int:
        return max(1, ((self.size - 1).bit_length() + 1) // 2)

    @cached_property
    def _keys(self) -> tuple[int, ...]:
        rng = random.Random(self.seed)
        return tuple(rng.getrandbits(64) for _ in range(ROUNDS))

    def __getitem__(self, index: int) -> int:
        """Return the image of an index. Raises IndexError outside range(size)."""
        if not 0 <= index < self.size:
            raise IndexError(index)
        for _ in range(1 << (2 * self._half_bits)):
            index = self._feistel(index)
            if index < self.size:
                break
        return index

    def _feistel(self, block: int) -> int:
        mask = (1 << self._half_bits) - 1
        left, right = block >> self._half_bits, block & mask
        for key in self._keys:
            mixed = ((right ^ key) * GOLDEN_RATIO_64) & MASK_64
            left, right = right, left ^ ((mixed ^ mixed >> 29) * GOLDEN_RATIO_64 >> 32 & mask)
        return left << self._half_bits | right
