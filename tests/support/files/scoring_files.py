"""Files of many pairs, each row with a number of its own."""

import csv
from pathlib import Path

from tests.support.files.pair_files import PAIRS


def pair_file(path: Path, rows: int) -> Path:
    """Write a CSV file of so many pairs."""
    with path.open("w", newline="", encoding="utf-8") as file:
        write = csv.writer(file).writerow
        write(["id", "premise", "hypothesis", "label"])
        for number in range(rows):
            pair = PAIRS[number % len(PAIRS)]
            write([number, pair.premise, pair.hypothesis, pair.gold])
    return path
