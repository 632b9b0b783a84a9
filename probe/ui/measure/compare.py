"""Compare: several models on the same texts, with partial results as they come."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio.events import Dependency
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
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.ui.answers.answering import (
    STOPPED,
    Answered,
    Pace,
    StopRequests,
    caller_left,
    check_example,
    seen_in_steps,
)
from probe.ui.answers.file_line import FILES_AT_ONCE, FileLine
from probe.ui.answers.turns import visitor_of
from probe.ui.api import files as compare_api
from probe.ui.events import (
    EACH,
    FORM,
    PRESSED,
    QUIET,
    cell_of,
    in_turn,
    scroll_to,
)
from probe.ui.html.elements import NOTHING, alert, note, told
from probe.ui.measure.answer_files import answers_on, is_answers, is_file, words_of
from probe.ui.measure.choice import (
    MAX_MODELS,
    ONE,
    TEXTS,
    UNCHANGED,
    Asked,
    Link,
    asked_for,
    build_link,
    done,
    fresh,
    read_link,
)
from probe.ui.measure.compared import (
    DIFFER,
    Pressed,
    agreement_on_one,
    bundled,
    empty,
    matrix,
    numbers,
    offered,
    parts,
    rows_of,
    say,
    sentence,
    side_by_side,
    tiles,
)
from probe.ui.measure.progress import FileProgress, file_progress
from probe.ui.measure.result_files import (
    files_of,
    files_view,
    guard,
    kept_comparison,
    write_comparison,
)
from probe.ui.measure.texts import column_count
from probe.ui.page import Page
from probe.ui.visitors.visitor_files import check_room, fresh_folder, read_upload

Shown = dict[Any, Any]  # Any: gradio's components and what they show
STOPPED_AFTER = "Stopped after {done} of {total} rows. What is below is of these."
STOPPED_AT_ONCE = "Stopped before the first rows were compared."
IN_LINE: dict[str, Any] = {
    "concurrency_id": "comparisons",
    "concurrency_limit": FILES_AT_ONCE,
    **QUIET,
}
"""Comparisons stand in a line of their own, in which each learns its place."""
BEFORE = Markup('<div role="status">{}</div>').format(
    note("These results are of what was chosen before.")
)
"""Shown, and announced, while results are dimmed."""
TWO_CHOSEN = """
element.addEventListener("change", ({ target }) => {
  if (target.matches("select.two-models")) trigger("click", { cell: target.value });
});"""
"""Lets a picture report which two models were chosen, as a press on them."""
FRESH = fresh("compare-results")


def asked_by(task: Task, link: Link, models: int = 2) -> list[Any]:
    """Return the values of a choice by a link, none where it cannot be asked at once.

    It takes so many models.
    """
    if not link.ready or len(link.models) < models:
        return []
    texts = [link.texts.get(name, "") for name in (*task.fields, "")[:TEXTS]]
    file = [str(link.file) if link.file else None, *[None] * column_count(), ""]
    how = [link.source, link.precision, link.long, link.seed]
    return [task.name, list(link.models), *how, *texts, *file]


def require_models(models: ModelAccess, visitor: str, names: Sequence[str]) -> None:
    """Refuse names that the page cannot compare. Raises ComparisonError, ModelError."""
    require_two(names)
    if len(names) > MAX_MODELS:
        raise ComparisonError(
            f"the page compares up to {MAX_MODELS} models; the command line any number"
        )
    for name in names:
        if not is_answers(name):
            models.require(visitor, name)


def precision_of(asked: Asked) -> Precision | None:
    """Return the precision of a comparison, None where files alone answer."""
    return None if all(map(is_file, asked.models)) else asked.precision


class Compare:
    """The view: its components, and what they do."""

    def __init__(self, page: Page) -> None:
        """Lay the view out."""
        self.page, self.models = page, page.core.models
        self.stops, self.line = StopRequests(), FileLine()
        self.parts = _build(page)
        self.shown = list(vars(self.parts).values())

    def listen(self) -> None:
        """Let the buttons and a link do what they say, and show the rows of pressed numbers."""
        parts, page = self.parts, self.page
        linked = gr.State([])
        lit = {"inputs": parts.progress, "js": FRESH, **QUIET}
        self.stops.heed(parts.halt, parts.progress)
        dimming = asked_for("compare-results")
        self._end(
            parts.go.click(
                self.compare_texts, page.shared.inputs, self.shown, js=dimming, **IN_LINE
            )
        )
        asked = linked.change(
            self.compare_linked, [page.owner, linked], self.shown, js=dimming, **IN_LINE
        )
        self._end(asked)
        gr.on([parts.say.change, parts.tiles.change], None, **lit)
        fields = in_turn("compare-fields")
        page.on_open(self.open, [page.owner, page.task], [parts.begin, linked], **fields)
        outputs = [parts.matrix, parts.numbers, parts.rows]
        one_by_one = EACH | in_turn("compare-rows")
        to_rows = scroll_to("compare-rows", "nearest")
        for part in (parts.parts, parts.matrix, parts.numbers):
            part.click(self.press, None, outputs, **one_by_one).then(None, js=to_rows, **QUIET)
        parts.rows.click(self.press, None, outputs, **one_by_one)
        parts.files.click(guard, None, parts.files, **EACH, **in_turn("compare-files"))
        compare_api.build_compare(self.models)

    def _end(self, compared: Dependency) -> None:
        parts = self.parts
        ended = done("compare-results")
        compared.then(None, parts.progress, [parts.go, parts.halt], js=ended, **QUIET)

    def open(self, visitor: str, task_name: str, request: gr.Request) -> list[Any]:
        """Return what will stand here, and what the link compares."""
        task, query = task_named(task_name), request.query_params
        known = self.models.names(visitor, task)
        link = read_link(visitor, task, known, query)
        words = empty(task, len(known), len(bundled_examples(task, "test")))
        asks = query.get("view") == "compare" and ("texts" in query or "on" in query)
        return [words, asked_by(task, link) if asks else []]

    def compare_linked(
        self, request: gr.Request, visitor: str, asked: list[Any]
    ) -> Iterator[Shown]:
        """Compare what a link names as soon as it is opened."""
        if asked:
            yield from self.compare_texts(request, visitor, *asked)

    def compare_texts(self, request: gr.Request, *values: Any) -> Iterator[Shown]:
        """Compare; after each chunk yield what the page shows. `values` are those of the choice.

        Once a stop is asked for, the figures and files hold the rows that are compared by then.
        What follows the end gives the button back and hides Stop.
        """
        parts, session, models = self.parts, request.session_hash, self.models
        self.stops.withdraw(session)
        try:
            asked, stopped = Asked.read(*values), self.stops.reason(session)
            visitor, task, names = asked.visitor, asked.task, list(asked.models)
            require_models(models, visitor, names)
            busy = {parts.go: gr.Button(interactive=False), parts.halt: gr.Button(visible=True)}

            def one(name: str) -> AnyModel:
                return that_reads(models.get(visitor, name, task), asked.long)

            if asked.source == ONE:
                check_example(task, asked.example)
                yield {parts.progress: told("Asking the models …"), parts.go: busy[parts.go]}
                examined = [examine(one(name), asked.example) for name in names]
                said = say(agreement_on_one(examined))
                yield {**self.cleared(), parts.say: said, parts.tiles: side_by_side(examined)}
                return
            check_room(models.store, visitor)
            table = read_upload(visitor, str(asked.file), asked.reading)
            columns = asked.columns_in(table)
            given = answers_on(visitor, names, table, columns, task, asked.reading)
            called = [given[name].name if name in given else name for name in names]
            unread = read(table, columns, task)
            name = asked.file.name
            began = time.time()
            with self.line.place(visitor_of(request), caller_left()) as ahead:
                for before in ahead:
                    if stopped():
                        yield self._unchanged(told(STOPPED_AT_ONCE))
                        return
                    since = time.time() - began
                    state = FileProgress(name, "waiting", seconds=since, ahead=before)
                    yield {**busy, parts.progress: file_progress(state)}
                starting = FileProgress(name, "starting", total=len(unread))
                yield {**busy, parts.progress: file_progress(starting)}

                def chunks() -> Iterator[Chunk[Row]]:
                    several = [given[name] if name in given else one(name) for name in names]
                    yield from compare_rows(several, unread, asked.precision)

                steps = seen_in_steps("file_minutes", chunks(), stopped)
                asked = replace(asked, models=tuple(called))
                yield from self.compared(asked, table, steps, words_of(given))
        except UserError as trouble:
            yield self._unchanged(alert(trouble))
        finally:
            self.stops.withdraw(session)

    def compared(
        self,
        asked: Asked,
        table: Source,
        steps: Iterator[Chunk[Row] | Answered],
        words: str = "",
    ) -> Iterator[Shown]:
        """Show how far it is after each chunk, the figures so far at times, at the end the files.

        The end may be before the last chunk: a press on Stop, or a time that is up. `words` say how
        files of answers are read.
        """
        parts = self.parts
        rows, pace, ended, total = list[Row](), Pace(), NOTHING, len(table)
        far = FileProgress(asked.file.name, "starting", total=total)
        try:
            for step in steps:
                now, shown = far.after(step, len(asked.models)), Shown()
                if isinstance(step, Chunk):
                    rows += step.rows
                    far = now
                    if step.done < step.total:
                        with pace.turn() as due:
                            shown = self.figures(asked, rows) if due else {}
                if now.state != "finished":
                    yield shown | {parts.progress: file_progress(now)}
        except Stopped as reason:
            ended = NOTHING if str(reason) == STOPPED else alert(reason)
        if not rows:
            yield self._unchanged(ended + told(STOPPED_AT_ONCE))
            return
        shown = self.figures(asked, rows)
        shown |= self.finished(asked, table, rows)
        if words:
            shown[parts.progress] = note(words)
        if far.done < total:
            words = STOPPED_AFTER.format(done=far.done, total=total)
            shown[parts.progress] = ended + told(words)
        yield shown

    def cleared(self) -> Shown:
        """Show nothing of an earlier comparison."""
        parts, gone = self.parts, gr.Column(visible=False)
        empty_ones = (
            parts.progress,
            parts.say,
            parts.tiles,
            parts.numbers,
            parts.rows,
            parts.files,
        )
        return {
            **dict.fromkeys(empty_ones, NOTHING),
            parts.begin: gr.HTML(visible=False),
            parts.pictures: gr.Row(visible=False),
            parts.browse: gone,
        }

    def figures(self, asked: Asked, rows: Sequence[Row]) -> Shown:
        """Show the figures of some rows, and nothing of an earlier comparison."""
        parts, names = self.parts, asked.models
        tiled = tiles(rows, names, precision_of(asked))
        said = {parts.say: sentence(rows, names), parts.tiles: tiled}
        return {**self.cleared(), **said}

    def finished(self, asked: Asked, table: Source, rows: Sequence[Row]) -> Shown:
        """Show the pictures, the rows on which the first two models differ, and the files."""
        names, folder = list(asked.models), fresh_folder(asked.visitor)
        columns = asked.columns_in(table)
        summary = comparison_json(rows, names, precision_of(asked))
        _, key = write_comparison(folder, table, rows, names, summary, stem_of(asked.file))
        shown, page = self.parts, Pressed(key)
        return {
            shown.pictures: gr.Row(visible=True),
            shown.parts: parts(rows, names, page)
            + offered(rows, table.columns, [*columns.texts.values(), columns.gold], page),
            shown.matrix: matrix(rows, names, page),
            shown.numbers: numbers(rows, names, page),
            shown.browse: gr.Column(visible=True),
            shown.rows: rows_of(rows, names, page),
            shown.files: files_view(key),
        }

    def _unchanged(self, why: Markup) -> Shown:
        """Say why nothing was compared; results of an earlier comparison stay, and stay dimmed."""
        return {self.parts.progress: Markup("<div {}>{}</div>").format(UNCHANGED, why)}

    def press(self, event: gr.EventData) -> Shown:
        """Show the rows of a number that was pressed, another page of them, or two other models."""
        parts = self.parts
        try:
            pressed = Pressed.read(cell_of(event))
            rows, names = kept_comparison(pressed.key)
            pressed.check(names)
            if column := pressed.bundle:
                scored = files_of(pressed.key)["-compared"]
                return {parts.rows: bundled(scored, rows, names, column)}
            shown = {parts.rows: rows_of(rows, names, pressed)}
            if pressed.cell == DIFFER and pressed.page == 1:
                shown[parts.matrix] = matrix(rows, names, pressed)
                shown[parts.numbers] = numbers(rows, names, pressed)
        except UserError as trouble:
            return {parts.rows: alert(trouble)}
        return shown


def _build(page: Page) -> SimpleNamespace:
    """Lay out the button that compares, and the results."""
    shown = SimpleNamespace()
    with gr.Row(elem_classes="tools"):
        shown.go = gr.Button(
            "Compare", variant="primary", elem_id="compare", min_width=0, interactive=False
        )
        page.shared.allow(shown.go, "compare-halt")
        shown.halt = gr.Button("Stop", visible=False, elem_id="compare-halt", min_width=0)
        build_link(page.shared, "compare")
    shown.progress = gr.HTML(padding=False, elem_id="compare-progress")
    count = len(bundled_examples(NLI, "test"))
    shown.begin = gr.HTML(empty(NLI, 2, count), padding=False, elem_id="compare-begin")
    with gr.Column(elem_id="compare-results", elem_classes="measured"):
        gr.HTML(BEFORE, padding=False, elem_id="compare-before")
        shown.say = gr.HTML(padding=False, elem_id="compare-say")
        shown.tiles = gr.HTML(padding=False, elem_id="compare-tiles")
        with gr.Row(visible=False, elem_id="compare-pictures") as shown.pictures:
            with gr.Column(scale=7, min_width=400):
                shown.parts = gr.HTML(padding=False, elem_id="compare-parts", js_on_load=PRESSED)
            with gr.Column(scale=5, min_width=400):
                shown.matrix = gr.HTML(
                    padding=False, elem_id="compare-matrix", js_on_load=PRESSED + TWO_CHOSEN
                )
        with gr.Column(visible=False, elem_id="compare-rows", elem_classes="card") as shown.browse:
            shown.rows = gr.HTML(padding=False, elem_id="compare-cell", js_on_load=PRESSED)
        shown.numbers = gr.HTML(padding=False, elem_id="compare-numbers", js_on_load=PRESSED)
        shown.files = gr.HTML(padding=False, elem_id="compare-files", js_on_load=FORM)
    return shown


def build(page: Page) -> None:
    """Put the view together."""
    Compare(page).listen()
