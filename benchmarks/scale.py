"""Files from a thousand to a million rows: CPU time, memory, and two workers against one.

    python -m benchmarks.scale growth [ROWS...] [NAMES...]
    python -m benchmarks.scale transforms [ROWS...] [NAMES...]
    python -m benchmarks.scale memory [ROWS...] [NAMES...]
    python -m benchmarks.scale workers [ROWS] [NAMES...]

Each file is scored by `da` in a process of its own, which has loaded the model before the clock
and the count of its memory begin. Its rows are the bundled pairs, each with a number of its own.
`transforms` makes two versions of each row besides, one of them by gradients. `memory` counts that
of `minilm`, of `da` and of a model that answers at once, the first for few rows. `workers` scores a
file as a run; NAMES are those of transforms.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from probe.data.rows import Columns, guess
from probe.data.source import open_source
from probe.experiments import register_experiments
from probe.models.classifier import Model, Precision, Prediction
from probe.models.library import load_any
from probe.native_environment import NATIVE_ENVIRONMENT
from probe.runs.engine import Engine
from probe.runs.run import OPEN
from probe.runs.store import Store
from probe.scoring.files import FileScoring, Places, ScoringRequest, identity, scoring_request
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import Example

MODEL = "da"
LARGE = "minilm"
GROWTH = (1_000, 10_000, 30_000, 100_000, 300_000)
TRANSFORMED = (300, 1_000, 3_000)
MEMORY = (10_000, 300_000, 1_000_000)
MOST_ROWS = {LARGE: 10_000, MODEL: 1_000_000}
"""The most rows whose memory is counted with a model, which takes a minute and a quarter hour."""
WORKED_ON = 60_000
SMALL = 64
NAMES = ("sort", "drop")
Measure = Callable[[Sequence[int], Sequence[str]], None]


def write_file(path: Path, rows: int, first: int = 0) -> None:
    """Write a CSV file of so many pairs, numbered from `first`."""
    pairs = bundled_examples(NLI, "test")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "premise", "hypothesis", "label"])
        for number in range(first, first + rows):
            pair = pairs[number % len(pairs)]
            writer.writerow([number, f"{pair.premise} {number}", pair.hypothesis, pair.gold])


class AtOnce:
    """A model that answers every example alike, and at once."""

    name, revision, task = "at once", None, NLI

    def predict(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> list[Prediction]:
        """Answer neutral."""
        return [Prediction("neutral", (0.2, 0.5, 0.3), NLI.labels) for _ in examples]

    def too_long(self, example: Example) -> bool:
        """Return that nothing is too long."""
        return False


def score_here(model_name: str, file: Path, out: Path, names: Sequence[str]) -> dict[str, float]:
    """Score a file as the command does; return its CPU seconds and megabytes above the model."""
    model = AtOnce() if model_name == AtOnce.name else load_any(model_name)
    write_file(small := out.with_name("small.csv"), SMALL)
    _score(small, out, model, names)  # what is loaded or made at the first file
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forget the peak so far
    loaded, began = _megabytes("VmRSS"), time.process_time()
    _score(file, out, model, names)
    return {"seconds": time.process_time() - began, "megabytes": _megabytes("VmHWM") - loaded}


def _score(file: Path, out: Path, model: Model, names: Sequence[str]) -> None:
    source, places = open_source(file), Places(out)
    request = ScoringRequest(guess(source.names, NLI), tuple(names))
    scoring = FileScoring(source, model, request, places, identity(file, model, request, places))
    for _ in scoring.chunks():
        pass
    scoring.hand_over()


def _megabytes(field: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return float(line.split()[1]) / 1024


def score(rows: int, names: Sequence[str] = (), model: str = MODEL) -> dict[str, float]:
    """Score a file of so many rows in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "in.csv"
        write_file(file, rows)
        call = ["here", model, str(file), str(Path(folder) / "out.csv"), *names]
        words = [sys.executable, "-m", "benchmarks.scale", *call]
        done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def growth(counts: Sequence[int], names: Sequence[str] = ()) -> None:
    """Print the CPU seconds of each file, and a row's against one of the first file."""
    print("| rows | CPU seconds | rows per CPU second | against linear growth |")
    print("|---|---|---|---|")
    each = 0.0
    for rows in counts:
        seconds = score(rows, names)["seconds"]
        each = each or seconds / rows
        share = seconds / rows / each
        print(f"| {rows:,} | {seconds:.1f} | {rows / seconds:.0f} | {share:.2f} |", flush=True)


def memory(counts: Sequence[int], names: Sequence[str] = ()) -> None:
    """Print the most memory that each file takes above the loaded model."""
    print(f"| rows | `{LARGE}` | `{MODEL}` | a model that answers at once |")
    print("|---|---|---|---|")
    for rows in counts:
        taken = [
            f"{score(rows, names, model)['megabytes']:.0f} MB"
            if rows <= MOST_ROWS.get(model, rows)
            else "–"
            for model in (LARGE, MODEL, AtOnce.name)
        ]
        print(f"| {rows:,} | {' | '.join(taken)} |", flush=True)


@contextmanager
def home_with(workers: int) -> Iterator[Path]:
    """Give a home of its own, and engines in it so many worker processes."""
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(NLI_CLINIC_HOME=home, NLI_CLINIC_WORKERS=str(workers))
        yield Path(home)


def seconds_as_run(rows: int, names: Sequence[str], workers: int) -> float:
    """Return how long a run of the store takes on so many workers, which have loaded the model."""
    with home_with(workers) as home:
        file, store = home / "in.csv", Store()
        engine = Engine(store)
        texts = {"premise": "premise", "hypothesis": "hypothesis"}
        request = ScoringRequest(Columns(texts, "label"), tuple(names))
        took, warm_up = 0.0, workers * request.chunk_rows  # in which each loads the model
        for count, first in ((warm_up, rows), (rows, 0)):
            write_file(file, count, first)
            source = open_source(file)
            run = store.create("bench", scoring_request(file, source, MODEL, NLI, request))
            engine.submit(run.id)
            while (run := store.get(run.id)).state in OPEN:
                time.sleep(0.1)
            took = run.finished - run.started
        engine.close()
        return took


def workers(counts: Sequence[int], names: Sequence[str] = ()) -> None:
    """Print the seconds of a run on one worker and on two."""
    register_experiments()
    (rows,) = counts
    one, two = (seconds_as_run(rows, names, workers) for workers in (1, 2))
    print("| rows | one worker | two workers | ratio |")
    print("|---|---|---|---|")
    print(f"| {rows:,} | {one:.1f} s | {two:.1f} s | {one / two:.2f} |")


PARTS: dict[str, tuple[Measure, Sequence[int], Sequence[str]]] = {
    "growth": (growth, GROWTH, ()),
    "transforms": (growth, TRANSFORMED, NAMES),
    "memory": (memory, MEMORY, ()),
    "workers": (workers, (WORKED_ON,), ()),
}


def main() -> None:
    """Print the table that is asked for."""
    part, *words = sys.argv[1:]
    if part == "here":
        os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # torch is not imported yet
        model, file, out, *names = words
        print(json.dumps(score_here(model, Path(file), Path(out), names)))
        return
    measure, counts, names = PARTS[part]
    words = [word.replace(",", "") for word in words]
    counts = [int(word) for word in words if word.isdigit()] or counts
    measure(counts, [word for word in words if not word.isdigit()] or names)


if __name__ == "__main__":
    main()
