"""What lessons compute: scores of bundled examples, counted once for a class, and results kept."""

import json
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache
from markupsafe import Markup
from pydantic import TypeAdapter, ValidationError

from probe.analysis.batch import Chunk, score
from probe.analysis.summary import Summary, Totals
from probe.data.rows import Source, guess, of_frame
from probe.data.source import read_table
from probe.models.library import locate
from probe.settings import make_home
from probe.stopping import check_stop
from probe.tasks.examples import bundled_examples, bundled_file
from probe.tasks.task import Task
from probe.text.duration import duration_words
from probe.transforms.options import DEFAULTS, Options
from probe.ui.answers.answering import model_key
from probe.ui.html.elements import meter, told
from probe.ui.lessons.lesson import Finding, Live, Place, Setting
from probe.ui.visitors.visitor_files import FINDINGS

T = TypeVar("T")
ROWS, CHUNK = 240, 8
"""Examples on which a lesson's rules rest, and how many lie between two reports of the progress."""
MAX_RESULTS = 100
"""How many results of computations are in memory; each is a few kilobytes."""
LOOK_SECONDS = 0.3
"""How often somebody who waits for another's computation looks how far it is."""
FINDING = TypeAdapter(Finding)
_results: LRUCache[Hashable, Any] = LRUCache(MAX_RESULTS)  # Any: a key has those of one type
_so_far: dict[Hashable, Any] = {}
_lock = Lock()


def once(key: Hashable, compute: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Yield what a computation yields, the last of it the result; later its result alone.

    Who asks while another computes the same sees how far that is; where it is stopped, the next
    one computes it anew. Raises Stopped.
    """
    while not _begins(key):
        so_far: T | None = _so_far.get(key)
        if so_far is not None:
            yield so_far
        check_stop()
        time.sleep(LOOK_SECONDS)
    try:
        result: T | None = _results.get(key)
        if result is not None:
            yield result
            return
        for result in compute():
            _so_far[key] = result
            yield result
        with _lock:
            _results[key] = result
    finally:
        with _lock:
            del _so_far[key]


def _begins(key: Hashable) -> bool:
    """Whether nobody computes this yet; from now on the caller does."""
    with _lock:
        if key in _so_far:
            return False
        _so_far[key] = None
        return True


def counted(
    name: str, count: Callable[[Setting], Iterator[Chunk[T]]], unit: str = "", grows: bool = False
) -> Callable[[Callable[[Setting, Sequence[T]], Finding]], Live]:
    """Make a live part of what judges all rows that were counted, once for a model.

    Where it `grows`, its figures are shown of the rows so far.
    """

    def decorate(judge: Callable[[Setting, Sequence[T]], Finding]) -> Live:
        def live(setting: Setting) -> Iterator[Finding]:
            def gathered() -> Iterator[Chunk[T]]:
                rows = list[T]()
                for chunk in count(setting):
                    rows += chunk.rows
                    yield Chunk(tuple(rows), chunk.done, chunk.total, chunk.seconds)

            for chunk in once((model_key(setting.classifier), name), gathered):
                far = progress(chunk, unit or setting.task.unit)
                ended = chunk.done == chunk.total
                found = judge(setting, chunk.rows) if ended or grows else Finding()
                yield found if ended else Finding(progress=far, compared=found.compared)

        return live

    return decorate


def sample(task: Task, rows: int = ROWS) -> Source:
    """Return rows of the task's file from all over, of the test split where it has enough."""
    table = read_table(bundled_file(task))
    test = table.frame[table.frame["split"] == "test"]
    frame = test if len(test) >= rows else table.frame
    drawn = frame.sample(min(rows, len(frame)), random_state=0).sort_index()
    return of_frame(drawn.reset_index(drop=True), table.form)


def on_bundled(
    *names: str, rows: int = ROWS, options: Options = DEFAULTS
) -> Callable[[Callable[[Setting, Summary], Finding]], Live]:
    """Make a live part of what judges the summary of bundled examples with these transforms."""

    def scored(setting: Setting) -> Iterator[Chunk[Summary]]:
        table, classifier = sample(setting.task, rows), setting.classifier
        totals = Totals(classifier.task, names)
        columns = guess(table.columns, classifier.task)
        for chunk in score(table, columns, classifier, names, 0, options, largest=CHUNK):
            totals.add(chunk.rows)
            ended = (totals.summary(),) if chunk.done == chunk.total else ()
            yield Chunk(ended, chunk.done, chunk.total, chunk.seconds)

    def decorate(judge: Callable[[Setting, Summary], Finding]) -> Live:
        name = f"{' '.join(names)} {options.variant}"
        return counted(name, scored)(lambda setting, ended: judge(setting, ended[0]))

    return decorate


def progress(chunk: Chunk[Any], unit: str) -> Markup:
    """Show how far the work is and, where it is measured, the time left."""
    left = f", {duration_words(chunk.left)} left" if chunk.seconds and chunk.left else ""
    return meter(f"{unit}s done", chunk.done / chunk.total) + told(
        f"{chunk.done} of {chunk.total} {unit}s{left}"
    )


def bundled_example(task: Task, id_: str) -> Any:  # Any: of the task's own dataclass
    """Return a bundled example by its id."""
    return next(example for example in bundled_examples(task) if example.id == id_)


def keep(finding: Finding, model: str, here: Place) -> None:
    """Keep what a step came to with a model, for everybody who asks the same of it."""
    file = _file(model, here)
    file.parent.mkdir(mode=0o700, exist_ok=True)
    part = file.with_suffix(f".{time.monotonic_ns()}")
    part.write_bytes(FINDING.dump_json(finding))
    part.replace(file)  # nobody reads half of it


def kept(model: str, here: Place) -> Finding | None:
    """Return what a step came to with a model, None where it was not run or too long ago.

    Raises ModelError where the model is not there.
    """
    try:
        return FINDING.validate_json(_file(model, here).read_bytes())
    except (FileNotFoundError, ValidationError):  # of another version of the app
        return None


def _file(model: str, here: Place) -> Path:
    """Return the file of a finding: another one where the model's files are others."""
    folder, _ = locate(model)
    changed = [(path.name, path.stat().st_mtime_ns) for path in sorted(folder.glob("*"))]
    asked = model.partition("?")[2]  # of one folder by several prompts
    told = json.dumps([str(folder), asked, changed, here.task.name, here.key])
    return make_home() / FINDINGS / f"{sha256(told.encode()).hexdigest()}.json"
