"""What pressing "Score the file" does: the rows are scored, the page and the files filled in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.batch import Chunk, Row, score
from probe.analysis.summary import Summary, Totals, summary_json
from probe.data.tables import Table, read_table
from probe.errors import FileError, Stopped, UserError
from probe.limits import visitor_bounds
from probe.models.classifier import Classifier, Precision
from probe.runs.model_access import ModelAccess
from probe.transforms import Options
from probe.ui.answers.answering import in_steps
from probe.ui.answers.pacing import STOPPED, Pace, StopRequests
from probe.ui.answers.request_limits import check_transforms
from probe.ui.batch_tables import ALL, PAGE_ROWS, baselines, chart, measures, page, view
from probe.ui.html.batch import cards, progress
from probe.ui.html.elements import NOTHING, alert, note, sheet, title
from probe.ui.panels import options as option_controls
from probe.ui.panels.upload import columns_of
from probe.ui.result_files import kept_page, write_results
from probe.ui.tab_outputs import TabOutputs
from probe.ui.visitors.visitor_files import check_room, fresh_folder, own_file

MEASURED = "measures with 95 % intervals; a transform counts where it changed the pair"
BASELINES = "rule baselines on the same pairs, with 95 % intervals"
ROWS = "scored rows"
STOPPED_AFTER = "Stopped after {done} of {total} rows. The files below hold what was scored."
STOPPED_AT_ONCE = "Stopped before the first rows were scored; there is nothing to put into a file."


@dataclass
class Outputs(TabOutputs):
    """What the page shows, in the order of the tab's outputs; what is not given stays."""

    progress: Any = field(default_factory=gr.skip)  # Any: markup, or one of gradio's updates
    cards: Any = field(default_factory=gr.skip)
    plot: Any = field(default_factory=gr.skip)
    measures: Any = field(default_factory=gr.skip)
    files: Any = field(default_factory=gr.skip)
    paging: Any = field(default_factory=gr.skip)
    rows: Any = field(default_factory=gr.skip)
    place: Any = field(default_factory=gr.skip)
    turning: Any = field(default_factory=gr.skip)
    baselines: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class Job:
    """A file to score, and how."""

    upload: Path
    table: Table
    classifier: Classifier
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
    session: str | None,
    visitor: str,
    path: str | None,
    premise: str,
    hypothesis: str,
    gold: str | None,
    model: str,
    names: list[str],
    seed: float | None,
    precision: Precision,
    *values: object,
) -> Iterator[list[Any]]:
    """Score the file; after each chunk yield what the page shows, in the order of `Outputs`.

    `values` are those of the options' controls. Once a stop is asked for, the files hold the rows
    that are scored by then.
    """
    try:
        options = option_controls.read(values)
        check_transforms(names)
        if not path:
            raise FileError("choose a file first, or one of the examples")
        check_room(models.store, visitor)
        table = read_table(own_file(visitor, path), visitor_bounds())
        headers = [str(name) for name in table.frame.columns]
        columns = columns_of(headers, premise, hypothesis, gold)
        models.require(visitor, model)
        yield Outputs(note("Loading the model …")).outputs
        classifier = models.get(visitor, model)
        job = Job(Path(path), table, classifier, names, int(seed or 0), options, precision, visitor)
        chunks = score(table, columns, classifier, names, job.seed, options, precision)
        yield from scored(job, in_steps("file_minutes", chunks, stops.reason(session)))
    except UserError as trouble:
        yield Outputs(alert(trouble)).outputs
    finally:
        stops.withdraw(session)


def scored(job: Job, chunks: Iterator[Chunk[Row]]) -> Iterator[list[Any]]:
    """Show how far it is after each chunk, the figures so far at times, at the end the files.

    The end may be before the last chunk: a press on Stop, or a time that is up.
    """
    rows, totals = list[Row](), Totals(job.classifier.task, job.names)
    pace, last, ended = Pace(), None, NOTHING
    try:
        for chunk in chunks:
            rows += chunk.rows
            totals.add(chunk.rows)
            last = chunk
            if chunk.done < chunk.total:
                with pace.turn() as due:
                    shown = _part(job, rows, totals.summary()) if due else Outputs()
                shown.progress = progress(chunk)
                yield shown.outputs
    except Stopped as reason:
        ended = NOTHING if str(reason) == STOPPED else alert(reason)
    if last is None:
        yield Outputs(ended + note(STOPPED_AT_ONCE)).outputs
    else:
        yield _finished(job, rows, totals.summary(), last, ended).outputs


def _part(job: Job, rows: Sequence[Row], summary: Summary) -> Outputs:
    """Show the figures so far and the first rows, and none of an earlier file's."""
    shown = _figures(job, summary)
    first, _, _ = page(view(rows[:PAGE_ROWS], job.names), ALL, 1)
    shown.rows, shown.place = sheet(first, ROWS), note("the first rows")
    shown.files, shown.turning = gr.Files(visible=False), gr.Row(visible=False)
    shown.paging, shown.baselines = "", NOTHING
    return shown


def _figures(job: Job, summary: Summary) -> Outputs:
    return Outputs(
        cards=cards(summary, job.classifier, job.precision),
        plot=gr.Plot(chart(summary), visible=bool(job.names)),
        measures=sheet(measures(summary), MEASURED),
    )


def _finished(
    job: Job, rows: Sequence[Row], summary: Summary, last: Chunk[Row], ended: Markup
) -> Outputs:
    """Write the files and show them with the first page of rows; say where it was stopped."""
    files, paging = write_results(
        fresh_folder(job.visitor),
        job.table,
        rows,
        job.names,
        job.summary_json(summary),
        job.upload,
        job.classifier,
    )
    shown = _figures(job, summary)
    shown.progress = progress(last)
    if last.done < last.total:
        shown.progress += ended + note(STOPPED_AFTER.format(done=last.done, total=last.total))
    shown.files, shown.paging = gr.Files(files, visible=True), paging
    shown.rows, shown.place, _ = turn(paging, ALL, 1)
    shown.turning, shown.baselines = gr.Row(visible=True), against_rules(rows)
    return shown


def against_rules(rows: Sequence[Row]) -> Markup:
    """Show what rules that read no sentence reach on the same pairs, where there is gold."""
    estimates = baselines(rows)
    return title("Rule baselines") + sheet(estimates, BASELINES) if len(estimates) else NOTHING


def turn(paging: str, kept: str, number: float | None) -> tuple[Markup, Markup, int]:
    """Show another page or filter of the results with the key `paging`, of nothing without one."""
    if not paging:
        return NOTHING, NOTHING, 1
    try:
        frame = kept_page(paging)
    except FileError as trouble:
        return NOTHING, alert(trouble), 1
    part, words, number_shown = page(frame, kept, int(number or 1))
    return sheet(part, ROWS), note(words), number_shown
