"""Score: one model on all the texts, as they are and changed. What comes of it is a run.

A small file is scored in the answer to the press, a large one by the engine; who leaves the page,
or waits longer than an answer may take, has the rest scored by the engine too.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio.events import Dependency
from markupsafe import Markup

from probe.analysis.batch import Chunk, Row
from probe.analysis.comparison_report import answers_json
from probe.analysis.importance import METHODS
from probe.analysis.summary import Totals
from probe.data.names import stem_of
from probe.data.rows import Source
from probe.errors import FileError, ModelError, Stopped, UnknownRun, UserError, write_json, writing
from probe.models.classifier import Model
from probe.models.library import that_reads
from probe.runs.access import (
    DAY,
    SCORED_HERE,
    as_token,
    asks_alike,
    own_run,
    readable_run,
    start_runs,
)
from probe.runs.experiment import run_title
from probe.runs.run import OPEN, STOPPED, Json, RunRequest, StoredRun
from probe.runs.store import IS_OPEN, Store
from probe.scoring.files import (
    SCORING,
    Places,
    ScoredPart,
    ScoringHere,
    ScoringRequest,
    assemble,
    done_parts,
    forms_words,
    precision_words,
    read_plan,
    scoring_request,
)
from probe.scoring.ready import is_ready_made, ready_run, unpack_ready
from probe.scoring.source_form import end_for
from probe.settings import settings
from probe.statistics import Estimate
from probe.stopping import Reason
from probe.tasks.task import Task, offered_tasks, task_named
from probe.text.duration import duration
from probe.transforms.options import DEFAULTS, OPTIONS
from probe.transforms.registry import first_choice
from probe.ui.answers.answering import STOPPED as STOP_PRESSED
from probe.ui.answers.answering import (
    Pace,
    StopRequests,
    caller_left,
    check_transforms,
    seen_in_steps,
)
from probe.ui.answers.file_line import FILES_AT_ONCE, FileLine
from probe.ui.answers.turns import visitor_of
from probe.ui.api import files as batch_api
from probe.ui.api import files as hub_api
from probe.ui.events import EACH, FORM, PRESSED, QUIET, cell_of, in_turn, scroll_to
from probe.ui.html.elements import NOTHING, alert, join, link, note, twin
from probe.ui.html.run import under_way, worked
from probe.ui.links import link_to_run
from probe.ui.measure.answer_files import answers_on, is_file, words_of
from probe.ui.measure.choice import (
    BUNDLED,
    CHANGED,
    FOLDED,
    TYPED,
    UNCHANGED,
    Asked,
    Choice,
    Link,
    Said,
    asked_for,
    build_link,
    first_models,
    fresh,
    read_link,
    with_run,
)
from probe.ui.measure.figures import against_rules, figures, head, of_answers
from probe.ui.measure.progress import FileProgress, file_progress, per_second_words
from probe.ui.measure.result_files import (
    download,
    files_of,
    files_view,
    guard,
    result_key,
    write_all_tables,
)
from probe.ui.measure.rows import ResultRows, Selection, answered_rows, browse, rows_view
from probe.ui.page import Page
from probe.ui.panels import options
from probe.ui.panels.changes import build_changes
from probe.ui.visitors.visitor_files import (
    bundled_copy,
    check_room,
    check_start,
    folder_for,
    fresh_folder,
    open_upload,
    own_file,
)

_unpacking = Lock()
Shown = dict[Any, Any]  # Any: gradio's components and what they show
RESULT = "scored.json"
GONE = "the files of this run were deleted while they were put together; ask for them again"
STOPPED_AT_ONCE = "Stopped before enough rows were scored to keep; there is nothing to show."
STARTED = (
    "{rows:,} rows are scored in the background: how far that is stands below. It goes on when "
    "this page is closed, and is found here again."
)
PARTIAL = (
    "{rows:,} of {total:,} rows are scored; the figures, the rows and the files below hold these."
)
NO_RUN = (
    "The link names a scored file that is not here, or that you may not see; ask who gave you the "
    "link for a new one."
)
LEFT_OUT = (
    "Changes and importance are left out: a file holds answers to its own texts alone, and these "
    "ask a model."
)
READY = "Scored before, with the app's own texts. Choose others above, or other changes, and Score."
SHOWN = "Shown to you by a link, with its texts and files."
PRIVATE = "Only you see this result, until you give its link to others."
FOLD_BESIDE = f"""() => setTimeout(() => {{
  if (document.querySelector("#batch-figures .say")) {{ {FOLDED} }}
}})"""
"""The choice is folded where results stand."""
READING = "() => window.told('Reading the file …')"
TELL = "html => window.tellProgress?.(html)"
ASK = "on => { if (on && window.Notification) Notification.requestPermission(); return on; }"
KEEP = """run => {
  if (run) window.writeAddress({ run }, true);
  document.getElementById("batch-head")?.scrollIntoView({ block: "nearest" });
}"""
"""Keeps in the address what was scored; Back leads to what was before."""
NONE = ","
"""Stands in an address for no changes."""
CHANGES = f"""changes => {{
  if (window.choiceKnown) window.writeAddress({{ changes: changes.join(",") || "{NONE}" }});
  ({TYPED})();
}}"""
USUAL = json.dumps({name: options.shown(name, getattr(DEFAULTS, name)) for name in OPTIONS})
SET = f"""(importance, ...values) => {{
  ({CHANGED})();
  const set = Object.entries({USUAL}).map(([name, usual], at) => [name, values[at], usual])
    .filter(([, value, usual]) => value !== usual);
  const options = set.length ? JSON.stringify(Object.fromEntries(set)) : "";
  window.writeAddress({{ importance, options }});
}}"""
"""Keeps in the address the method of importance, and the options that are not as usual."""
WHICH = """models => {
  const names = [...document.querySelectorAll("#measure-models .token > span")];
  const note = document.getElementById("score-which");
  note.textContent = models.length < 2 ? "" :
    `Scores ${names[0]?.textContent ?? models[0]}, of ${models.length}; Compare asks all.`;
}"""
"""Says at the button which of several models is scored."""
SECONDS = 2.0
"""Between two looks how far the files are."""
BUTTON = Markup('<button type="button" class="btn" data-cell="{}:{}"{}>{}</button>')


@dataclass(frozen=True)
class RunResult:
    """What the page needs of a run's result, which is kept beside its files.

    `totals` are the state of `Totals`, `shape` is the summary as JSON, `rules` what each rule
    reaches, `sizes` are the bytes of what was written with it.
    """

    totals: Json
    shape: Json
    rules: Mapping[str, Estimate]
    sizes: Mapping[str, int]


def result_of(run: StoredRun, visitor: str) -> tuple[Path, RunResult]:
    """Return the result of what is done of a run, and its folder; written unless it is there.

    It is written where nobody looks and then moved as a whole, with the size of each file: neither
    a half-written folder nor one that is being deleted is taken for a result. Raises FileError.
    """
    folder = folder_for(visitor, run.id, run.artefacts.get("form"), run.finished, done_parts(run))
    with _unpacking if is_ready_made(run) else nullcontext():  # everybody asks for that
        if (kept := _read(folder)) is None:
            fresh = fresh_folder(visitor, taken=True)
            try:
                _write(run, fresh)
                if _read(folder) is None:
                    shutil.rmtree(folder, ignore_errors=True)
                    with writing(folder):
                        fresh.replace(folder)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
            if (kept := _read(folder)) is None:
                raise FileError(GONE)
    return folder, kept


def _read(folder: Path) -> RunResult | None:
    """Return a result, None where it is not there as it was written."""
    try:
        values = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        rules = {name: Estimate(**each) for name, each in values.pop("rules").items()}
        result = RunResult(rules=rules, **values)
        folder.touch()  # it is kept from now on
        sizes = {name: (folder / name).stat().st_size for name in result.sizes}
        return result if sizes == result.sizes else None
    except (OSError, ValueError):
        return None


def _write(run: StoredRun, folder: Path) -> None:
    plan = read_plan(run.plan)
    if is_ready_made(run):
        unpack_ready(run, bundled_copy(plan.task))
    stem, form = stem_of(Path(plan.file)), plan.form
    pairs = folder / f"{stem}-pairs.{form}" if plan.request.names else None
    end = end_for(plan.task) if pairs else ""
    training = folder / f"{stem}-training{end}" if end else None
    words = folder / f"{stem}-importance.{form}" if plan.request.importance else None
    rows = ResultRows(folder, plan)
    places = Places(folder / f"{stem}-scored.{form}", pairs, training, words)
    answers = list[Row]()

    def take(part: Source, scored: ScoredPart) -> None:
        rows.add(part, scored)
        if is_file(plan.model):
            answers.extend(answered_rows(part, scored, plan))

    shape, totals = assemble(run, places, take)
    if is_file(plan.model):
        shape |= {"precision": None, **answers_json(answers, str(shape["model"]))}
    rules = rows.finish(plan.model)
    write_json(shape, folder / f"{stem}-summary.json")
    write_all_tables(shape, folder, stem)
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    write_json(asdict(RunResult(totals.state, shape, rules, sizes)), folder / RESULT)


def keep(
    store: Store, visitor: str, asked: RunRequest, results: Mapping[int, Json], began: float,
    state: str,
) -> StoredRun:  # fmt: skip
    """Store as a run what was scored here: whole, stopped, or queued for the engine to go on."""
    artefacts = {**asked.artefacts, SCORED_HERE: True}
    run = store.create(visitor, replace(asked, artefacts=artefacts), results)
    if state != "queued":
        store.update(run.id, state=state, started=began, finished=time.time())
    if state == "cancelled":
        store.cancel_cells(run.id)
    return store.get(run.id)


def start(store: Store, engine: Any, visitor: str, asked: RunRequest) -> StoredRun:
    """Hand a file to the engine, unless that is under way. Raises a sentence for the person."""
    try:
        (run,) = start_runs(store, engine, visitor, [asked])
    except UserError:
        SCORING.remove(asked.plan)
        raise
    if run.plan["folder"] != asked.plan["folder"]:  # that of the run under way
        SCORING.remove(asked.plan)
    return run


class Score:
    """The view: its components, and what they do."""

    def __init__(self, page: Page) -> None:
        """Lay the view out."""
        self.page, self.choice = page, page.shared
        self.core, self.line, self.stops = page.core, FileLine(), StopRequests()
        self.parts = _build(self.choice)
        parts = self.parts
        self.results = [
            *(parts.progress, parts.trouble, parts.results, parts.head, parts.halt, parts.figures),
            *(parts.rows, parts.files, parts.run, parts.who, parts.listed, parts.timer),
        ]

    def listen(self) -> None:
        """Let buttons and fields do what they say."""
        parts, page, choice = self.parts, self.page, self.choice
        settings = [parts.importance, *parts.controls]
        inputs = [*choice.inputs, parts.changes, *settings]
        parts.go.click(None, None, parts.trouble, js=READING, **QUIET)
        scored: Dependency = parts.go.click(
            self.score, inputs, self.results, js=asked_for("batch-results"), trigger_mode="once",
            concurrency_id="batch", concurrency_limit=FILES_AT_ONCE, **QUIET,
        )  # fmt: skip
        self.stops.heed(parts.halt, parts.progress)
        lit = fresh("batch-results")
        parts.figures.change(None, parts.progress, None, js=lit, **QUIET)
        parts.figures.change(None, None, None, js=FOLD_BESIDE, **QUIET)
        scored.then(None, parts.progress, None, js=lit, **QUIET)
        scored.then(None, parts.run, None, js=KEEP, **QUIET)
        parts.progress.change(None, parts.progress, None, js=TELL, **QUIET)
        heard = [
            control.release if isinstance(control, gr.Slider) else control.input
            for control in (parts.changes, *settings)
        ]
        gr.on(heard, None, settings, None, js=SET, **QUIET)
        parts.changes.change(None, parts.changes, None, js=CHANGES, **QUIET)
        choice.models.change(None, choice.models, None, js=WHICH, **QUIET)
        for part in (parts.rows, parts.figures):
            pressed = part.click(browse, None, parts.rows, **EACH, **in_turn("batch-rows"))
            if part is parts.figures:
                pressed.then(None, None, None, js=scroll_to("batch-rows"), **QUIET)
        parts.files.click(guard, None, parts.files, **EACH, **in_turn("batch-files"))
        opened = [*self.results, parts.changes, *settings]
        page.on_open(self.open, [page.owner, page.task], opened, **QUIET)
        listed = [*self.results]
        parts.timer.tick(self.look, [page.owner, parts.run], listed, **QUIET)
        parts.listed.click(self.press, page.owner, listed, **EACH, **QUIET)
        batch_api.build_batch(self.core.models, self.line)
        hub_api.build_hub_dataset(self.core.store)

    def open(self, visitor: str, task_name: str, request: gr.Request) -> Shown:
        """Show what the address names, the newest run under way, or what was scored before."""
        parts, store, task = self.parts, self.core.store, task_named(task_name)
        query = with_run(store, visitor, request.query_params)
        shown = self.listed(visitor)
        asked = read_link(visitor, task, self.core.models.names(visitor, task), query)
        shown[parts.changes] = list(asked.changes)
        shown[parts.importance] = asked.importance
        for name, control in zip(OPTIONS, parts.controls, strict=True):
            shown[control] = options.shown(name, getattr(asked.options, name))
        run = None
        try:
            if run_id := query.get("run"):
                run = readable_run(store, visitor, run_id)
            elif _is_usual(task, asked, self.core.models.names(visitor, task)):
                run = ready_run(task)
            if run:
                shown |= self.shown(run, visitor)
        except UnknownRun:
            shown[parts.trouble] = alert(NO_RUN)
        except UserError as trouble:
            shown[parts.trouble] = alert(trouble)
        return shown

    def score(self, request: gr.Request, *values: Any) -> Iterator[Shown]:
        """Score the texts; after each chunk yield what the page shows.

        `values` are those of the choice, the changes, the method of importance, then those of the
        options' controls.
        """
        parts, session, store = self.parts, request.session_hash, self.core.store
        self.stops.withdraw(session)
        try:
            *chosen, names, importance = values[: -len(OPTIONS)]
            asked = Asked.read(*chosen)
            visitor, task, upload = asked.visitor, asked.task, asked.file
            read_options = options.read(values[-len(OPTIONS) :], task)
            check_transforms(names)
            check_start(store, visitor)
            source = open_upload(visitor, str(upload), asked.reading)
            stopped = self.stops.reason(session)
            columns, name = asked.columns_in(source), asked.model
            given = answers_on(visitor, [name], source, columns, task, asked.reading).get(name)
            wanted = ScoringRequest(
                columns, tuple(names), asked.seed, read_options, asked.precision,
                reading=asked.reading, long=asked.long, importance=importance,
            )  # fmt: skip
            if given:  # there is no model to ask about changed texts
                left_out = bool(names or importance)
                wanted = replace(wanted, names=(), precision="fp32", long="cut", importance="")
                own, opened = given.task, None
            else:
                own, opened = self.core.models.for_run(visitor, name)
            if not asks_alike(own, task):
                words = f"{asked.model} answers {own.title.lower()}, not {task.title.lower()}"
                raise ModelError(words)
            file = own_file(visitor, upload)
            called = given.name if given else name
            ordered = partial(scoring_request, file, source, called, own, wanted, opened)
            if len(source) > settings().background_rows and not given:
                run = start(store, self.core.engine, visitor, ordered())
                yield self.going_on(visitor, run)
                return
            begun = {parts.trouble: NOTHING, parts.halt: gr.Button(visible=True)}
            began = time.time()
            with self.line.place(visitor_of(request), caller_left()) as ahead:
                for files in ahead:
                    if stopped():
                        yield self.failed(note(STOPPED_AT_ONCE))
                        return
                    since = time.time() - began
                    waiting = FileProgress(upload.name, "waiting", seconds=since, ahead=files)
                    yield {**begun, parts.progress: file_progress(waiting)}
                starting = FileProgress(upload.name, "starting", total=len(source))
                yield {**begun, parts.progress: file_progress(starting)}

                def load() -> Model:
                    return given or that_reads(
                        self.core.models.get(visitor, name, task), asked.long
                    )

                for shown in self._scored(visitor, source, load, ordered(), stopped):
                    said = [LEFT_OUT] if given and left_out else []
                    if given and parts.head in shown:
                        shown[parts.trouble] = join(map(note, [words_of({"": given}), *said]))
                    yield shown
        except UserError as trouble:
            yield self.failed(alert(trouble))
        finally:
            self.stops.withdraw(session)

    def _scored(
        self, visitor: str, source: Source, load: Callable[[], Model], ordered: RunRequest,
        stopped: Reason,
    ) -> Iterator[Shown]:  # fmt: skip
        """Score here; show how far that is and the figures so far, at the end the result."""
        parts, plan, results = self.parts, read_plan(ordered.plan), dict[int, Json]()
        request, totals, pace = plan.request, Totals(plan.task, plan.request.names), Pace()
        far, state = FileProgress(plan.file, "starting", total=plan.rows), "queued"
        began = time.time()

        def chunks() -> Iterator[Chunk[Row]]:
            here = ScoringHere(source, load(), ordered, results)
            yield from here.chunks()

        try:
            for step in seen_in_steps("file_minutes", chunks(), stopped):
                now = far.after(step, 1 + len(request.names), request.chunk_rows)
                shown: Shown = {}
                if isinstance(step, Chunk):
                    far = now
                    totals.add(step.rows)
                    if step.done == step.total:
                        break
                    with pace.turn() as due:
                        shown = self.so_far(totals, plan.task, plan.file) if due else {}
                yield {**shown, parts.progress: file_progress(now)}
            state = "done"
        except Stopped as reason:
            state = "cancelled" if str(reason) == STOP_PRESSED else "queued"
        except UserError:
            state = ""
            raise
        finally:  # also where the page is left
            run = None
            if state == "queued" and is_file(plan.model):  # no worker could go on with a file's
                state = "cancelled"
            if state and (results or state != "cancelled"):
                run = keep(self.core.store, visitor, ordered, results, began, state)
            else:
                SCORING.remove(ordered.plan)
            if run and state == "queued":
                self.core.engine.submit(run.id)
        if run is None:
            yield self.failed(note(STOPPED_AT_ONCE))
        elif state == "queued":
            yield self.going_on(visitor, run)
        else:
            yield {**self.listed(visitor), **self.shown(run, visitor)}

    def so_far(self, totals: Totals, task: Task, name: str) -> Shown:
        """Show the figures of the rows so far."""
        parts = self.parts
        return {
            parts.results: gr.Column(visible=True),
            parts.head: Markup('<h2 class="title">{}</h2>').format(name),
            parts.figures: figures(totals.summary(), task, stem_of(Path(name))),
            parts.rows: NOTHING,
            parts.files: NOTHING,
            parts.who: NOTHING,
        }

    def failed(self, trouble: Markup) -> Shown:
        """Show why there are no results, beside what was asked, so that it can be put right."""
        nothing = Markup("<div {}></div>").format(UNCHANGED)
        parts = self.parts
        return {
            parts.progress: nothing, parts.trouble: trouble, parts.halt: gr.Button(visible=False),
        }  # fmt: skip

    def going_on(self, visitor: str, run: StoredRun) -> Shown:
        """Say that a run goes on in the background."""
        words = STARTED.format(rows=run.plan["rows"])
        return {**self.failed(note(words)), self.parts.run: run.id, **self.listed(visitor)}

    def shown(self, run: StoredRun, visitor: str) -> Shown:
        """Show what came of a run, with the first page of its rows; how far it is, without any.

        Raises FileError, LimitError.
        """
        parts = self.parts
        if not run.results:
            return {parts.run: run.id, parts.listed: background_runs([run], self.before(run))}
        ready, plan = is_ready_made(run), read_plan(run.plan)
        if not ready:
            check_room(self.core.store, visitor)
        folder, kept = result_of(run, "" if ready else visitor)
        key, stem = result_key(folder), stem_of(Path(plan.file))
        totals = Totals(plan.task, plan.request.names)
        totals.merge(kept.totals)
        summary, shape = totals.summary(), kept.shape
        done = FileProgress(plan.file, "finished", summary.rows, plan.rows)
        if summary.rows < plan.rows:
            words = PARTIAL.format(rows=summary.rows, total=plan.rows)
            done = FileProgress(plan.file, "partial", summary.rows, plan.rows, why=words)
        rules = against_rules(kept.rules, summary.original["accuracy"], stem)
        words, until = forms_words(shape["forms"]), _until(run)
        name = f"The app's {summary.rows:,} {plan.task.unit}s" if ready else plan.file
        facts = head(name, summary, shape["model"], precision_words(shape), worked(run))
        scored = files_of(key)["-scored"]
        return {
            parts.progress: file_progress(done),
            parts.trouble: NOTHING,
            parts.results: gr.Column(visible=True),
            parts.head: facts + download(scored, "Download scored file", "btn primary"),
            parts.halt: gr.Button(visible=False),
            parts.figures: figures(
                summary, plan.task, stem, rules, key, notes=shape.get("notes", ())
            )
            + of_answers(shape, plan.task, stem),
            parts.rows: rows_view(Selection(key)),
            parts.files: files_view(
                key, words=words if ready else f"{words} Kept in Mine until {until}."
            ),
            parts.run: "" if ready else run.id,
            parts.who: note(READY if ready else PRIVATE if run.owner == visitor else SHOWN),
        }

    def look(self, visitor: str, run_id: str) -> Shown:
        """List the files under way, and show the one that is looked at once it is done."""
        parts, shown = self.parts, self.listed(visitor)
        try:
            run = own_run(self.core.store, visitor, run_id) if run_id else None
            if run and run.state == "done" and not shown[parts.timer].active:
                shown |= self.shown(run, visitor)
        except UserError as trouble:
            shown[parts.trouble] = alert(trouble)
        return shown

    def press(self, event: gr.EventData, visitor: str) -> Shown:
        """Stop a file under way, or go on with one that was stopped."""
        verb, _, run_id = cell_of(event).partition(":")
        store, engine = self.core.store, self.core.engine
        try:
            run = own_run(store, visitor, run_id)
            {"stop": engine.cancel, "go-on": engine.reopen}[verb](run.id)
            return self.listed(visitor) | {self.parts.trouble: NOTHING}
        except (UserError, KeyError) as trouble:
            return {self.parts.trouble: alert(trouble)}

    def listed(self, visitor: str) -> Shown:
        """List a visitor's files that are not done, and fold away those that are."""
        parts = self.parts
        try:
            runs = self.core.store.runs(visitor, SCORING.kind) if as_token(visitor) else ()
        except UserError as trouble:
            return {parts.trouble: alert(trouble), parts.timer: gr.Timer(active=False)}
        going = [run for run in runs if run.state in OPEN]
        ahead = {run.id: self.before(run) for run in going}
        return {
            parts.listed: listed_runs(runs, ahead),
            parts.timer: gr.Timer(active=bool(going)),
        }

    def before(self, run: StoredRun) -> int:
        """Count the runs of everybody that were asked for before one that waits."""
        ids = self.core.store.ids(IS_OPEN)
        return ids.index(run.id) if run.state == "queued" and run.id in ids else 0


def _is_usual(task: Task, asked: Link, known: Sequence[str]) -> bool:
    """Whether a link asks for what was scored before: bundled texts, first model, as it is."""
    usual = Link(tuple(first_models(known)), BUNDLED, {}, changes=first_choice(task))
    return replace(asked, texts={}, file=None, notices=(), ready=False) == usual


def link_values(task: Task, names: Sequence[str], importance: str, *values: object) -> Said:
    """Return what a link says of the changes, and of the options that are not as usual."""
    changed = options.read(values, task).changed
    chosen = ",".join(names) or NONE
    options_said = json.dumps(changed) if changed else ""
    return {"changes": chosen, "importance": importance, "options": options_said}


def _until(run: StoredRun) -> str:
    """Say how long a run is kept."""
    days = settings().keep_days
    ends = time.localtime(run.finished + (days or 0) * DAY)
    return "you delete it" if days is None else time.strftime("%Y-%m-%d %H:%M", ends)


def listed_runs(runs: Sequence[StoredRun], ahead: Mapping[str, int]) -> Markup:
    """Show runs that are not done, the newest first, each with its buttons, and links to others."""
    going = [run for run in runs if run.state != "done"]
    links = [
        link(
            link_to_run([run.id], task=run.plan["task"], aim="score", path="measure"),
            run_title(run),
        )
        for run in runs
        if run.state == "done"
    ]
    lines = (Markup("<p>{}</p>").format(each) for each in links)
    earlier = twin(f"Scored before: {len(links)}", join(lines)) if links else NOTHING
    shown = join(background_runs([run], ahead.get(run.id, 0)) for run in going)
    return shown + earlier


def background_runs(runs: Sequence[StoredRun], ahead: int = 0) -> Markup:
    """Show how far runs are, and what can be done with each."""
    return join(under_way(run, run_title(run), _far(run, ahead), _buttons(run)) for run in runs)


def _far(run: StoredRun, ahead: int) -> str:
    """Say how many rows are done, how fast, and about how long the others still take."""
    total = run.plan["rows"]
    far = [cell.result or cell.progress or {} for cell in run.cells]
    texts_each = 1 + len(run.plan["names"])
    done = sum(each.get("rows", 0) + each.get("texts", 0) // texts_each for each in far)
    words = [f"{min(done, total):,} of {total:,} rows"]
    if ahead:
        words.append(f"{ahead} run{'' if ahead == 1 else 's'} before it")
    timed = [cell.progress for cell in run.cells if cell.progress and "seconds" in cell.progress]
    seconds = sum(progress["seconds"] for progress in timed)
    # parts that are scored at the same time are as fast as those before them
    running = max(1, sum(cell.state == "running" for cell in run.cells))
    per_second = running * sum(each["rows"] for each in timed) / seconds if seconds else 0.0
    if run.state == "running" and not run.cancelling and per_second:
        words += [
            per_second_words(per_second),
            f"about {duration((total - done) / per_second)} left",
        ]
    return " · ".join(words)


def _buttons(run: StoredRun) -> Markup:
    """Offer what can be done; a Stop that was pressed keeps its place until the run has stopped."""
    offered = list[Markup]()
    if run.state in OPEN:
        asked = Markup(" disabled") if run.cancelling else NOTHING
        offered.append(BUTTON.format("stop", run.id, asked, "Stop"))
    if run.state in STOPPED:
        offered.append(BUTTON.format("go-on", run.id, NOTHING, "Go on"))
    if run.results:
        there = link_to_run([run.id], task=run.plan["task"], aim="score", path="measure")
        offered.append(link(there, "Show what is done"))
    return Markup('<div class="strip">{}</div>').format(join(offered)) if offered else NOTHING


def _build(choice: Choice) -> SimpleNamespace:
    """Lay out the changes with their options, the button that scores, and the results."""
    parts = SimpleNamespace()
    with gr.Column(elem_classes="card", elem_id="score-form"):
        parts.changes = build_changes(choice.page, "batch-transforms")
        with gr.Accordion("Settings: importance, options", open=False, elem_classes="fold"):
            parts.importance = gr.Dropdown(
                [("not asked", ""), *((row.title, name) for name, row in METHODS.items())],
                value="", label="Importance of the words, by", elem_id="score-importance",
            )  # fmt: skip
            tell = gr.Checkbox(label="Tell me when a file is finished", elem_id="tell")
            parts.controls = options.build()
        tell.input(None, tell, tell, js=ASK, **QUIET)
        with gr.Row(elem_classes="tools"):
            parts.go = gr.Button(
                "Score", variant="primary", elem_id="score", min_width=0, interactive=False
            )
            choice.allow(parts.go)
            parts.halt = gr.Button("Stop", visible=False, elem_id="halt", min_width=0)
            gr.HTML(Markup('<p class="fine" id="score-which" role="status"></p>'), padding=False)
        parts.trouble = gr.HTML(elem_id="batch-trouble")
        parts.progress = gr.HTML(elem_id="batch-progress")
    parts.listed = gr.HTML(elem_id="batch-background", js_on_load=PRESSED, padding=False)
    parts.timer = gr.Timer(SECONDS, active=False)
    parts.run = gr.Textbox("", label="run", visible=False)
    with gr.Column(visible=False, elem_id="batch-results", elem_classes="measured") as results:
        parts.results = results
        with gr.Row(elem_id="batch-head"):
            parts.head = gr.HTML(elem_id="batch-name", padding=False)
            own = [parts.run, parts.changes, parts.importance, *parts.controls]
            build_link(choice, "score", own, link_values)
            parts.who = gr.HTML(elem_id="batch-who", padding=False)
        parts.figures = gr.HTML(elem_id="batch-figures", js_on_load=PRESSED)
        with gr.Column(elem_classes="card", elem_id="batch-rows"):
            parts.rows = gr.HTML(elem_id="lines", js_on_load=FORM)
        parts.files = gr.HTML(elem_id="files", js_on_load=FORM)
    return parts


def prepare() -> None:
    """Put together what was scored before, so that nobody waits for it."""
    for task in offered_tasks():
        if run := ready_run(task):
            result_of(run, "")


def build(page: Page) -> None:
    """Put the view together."""
    Score(page).listen()
    page.core.behind.append(prepare)
