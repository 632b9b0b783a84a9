"""Files read in a process of their own, so that the memory they take is seen.

    python -m benchmarks.reading_process < NAMES_OF_FILES

Each file is read as a public app reads it, its rows as pairs, and shown as the page shows it.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.page.app_process import ROOT
from probe.data.rows import guess, read_rows
from probe.data.source import first_rows, read_table
from probe.errors import UserError
from probe.limits import visitor_bounds
from probe.tasks.nli import NLI


@dataclass(frozen=True)
class Reading:
    """How a file was read: "read", or the kind of its refusal, and the sentence of that.

    `peak_megabytes` are those of the process so far, beyond what it took before the first file.
    """

    name: str
    kind: str
    sentence: str
    packed_megabytes: float
    peak_megabytes: float
    seconds: float


def read_in_process(paths: Iterable[Path]) -> Iterator[Reading]:
    """Read files in one process after another; yield how each was read."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.reading_process"],
        cwd=ROOT,
        env={**os.environ, "NLI_CLINIC_PUBLIC": "yes"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout
        for path in paths:
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            yield Reading(**json.loads(process.stdout.readline()))
        process.stdin.close()


def megabytes() -> float:
    """Return the most memory that this process took so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def outcome(path: Path) -> tuple[str, str]:
    """Read a file; return what came of it, and the sentence where it was refused."""
    try:
        table = read_table(path, visitor_bounds())
        first_rows(table)
        list(read_rows(table, guess(table.names, NLI), NLI))
    except UserError as problem:
        return type(problem).__name__, str(problem)
    except Exception as problem:
        return f"traceback: {type(problem).__name__}", str(problem)
    return "read", ""


def main() -> None:
    """Read the files that the standard input names, one a line; print how, as JSON."""
    before = 0.0
    for line in sys.stdin:
        path = Path(line.rstrip("\n"))
        if not before:
            outcome(ROOT / "assets" / "examples" / "mnli_form.tsv")
            before = megabytes()
        began = time.monotonic()
        kind, sentence = outcome(path)
        seconds = time.monotonic() - began
        size = path.stat().st_size / 1_000_000
        reading = Reading(path.name, kind, sentence, size, megabytes() - before, seconds)
        print(json.dumps(asdict(reading)), flush=True)


if __name__ == "__main__":
    main()
