"""What pressing Compare does: the pairs are read, the models asked, the page filled in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr

from probe.analysis.batch import Chunk
from probe.analysis.comparison import Row, compare_rows, read, require_two
from probe.analysis.examination import examine
from probe.data.names import stem_of
from probe.data.rows import guess
from probe.data.tables import Table, read_table
from probe.errors import ComparisonError, FileError, Stopped, UserError
from probe.limits import visitor_bounds
from probe.models.classifier import Precision
from probe.reports.comparison import comparison_json
from probe.runs.model_access import ModelAccess
from probe.settings import ASSETS
from probe.tasks.nli import NLI, Pair
from probe.ui.answers.answering import answering, in_steps
from probe.ui.answers.pacing import STOPPED, Pace, StopRequests
from probe.ui.answers.request_limits import check_pair
from probe.ui.html.batch import progress
from probe.ui.html.compare import cards, side_by_side, tests
from probe.ui.html.compare_cells import matrix, slices
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.panels.upload import columns_of
from probe.ui.result_files import write_comparison
from probe.ui.tab_outputs import TabOutputs
from probe.ui.visitors.visitor_files import check_room, fresh_folder, own_file

BUNDLED, FILE, PAIR = "the bundled test pairs", "a file", "one pair"
STOPPED_AFTER = "Stopped after {done} of {total} rows. What is below is of these."
STOPPED_AT_ONCE = "Stopped before the first rows were compared."
MAX_MODELS = 6
"""How many models the page compares at once."""


@dataclass
class Outputs(TabOutputs):
    """What the page shows, in the order of the tab's outputs; what is not given stays."""

    progress: Any = field(default_factory=gr.skip)  # Any: markup, or one of gradio's updates
    cards: Any = field(default_factory=gr.skip)
    tests: Any = field(default_factory=gr.skip)
    two: Any = field(default_factory=gr.skip)
    first: Any = field(default_factory=gr.skip)
    second: Any = field(default_factory=gr.skip)
    matrix: Any = field(default_factory=gr.skip)
    slices: Any = field(default_factory=gr.skip)
    pairs: Any = field(default_factory=gr.skip)
    files: Any = field(default_factory=gr.skip)
    place: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class Job:
    """A table to compare models on, how and for whom; `stem` begins the files' names."""

    table: Table
    names: list[str]
    precision: Precision
    stem: str
    visitor: str

    def figures(self, rows: Sequence[Row]) -> Outputs:
        """Show the figures of some rows, and nothing of an earlier comparison."""
        shown = cleared()
        shown.cards = cards(rows, self.names, self.precision)
        shown.tests = tests(rows, self.names)
        return shown


def cleared() -> Outputs:
    """Return outputs that show nothing of an earlier comparison."""
    return Outputs(
        progress=NOTHING,
        cards=NOTHING,
        tests=NOTHING,
        two=gr.Row(visible=False),
        matrix=NOTHING,
        slices=NOTHING,
        pairs=NOTHING,
        files=gr.Files(visible=False),
        place="",
    )


def run(
    models: ModelAccess,
    stops: StopRequests,
    session: str | None,
    visitor: str,
    names: list[str],
    source: str,
    precision: Precision,
    premise: str,
    hypothesis: str,
    path: str | None,
    *columns: str,
) -> Iterator[list[Any]]:
    """Compare; after each chunk yield what the page shows, in the order of `Outputs`.

    Once a stop is asked for, the figures and files hold the rows that are compared by then.
    """
    try:
        require_models(models, visitor, names)
        if source == PAIR:
            pair = Pair(premise, hypothesis)
            check_pair(pair)
            yield Outputs(note("Asking the models …")).outputs
            yield _asked(models, visitor, names, pair).outputs
            return
        if source == FILE and not path:
            raise FileError("choose a file first, or one of the examples")
        place = own_file(visitor, path) if path and source == FILE else None
        check_room(models.store, visitor)
        table, unread = _read(place, columns)
        yield Outputs(note("Loading the models …")).outputs
        classifiers = [models.get(visitor, name) for name in names]
        chunks = compare_rows(classifiers, unread, precision)
        stem = stem_of(place) if place else "bundled-test"
        job = Job(table, names, precision, stem, visitor)
        yield from compared(job, in_steps("file_minutes", chunks, stops.reason(session)))
    except UserError as trouble:
        yield Outputs(alert(trouble)).outputs
    finally:
        stops.withdraw(session)


def require_models(models: ModelAccess, visitor: str, names: Sequence[str]) -> None:
    """Refuse names that the page cannot compare. Raises ComparisonError, ModelError."""
    require_two(names)
    if len(names) > MAX_MODELS:
        raise ComparisonError(
            f"the page compares up to {MAX_MODELS} models; the command line any number"
        )
    for name in names:
        models.require(visitor, name)


@answering("answer_seconds")
def _asked(models: ModelAccess, visitor: str, names: Sequence[str], pair: Pair) -> Outputs:
    """Show the models' answers for one pair side by side."""
    shown = cleared()
    shown.cards = side_by_side([examine(models.get(visitor, name), pair) for name in names])
    return shown


def _read(path: Path | None, columns: Sequence[str]) -> tuple[Table, list[Row]]:
    """Read a file, or the bundled pairs. Raises FileError."""
    table = read_table(path, visitor_bounds()) if path else bundled_table()
    headers = [str(name) for name in table.frame.columns]
    return table, read(table, columns_of(headers, *columns) if path else guess(headers, NLI), NLI)


def compared(job: Job, chunks: Iterator[Chunk[Row]]) -> Iterator[list[Any]]:
    """Show how far it is after each chunk, the figures so far at times, at the end the files.

    The end may be before the last chunk: a press on Stop, or a time that is up.
    """
    rows, pace, last, ended = list[Row](), Pace(), None, NOTHING
    try:
        for chunk in chunks:
            rows += chunk.rows
            last = chunk
            with pace.turn() as due:
                shown = job.figures(rows) if due and chunk.done < chunk.total else Outputs()
            shown.progress = progress(chunk)
            yield shown.outputs
    except Stopped as reason:
        ended = NOTHING if str(reason) == STOPPED else alert(reason)
    if last is None:
        yield Outputs(ended + note(STOPPED_AT_ONCE)).outputs
        return
    shown = job.figures(rows)
    shown.progress = progress(last)
    if last.done < last.total:
        shown.progress += ended + note(STOPPED_AFTER.format(done=last.done, total=last.total))
    yield shown.outputs
    yield _finished(job, rows).outputs


def _finished(job: Job, rows: Sequence[Row]) -> Outputs:
    """Show the files, and where the first two models differ."""
    names = job.names
    summary = comparison_json(rows, names, job.precision)
    folder = fresh_folder(job.visitor)
    files, place = write_comparison(folder, job.table, rows, names, summary, job.stem)
    return Outputs(
        two=gr.Row(visible=len(names) > 2),
        first=gr.Dropdown(names, value=names[0]),
        second=gr.Dropdown(names, value=names[1]),
        matrix=matrix(rows, names, 0, 1),
        slices=slices(rows, names, 0, 1),
        files=gr.Files(files, visible=True),
        place=place,
    )


def bundled_table() -> Table:
    """Return the bundled test pairs as a table."""
    table = read_table(ASSETS / "bundled" / "nli.csv")
    test = table.frame[table.frame["split"] == "test"].reset_index(drop=True)
    return Table(test, table.form)
