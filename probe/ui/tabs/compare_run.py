"""What pressing Compare does: the examples are read, the models asked, the page filled in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.batch import Chunk
from probe.analysis.comparison import Row, compare_rows, read, require_two
from probe.analysis.comparison_report import comparison_json
from probe.analysis.transformed import examine
from probe.data.names import stem_of
from probe.data.rows import Source
from probe.errors import ComparisonError, Stopped, UserError
from probe.models.classifier import Precision
from probe.models.library import AnyModel, that_reads
from probe.runs.access import ModelAccess
from probe.tasks.task import Example
from probe.text.duration import duration
from probe.ui.answers.answering import caller_left, in_steps
from probe.ui.answers.file_line import FileLine
from probe.ui.answers.pacing import STOPPED, Pace, StopRequests
from probe.ui.answers.request_limits import check_example
from probe.ui.answers.turns import Visitor
from probe.ui.html.compare.cells import chosen, numbers, page
from probe.ui.html.compare.pictures import DIFFER, matrix, parts
from probe.ui.html.compare.result import agreement_on_one, say, sentence, side_by_side, tiles
from probe.ui.html.elements import NOTHING, alert, meter, note, told
from probe.ui.html.file_progress import FileProgress, after_chunk, per_second_words
from probe.ui.measure.choice import MAX_MODELS, ONE, Asked
from probe.ui.measure.scripts import UNCHANGED
from probe.ui.results.result_files import write_comparison
from probe.ui.tab_outputs import TabOutputs
from probe.ui.visitors.visitor_files import check_room, fresh_folder, read_upload

STOPPED_AFTER = "Stopped after {done} of {total} rows. What is below is of these."
STOPPED_AT_ONCE = "Stopped before the first rows were compared."


@dataclass
class Outputs(TabOutputs):
    """What the page shows, in the order of the tab's outputs; what is not given stays."""

    progress: Any = field(default_factory=gr.skip)  # Any: markup, or one of gradio's updates
    go: Any = field(default_factory=gr.skip)
    halt: Any = field(default_factory=gr.skip)
    begin: Any = field(default_factory=gr.skip)
    say: Any = field(default_factory=gr.skip)
    tiles: Any = field(default_factory=gr.skip)
    pictures: Any = field(default_factory=gr.skip)
    parts: Any = field(default_factory=gr.skip)
    matrix: Any = field(default_factory=gr.skip)
    browse: Any = field(default_factory=gr.skip)
    rows: Any = field(default_factory=gr.skip)
    pager: Any = field(default_factory=gr.skip)
    numbers: Any = field(default_factory=gr.skip)
    taken: Any = field(default_factory=gr.skip)
    files: Any = field(default_factory=gr.skip)
    place: Any = field(default_factory=gr.skip)
    two: Any = field(default_factory=gr.skip)
    cell: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class Job:
    """A table to compare models on, how and for whom; `stem` begins the files' names."""

    table: Source
    names: list[str]
    precision: Precision
    stem: str
    visitor: str

    def figures(self, rows: Sequence[Row]) -> Outputs:
        """Show the figures of some rows, and nothing of an earlier comparison."""
        shown = cleared()
        shown.say = sentence(rows, self.names)
        shown.tiles = tiles(rows, self.names, self.precision)
        return shown


def cleared() -> Outputs:
    """Return outputs that show nothing of an earlier comparison."""
    return Outputs(
        progress=NOTHING,
        begin=gr.HTML(visible=False),
        say=NOTHING,
        tiles=NOTHING,
        pictures=gr.Row(visible=False),
        browse=gr.Column(visible=False),
        numbers=NOTHING,
        taken=gr.Column(visible=False),
        place="",
        two="0|1",
        cell="",
    )


def run(
    models: ModelAccess,
    stops: StopRequests,
    line: FileLine,
    turn: Visitor,
    *values: Any,  # Any: those of the choice
) -> Iterator[list[Any]]:
    """Compare; after each chunk yield what the page shows, in the order of `Outputs`.

    `turn` is whose turn it takes. Once a stop is asked for, the figures and files hold the rows
    that are compared by then. What follows the end gives the button back and hides Stop.
    """
    session = turn[1]
    try:
        asked, stopped = Asked.read(*values), stops.reason(session)
        visitor, task, names = asked.visitor, asked.task, list(asked.models)
        require_models(models, visitor, names)
        busy, halt = gr.Button(interactive=False), gr.Button(visible=True)

        def loaded() -> list[AnyModel]:
            return [that_reads(models.get(visitor, name, task), asked.long) for name in names]

        if asked.source == ONE:
            check_example(task, asked.example)
            yield Outputs(told("Asking the models …"), busy).outputs
            yield _asked(loaded(), asked.example).outputs
            return
        check_room(models.store, visitor)
        table = read_upload(visitor, str(asked.file), asked.reading)
        unread = read(table, asked.columns_in(table), task)
        with line.place(turn, caller_left()) as ahead:
            for before in ahead:
                if stopped():
                    yield _unchanged(told(STOPPED_AT_ONCE)).outputs
                    return
                yield Outputs(_shown(FileProgress("", "waiting", ahead=before)), busy, halt).outputs
            yield Outputs(_shown(FileProgress("", "loading")), busy, halt).outputs
            chunks = compare_rows(loaded(), unread, asked.precision)
            job = Job(table, names, asked.precision, stem_of(asked.file), visitor)
            yield from compared(job, in_steps("file_minutes", chunks, stopped))
    except UserError as trouble:
        yield _unchanged(alert(trouble)).outputs
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


def _asked(models: Sequence[AnyModel], example: Example) -> Outputs:
    """Show the models' answers for one example side by side."""
    examined = [examine(model, example) for model in models]
    shown = cleared()
    shown.say, shown.tiles = say(agreement_on_one(examined)), side_by_side(examined)
    return shown


def _unchanged(why: Markup) -> Outputs:
    """Say why nothing was compared; results of an earlier comparison stay, and stay dimmed."""
    return Outputs(Markup("<div {}>{}</div>").format(UNCHANGED, why))


def _shown(state: FileProgress) -> Markup:
    """Show how far the comparison is: its place among those of others, its speed, the time left."""
    words = {
        "waiting": f"{_comparisons(state.ahead)} before yours. It begins by itself.",
        "loading": "Loading the models. The first figures follow in a moment.",
        "scoring": (
            f"{state.done:,} of {state.total:,} rows, {per_second_words(state.per_second)}, "
            f"about {duration(state.left)} left"
        ),
    }
    bar = meter("rows compared", state.share) if state.state == "scoring" else NOTHING
    return Markup('<div role="status">{}{}</div>').format(bar, note(words[state.state]))


def _comparisons(count: int) -> str:
    return "One comparison is" if count == 1 else f"{count} comparisons are"


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
            if chunk.done < chunk.total:
                shown.progress = _shown(after_chunk("", chunk))
            yield shown.outputs
    except Stopped as reason:
        ended = NOTHING if str(reason) == STOPPED else alert(reason)
    if last is None:
        yield _unchanged(ended + told(STOPPED_AT_ONCE)).outputs
        return
    shown = _finished(job, rows)
    if last.done < last.total:
        shown.progress = ended + told(STOPPED_AFTER.format(done=last.done, total=last.total))
    yield shown.outputs


def _finished(job: Job, rows: Sequence[Row]) -> Outputs:
    """Show the figures, the pictures, the rows on which the first two models differ, the files."""
    names = job.names
    summary = comparison_json(rows, names, job.precision)
    folder = fresh_folder(job.visitor)
    files, place = write_comparison(folder, job.table, rows, names, summary, job.stem)
    shown = job.figures(rows)
    shown.pictures, shown.parts = gr.Row(visible=True), parts(rows, names)
    shown.matrix, shown.numbers = matrix(rows, names, 0, 1), numbers(rows, names, 0, 1)
    shown.rows, shown.pager = rows_of(rows, names, 0, 1, DIFFER, 1)
    shown.browse, shown.cell = gr.Column(visible=True), DIFFER
    shown.taken, shown.files = gr.Column(visible=True), gr.Files(files, visible=True)
    shown.place = place
    return shown


def rows_of(
    rows: Sequence[Row], names: Sequence[str], first: int, second: int, cell: str, number: int
) -> tuple[Markup, Markup]:
    """Show a page of the rows of a cell, and where it stands among the others."""
    words, part = chosen(rows, names, first, second, cell)
    return page(words, part, names, number) if words else (NOTHING, NOTHING)
