"""The list of runs and what those looked at came to, laid out and wired."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import StoreError, UserError
from probe.models.library import DEFAULT
from probe.runs import access
from probe.runs.access import asks_alike
from probe.runs.engine import Engine
from probe.runs.gallery import gallery_runs
from probe.runs.run import OPEN, RunRequest, StoredRun
from probe.runs.store import IS_OPEN, Store
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.ui.events import EACH, QUIET, in_turn
from probe.ui.html.elements import NOTHING, alert, join
from probe.ui.html.shared_link import copy_script, shared_link
from probe.ui.links import link_to_run, shortened
from probe.ui.page import Page
from probe.ui.run_tab.shown import (
    Looked,
    RunView,
    how_far,
    looking_at,
    mark_of,
    results,
    row,
    seconds_left,
    told,
)
from probe.ui.visitors.belongings import RUN_FILES
from probe.ui.visitors.visitor_files import check_room, check_start, fresh_folder

MEASURING = Markup('<p class="fine">Measuring how long it takes …</p>')
Updates = dict[Any, Any]  # Any: components and their updates share no useful type
Values = dict[Any, Any]
FOCUS = """let last = "", at = 0;
const keyOf = part => JSON.stringify({...part?.dataset});
const alike = () =>
  [...element.querySelectorAll("button, input")].filter(part => keyOf(part) === last);
element.addEventListener("focusin", ({target}) => {
  last = keyOf(target);
  at = alike().indexOf(target);
});
document.addEventListener("pointerdown", ({target}) => {
  if (!element.contains(target)) last = "";
});
const focusAgain = (tries = 16) => setTimeout(() => {
  if (document.activeElement === document.body && last.length > 2)
    alike()[at]?.focus({preventScroll: true});
  if (tries > 1) focusAgain(tries - 1);
}, 60);  // until it is drawn, and what was unfolded is unfolded again, however busy the machine
"""
"""Gives the focus back to the control that had it once it is drawn anew."""
LISTED = (
    FOCUS
    + """const write = push => {
  const {asked, runs, opened, by, rule} = props.value;
  if (element.checkVisibility())
    window.writeAddress?.({run: asked ? runs.join() : "", opened: asked && opened, by, rule}, push);
};
const look = runs => {
  props.value = {...props.value, runs, opened: "", rule: "", asked: true};
  write(true);
  trigger("select");
};
element.addEventListener("change", () => look(
  [...element.querySelectorAll("input:checked")].map(tick => tick.dataset.run)
));
element.addEventListener("click", ({target}) => {
  const open = target.closest("[data-open]"), act = target.closest("[data-do]");
  if (open) look([open.dataset.open]);
  if (act && (!act.dataset.sure || window.confirm(act.dataset.sure)))
    trigger("click", {act: act.dataset.do, run: act.dataset.run});
});
watch(["value", "rows"], () => {
  write(false);
  focusAgain();
  window.tellProgress?.(element.querySelector("[data-state]")?.outerHTML);
});"""
)
"""Ticks and presses of titles look at runs, which the address names; other presses act on one."""
FOUND = """const part = element.closest(".runs-shown");
let kind = "", words = [];
const find = () => {
  for (const row of part.querySelectorAll(".runs li")) {
    const text = row.textContent.toLowerCase();
    const missing = words.some(word => !text.includes(word));
    const hide = Boolean(missing || (kind && !row.classList.contains(kind)));
    if (row.hidden !== hide) row.hidden = hide;
  }
};
element.addEventListener("input", ({target}) => {
  if (target.type === "radio") kind = target.value;
  else words = target.value.toLowerCase().split(/\\s+/).filter(Boolean);
  find();
});
element.addEventListener("click", ({target}) => {
  const press = target.closest("button");
  if (press?.dataset.all) part.classList.toggle("all");
  if (!press?.dataset.tick) return;
  const ticks = [...part.querySelectorAll(".runs li:not([hidden]) input")];
  const other = ticks.some(tick => !tick.checked);
  for (const tick of ticks) tick.checked = other;
  ticks[0]?.dispatchEvent(new Event("change", {bubbles: true}));
});
// gradio draws the rows anew in place, and what is hidden is shown by that
const anew = {childList: true, subtree: true, attributeFilter: ["hidden"]};
new MutationObserver(find).observe(part, anew);"""
"""Shows the rows that are searched for, and ticks all that are shown."""
HEAD = Markup(
    '<div class="strip"><h2 class="title">Runs</h2>'
    '<div class="choice" role="radiogroup" aria-label="whose runs">{}</div>'
    '<span class="grow"></span>'
    '<button type="button" class="link" data-tick="1">Tick all shown</button>'
    '<input type="search" placeholder="search runs" aria-label="search runs"></div>'
)
WHOSE = Markup('<label><input type="radio" name="whose-{}" value="{}"{}> {}</label>')
GONE = (
    "The link names the run {}, which is not here, or which this browser may not see; ask who gave "
    "you the link for one made by Copy link."
)
FOOT = Markup(
    '<p class="fine">A press opens a run; ticked ones are drawn together. Runs go on when this '
    "page is closed, and are found here again.</p>"
)
RESULT = (
    FOCUS
    + """const live = document.createElement("p");
live.className = "heard";
live.setAttribute("role", "status");
element.parentElement.append(live);
let pressed = "";
element.addEventListener("change", ({target}) => {
  if (target.dataset.rule) trigger("select", {rule: `${target.dataset.rule}:${target.value}`});
  if (target.dataset.by) trigger("select", {by: target.dataset.by});
});
element.addEventListener("click", ({target}) => {
  const press = target.closest("button[data-cell], button[data-begin]");
  if (!press || press.closest(".generalised")) return;
  if (press.dataset.begin) return trigger("select", {begin: press.dataset.begin});
  pressed = press.dataset.cell;
  trigger("select", {opened: pressed});
});
watch("value", () => {
  focusAgain();
  live.textContent = element.querySelector(".say, .empty h3")?.textContent ?? "";
  if (pressed) element.querySelector("#outcome")?.scrollIntoView({block: "nearest"});
  pressed = "";
});"""
)
"""Tells what was pressed, chosen or typed in a result, and says to a screen reader what it says."""
ASK = """async () => {
  const may = window.Notification ? await Notification.requestPermission() : "denied";
  const said = may === "granted" ? "You will be told" : "The browser's tab will say so";
  document.activeElement.closest("button").textContent = said;
}"""
"""Asks whether to notify, and says in the button what will be done."""


@dataclass(frozen=True)
class Runs:
    """The runs of some views by what a visitor may see of them, and what is done with them."""

    views: Sequence[RunView]
    store: Store
    engine: Engine
    gallery: Sequence[StoredRun] = ()
    path: str = "train"

    def view_of(self, run: StoredRun) -> RunView:
        """Return the view of a run."""
        return next(view for view in self.views if run.kind in view.kinds)

    def own(self, owner: str, task: Task) -> list[StoredRun]:
        """Return all runs that a visitor may read, newest first. Raises StoreError."""
        kinds = [kind for view in self.views for kind in view.kinds]
        runs = [
            run
            for kind in kinds
            for run in access.readable_runs(self.store, owner, kind)
            if asks_alike(task_of(run), task)
        ]
        return sorted(runs, key=lambda run: run.created, reverse=True)

    def ready(self, task: Task) -> list[list[StoredRun]]:
        """Return the gallery's runs of a task, those of a row together; the first model first."""
        groups: dict[tuple[str, str], list[StoredRun]] = {}
        for view in self.views:
            runs = [run for run in self.gallery if run.kind in view.kinds]
            runs.sort(key=lambda run: (run.plan["model"] != DEFAULT, view.rank(run)))
            for run in runs:
                if asks_alike(task_of(run), task):
                    groups.setdefault((view.name, view.group(run)), []).append(run)
        return list(groups.values())

    def looked_at(self, looked: Looked) -> list[StoredRun]:
        """Return the runs looked at that a visitor may see. Raises StoreError."""
        here = {run.id: run for run in self.gallery}
        here |= {run.id: run for run in access.chosen_runs(self.store, looked.owner, looked.runs)}
        kinds = [kind for view in self.views for kind in view.kinds]
        return [here[name] for name in looked.runs if name in here and here[name].kind in kinds]

    def usual(self, looked: Looked, name: str, models: Sequence[str] = ()) -> Looked:
        """Look at what a view begins with: the newest runs of one's own, else the gallery's.

        Of the gallery those of a model that is chosen, the first model's where it has none; where
        rows are of a run each, all of the model. Raises StoreError.
        """
        view = next(each for each in self.views if each.name == name)
        own = [run for run in self.own(looked.owner, looked.task) if run.kind in view.kinds]
        if own:
            sweep = own[0].artefacts.get("sweep", own[0].id)
            same = [run.id for run in own if run.artefacts.get("sweep", run.id) == sweep]
            return replace(looked, runs=tuple(same), opened="")
        rows = [each for each in self.ready(looked.task) if each[0].kind in view.kinds]
        if not rows:
            return replace(looked, runs=(), opened="")
        of_models = [each for each in rows if each[0].plan["model"] in models] or [
            each for each in rows if each[0].plan["model"] == rows[0][0].plan["model"]
        ]
        shown = of_models if view.together is None else of_models[:1]
        return replace(looked, runs=tuple(run.id for each in shown for run in each), opened="")

    def rows(self, looked: Looked, runs: Sequence[StoredRun]) -> Markup:
        """Show the list: own runs, then ready-made ones, of these first those looked at.

        Raises StoreError.
        """
        own, there = self.own(looked.owner, looked.task), {run.id for run in runs}
        waiting = any(run.state == "queued" for run in own)
        going = self.store.runs_where(IS_OPEN) if waiting else ()
        with_cells = {
            run.id: run
            for run in access.chosen_runs(
                self.store, looked.owner, [run.id for run in own if run.state != "done"]
            )
        }
        drawn = list[Markup]()
        for each in own:
            run = with_cells.get(each.id, each)
            waits = [seconds_left(one) for one in going if one.created < run.created]
            far = how_far(run, len(waits), sum(waits) if all(waits) else 0.0)
            drawn.append(row(self.view_of(run), [run], looked, far))
        first = {self.view_of(run).name for run in runs}
        ready = sorted(
            self.ready(looked.task),
            key=lambda each: (each[0].id not in there, self.view_of(each[0]).name not in first),
        )
        drawn += [row(self.view_of(each[0]), each, looked) for each in ready]
        listed = join(drawn) or Markup('<li class="none soft">None yet.</li>')
        return Markup('<ul class="runs">{}</ul>{}').format(listed, told(self.views, runs))

    def act(self, act: str, looked: Looked, ids: Sequence[str]) -> None:
        """Stop, take up or delete a visitor's own runs. Raises StoreError, LimitError."""
        for run_id in ids:
            access.own_run(self.store, looked.owner, run_id)
            if act == "stop":
                self.engine.cancel(run_id)
            elif act == "again":
                self.engine.reopen(run_id)
            elif act == "delete":
                access.delete_run(self.store, self.engine, looked.owner, run_id)

    def link(self, looked: Looked) -> Markup:
        """Return the link to the runs looked at, own ones with what lets others read them."""
        runs = self.looked_at(looked)
        own = [run.id for run in runs if run.owner == looked.owner]
        grants = [access.share(self.store, looked.owner, run_id) for run_id in own]
        name = self.view_of(runs[0]).name if runs else self.views[0].name
        to = link_to_run([run.id for run in runs], grants, looked.task.name, name, self.path)
        whose = "Whoever has this link sees" if runs else "Nothing is looked at:"
        what = "the runs looked at" if len(runs) != 1 else "this run"
        return shared_link(to, bool(grants), label=f"{whose} {what}")

    def start(
        self, owner: str, requests: Sequence[RunRequest], keeps_models: bool = True
    ) -> tuple[StoredRun, ...]:
        """Start runs for a visitor. Raises a sentence for the person."""
        check_start(self.store, owner)
        if keeps_models:
            access.check_kept_models(self.store, owner, len(requests))
        return access.start_runs(self.store, self.engine, owner, requests)


def task_of(run: StoredRun) -> Task:
    """Return the task of a run's model and examples."""
    return task_named(run.plan.get("task", NLI.name))


def _files(view: RunView, run: StoredRun, folder: Path) -> Sequence[Path]:
    """Write what a person takes away of one run into a folder."""
    return view.files([run], folder, Looked(run.owner, task_of(run)))


class RunArea:
    """The components of the list and of the results, and what they answer."""

    def __init__(self, page: Page, views: Sequence[RunView], name: str, path: str) -> None:
        """Lay them out as a newcomer sees them, and wire them; `name` begins the elements' ids."""
        core = page.core
        gallery = gallery_runs(core.gallery)
        for view in views:
            for kind in view.kinds:
                RUN_FILES[kind] = partial(_files, view)
        self.runs, self.name, self.page = (
            Runs(views, core.store, core.engine, gallery, path),
            name,
            page,
        )
        begun, there, rows = Looked("", NLI), list[StoredRun](), NOTHING
        with suppress(StoreError):  # which opening says
            begun = self.runs.usual(begun, views[0].name)
            there = self.runs.looked_at(begun)
            # nothing is ticked before the page has opened, whose answer would undo it
            rows = Markup("<div inert>{}</div>").format(self.runs.rows(begun, there))

        def draw_first() -> None:
            """Draw behind the first page what the next ones begin with, which takes scipy."""
            self.results.value = results(views, there, begun)

        core.behind.append(draw_first)
        small: dict[str, Any] = {"visible": False, "size": "sm", "scale": 0}
        with gr.Column(elem_classes=["card", "runs-shown"], elem_id=f"{name}-list"):
            gr.HTML(_head(name), padding=False, js_on_load=FOUND)
            self.list = gr.HTML(
                begun.value, rows=rows, html_template="${rows}",
                js_on_load=LISTED,
                padding=False, elem_id=f"{name}-runs",
            )  # fmt: skip
            gr.HTML(FOOT, padding=False)
            with gr.Row(elem_classes="tools"):
                self.tell = gr.Button("Tell me when it ends", elem_id=f"{name}-tell", **small)
        self.problem = gr.HTML(elem_id=f"{name}-problem", padding=False)
        self.share = gr.HTML(elem_id=f"{name}-share", padding=False)
        self.results = gr.HTML(
            elem_id=f"{name}-results",
            padding=False,
            js_on_load=RESULT,
        )
        with gr.Row(elem_classes="tools"):
            self.take = gr.Button("Report and files", elem_id=f"{name}-take", **small)
            self.copy = gr.Button("Copy link", elem_id=f"{name}-copy", **small)
        self.files = gr.Files(
            visible=False, interactive=False, label="Points, figures, report",
            elem_id=f"{name}-files",
        )  # fmt: skip
        self.timer = gr.Timer(2.0, active=False)
        self.turn = in_turn(f"look-{name}")
        self._wire()

    @property
    def asked(self) -> set[Any]:
        """What tells the visitor and what is looked at."""
        return {self.page.owner, self.page.task, self.list}

    @property
    def shown(self) -> list[Any]:
        """What a handler may answer with."""
        return [
            self.list, self.results, self.timer, self.take, self.copy, self.tell, self.files,
            self.share, self.problem,
        ]  # fmt: skip

    def looked(self, values: Values) -> Looked:
        """Return what is looked at."""
        return Looked.read(values[self.page.owner], values[self.page.task], values[self.list])

    def draw(self, looked: Looked) -> Updates:
        """Show the list and, where it changed, what the runs looked at came to."""
        try:
            runs = self.runs.looked_at(looked)
            rows = self.runs.rows(looked, runs)
            own = self.runs.own(looked.owner, looked.task)
        except StoreError as trouble:  # the database may be back at the next tick
            return {self.problem: alert(trouble)}
        going = any(run.state in OPEN for run in (*own, *runs))
        mark = mark_of(runs, looked)
        drawn: Updates = {
            self.list: gr.HTML(value=replace(looked, seen=mark).value, rows=rows),
            self.timer: gr.Timer(active=going),
            self.tell: gr.Button(visible=going),
        }
        if mark == looked.seen:
            return drawn
        return drawn | {
            self.results: results(self.runs.views, runs, looked),
            self.take: gr.Button(visible=any(run.results for run in runs)),
            self.copy: gr.Button(visible=bool(runs)),
            self.files: gr.Files(None, visible=False),
            self.share: NOTHING,
        }

    def press(self, values: Values, event: gr.EventData) -> Updates:
        """Do what was pressed in a row."""
        looked, act = self.looked(values), str(getattr(event, "act", ""))
        ids = [each for each in str(getattr(event, "run", "")).split(",") if each]
        try:
            if act == "link":
                return {self.share: self.runs.link(replace(looked, runs=tuple(ids)))}
            self.runs.act(act, looked, ids)
        except UserError as trouble:
            return {self.problem: alert(trouble)}
        if act == "delete":
            looked = replace(looked, runs=tuple(run for run in looked.runs if run not in ids))
        return {self.problem: NOTHING, self.share: NOTHING} | self.draw(looked)

    def change(self, values: Values, event: gr.EventData) -> Updates:
        """Show the runs looked at in the way that was pressed, chosen or typed in the results."""
        looked = self.looked(values)
        if pressed := getattr(event, "begin", None):
            return self._begin(looked, str(pressed))
        said: dict[str, Any] = {
            name: str(getattr(event, name))
            for name in ("opened", "by", "rule")
            if getattr(event, name, None) is not None
        }
        return self.draw(replace(looked, **said, asked=True))

    def _begin(self, looked: Looked, run_id: str) -> Updates:
        """Start the run that would tell what one that is looked at does not, and look at it."""
        try:
            run = next((run for run in self.runs.looked_at(looked) if run.id == run_id), None)
            begin = self.runs.view_of(run).begin if run else None
            if run is None or begin is None:
                return {self.problem: alert(f"there is no run {run_id!r} here")}
            begun = self.runs.start(looked.owner, [begin(looked, run)])
        except UserError as trouble:
            return {self.problem: alert(trouble)}
        return {self.problem: NOTHING} | self.draw(looking_at(looked, *(run.id for run in begun)))

    def make_files(self, values: Values) -> Updates:
        """Write the files of the runs that are looked at."""
        looked = self.looked(values)
        check_room(self.runs.store, looked.owner)
        runs = [run for run in self.runs.looked_at(looked) if run.results]
        made = list[str]()
        for view in self.runs.views:
            if own := [run for run in runs if run.kind in view.kinds]:
                made += map(str, view.files(own, fresh_folder(looked.owner, taken=True), looked))
        return {self.files: gr.Files(made, visible=True)}

    def linked(
        self, owner: str, task: Task, query: dict[str, str], name: str, models: Sequence[str] = ()
    ) -> tuple[Looked, Markup]:
        """Return what a link says is looked at, else the usual, and what is wrong with it."""
        said = {key: query.get(key, "") for key in ("opened", "by", "rule")}
        asked = query.get("run", "")
        looked = Looked.read(owner, task.name, {"runs": [asked], "asked": bool(asked), **said})
        try:
            there = {run.id for run in self.runs.looked_at(looked)}
            gone = ", ".join(run for run in looked.runs if run not in there)
            problem = alert(GONE.format(shortened(gone))) if gone else NOTHING
            if there:
                return looked, problem
            return self.runs.usual(replace(looked, asked=False), name, models), problem
        except StoreError as trouble:
            return looked, alert(trouble)

    def _wire(self) -> None:
        asked, shown = self.asked, self.shown

        def look(values: Values) -> Updates:
            """Show what is looked at by now."""
            return self.draw(self.looked(values))

        def share(values: Values) -> Updates:
            """Show the link to what is looked at."""
            try:
                return {self.share: self.runs.link(self.looked(values))}
            except UserError as trouble:
                return {self.problem: alert(trouble)}

        copied = {"js": copy_script(f"{self.name}-share"), **QUIET}
        self.list.select(look, asked, shown, **EACH, **self.turn)
        pressed = self.list.click(self.press, asked, shown, **EACH, **self.turn)
        pressed.then(None, **copied)
        self.results.select(self.change, asked, shown, **EACH, **self.turn)
        self.timer.tick(look, asked, shown, **self.turn)
        self.page.on_return(look, asked, shown, **self.turn)
        self.tell.click(None, js=ASK, **QUIET)
        self.take.click(self.make_files, asked, self.files, api_visibility="private")
        self.copy.click(share, asked, [self.share, self.problem], **QUIET).then(None, **copied)


def _head(name: str) -> Markup:
    choices = (
        ("", "All", Markup(" checked")),
        ("mine", "Mine", NOTHING),
        ("ready", "Ready-made", NOTHING),
    )
    whose = join(WHOSE.format(name, value, checked, words) for value, words, checked in choices)
    all_runs = Markup('<button type="button" class="link more" data-all="1">All runs</button>')
    return HEAD.format(whose + all_runs)
