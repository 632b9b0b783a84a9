"""What pressing "Score" does: the file waits its turn, is scored, and the page and files filled."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.batch import Chunk, Row
from probe.data.names import stem_of
from probe.data.rows import Source
from probe.errors import Stopped, UserError
from probe.models.library import AnyModel, that_reads
from probe.runs.access import ModelAccess
from probe.scoring.files import ScoringRequest
from probe.settings import settings
from probe.transforms.options import OPTIONS
from probe.ui.answers.answering import caller_left, in_steps
from probe.ui.answers.file_line import FileLine
from probe.ui.answers.pacing import STOPPED, Pace, StopRequests
from probe.ui.answers.request_limits import check_transforms
from probe.ui.answers.turns import Visitor
from probe.ui.html.batch.rows import rows_table
from probe.ui.html.batch.summary import figures
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.html.file_progress import FileProgress, after_chunk, file_progress
from probe.ui.measure.choice import Asked
from probe.ui.measure.scripts import UNCHANGED
from probe.ui.panels import options as option_controls
from probe.ui.results.batch_result import BatchResult
from probe.ui.tabs.batch_background import Background
from probe.ui.tabs.batch_outputs import Outputs, ScoredFile, finished
from probe.ui.visitors.visitor_files import check_room, fresh_folder, open_upload

STOPPED_AFTER = "{why}Stopped after {done} of {total} rows. The files hold what was scored."
STARTED = (
    "The {rows:,} rows are scored in the background: how far that is, and the files, stand below. "
    "It goes on when this page is closed."
)
STOPPED_AT_ONCE = "Stopped before the first rows were scored; there is nothing to put into a file."


@dataclass(frozen=True)
class Job:
    """A file to score, and how."""

    upload: Path
    source: Source
    classifier: AnyModel
    request: ScoringRequest
    visitor: str

    def begun(self) -> BatchResult:
        """Begin its files. Raises FileError."""
        folder = fresh_folder(self.visitor)
        return BatchResult(folder, self.upload, self.source, self.classifier, self.request)


def run(
    models: ModelAccess,
    background: Background,
    stops: StopRequests,
    line: FileLine,
    place: Visitor,
    in_background: bool,
    *values: Any,  # Any: of components of several kinds
) -> Iterator[list[Any]]:
    """Score the texts; after each chunk yield what the page shows, in the order of `Outputs`.

    `place` is whose turn it takes; `in_background` is what a person asks for, or a setting where
    the file is large. `values` are those of the choice, the changes, then those of the options'
    controls. Once a stop is asked for, the files hold the rows that are scored by then.
    """
    session = place[1]
    try:
        *chosen, names = values[: -len(OPTIONS)]
        asked = Asked.read(*chosen)
        visitor, task, model, upload = asked.visitor, asked.task, asked.model, asked.file
        options = option_controls.read(values[-len(OPTIONS) :], task)
        check_transforms(names)
        check_room(models.store, visitor)
        source = open_upload(visitor, str(upload), asked.reading)
        stopped = stops.reason(session)
        models.require(visitor, model)
        request = ScoringRequest(
            asked.columns_in(source), tuple(names), asked.seed, options, asked.precision,
            reading=asked.reading, long=asked.long,
        )  # fmt: skip
        if in_background or len(source) > settings().background_rows:
            background.start(visitor, upload, source, model, task, request)
            yield _failed(note(STARTED.format(rows=len(source)))).outputs
            return
        with line.place(place, caller_left()) as ahead:
            for files in ahead:
                if stopped():
                    yield _failed(note(STOPPED_AT_ONCE)).outputs
                    return
                yield _begun(FileProgress(upload.name, "waiting", ahead=files)).outputs
            yield _begun(FileProgress(upload.name, "loading")).outputs
            classifier = that_reads(models.get(visitor, model, task), asked.long)
            starting = FileProgress(upload.name, "starting", total=len(source))
            yield Outputs(progress=file_progress(starting)).outputs
            job = Job(upload, source, classifier, request, visitor)
            result = job.begun()
            yield from scored(job, result, in_steps("file_minutes", result.chunks(), stopped))
    except UserError as trouble:
        yield _failed(alert(trouble)).outputs
    finally:
        stops.withdraw(session)


def _begun(state: FileProgress) -> Outputs:
    """Show that the file is on its way; what an earlier one came to stays, dimmed."""
    progress, halt = file_progress(state), gr.Button(visible=True)
    return Outputs(progress=progress, trouble=NOTHING, halt=halt)


def _failed(trouble: Markup) -> Outputs:
    """Show why there are no results, beside what was asked, so that it can be put right."""
    nothing = Markup("<div {}></div>").format(UNCHANGED)
    return Outputs(progress=nothing, trouble=trouble, halt=gr.Button(visible=False))


def scored(job: Job, result: BatchResult, chunks: Iterator[Chunk[Row]]) -> Iterator[list[Any]]:
    """Show how far it is after each chunk, the figures so far at times, at the end the files.

    The end may be before the last chunk: a press on Stop, or a time that is up.
    """
    pace, last, why = Pace(), None, ""
    try:
        for chunk in chunks:
            last = chunk
            if chunk.done < chunk.total:
                with pace.turn() as due:
                    shown = _part(job, result) if due else Outputs()
                shown.progress = file_progress(after_chunk(job.upload.name, chunk))
                yield shown.outputs
    except Stopped as reason:
        why = "" if str(reason) == STOPPED else f"{reason}. "
    if last is None:
        yield _failed(alert(f"{why}{STOPPED_AT_ONCE}") if why else note(STOPPED_AT_ONCE)).outputs
    else:
        yield _finished(job, result, last, why).outputs


def _part(job: Job, result: BatchResult) -> Outputs:
    """Show the figures so far and the first rows."""
    task = job.classifier.task
    return Outputs(
        results=gr.Column(visible=True),
        head=Markup('<h2 class="title">{}</h2>').format(job.upload.name),
        pager=NOTHING,
        browse=gr.Row(visible=False),
        taken=gr.Column(visible=False),
        scored=gr.DownloadButton(visible=False),
        pairs=gr.DownloadButton(visible=False),
        paging="",
        figures=figures(result.totals.summary(), task, stem_of(job.upload), pressable=False),
        rows=rows_table(result.first, task),
    )


def _finished(job: Job, result: BatchResult, last: Chunk[Row], why: str) -> Outputs:
    """Complete the files and show them with the first page of rows; say where it was stopped."""
    summary = result.totals.summary()
    told, files, paging = result.hand_over()
    scored = ScoredFile(
        job.upload.name, job.classifier.task, summary, told, files, paging,
        result.golds, result.rules.estimates(), last.seconds,
    )  # fmt: skip
    return finished(scored, _end(job, last, why))


def _end(job: Job, last: Chunk[Row], why: str) -> FileProgress:
    if last.done == last.total:
        return after_chunk(job.upload.name, last)
    words = STOPPED_AFTER.format(why=why, done=last.done, total=last.total)
    return FileProgress(job.upload.name, "stopped", last.done, last.total, last.seconds, why=words)
