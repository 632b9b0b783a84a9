"""Labelled tables whose column `genre` names the kind of each row."""

from collections.abc import Mapping
from itertools import cycle
from pathlib import Path


def written(path: Path, kinds: Mapping[str, int]) -> str:
    """Write so many pairs of each kind; return the place of the file."""
    labels = cycle(["entailment", "neutral", "contradiction"])
    rows = [
        f"It was day {n} of the {kind}.,It was no day.,{next(labels)},{kind}"
        for kind, count in kinds.items()
        for n in range(count)
    ]
    path.write_text("\n".join(["premise,hypothesis,label,genre", *rows]) + "\n")
    return str(path)
