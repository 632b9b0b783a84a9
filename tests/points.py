"""Points of an inoculation with known numbers of right answers."""

from finetune.inoculate import Point
from finetune.plan import BASE, Cell


def make_point(
    original: int, challenge: int, n: int = 100, cell: Cell = BASE, dev: float = 0.8
) -> Point:
    """Return a point with this many right of n; the right ones come first."""
    return Point(
        cell,
        original / n,
        challenge / n,
        dev,
        epochs=3,
        best_epoch=2,
        seconds=1.5,
        precision="fp32",
        original_right=tuple(row < original for row in range(n)),
        challenge_right=tuple(row < challenge for row in range(n)),
    )
