"""What pressing "Score" does: the file waits its turn, is scored, and the page and files filled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.batch import Chunk, Row, score
from probe.analysis.file_progress import FileProgress, after_chunk
from probe.analysis.summary import Summary, Totals, summary_json
from probe.data.rows import with_class_names
from probe.data.tables import Table
from probe.errors import Stopped, UserError
from probe.models.classifier import Precision
from probe.models.library import AnyModel
from probe.runs.model_access import ModelAccess
from probe.tasks.task import task_named
from probe.transforms import Options
from probe.ui.answers.answering import caller_left, in_steps
from probe.ui.answers.file_line import FileLine
from probe.ui.answers.pacing import STOPPED, Pace, StopRequests
from probe.ui.answers.request_limits import check_transforms
from probe.ui.answers.turns import Visitor
from probe.ui.batch_tables import ANY, PAGE_ROWS, Selection, baselines, golds_of, measures, view
from probe.ui.html.batch import figures, head
from probe.ui.html.batch_pictures import against_rules
from probe.ui.html.batch_rows import rows_table
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.html.file_progress import file_progress
from probe.ui.panels import options as option_controls
from probe.ui.panels.labelled_file import (
    columns_of,
    most_fields,
    read_meanings,
    with_meanings,
)
from probe.ui.result_files import write_results
from probe.ui.tab_outputs import TabOutputs
from probe.ui.tabs.batch_rows import shown_rows
from probe.ui.visitors.visitor_files import check_room, fresh_folder, read_upload

STOPPED_AFTER = "{why}Stopped after {done} of {total} rows. The files hold what was scored."
STOPPED_AT_ONCE = "Stopped before the first rows were scored; there is nothing to put into a file."


@dataclass
class Outputs(TabOutputs):
    """What the page shows, in the order of the tab's outputs; what is not given stays.

    `setup` holds what is asked before scoring, `results` everything after it; `paging` is the key
    of the results, `browse` what stands beside rows to turn over, `taken` the files.
    """

    progress: Any = field(default_factory=gr.skip)  # Any: markup, or one of gradio's updates
    trouble: Any = field(default_factory=gr.skip)
    setup: Any = field(default_factory=gr.skip)
    results: Any = field(default_factory=gr.skip)
    head: Any = field(default_factory=gr.skip)
    halt: Any = field(default_factory=gr.skip)
    again: Any = field(default_factory=gr.skip)
    figures: Any = field(default_factory=gr.skip)
    rows: Any = field(default_factory=gr.skip)
    pager: Any = field(default_factory=gr.skip)
    label: Any = field(default_factory=gr.skip)
    browse: Any = field(default_factory=gr.skip)
    taken: Any = field(default_factory=gr.skip)
    files: Any = field(default_factory=gr.skip)
    scored: Any = field(default_factory=gr.skip)
    pairs: Any = field(default_factory=gr.skip)
    paging: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class Job:
    """A file to score, and how."""

    upload: Path
    table: Table
    classifier: AnyModel
    names: Sequence[str]
    seed: int
    options: Options
    precision: Precision
    visitor: str

    def summary_json(self, summary: Summary) -> dict[str, Any]:
        """Return the summary as JSON values."""
        return summary_json(summary, self.classifier, self.precision, self.seed, self.options)


def run(
    models: ModelAccess,
    stops: StopRequests,
    line: FileLine,
    place: Visitor,
    visitor: str,
    task_name: str,
    path: str | None,
    model: str,
    names: list[str],
    seed: float | None,
    precision: Precision,
    meanings: str,
    *values: Any,  # Any: of components of several kinds
) -> Iterator[list[Any]]:
    """Score the file; after each chunk yield what the page shows, in the order of `Outputs`.

    `place` is whose turn it takes. `values` are the columns, then those of the options' controls.
    Once a stop is asked for, the files hold the rows that are scored by then.
    """
    session = place[1]
    try:
        task, columns = task_named(task_name), values[: most_fields() + 1]
        options = option_controls.read(values[most_fields() + 1 :])
        check_transforms(names)
        check_room(models.store, visitor)
        table = read_upload(visitor, path)
        headers = [str(name) for name in table.frame.columns]
        upload, stopped = Path(path or ""), stops.reason(session)
        chosen = with_class_names(columns_of(headers, columns, task), upload)
        chosen = with_meanings(table, chosen, task, read_meanings(meanings))
        models.require(visitor, model)
        with line.place(place, caller_left()) as ahead:
            for files in ahead:
                if stopped():
                    raise Stopped(STOPPED_AT_ONCE)
                yield _begun(FileProgress(upload.name, "waiting", ahead=files)).outputs
            yield _begun(FileProgress(upload.name, "loading")).outputs
            classifier = models.get(visitor, model, task)
            job = Job(upload, table, classifier, names, int(seed or 0), options, precision, visitor)
            chunks = score(table, chosen, classifier, names, job.seed, options, precision)
            yield from scored(job, in_steps("file_minutes", chunks, stopped))
    except UserError as trouble:
        yield _failed(alert(trouble)).outputs
    finally:
        stops.withdraw(session)


def _begun(state: FileProgress) -> Outputs:
    """Show that the file is on its way in place of what was asked and of an earlier file."""
    return Outputs(
        progress=file_progress(state),
        trouble=NOTHING,
        setup=gr.Column(visible=False),
        results=gr.Column(visible=True),
        head=Markup('<h2 class="title">{}</h2>').format(state.name),
        halt=gr.Button(visible=True),
        again=gr.Button(visible=False),
        figures=NOTHING,
        rows=NOTHING,
        pager=NOTHING,
        browse=gr.Row(visible=False),
        taken=gr.Column(visible=False),
        scored=gr.DownloadButton(visible=False),
        pairs=gr.DownloadButton(visible=False),
        paging="",
    )


def _failed(trouble: Markup) -> Outputs:
    """Show why there are no results, beside what was asked, so that it can be put right."""
    return Outputs(
        progress=NOTHING,
        trouble=trouble,
        setup=gr.Column(visible=True),
        results=gr.Column(visible=False),
    )


def scored(job: Job, chunks: Iterator[Chunk[Row]]) -> Iterator[list[Any]]:
    """Show how far it is after each chunk, the figures so far at times, at the end the files.

    The end may be before the last chunk: a press on Stop, or a time that is up.
    """
    rows, totals = list[Row](), Totals(job.classifier.task, job.names)
    pace, last, why = Pace(), None, ""
    try:
        for chunk in chunks:
            rows += chunk.rows
            totals.add(chunk.rows)
            last = chunk
            if chunk.done < chunk.total:
                with pace.turn() as due:
                    shown = _part(job, rows, totals.summary()) if due else Outputs()
                shown.progress = file_progress(after_chunk(job.upload.name, chunk))
                yield shown.outputs
    except Stopped as reason:
        why = "" if str(reason) == STOPPED else f"{reason}. "
    if last is None:
        yield _failed(alert(f"{why}{STOPPED_AT_ONCE}") if why else note(STOPPED_AT_ONCE)).outputs
    else:
        yield _finished(job, rows, totals.summary(), last, why).outputs


def _part(job: Job, rows: Sequence[Row], summary: Summary) -> Outputs:
    """Show the figures so far and the first rows."""
    first = view(rows[:PAGE_ROWS], job.names)
    return Outputs(
        figures=figures(summary, job.classifier.task, job.upload.stem),
        rows=rows_table(first, job.classifier.task),
    )


def _finished(
    job: Job, rows: Sequence[Row], summary: Summary, last: Chunk[Row], why: str
) -> Outputs:
    """Write the files and show them with the first page of rows; say where it was stopped."""
    task = job.classifier.task
    files, paging = write_results(
        fresh_folder(job.visitor),
        job.table,
        rows,
        job.names,
        job.summary_json(summary),
        job.upload,
        job.classifier,
    )
    records = view(rows, job.names)
    table, pager = shown_rows(records, task, Selection(), 1)
    golds = () if task.has_spans else golds_of(records)  # each right answer is another
    rules = against_rules(baselines(rows), summary.original["accuracy"], job.upload.stem)
    return Outputs(
        progress=file_progress(_end(job, last, why)),
        head=head(job.upload.name, summary, job.classifier, job.precision, last.seconds),
        halt=gr.Button(visible=False),
        again=gr.Button(visible=True),
        figures=figures(summary, task, job.upload.stem, rules, measures(summary)),
        rows=table,
        pager=pager,
        label=gr.Dropdown(choices=[ANY, *golds], value=ANY),
        browse=gr.Row(visible=True),
        taken=gr.Column(visible=True),
        files=gr.Files(files),
        paging=paging,
    )


def _end(job: Job, last: Chunk[Row], why: str) -> FileProgress:
    if last.done == last.total:
        return after_chunk(job.upload.name, last)
    words = STOPPED_AFTER.format(why=why, done=last.done, total=last.total)
    return FileProgress(job.upload.name, "stopped", last.done, last.total, last.seconds, why=words)
