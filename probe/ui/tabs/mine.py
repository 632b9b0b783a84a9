"""Mine: all that is kept of a visitor, to be opened, taken away, shared and deleted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import RunError, UserError
from probe.models.asked import Asked
from probe.models.classifier import Classifier
from probe.models.errors import SeveralCheckpoints, UnclearLabels
from probe.models.library import AnyModel
from probe.models.prompts import prompts
from probe.runs.access import ModelAccess, own_run
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.surveys.survey import end_survey
from probe.tasks.nli import NLI
from probe.tasks.task import task_named
from probe.ui.api import models as models_api
from probe.ui.api.models import open_own
from probe.ui.events import EACH, PRESSED, QUIET, WAITED_FOR, cell_of, in_turn
from probe.ui.html.elements import NOTHING, alert, hint, join, link, meter, note, saved, told
from probe.ui.html.header import count
from probe.ui.html.shared_link import copy_script, shared_link
from probe.ui.page import Page
from probe.ui.tabs.learn import forget
from probe.ui.visitors.belongings import (
    KINDS,
    Belonging,
    belonging,
    belongings,
    count_of,
    delete,
    delete_all,
    download,
    model_opens,
    remembered,
)

ABOUT = (
    "What this app keeps of you, where “you” is this browser. Nobody else sees it but by the links "
    "that you give; another browser, or this one once its data is cleared, does not see it either."
)
NOT_KEPT = Markup(
    '<p class="problem" id="not-kept" hidden><span>This browser keeps nothing of this page, so '
    "that all here is gone with it.</span><span>This page stands within another one: the browser "
    "may keep what is listed here apart, so that it is found in this frame alone, and nothing from "
    'elsewhere here.</span> <a href="mine" target="_blank">Open the app in a window of its own</a>'
    "</p>"
)
BRING = (
    "A hub's model, as owner/name or owner/name@revision for a fixed version, or the full path of "
    "a folder or a GGUF file. It is fetched only when you press; safetensors or GGUF only, and no "
    "code of its own is run. It then stands in every list of models of its task, for anybody here "
    "who names it. A language model is asked by a prompt; owner/name?shots=4 puts four examples "
    "before each."
)
TEMPLATE = "How are its texts put into one?"
FRAME = "Each text once, by its name in braces; if empty, as its tokenizer joins them."
PROMPT = (
    "{}, or one of your own: each text once, by its name in braces, and where the answer stands "
    "the words of the labels, in braces with | between. Load asks it anew."
)
VERBS = {"files": "Download", "share": "Copy link", "stop": "Stop", "end": "End", "ask": "Delete"}
"""What can be done with a thing, by what its button reports."""
EVERYTHING = "everything"
FORGOTTEN = "Its steps and your guesses go from this browser; those of a class stay with the class."
ABOVE, BELOW = ("runs", "files", "models"), ("links", "sets", "answers")
"""The kinds before and after the form that brings a model, which stands beside the models."""
SECONDS = 3
"""Between two looks how far runs are."""
SHOWING = """const kept = document.getElementById("not-kept"), [nothing, apart] = kept.children;
nothing.hidden = !window.localStorage.forgetful;
apart.hidden = window === window.top || !nothing.hidden;
kept.hidden = nothing.hidden && apart.hidden;
const all = document.getElementById("mine");
const asked = () => new URLSearchParams(location.search).get("kind") ?? "";
const show = () => {
  const kind = asked() === "classes" ? "sets" : asked();
  const words = (all.querySelector("#mine-search textarea")?.value ?? "").toLowerCase();
  all.dataset.kind = kind;
  for (const part of all.querySelectorAll("section[data-kind]")) {
    const things = [...part.querySelectorAll(".thing")];
    for (const thing of things) thing.hidden = !thing.textContent.toLowerCase().includes(words);
    const none = words && things.every(thing => thing.hidden);
    part.hidden = (kind && part.dataset.kind !== kind) || none;
  }
  for (const chip of all.querySelectorAll(".chip"))
    chip.setAttribute("aria-pressed", chip.dataset.kind === kind);
};
all.addEventListener("click", ({ target }) => {
  const chip = target.closest(".chip");
  if (chip) window.writeAddress({ kind: chip.dataset.kind }, true), show();
});
all.addEventListener("input", show);
window.addEventListener("popstate", show);
new MutationObserver(show).observe(all, { childList: true, subtree: true });"""
"""Shows the kind that the address names, and of it what holds the words that are searched for."""
TOLD = """() => {
  const told = document.getElementById("mine-told");
  told.querySelector("a[download]")?.click();
  told.querySelector("button:last-of-type, a")?.focus({ preventScroll: true });
}"""
"""Begins a download, and brings the keyboard to what is asked, at first to what changes nothing."""


@dataclass(frozen=True)
class Handlers:
    """What the buttons do; they return what is told, the count in the head, both lists, the timer.

    Behind these comes what the browser remembers of the lessons, which goes with everything else.
    `pressed` is a verb, a kind and an id, with colons between.
    """

    store: Store
    engine: Engine

    def show(self, visitor: str, task: str, kept: object = None) -> list[Any]:
        """List what belongs to a visitor, without what is told; `kept` is of the browser.

        Any: markup and gradio's updates.
        """
        try:
            rows = belongings(self.store, visitor)
            rows["answers"] += (lessons := remembered(kept, task_named(task)))
            number = count_of(self.store, visitor) + len(lessons)
        except UserError as trouble:
            return [gr.skip(), alert(trouble), NOTHING, gr.Timer(active=False)]
        going = any(row.far is not None or "stop" in row.verbs for row in rows["runs"])
        lists = [join(things(name, rows[name], task) for name in part) for part in (ABOVE, BELOW)]
        return [count(number), _chips(rows) + lists[0], lists[1], gr.Timer(active=going)]

    def press(self, visitor: str, task: str, pressed: str, kept: object = None) -> list[Any]:
        """Do what a button says with a thing of the visitor's; what deletes is asked about."""
        verb, _, rest = pressed.partition(":")
        kind, _, which = rest.partition(":")
        lessons = {row.id: row.name for row in remembered(kept, task_named(task))}
        lesson = lessons.get(which, "") if kind == "answers" else ""
        left = kept
        try:
            if lesson and verb == "delete":
                words, left = told(f"{lesson} is forgotten."), forget(kept, which)
            elif lesson:
                words = question(f"Forget {lesson}?", FORGOTTEN, f"delete:{kind}:{which}")
            else:
                words = self._do(visitor, verb, kind, which)
        except UserError as trouble:
            words = alert(trouble)
        if (verb, kind) == ("delete", EVERYTHING):
            left = {}
        return [words, *self.show(visitor, task, left), gr.skip() if left is kept else left]

    def _do(self, visitor: str, verb: str, kind: str, which: str) -> Markup:
        if verb == "keep":
            return NOTHING
        if kind == EVERYTHING and verb == "delete":
            delete_all(self.store, self.engine, visitor)
            return told("Deleted.")
        if kind == EVERYTHING:
            counts = ", ".join(
                f"{KINDS[name].title.lower()}: {len(rows)}"
                for name, rows in belongings(self.store, visitor).items()
            )
            words = (
                f"{counts}; and what this browser remembers of lessons. Runs are stopped first. "
                "It cannot be brought back."
            )
            return question("Delete everything of yours?", words, f"delete:{EVERYTHING}:")
        row = belonging(self.store, visitor, kind, which)
        if verb == "ask":
            words = f"{KINDS[kind].gone}: {row.name}?"
            return question(words, KINDS[kind].warning, f"delete:{kind}:{which}")
        if verb == "delete":
            delete(self.store, self.engine, visitor, kind, which)
            return told(f"{KINDS[kind].title}: {row.name} is gone.")
        if verb not in row.verbs:
            raise RunError("this cannot be done with it any more")
        if verb == "share":
            address, who = KINDS[kind].link(self.store, visitor, which)
            return shared_link(address, label=row.name, who=who)
        if verb == "files":
            return saved([download(self.store, visitor, kind, row)])
        if verb == "end":
            end_survey(self.store, visitor, which)
            return told(f"{row.name} has ended; its answers stay.")
        self.engine.cancel(own_run(self.store, visitor, which).id)
        return told(f"{row.name} is being stopped; what is done of it stays.")


def _chips(rows: Mapping[str, Sequence[Belonging]]) -> Markup:
    chip = Markup(
        '<button type="button" class="btn chip" data-kind="{}" aria-pressed="false">{} {}</button>'
    )
    counts = {name: len(each) for name, each in rows.items()}
    kinds = [(name, KINDS[name].title.partition(" that")[0], counts[name]) for name in rows]
    return Markup('<div class="chips" role="group" aria-label="Kinds">{}</div>').format(
        join(chip.format(*one) for one in [("", "All", sum(counts.values())), *kinds])
    )


def things(name: str, rows: Sequence[Belonging], task: str) -> Markup:
    """List the things of a kind, each with what can be done with it."""
    kind = KINDS[name]
    words, address = kind.more
    listed = join(_row(name, row, task) for row in rows)
    return Markup(
        '<section data-kind="{}"><div class="strip"><h2 class="title">{}</h2>'
        '<span class="soft num">{}</span><span class="grow"></span>{}</div>{}</section>'
    ).format(
        name,
        kind.title,
        len(rows),
        link(address, words) if words else NOTHING,
        Markup('<ul class="card things">{}</ul>').format(listed) if rows else note(kind.none),
    )


def _row(kind: str, row: Belonging, task: str) -> Markup:
    addresses = {
        words: address if "task=" in address or not task else f"{address}&task={task}"
        for words, address in row.opens.items()
    }
    name = Markup("<b>{}</b>").format(row.name)
    first = next(iter(addresses.values()), "")
    verbs = ["ask" if verb == "delete" else verb for verb in row.verbs]
    button = Markup(
        '<button type="button" class="link{}" data-cell="{}:{}:{}" aria-label="{}: {}">{}</button>'
    )
    labels = VERBS | {"ask": KINDS[kind].gone}
    buttons = (
        button.format(
            " bad" if verb in ("ask", "stop", "end") else "",
            *(verb, kind, row.id, labels[verb], row.name, labels[verb]),
        )
        for verb in verbs
    )
    opens = (
        Markup('<a href="{}" aria-label="{}: {}">{}</a>').format(address, words, row.name, words)
        for words, address in addresses.items()
    )
    far = NOTHING if row.far is None else meter(f"how far {row.name} is", row.far)
    return Markup(
        '<li class="thing"><div>{} <span class="soft">{}</span></div>'
        '<div class="tiny soft num">{}{}</div><div class="acts">{}{}</div></li>'
    ).format(
        link(first, name) if first else name, row.says, far, row.when, join(opens), join(buttons)
    )


def question(asked: str, words: str, yes: str) -> Markup:
    """Ask before something is deleted."""
    return Markup(
        '<div class="card question"><p role="alert"><b>{}</b> {}</p><div class="strip">'
        '<button type="button" class="btn bad" data-cell="{}">Yes</button>'
        '<button type="button" class="btn" data-cell="keep">No, keep it</button></div></div>'
    ).format(asked, words, yes)


def bring(
    models: ModelAccess,
    visitor: str,
    name: str | None,
    labels: str | None,
    task: str = NLI.name,
    template: str | None = "",
) -> list[Any]:
    """Load a model of a task, which then stands in the visitor's lists; return a message.

    Then come the fields for its labels, its template and its name, in which the latest checkpoint
    of a folder of several is offered. The fields are None where nothing was ever typed.
    """
    asked, left = task_named(task), gr.skip()
    try:
        loaded = open_own(models, visitor, name, labels, asked, template)
    except UnclearLabels as unclear:
        offered = ", ".join(unclear.suggested or ())
        field = gr.Textbox(
            value=offered,
            label=f"Which output is which? In the order of {', '.join(unclear.outputs)}",
            info=f"Offered: with this order it gets {unclear.right}." if offered else "",
            visible=True,
        )
        return [alert(unclear), field, left, left]
    except SeveralCheckpoints as several:
        return [alert(several), left, left, gr.Textbox(several.checkpoints[0])]
    except UserError as trouble:
        return [alert(trouble), left, left, left]
    warning = join(map(alert, loaded.warnings))
    opens = model_opens(loaded.model.name, asked.name)
    onward = join((link(address, words) for words, address in opens.items()), Markup(" · "))
    return [
        Markup(
            '<div role="status"><p class="fine as-written">{}</p><p class="fine">Open it in {}</p>'
            "</div>{}"
        ).format(loaded.summary, onward, warning),
        gr.Textbox(
            label=f"Which output is which? Now {', '.join(loaded.model.order)}",
            info="",
            visible=bool(labels or warning) and not isinstance(loaded.model, Asked),
        ),
        _template_of(loaded.model),
        left,
    ]


def _template_of(model: AnyModel) -> gr.Textbox:
    """Show how a decoder's texts become one, or how a language model is asked, to be changed."""
    if isinstance(model, Asked):
        known = ", ".join(prompts(model.task))
        return gr.Textbox(
            model.prompt.text, label="How is it asked?", info=PROMPT.format(known), visible=True
        )
    if not isinstance(model, Classifier) or not model.frame:
        return gr.Textbox("", visible=False)
    return gr.Textbox(
        model.template, label=TEMPLATE, info=FRAME, placeholder=model.frame, visible=True
    )


def build(page: Page) -> None:
    """Put the place together; it is filled when it is opened."""
    handlers = Handlers(page.core.store, page.core.engine)
    gr.HTML(hint(ABOUT) + NOT_KEPT, padding=False)
    said = gr.HTML(elem_id="mine-told", padding=False, js_on_load=PRESSED)
    with gr.Column(elem_id="mine"):
        gr.Textbox(
            placeholder="search", label="Search", show_label=False, elem_id="mine-search",
            container=False,
        )  # fmt: skip
        above = gr.HTML(padding=False, elem_classes="mine-part", js_on_load=PRESSED + SHOWING)
        fields, go = _build_bring()
        below = gr.HTML(padding=False, elem_classes="mine-part", js_on_load=PRESSED)
    with gr.Row(elem_classes="tools"):
        everything = gr.Button(
            "Delete everything of mine", scale=0, size="sm", min_width=220, elem_id="mine-all"
        )
        gr.HTML(note("Asks once more, with what it deletes."), padding=False)
    shown = [page.kept, above, below, timer := gr.Timer(SECONDS, active=False)]
    here, answers = [page.owner, page.task, page.memory], [said, *shown, page.memory]

    def press(event: gr.EventData, visitor: str, task: str, kept: object) -> list[Any]:
        return handlers.press(visitor, task, cell_of(event), kept)

    def ask_all(visitor: str, task: str, kept: object) -> list[Any]:
        return handlers.press(visitor, task, f"ask:{EVERYTHING}:", kept)

    page.on_show(handlers.show, here, shown)
    timer.tick(handlers.show, here, shown, **QUIET)
    turn = in_turn("mine")
    answered = [part.click(press, here, answers, **EACH, **turn) for part in (above, below, said)]
    for each in [*answered, everything.click(ask_all, here, answers, **turn)]:
        each.then(None, js=TOLD, **QUIET).then(None, js=copy_script("mine-told"), **QUIET)
    message, labels, template, name = fields
    loaded = gr.on(
        [go.click, name.submit, labels.submit, template.submit],
        lambda visitor, *given: bring(page.core.models, visitor, *given),
        [page.owner, name, labels, page.task, template],
        [message, labels, template, name],
        concurrency_id="load",
        concurrency_limit=1,
        **WAITED_FOR,
    )
    loaded.then(handlers.show, here, shown, **QUIET)
    models_api.build_load_model(page.core.models)


def _build_bring() -> tuple[list[Any], gr.Button]:
    """Lay out the form that brings a model; return what it shows and fills, and its button."""
    with gr.Column(elem_id="bring", elem_classes="card"):
        gr.HTML(Markup('<h2 class="title small">Bring a model</h2>'), padding=False)
        with gr.Row(elem_classes="tools"):
            name = gr.Textbox(
                label="Hub id or folder", placeholder="owner/name, or a folder", elem_id="own-name"
            )
            go = gr.Button("Load", min_width=80, scale=0, elem_id="own-load")
        labels = gr.Textbox(label="Which output is which?", visible=False, elem_id="own-labels")
        template = gr.Textbox(
            label=TEMPLATE,
            info=FRAME,
            lines=2,
            visible=False,
            elem_id="own-template",
        )
        message = gr.HTML(elem_id="own-message", padding=False)
        gr.HTML(note(BRING), padding=False)
    # other labels and another template belong to another model
    name.change(lambda: [gr.Textbox("", visible=False)] * 2, None, [labels, template], **QUIET)
    return [message, labels, template, name], go
