"""A sample of a file's rows that is answered in fp32 too: how many answers does bf16 change?"""

import random

LARGEST, SMALLEST, SHARE = 200, 32, 10
"""Rows of a sample: one in ten, so that fp32, half as quick as bf16, takes a fifth longer at most;
of a small file a few more, of a large one no more than tell something."""


def fp32_sample(rows: int, seed: int) -> frozenset[int]:
    """Return the numbers, from 0, of the sampled ones of so many rows.

    One is drawn from each of equally long stretches of the file; the smallest are taken whole.
    """
    count = min(rows, LARGEST, max(SMALLEST, rows // SHARE))
    rng = random.Random(f"{seed}|fp32")
    bounds = [at * rows // count for at in range(count + 1)] if count else []
    return frozenset(map(rng.randrange, bounds, bounds[1:]))


def fp32_words(sampled: int, differing: int) -> str:
    """Say how many sampled answers bf16 changes; "" where none was given in both precisions."""
    if not sampled:
        return ""
    answers = f"{differing:,} of {sampled:,} answer{'' if sampled == 1 else 's'}"
    differ = "differs" if differing == 1 or sampled == 1 else "differ"
    return f"In a sample of the rows computed in bf16 {answers} {differ} from fp32."
