"""Learn: lessons that predict, run it live and show the paper's figure beside one's own.

One set of components shows any step. What a browser saw and guessed it remembers itself; what a
step came to is kept by the app for each model, so that it is there again after a reload.
"""

import inspect
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import SurveyError, UserError
from probe.surveys.survey import end_survey, join, own_survey, start_class, survey_of
from probe.tasks.task import Task, task_named
from probe.ui.answers.answering import in_steps
from probe.ui.choices import model_choices
from probe.ui.events import (
    CHANGING,
    EACH,
    GIVE_BACK_AND_HIDE,
    LAST,
    PRESSED,
    QUIET,
    cell_of,
    fetched,
    in_turn,
    scroll_to,
)
from probe.ui.html.elements import NOTHING, alert, moving, note, saved, told
from probe.ui.lessons import drawing, live
from probe.ui.lessons.lesson import Finding, Lesson, Live, Place, Setting, Step, find, places_of
from probe.ui.links import code_in, link_to_lesson, not_here
from probe.ui.page import Answer, Core, Page
from probe.ui.tabs import look_up, teaching
from probe.ui.visitors.belongings import CLASS_FILES, REMEMBERED, Belonging
from probe.ui.visitors.visitor_files import fresh_folder

ALL = ""
"""The place from which every lesson is chosen."""
MAX_CHOICES = 4
"""How many choices a guess has at most."""
CHOOSE_FIRST = "First choose what you expect, then press again."
GONE = "What this came to is not kept any longer. Run it again to see it."
STOPPED = "Stopped. Run it again when you like."
RUN, AGAIN, FINISHED = "Run it live", "Run it again", "Show the finished run"
WAITING, ASKING = moving("Waiting for its turn …"), moving("The model reads and answers …")
Kept = dict[
    str, Any
]  # Any: JSON of the browser: `seen` steps, `guesses` by step and model, `right`
Shown = dict[str, Any]  # Any: values and gradio's updates, by the names of the components
TO_ADDRESS = """(named, task, model) => {
  const [lesson, step] = named.split("."), here = new URL(window.location.href).searchParams;
  const said = lesson ? { lesson: lesson.replace("_", "-"), step, task, model }
    : { lesson: "", step: "", model: "" };
  const moved = ["lesson", "step"].some(name => (here.get(name) || "") !== said[name]);
  window.writeAddress(lesson ? { ...said, look: "" } : said, moved);
  const learn = document.getElementById("learn");
  if (moved && learn.getBoundingClientRect().top < 0) learn.scrollIntoView();
}"""
OF_GUESTS = """named => window.writeAddress({ step: named.split(".")[1] }, true)"""
"""Keep in the address which step is shown; Back leads to the one before."""
BACK = (
    PRESSED
    + """window.moveWithin = ({ searchParams }) => {
  const { lesson } = element.querySelector("[data-lesson]")?.dataset
    ?? { lesson: searchParams.get("lesson") };
  trigger("click", { cell: lesson ? `${lesson}.${searchParams.get("step") ?? 1}` : "all" });
  return true;
};"""
)
"""Goes to the step that the address names, when Back or Forward was pressed."""
TO_RESULT = scroll_to("learn-result", "nearest", after=100)
"""Brings what a press comes to into sight, its head where all of it has no room."""
CLASS = ("group", "saved", "code", "timer")
"""The parts in which a class is shown."""
SECONDS = 3
"""Between two looks at what the class has guessed."""
TEACHING = "code => code && window.writeAddress({ class: code })"
RUNNING = {"run": gr.update(interactive=False), "stop": gr.update(visible=True)}
ENDED = {"run": gr.update(interactive=True), "stop": gr.update(visible=False)}
HEARD = f"""() => [{json.dumps(WAITING)}, "", {{ __type__: "update", interactive: false }},
  {{ __type__: "update", visible: true }}]"""
"""Shows that a press was heard, before its turn comes, and takes no other until it is answered."""
PRINT = """() => setTimeout(() => {
  const { style } = document.querySelector("footer");
  style.display = "none";
  window.print();
  style.display = "";
}, 100)"""


@dataclass(frozen=True)
class Learning:
    """The lessons and what they work with, for all or for the guests of a class."""

    lessons: Sequence[Lesson]
    core: Core
    guests: bool = False

    def open_page(self, task: str, visitor: str, kept: Kept | None, request: gr.Request) -> Shown:
        """Show the step that a link names for this task, or all lessons."""
        query, asked = request.query_params, task_named(task)
        named = f"{query.get('lesson', '')}.{query.get('step', '1')}"
        shown = self.show(named, task, query.get("model"), visitor, kept)
        if "lesson" in query and shown["place"] == ALL:
            instead = f"all lessons for {asked.title.lower()} are listed"
            shown["text"] = alert(not_here("lesson", query["lesson"], instead)) + shown["text"]
        code = query.get("class", "")
        return {**shown, "code": code, "timer": gr.Timer(active=bool(code))}

    def take_part(self, task: str, visitor: str, kept: Kept | None, request: gr.Request) -> Shown:
        """Take part in the class of a link, at the step that the address names."""
        query, store = request.query_params, self.core.store
        try:
            group = survey_of(store, code_in(query), "lesson")
            if group.owner != visitor and not group.ended:
                join(store, group, visitor)
        except UserError as trouble:
            return {"text": alert(trouble)}
        asked = group.content
        named = f"{asked['lesson']}.{query.get('step', asked.get('step', 1))}"
        shown = self.show(named, asked["task"], asked["model"], visitor, kept)
        return {**shown, "code": group.id, "task": asked["task"], "timer": gr.Timer(active=True)}

    def go_to(
        self,
        event: gr.EventData,
        task: str,
        model: str | None,
        visitor: str,
        kept: Kept | None,
    ) -> Shown:
        """Show the place whose button was pressed."""
        return self.show(cell_of(event), task, model, visitor, kept)

    def show(
        self, place: str, task: str, model: str | None, visitor: str, kept: Kept | None,
        guess: int | None = None,
    ) -> Shown:  # fmt: skip
        """Show a place, or all lessons where there is none of this name in the task.

        What is guessed stays guessed where another model is chosen that has not been run.
        """
        asked, kept = task_named(task), remember(kept)
        here = find(self.lessons, place, asked)
        if here is None:
            hidden = gr.update(visible=False)
            overview = drawing.overview(self.lessons, asked, kept["seen"], kept["right"])
            return {
                "place": ALL, "text": overview, "result": NOTHING, "figures": NOTHING,
                "moves": NOTHING, "below": gr.update(visible=True),
                **dict.fromkeys(("contents", "guess", "model", "run", "stop"), hidden),
            }  # fmt: skip
        names = self.core.models.names(visitor, asked)
        model = model if model in names else next(iter(names), None)
        kept, step = remember(kept, seen=here.key), here.step
        choice = guessed(kept, here.key, model)
        head = drawing.GUEST.format(here.lesson, here.number, len(here.steps))
        return {
            "place": here.name,
            "kept": kept,
            "contents": gr.HTML(
                drawing.contents(self.lessons, here, kept["seen"]), visible=not self.guests
            ),
            "text": drawing.step_text(step, head if self.guests else NOTHING, not self.guests),
            "guess": _radio(step, choice, guess),
            "model": gr.Dropdown(
                choices=model_choices(names),
                value=model,
                visible=step.live is not None and not self.guests,
            ),
            "run": _run_button(step, choice),
            "stop": gr.update(visible=False),
            "moves": drawing.moves(here, self.guests, choice is not None),
            "below": gr.update(visible=False),
            **self._result(here, model, choice),
        }

    def _result(self, here: Place, model: str | None, choice: int | None) -> Shown:
        """Show again what a step came to; a run of one's own is looked up behind it."""
        if choice is None or model is None or here.step.again:
            return {"result": NOTHING, "figures": NOTHING}
        finding = live.kept(model, here)
        if finding is None:
            return {"result": note(GONE), "figures": NOTHING}
        result, figures = drawing.came_to(finding, choice)
        return {"result": result, "figures": figures}

    def show_again(
        self, place: str, task: str, model: str | None, visitor: str, kept: Kept | None
    ) -> Iterator[Shown]:
        """Show what became of the latest run of one's own that a step began."""
        here = find(self.lessons, place, task_named(task))
        choice = guessed(remember(kept), here.key, model) if here else None
        if here and here.step.again and choice is not None:
            yield from self._computed(here.step.again, here, model, visitor, choice)

    def run_step(
        self, place: str, task: str, model: str | None, visitor: str, kept: Kept | None,
        guess: int | None, group: str,
    ) -> Iterator[Shown]:  # fmt: skip
        """Run the live part of a step; yield what it has come to, at the end with the verdict."""
        here = find(self.lessons, place, task_named(task))
        step = here.step if here else None
        if here is None or step is None or step.live is None:
            yield {"result": NOTHING}
            return
        if step.choices and guess not in range(len(step.choices)):
            yield {"result": alert(CHOOSE_FIRST)}
            return
        with suppress(SurveyError):  # what is shown of the class says so
            teaching.record(self.core.store, group, visitor, here, guess)
        yield {"result": ASKING}
        finding = yield from self._computed(step.live, here, model, visitor, guess)
        if finding is None:
            return
        right = None if finding.came_true is None or guess is None else finding.came_true == guess
        yield {
            "kept": remember(kept, guess=(here.key, model, guess), right=right),
            "guess": _radio(step, guess),
            "run": _run_button(step, guess),
            "moves": drawing.moves(here, self.guests, True),
        }

    def _computed(
        self, part: Live, here: Place, model: str | None, visitor: str, choice: int | None
    ) -> Generator[Shown, None, Finding | None]:
        """Yield what is shown of a live part so far; return the last finding, None without one."""
        finding = None
        try:
            classifier = self.core.models.get(visitor, model or "", here.task)
            setting = Setting(here.task, classifier, visitor, self.core)
            for finding in in_steps("file_minutes", part(setting)):
                if finding.progress:
                    yield {"result": drawing.under_way(finding), **RUNNING}
        except UserError as trouble:
            yield {"result": alert(trouble), **ENDED}
            return None
        if finding is not None:
            if not here.step.again:
                live.keep(finding, classifier.name, here)
            result, figures = drawing.came_to(finding, choice)
            yield {"result": result, "figures": figures, **ENDED}
        return finding

    def stop_step(self, place: str, task: str, model: str | None, visitor: str) -> Markup:
        """End what is run at a step, a run of one's own too."""
        here = find(self.lessons, place, task_named(task))
        try:
            if here and here.step.stop:
                here.step.stop(self.core, visitor, model or "")
        except UserError as trouble:
            return alert(trouble)
        return told(STOPPED)

    def look(self, code: str, visitor: str, place: str, task: str, request: gr.Request) -> Shown:
        """Show what a class has guessed so far."""
        if not code:
            return {"group": NOTHING}
        here, store = find(self.lessons, place, task_named(task)), self.core.store
        try:
            if self.guests:
                group = survey_of(store, code, "lesson")
                return {"group": teaching.of_member(store, group, visitor, here)}
            group = own_survey(store, visitor, code)
            return {"group": teaching.of_teacher(store, self.lessons, group, request)}
        except UserError as trouble:
            return {"group": alert(trouble)}

    def lead(self, code: str, visitor: str, place: str, task: str, request: gr.Request) -> Shown:
        """Let a class follow to the step that its teacher shows."""
        here = find(self.lessons, place, task_named(task))
        with suppress(SurveyError):  # none, or deleted, which is said below
            group = own_survey(self.core.store, visitor, code)
            if here and here in teaching.places(self.lessons, group):
                teaching.go_to(self.core.store, group, here.number)
        return self.look(code, visitor, place, task, request)

    def act(
        self, event: gr.EventData, code: str, visitor: str, place: str, task: str,
        request: gr.Request,
    ) -> Shown:  # fmt: skip
        """Do what a button of the teacher's names."""
        what, store, files = cell_of(event), self.core.store, NOTHING
        try:
            group = own_survey(store, visitor, code)
            if what.startswith("step ") and what[5:].isdecimal():
                teaching.go_to(store, group, int(what[5:7]))
            elif what == "end":
                end_survey(store, visitor, code)
            elif what == "file":
                folder = fresh_folder(visitor, taken=True)
                files = saved([teaching.write_guesses(self.lessons, store, group, folder)])
        except UserError as trouble:
            return {"group": alert(trouble)}
        return {**self.look(code, visitor, place, task, request), "saved": files}

    def teach(
        self, visitor: str, place: str, task: str, model: str | None, request: gr.Request
    ) -> Shown:
        """Begin a class at this step."""
        here, store = find(self.lessons, place, task_named(task)), self.core.store
        try:
            if here is None:
                raise SurveyError("open a lesson first")
            lesson = here.lesson
            group = start_class(store, visitor, lesson.title, lesson.name, task, model or "")
            teaching.go_to(store, group, here.number)
        except UserError as trouble:
            return {"code": "", "group": alert(trouble)}
        shown = self.look(group.id, visitor, place, task, request)
        return {**shown, "code": group.id, "timer": gr.Timer(active=True)}

    def to_print(self, event: gr.EventData, task: str) -> Markup:
        """Lay out for paper the lesson of which a button was pressed."""
        what, _, place = cell_of(event).partition(" ")
        here = find(self.lessons, place, task_named(task))
        return drawing.to_print(here.lesson, here.task, what == "answers") if here else NOTHING


def _run_button(step: Step, choice: int | None) -> gr.Button:
    words = FINISHED if step.finished else RUN if choice is None else AGAIN
    return gr.Button(
        words,
        visible=step.live is not None,
        interactive=True,
        variant="primary" if choice is None else "secondary",
    )


def _radio(step: Step, choice: int | None, guess: int | None = None) -> gr.Radio:
    """Offer the choices of a step; what was run is not guessed again with the same model.

    Where nothing was, a `guess` stands there already.
    """
    if not step.choices:
        return gr.Radio(choices=[], value=None, visible=False)
    choices = [(words, number) for number, words in enumerate(step.choices)]
    return gr.Radio(
        choices=choices,
        value=guess if choice is None else choice,
        label=step.asks,
        visible=True,
        interactive=choice is None,
    )


def remember(
    kept: object,
    seen: str = "",
    guess: tuple[str, str | None, int | None] | None = None,
    right: bool | None = None,
) -> Kept:
    """Return what a browser remembers, and one step or guess more; what it sent may be anything."""
    before = kept if isinstance(kept, dict) else {}
    known = before.get("seen")
    steps = [name for name in known if isinstance(name, str)] if isinstance(known, list) else []
    by_step, verdicts = (
        dict(each) if isinstance(each := before.get(name), dict) else {}
        for name in ("guesses", "right")
    )
    if seen:
        steps = [*(name for name in steps if name != seen), seen]
    if guess:
        key, model, choice = guess
        of_step = by_step.get(key)
        by_step[key] = {**(of_step if isinstance(of_step, dict) else {}), model: choice}
        verdicts |= {} if right is None else {key: right}
    return {"seen": steps, "guesses": by_step, "right": verdicts}


def forget(kept: object, lesson: str) -> Kept:
    """Return what a browser remembers, without a lesson."""
    known, own = remember(kept), f"{lesson}."
    seen = [key for key in known["seen"] if not key.startswith(own)]
    others = {
        name: {key: each for key, each in known[name].items() if not key.startswith(own)}
        for name in ("guesses", "right")
    }
    return {"seen": seen, **others}


def remembered(lessons: Sequence[Lesson], kept: object, task: Task) -> list[Belonging]:
    """List what a browser remembers of each lesson, as it is given in the task if in any."""
    known, rows = remember(kept), list[Belonging]()
    for lesson in lessons:
        given = sorted(lesson.tasks, key=lambda each: each is not lesson.nearest(task))
        all_steps = [places_of(lesson, each) for each in given]
        steps = max(all_steps, key=lambda steps: any(each.key in known["seen"] for each in steps))
        seen = [each.number for each in steps if each.key in known["seen"]]
        right = [known["right"][each.key] for each in steps if each.key in known["right"]]
        if seen:
            done = len(seen) == len(steps)
            said = "done" if done else f"step {seen[-1]} of {len(steps)}"
            said += f", {sum(right)} of {len(right)} guessed right" if right else ""
            opens = link_to_lesson(lesson.slug, 1 if done else seen[-1], steps[0].task.name)
            name = f"Lesson · {lesson.title}"
            rows.append(Belonging(lesson.name, name, said, "in this browser", {"Open": opens}))
    return rows


def guessed(kept: Mapping[str, Any], key: str, model: str | None) -> int | None:
    """Return the choice that was made at a step for a model."""
    of_step = kept["guesses"].get(key)
    choice = of_step.get(model) if isinstance(of_step, dict) else None
    return choice if isinstance(choice, int) else None


def build(page: Page, lessons: Sequence[Lesson], guests: bool = False) -> None:
    """Put the page together: for all, or for who follows the link to a class."""
    learning = Learning(lessons, page.core, guests)
    parts: dict[str, Any] = {"kept": page.memory}  # Any: components share no useful type
    if not guests:
        _build_class(parts)
    with gr.Row(elem_id="learn", elem_classes="guest" if guests else ""):
        with gr.Column(scale=3, min_width=240, elem_id="learn-side"):
            parts["contents"] = gr.HTML(
                visible=False, padding=False, elem_id="learn-steps", js_on_load=PRESSED
            )
        with gr.Column(scale=9, min_width=300):
            with gr.Column(elem_classes="card", elem_id="learn-card"):
                first = NOTHING if guests else drawing.overview(lessons, task_named("nli"))
                parts["text"] = gr.HTML(first, padding=False, elem_id="learn-text", js_on_load=BACK)
                # a step says what the numbers mean; the app takes no other, whatever it has shown
                parts["guess"] = gr.Radio(
                    list(range(MAX_CHOICES)), label="Guess", visible=False, elem_id="learn-guess"
                )
                with gr.Row(elem_id="learn-live"):
                    parts["model"] = gr.Dropdown(
                        [], label="Model", visible=False, min_width=140, elem_id="learn-model",
                        **CHANGING,
                    )  # fmt: skip
                    parts["run"] = gr.Button(
                        RUN, visible=False, variant="primary", min_width=120, elem_id="learn-run"
                    )
                    parts["stop"] = gr.Button(
                        "Stop", visible=False, min_width=80, elem_id="learn-stop"
                    )
            parts["result"] = gr.HTML(padding=False, elem_id="learn-result")
            if guests:
                _build_class(parts)
            parts["figures"] = gr.HTML(padding=False, elem_id="learn-figures")
            parts["moves"] = gr.HTML(padding=False, elem_id="learn-moves", js_on_load=PRESSED)
    parts["place"] = gr.Textbox(ALL, label="place", visible=False)
    with gr.Column(visible=not guests, elem_id="look-up") as parts["below"]:
        if not guests:
            look_up.build(page)
    printed = gr.HTML(padding=False, elem_id="learn-paper")
    _react(page, learning, parts, printed)


def _build_class(parts: dict[str, Any]) -> None:
    """Lay out what is shown of a class."""
    with gr.Column(elem_id="learn-class"):
        parts["group"] = gr.HTML(padding=False, elem_id="learn-guessed", js_on_load=PRESSED)
        parts["saved"] = gr.HTML(padding=False, elem_id="learn-saved")
    parts["code"] = gr.Textbox("", label="class", visible=False)
    parts["timer"] = gr.Timer(SECONDS, active=False)


def _react(page: Page, learning: Learning, parts: dict[str, Any], printed: gr.HTML) -> None:
    asked = {"task": page.task, "model": parts["model"], "visitor": page.owner}
    here = {"place": parts["place"], **asked, "kept": page.memory}
    at = {name: part for name, part in here.items() if name != "kept"}
    in_class = {"code": parts["code"], **{name: at[name] for name in ("visitor", "place", "task")}}
    live_part = {"concurrency_id": "learn", "concurrency_limit": 4, **QUIET}
    outputs = [part for name, part in parts.items() if name not in CLASS]
    of_class = [parts[name] for name in CLASS]

    shown = [parts[name] for name in ("result", "figures", "run", "stop")]
    heard = parts["run"].click(None, None, shown, js=HEARD, **QUIET)
    heard.then(None, js=TO_RESULT, **QUIET)
    pressed = {**here, "guess": parts["guess"], "group": parts["code"]}
    running = heard.then(
        by_name(learning.run_step, parts), None, outputs, inputs_kwargs=pressed, **live_part
    )
    ended = running.then(None, None, shown[2:], js=GIVE_BACK_AND_HIDE, **QUIET)
    ended.then(None, js=TO_RESULT, **QUIET)

    turn = in_turn("learn-view")
    presses = [parts[name].click for name in ("contents", "text", "moves")]
    go_to, show = by_name(learning.go_to, parts), by_name(learning.show, parts)
    chosen = parts["model"].input
    to_go, to_choose = {**asked, "kept": page.memory}, {**here, "guess": parts["guess"]}
    shows = [
        gr.on(presses, go_to, None, outputs, inputs_kwargs=to_go, **EACH, **turn),
        chosen(show, None, outputs, inputs_kwargs=to_choose, **LAST, **turn),
    ]
    known = [page.task, page.owner, page.memory]
    if learning.guests:
        joined = {**parts, "task": page.task}
        open_page = by_name(learning.take_part, joined)
        shows.append(page.on_open(open_page, known, list(joined.values()), **turn))
        shows[-1].then(None, page.task, None, js="task => window.showTask(task)", **QUIET)
    else:
        open_page = by_name(learning.open_page, parts)
        shows.append(page.on_open(open_page, known, list(parts.values()), **turn))
        print_it = parts["contents"].select
        filled = print_it(learning.to_print, page.task, printed, **EACH, **QUIET)
        filled.then(None, js=PRINT, **QUIET)
        acted = parts["group"].click(
            by_name(learning.act, parts), None, of_class, inputs_kwargs=in_class, **EACH, **QUIET
        )
        acted.then(None, js=fetched("learn-saved"), **QUIET)
        begun = parts["contents"].submit(
            by_name(learning.teach, parts), None, of_class, inputs_kwargs=at, **QUIET
        )
        begun.then(None, parts["code"], None, js=TEACHING, **QUIET)
        begun.then(None, js=scroll_to("learn-class"), **QUIET)
        CLASS_FILES["guesses"] = partial(teaching.write_guesses, learning.lessons)
        REMEMBERED["lessons"] = partial(remembered, learning.lessons)
    again, followed = by_name(learning.show_again, parts), [running]
    for went in shows:
        to_address = [parts["place"], page.task, parts["model"]]
        went.then(None, to_address, None, js=OF_GUESTS if learning.guests else TO_ADDRESS, **QUIET)
        followed.append(went.then(again, None, outputs, inputs_kwargs=here, **live_part))
    # what is run at a step goes on for nobody once another one is shown
    gr.on([*presses, chosen, parts["stop"].click], None, cancels=followed, **QUIET)
    stopped = parts["stop"].click(
        learning.stop_step, None, parts["result"], inputs_kwargs=at, **QUIET
    )
    stopped.then(None, None, shown[2:], js=GIVE_BACK_AND_HIDE, **QUIET)
    lead, look = by_name(learning.lead, parts), by_name(learning.look, parts)
    for event in [*shows, running]:
        event.then(lead, None, parts["group"], inputs_kwargs=in_class, **QUIET)
    parts["timer"].tick(look, None, parts["group"], inputs_kwargs=in_class, **QUIET)


def by_name(answer: Answer, parts: Mapping[str, Any]) -> Answer:
    """Let a handler return values by the names of the parts that they are for."""

    def named(shown: Shown) -> dict[Any, Any]:
        return {parts[name]: value for name, value in shown.items() if name in parts}

    @wraps(answer)
    def streamed(*given: Any, **asked: Any) -> Iterator[dict[Any, Any]]:
        yield {parts["result"]: gr.skip()}  # where nothing is given gradio empties all
        for shown in answer(*given, **asked):
            yield named(shown)

    @wraps(answer)
    def answered(*given: Any, **asked: Any) -> dict[Any, Any]:
        return named(answer(*given, **asked))

    return streamed if inspect.isgeneratorfunction(answer) else answered
