"""What is measured: the texts and the models, chosen once for every view, and read by each."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast, get_args

import gradio as gr
from markupsafe import Markup

from probe.analysis.importance import METHODS, MethodOrNone
from probe.data.file_options import FileOptions
from probe.data.rows import Columns, Source
from probe.errors import FileError, Unavailable, UnknownTransform, UserError
from probe.models.classifier import Precision
from probe.models.windows import LONG, Long
from probe.runs.access import ModelAccess, readable_run
from probe.runs.access import share as share_run
from probe.runs.store import Store
from probe.scoring.files import input_file
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import Example, Task, task_named
from probe.templates import kinds
from probe.transforms.options import DEFAULTS, Options
from probe.transforms.registry import require_ready
from probe.ui.api.files import is_open
from probe.ui.choices import model_choices
from probe.ui.events import CHANGING, EMPTY, ENABLED, GIVE_BACK_AND_HIDE, QUIET, in_focus
from probe.ui.html.elements import alert, hint, join
from probe.ui.html.shared_link import copy_script, shared_link
from probe.ui.links import link_to_measure, link_to_run, not_here, shortened
from probe.ui.measure import templates
from probe.ui.measure.answer_files import choices, is_answers, is_file, names_here, offered
from probe.ui.measure.texts import LabelledFile, build_file, columns_of, options_of
from probe.ui.page import Page
from probe.ui.panels import hub_dataset, options
from probe.ui.tabs.example_pairs import examples_of
from probe.ui.tabs.probe.view import LinkReader
from probe.ui.visitors.visitor_files import (
    bundled_copy,
    check_room,
    upload_called,
    upload_like,
)

BUNDLED, FILE, HUB, TEMPLATES, ONE = SOURCES = ("bundled", "file", "hub", "templates", "one")
SHARED = (
    "Whoever has this link, and reaches this app, sees this result until you take the link back in "
    "Mine: its figures, the texts of every row, and the files, with that which was scored."
)
Said = Mapping[str, str]
"""What a link says, by name."""
RUN = "of the run"
"""Stands for the file that a run has scored, where texts are named."""
MAX_MODELS = 6
"""How many models the page compares at once."""
TEXTS = 2
"""The most texts of one example."""
PURPOSE = (
    "What one model, or several, make of many texts: how many answers are right, and how many "
    "stay when the text says nothing any more."
)
PRECISIONS = [
    ("as fast as this machine can · auto", "auto"),
    ("with 32 bits · fp32", "fp32"),
    ("with 16 bits, faster · bf16", "bf16"),
]
NO_TEXTS = {
    FILE: "choose a file first, or one of the examples",
    HUB: "fetch a data set first: its name stands under Texts",
    TEMPLATES: "make the texts first: press Make the pairs, under Texts",
}
"""What is lacking, by what the texts are to come from."""
SHOW_SOURCE = """source => {
  document.getElementById("choice").classList.remove("folded");
  return %s.map(name => ({ __type__: "update", visible: name === source }));
}"""
"""Shows what belongs to the source of the texts that is chosen."""
ADDRESS = """(source, models, upload, precision, long, seed, ...texts) => {
  const named = path =>
    [...document.querySelectorAll(`#choice ${path}`)].map(part => part.textContent.trim());
  setTimeout(() => {  // shown by then
    const all = named("#measure-models .token > span").join(", ");
    document.getElementById("chosen").textContent = `${named("#texts .selected span")}: ${all}`;
  }, 200);
  if (window.choiceKnown) window.writeAddress({
    texts: source === "file" && upload ? `file:${upload.path.split("/").at(-2)}` : source,
    models: models.join(","),
    precision: precision === "auto" ? "" : precision,
    long: long === "cut" ? "" : long,
    seed: seed ? String(seed) : "",
    ...Object.fromEntries(texts.map((text, at) => [`text${at + 1}`, source === "one" ? text : ""])),
  });
}"""
"""Says in one line what is chosen, and keeps it in the page's address, so that a reload shows it
again: from when what the address said has been read."""
FOLD = Markup(
    '<span id="chosen"></span> <button type="button" class="link">'
    '<span class="narrow">Change</span><span class="wide">How they are read, and settings</span>'
    "</button>"
)
FOLDING = """element.addEventListener("click", ({ target }) =>
  target.closest("button") && document.getElementById("choice").classList.remove("folded"));"""
"""What was read and set is folded once results stand below, so that these are in sight; on a phone
all of the choice is, to one line."""
UNCHANGED = "data-unchanged"
"""Marks what is said where nothing was measured: earlier results are still those of before."""
CHANGED = """() => {
  if (window.choiceKnown) window.writeAddress({ run: "" });
  for (const results of document.querySelectorAll(".measured")) {
    results.classList.add("stale");
    results.dataset.changed = "yes";
  }
}"""
TYPED = f"""() => {{
  if ({in_focus("choice", "batch-transforms")}) ({CHANGED})();
}}"""
FOLDED = """document.getElementById("choice").classList.add("folded");"""
ANOTHER_FILE = f"""file => {{
  const known = new URLSearchParams(window.location.search).get("texts");
  const other = !file || known !== `file:${{file.path.split("/").at(-2)}}`;
  if (window.choiceKnown && other) ({CHANGED})();
}}"""
"""A file that the address names is no other one: it is that of the results, as is the file of a run
with which the choice is filled."""
KNOWN = f"(...values) => {{ window.choiceKnown = true; ({ADDRESS})(...values); }}"
SEVERAL = """models => {
  const [score, compare] = ["score", "compare"].map(
    name => document.getElementById(`view-${name}-button`)
  );
  if (models.length > 1 && score.ariaSelected === "true") compare.click();
}"""
"""Several models are compared."""


@dataclass(frozen=True)
class Asked:
    """What is chosen, as a handler reads it from the values of `Choice.inputs`.

    `path` is that of the visitor's file; `columns` and `meanings` are as of `LabelledFile`.
    """

    visitor: str
    task: Task
    models: tuple[str, ...]
    source: str
    precision: Precision
    long: Long
    seed: int
    texts: tuple[str, ...]
    path: str | None
    columns: tuple[str | None, ...]
    meanings: str

    @classmethod
    def read(cls, visitor: str, task_name: str, *values: Any) -> "Asked":  # Any: as of `Choice`
        """Read the values of a choice's inputs. Raises LabelError for a task that is not there."""
        models, source, precision, long, seed, *more = values
        *columns, meanings = more[TEXTS + 1 :]
        task = task_named(task_name)
        return cls(
            visitor, task, tuple(models or ()), source, precision, options.read_long(long, task),
            int(seed or 0), tuple(more[:TEXTS]), more[TEXTS], tuple(columns), meanings,
        )  # fmt: skip

    @property
    def model(self) -> str:
        """The first model. Raises a sentence where none is chosen."""
        if not self.models:
            raise FileError("choose a model first")
        return self.models[0]

    @property
    def example(self) -> Example:
        """The one example that is typed."""
        texts = dict(zip(self.task.fields, self.texts, strict=False))
        example: Example = self.task.example(**texts)
        return example

    @property
    def file(self) -> Path:
        """The file of the texts: the visitor's, or the bundled ones. Raises FileError."""
        if self.source == BUNDLED:
            return bundled_copy(self.task)
        if self.source == ONE:
            raise FileError(f"this takes more than one {self.task.unit}: choose other texts above")
        if not self.path:
            raise FileError(NO_TEXTS[self.source])
        return Path(self.path)

    @property
    def reading(self) -> FileOptions:
        """What was said of the file. Raises LabelError."""
        if self.source == BUNDLED:
            return FileOptions()
        said = options_of(self.columns, self.task, self.meanings)
        # a value that is said may be that of an answer
        return replace(said, one_file=not any(map(is_answers, self.models)))

    def columns_in(self, table: Source) -> Columns:
        """Return how the file is read. Raises FileError where that is still asked."""
        return columns_of(table, table.path, self.task, self.reading)


@dataclass
class Choice:
    """The components in which texts and models are chosen.

    `inputs` are what `Asked.read` takes; `changed` are the events that make another question of it.
    """

    page: Page
    models: gr.Dropdown
    source: gr.Radio
    file: LabelledFile
    texts: list[gr.Textbox]
    precision: gr.Dropdown
    long: gr.Radio
    seed: gr.Number
    notices: gr.HTML
    parts: dict[str, Any] = field(default_factory=dict)  # Any: what is shown for each source
    opened: gr.events.Dependency | None = None
    allowed: list[tuple[gr.Button, str]] = field(default_factory=list)

    def allow(self, button: gr.Button, busy: str = "") -> None:
        """Let a button be pressed once what the page's address says stands in the choice.

        What the address has begun stays begun: then the part of the id `busy` stands there.
        """
        self.allowed.append((button, busy))

    def built(self) -> None:
        """Allow the buttons of all views at once, when these are laid out."""
        buttons, busy = map(list, zip(*self.allowed, strict=True))
        given = (
            f"() => {json.dumps(busy)}.map((id) => "
            f'document.getElementById(id) ? {{ __type__: "update" }} : ({ENABLED}))'
        )
        if self.opened:
            self.opened.then(None, None, buttons, js=given, **QUIET)

    @property
    def chosen(self) -> list[Any]:  # Any: components share no useful type
        """What is chosen beside the page's own."""
        first = [self.models, self.source, self.precision, self.long, self.seed]
        return [*first, *self.texts, *self.file.asked]

    @property
    def inputs(self) -> list[Any]:
        """What a handler of a view takes first."""
        return [self.page.owner, self.page.task, *self.chosen]

    @property
    def changed(self) -> list[Any]:  # Any: gradio's events
        """The events by which a person makes another choice."""
        parts = (self.models, self.source, self.precision, self.long, self.seed)
        columns = [column.input for column in self.file.columns]
        said = [*columns, self.file.labels.select]
        return [*(part.input for part in parts), *said, self.file.upload.change]


def build(page: Page) -> Choice:
    """Lay out the choice, which a link may fill."""
    gr.HTML(hint(PURPOSE), padding=False)
    notices = gr.HTML(visible=False, padding=False, elem_id="measure-notices")
    with gr.Column(elem_classes="card", elem_id="choice"):
        with gr.Row(elem_id="choice-row"):
            source = gr.Radio(
                sources(NLI), value=BUNDLED, label="Texts", elem_id="texts", elem_classes="seg"
            )
            known = page.core.models.names("")
            models = gr.Dropdown(
                model_choices(known), value=known[:1], multiselect=True, elem_id="measure-models",
                label=f"Models: one is scored, two to {MAX_MODELS} are compared", **CHANGING,
            )  # fmt: skip
        parts: dict[str, Any] = {}
        with gr.Column(visible=False) as parts[FILE]:
            file = build_file(page, "upload", models)
        with gr.Column(visible=False) as parts[HUB]:
            hub_dataset.build(page, [file.upload], "upload", folded=False)
        with gr.Column(visible=False) as parts[TEMPLATES]:
            templates.build(page, file.upload)
        with gr.Column(visible=False, elem_id="one") as parts[ONE]:
            texts = [gr.Textbox(label="", lines=2, elem_id=f"one-{at}") for at in (1, 2)]
        gr.HTML(FOLD, padding=False, elem_id="choice-fold", js_on_load=FOLDING)
        with (
            gr.Accordion("Settings: seed, precision, long texts", open=False, elem_classes="fold"),
            gr.Row(),
        ):
            seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=100)
            precision = gr.Dropdown(
                PRECISIONS, value="auto", label="How exactly it computes", min_width=100
            )
            long = options.long_texts()
    choice = Choice(page, models, source, file, texts, precision, long, seed, notices, parts)
    _react(choice)
    return choice


def _react(choice: Choice) -> None:
    """Fill the choice by a link, show what belongs to its source, and keep it in the address."""
    page, file = choice.page, choice.file
    shown = list(choice.parts.values())
    show = {"js": SHOW_SOURCE % list(choice.parts), **QUIET}
    choice.source.change(None, choice.source, shown, **show)

    def dropped(visitor: str, name: str, path: str | None, chosen: list[str] | None) -> list[Any]:
        """Take what was fetched or made for a file too, and answers in one for a model's."""
        known = page.core.models.names(visitor, task_named(name))
        several = offered(visitor, known, path, chosen or [])
        return [gr.Radio(value=FILE) if path else gr.skip(), several]

    assert file.read  # as it is built
    file.read.then(
        dropped, [page.owner, page.task, file.upload, choice.models],
        [choice.source, choice.models], **QUIET,
    )  # fmt: skip
    kept: list[Any] = [
        choice.source,
        choice.models,
        file.upload,
        choice.precision,
        choice.long,
        choice.seed,
    ]
    page.mark_of(*(part.change for part in [*kept, *choice.texts])).change(
        None, [*kept, *choice.texts], None, js=ADDRESS, **QUIET
    )
    filled = [
        choice.models, choice.source, choice.precision, choice.long, choice.seed, *choice.texts,
        file.upload, choice.notices,
    ]  # fmt: skip

    def opened(visitor: str, task_name: str, request: gr.Request) -> list[Any]:
        return fill(page.core.models, visitor, task_named(task_name), request.query_params)

    *others, uploaded = choice.changed
    gr.on(others, None, None, None, js=CHANGED, **QUIET)
    uploaded(None, file.upload, None, js=ANOTHER_FILE, **QUIET)
    typed = [choice.models.change, *(text.change for text in choice.texts)]
    gr.on(typed, None, None, None, js=TYPED, **QUIET)
    choice.models.input(None, choice.models, None, js=SEVERAL, **QUIET)
    choice.opened = page.on_open(opened, [page.owner, page.task], filled, **QUIET)
    choice.opened.then(None, [*kept, *choice.texts], None, js=KNOWN, **QUIET)


def sources(task: Task) -> list[tuple[str, str]]:
    """Return where texts may come from, in the words of a task."""
    count = len(bundled_examples(task, "test"))
    words = {
        BUNDLED: f"The app's {count} {task.unit}s",
        FILE: "A file",
        TEMPLATES: "Templates",
        ONE: f"One {task.unit}",
    }
    if is_open():
        words[HUB] = "Data set of the hub"
    if not kinds(task):
        del words[TEMPLATES]
    return [(words[name], name) for name in SOURCES if name in words]


def fill(models: ModelAccess, visitor: str, task: Task, query: Mapping[str, str]) -> list[Any]:
    """Return what the components begin with, by what a link says; what is not here is said."""
    known = models.names(visitor, task)
    asked = with_run(models.store, visitor, query)
    link = read_link(visitor, task, known, asked)
    file, trouble = link.file, join(alert(notice) for notice in link.notices)
    if asked.get("texts") == f"{FILE}:{RUN}":
        try:
            check_room(models.store, visitor)
            plan = readable_run(models.store, visitor, query["run"]).plan
            file = upload_like(visitor, input_file(plan["folder"], plan["file"]))
        except UserError as lacking:
            trouble += alert(lacking)
    first = task.texts(list(examples_of(task).values())[-1])
    boxes = [
        gr.Textbox(
            link.texts.get(name, first[name]) if name else "",
            label=task.title_of(name) if name else "",
            visible=bool(name),
        )
        for name in (*task.fields, "")[:TEXTS]
    ]
    return [
        gr.Dropdown(choices=choices(visitor, link.models, known), value=list(link.models)),
        gr.Radio(sources(task), value=link.source),
        gr.Dropdown(value=link.precision),
        gr.Radio(value=link.long),
        link.seed,
        *boxes,
        str(file) if file else gr.skip(),
        gr.HTML(trouble, visible=bool(trouble)),
    ]


@dataclass(frozen=True)
class Link:
    """What a link opens; `ready` says that all it names is here, so that it can be asked at once.

    `grants` are not part of it: who opens the page has used them by then.
    """

    models: tuple[str, ...]
    source: str
    texts: Mapping[str, str]
    precision: Precision = "auto"
    long: Long = "cut"
    seed: int = 0
    file: Path | None = None
    notices: tuple[str, ...] = ()
    ready: bool = False
    changes: tuple[str, ...] = ()
    options: Options = DEFAULTS
    importance: MethodOrNone = ""


def first_models(known: Sequence[str], count: int = 1) -> list[str]:
    """Return the models that are chosen where nobody has chosen any."""
    return sorted(known, key=lambda name: name != "minilm")[:count]


def names_in(said: str, known: Sequence[str]) -> list[str]:
    """Return the models that a link names; a name that is known may have commas of its own."""
    parts, names = said.split(","), list[str]()
    while parts:
        sizes = range(len(parts), 0, -1)
        size = next((size for size in sizes if ",".join(parts[:size]) in known), 1)
        names.append(",".join(parts[:size]))
        parts = parts[size:]
    return list(dict.fromkeys(filter(None, names)))


def read_link(visitor: str, task: Task, known: Sequence[str], query: Mapping[str, str]) -> Link:
    """Read what a link says is measured, the usual where it says nothing of it."""
    notices = list[str]()
    several = query.get("view") == "compare"
    usual = first_models(known, 2 if several else 1)
    named = names_in(query.get("models", ""), known)
    known = [*known, *names_here(visitor, named)]
    here = [name for name in named if name in known][:MAX_MODELS]
    notices += [
        f"The link names the model {shortened(name)!r}: there is no model called that here for "
        f"{task.choice.lower()}."
        for name in named
        if name not in known
    ]
    said = query.get("texts", query.get("on", ""))
    source, _, which = said.partition(":")
    file = None
    if source == FILE and which and which != RUN:
        try:
            file = upload_called(visitor, which)
        except FileError:
            notices.append(
                "The link was made on a file that is not here: links hold no files, so choose "
                "your own below."
            )
    elif source and source not in {value for _, value in sources(task)}:
        notices.append(f"The link measures on {shortened(said)!r}, which is not known here.")
        source = BUNDLED
    texts = {name: query[name] for name in task.fields if name in query}
    texts |= {
        name: query[f"text{at}"] for at, name in enumerate(task.fields, 1) if f"text{at}" in query
    }
    changed = {"transforms": query["changes"]} if "changes" in query else {}
    reader = LinkReader({**query, **changed})
    precision = cast(Precision, reader.one_of("precision", get_args(Precision), "auto"))
    long = cast(Long, reader.one_of("long", tuple(LONG), "cut"))
    seed, given, changes = reader.seed(), reader.options(task), list[str]()
    for name in reader.names(task):
        try:
            require_ready(name, task)
            changes.append(name)
        except UnknownTransform:
            notices.append(not_here("change", name, "it is left out"))
        except Unavailable as why:
            notices.append(f"A change of the link is left out: {why}.")
    importance = cast(MethodOrNone, reader.one_of("importance", ("", *METHODS), ""))
    notices += reader.notices
    complete = source in (BUNDLED, FILE) or len(texts) == len(task.fields)
    return Link(
        tuple(here or usual), source or BUNDLED, texts, precision, long, seed, file, tuple(notices),
        bool(said) and complete and not notices and len(here) == len(named),
        tuple(changes), given, importance,
    )  # fmt: skip


def with_run(store: Store, visitor: str, query: Mapping[str, str]) -> Mapping[str, str]:
    """Return what an address says, with what the run that it names was asked."""
    try:
        plan = readable_run(store, visitor, query["run"]).plan if query.get("run") else {}
    except UserError:  # the view says that it is not there
        plan = {}
    if "names" not in plan:
        return query
    bundled = plan["file"] == bundled_copy(task_named(plan["task"])).name
    return {
        **query,
        "models": "" if is_file(plan["model"]) else plan["model"],
        "texts": BUNDLED if bundled else f"{FILE}:{RUN}",
        "seed": str(plan["seed"]),
        "precision": plan["precision"],
        "long": plan["long"],
        "changes": ",".join(plan["names"]),
        "options": json.dumps(plan["options"]),
        "importance": plan.get("importance", ""),
    }


def share(models: ModelAccess, view: str, run: str, said: Said, *values: Any) -> Markup:
    """Return the link to what is chosen in a view, or to the run that it shows.

    It opens models of one's own, and the run, to who gets it. `said` is what the view's own parts
    add to it.
    """
    try:
        asked = Asked.read(*values)
        grants = [grant for name in asked.models if (grant := models.share(asked.visitor, name))]
        if run:
            own = share_run(models.store, asked.visitor, run)
            link = link_to_run([run], [own], asked.task.name, aim=view, path="measure")
            return shared_link(link, label="Link to this result", who=SHARED)
    except UserError as trouble:
        return alert(trouble)
    link = link_to_measure(
        view, asked.task, asked.models, grants,
        texts=asked.source,
        **(asked.task.texts(asked.example) if asked.source == ONE else {}),
        precision=asked.precision if asked.precision != "auto" else "",
        long=asked.long if asked.long != "cut" else "",
        seed=str(asked.seed) if asked.seed else "",
        **said,
    )  # fmt: skip
    return shared_link(link, bool(grants))


def build_link(
    choice: Choice,
    view: str,
    own: Sequence[Any] = (),  # Any: components, the first holds the run that is shown
    said: Callable[..., Said] = lambda task: {},
) -> None:
    """Lay out the button that copies the link to a view, and where the link stands.

    Of the values of its `own` parts but the first, and the task, a view says what is `said` of it.
    """
    button = gr.Button("Copy link", elem_id=f"{view}-link", min_width=0)
    shown = gr.HTML(padding=False, elem_id=f"{view}-share")

    def shared(*values: Any) -> Markup:
        chosen, (run, *more) = values[len(own) :], values[: len(own)] or [""]
        told = said(task_named(chosen[1]), *more)
        return share(choice.page.core.models, view, run, told, *chosen)

    given = button.click(shared, [*own, *choice.inputs], shown, **QUIET)
    given.then(None, js=copy_script(f"{view}-share"), **QUIET)
    gone = [*choice.changed, *(text.change for text in choice.texts)]
    gr.on(gone, None, None, shown, js=EMPTY, **QUIET)


def asked_for(results: str) -> str:
    """Return what dims the earlier results, by their element's id, once a question is asked."""
    return f"""(...values) => {{
  const results = document.getElementById("{results}");
  if (results?.querySelector(".say")) results.classList.add("stale");
  delete results?.dataset.changed;
  {FOLDED}
  return values;
}}"""


def done(results: str) -> str:
    """Return what lights results again, gives back the button and hides the one that stops it."""
    return f"""progress => {{
  ({fresh(results)})(progress);
  return ({GIVE_BACK_AND_HIDE})();
}}"""


def fresh(results: str) -> str:
    """Return what lights results again once the first figures of a question are there.

    Where none came, or it was changed after it was asked, they stay dimmed.
    """
    return f"""progress => {{
  const results = document.getElementById("{results}");
  const unchanged = progress?.includes("{UNCHANGED}");
  if (unchanged) document.getElementById("choice").classList.remove("folded");
  if (!unchanged && !("changed" in (results?.dataset ?? {{}}))) results?.classList.remove("stale");
}}"""
