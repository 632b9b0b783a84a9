"""Bad files by the seed, read as a public app reads them, in a process whose memory is watched.

    python -m benchmarks.faults.bad_files [--count 10000]

Prints how many were read and how many refused, by the kind of sentence, the slowest and the most
memory that the process took beyond what it had before the first file.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.faults.bad_file_kinds import bad_files
from benchmarks.reading_process import Reading, read_in_process

SHOWN_WORDS = 7


def paths(folder: Path, count: int) -> Iterator[Path]:
    """Write one file after another into a folder, each in place of the one before."""
    for bad in bad_files(count):
        path = folder / bad.name
        path.write_bytes(bad.data)
        yield path
        path.unlink()


def kind_of(reading: Reading) -> str:
    """Return the outcome with the beginning of the sentence, without names and numbers."""
    sentence = reading.sentence.replace(reading.name, "FILE")
    words = re.sub(r"'[^']*'|[\d,]*\d", "…", sentence).split()
    return " ".join([reading.kind, *words[:SHOWN_WORDS]])


def main(count: Annotated[int, typer.Option(help="Files.")] = 10_000) -> None:
    """Print the outcomes."""
    with tempfile.TemporaryDirectory() as folder:
        readings = list(read_in_process(paths(Path(folder), count)))
    for kind, number in Counter(map(kind_of, readings)).most_common():
        print(f"{number:6,}  {kind}")
    slowest = max(readings, key=lambda reading: reading.seconds)
    print(f"slowest: {slowest.seconds:.2f} s ({kind_of(slowest)})")
    print(f"all: {sum(reading.seconds for reading in readings):.0f} s")
    print(f"most memory: {max(reading.peak_megabytes for reading in readings):.0f} MB")
    print(f"tracebacks: {sum(reading.kind.startswith('traceback') for reading in readings)}")


if __name__ == "__main__":
    typer.run(main)
