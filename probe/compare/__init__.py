"""Two or more models on the same pairs: what each says, where they differ, which is right."""

from probe.compare.rows import Chunk, CompareError, Row, compare, compare_rows, read
from probe.compare.statistics import (
    Cell,
    McNemar,
    accuracy,
    agreement,
    disagreement,
    entailed_and_not,
    mcnemar,
    members,
)

__all__ = [
    "Cell",
    "Chunk",
    "CompareError",
    "McNemar",
    "Row",
    "accuracy",
    "agreement",
    "compare",
    "compare_rows",
    "disagreement",
    "entailed_and_not",
    "mcnemar",
    "members",
    "read",
]
