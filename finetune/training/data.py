"""Training and test pairs from files."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from probe.data.rows import labelled
from probe.errors import LabelError
from probe.tasks.nli import NLI, Pair


def read_jsonl(path: Path) -> Iterator[Pair]:
    """Yield the labelled pairs of a JSON-lines file, gzipped or not; disputed rows are left out.

    Rows name `premise`, `hypothesis`, `label`, or `sentence1`, `sentence2`, `gold_label`.
    """
    with _open(path) as file:
        for number, line in enumerate(file):
            row = json.loads(line)
            premise = row.get("premise", row.get("sentence1"))
            hypothesis = row.get("hypothesis", row.get("sentence2"))
            try:
                gold = NLI.read_gold(row.get("label", row.get("gold_label")))
            except LabelError:
                continue
            if premise and hypothesis and gold:
                yield Pair(premise, hypothesis, gold, str(number))


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """Read the labelled pairs of a table; broken, disputed and half-empty rows are left out.

    Raises FileError or LabelError with a sentence.
    """
    return tuple(labelled(path)[0])


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return cast(IO[str], gzip.open(path, "rt", encoding="utf-8"))
    return path.open(encoding="utf-8")
