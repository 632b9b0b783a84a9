"""What the Learn tab shows of a place in its lessons, and what its live parts come to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import UserError
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.ui.answers.answering import in_steps
from probe.ui.choices import model_choices
from probe.ui.html.elements import NOTHING, alert, told
from probe.ui.lessons import sheets
from probe.ui.lessons.lesson import Finding, Lesson, Setting, Step
from probe.ui.links import link_to_lesson, not_here
from probe.ui.page import Core
from probe.ui.tab_outputs import TabOutputs

ALL = ""
"""The place from which every lesson is chosen."""
MAX_CHOICES = 4
"""How many choices a guess has at most."""
CHOOSE_FIRST = "First choose what you expect, then press again."
WAITING = "Waiting for its turn …"
RUN, AGAIN, FINISHED = "Run it live", "Run it again", "Show the finished run"
Kept = Mapping[str, Any]  # Any: JSON of the browser: `seen` steps, `guesses` by step and model


@dataclass
class Outputs(TabOutputs):
    """What the tab shows, in the order of its outputs; what is not given stays."""

    place: Any = field(default_factory=gr.skip)  # Any: text, or one of gradio's updates
    address: Any = field(default_factory=gr.skip)
    kept: Any = field(default_factory=gr.skip)
    contents: Any = field(default_factory=gr.skip)
    text: Any = field(default_factory=gr.skip)
    guess: Any = field(default_factory=gr.skip)
    model: Any = field(default_factory=gr.skip)
    run: Any = field(default_factory=gr.skip)
    result: Any = field(default_factory=gr.skip)
    back: Any = field(default_factory=gr.skip)
    onward: Any = field(default_factory=gr.skip)
    to_print: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class Place:
    """A step of a lesson in a task."""

    lesson: Lesson
    task: Task
    number: int

    @property
    def step(self) -> Step:
        """The step."""
        return self.lesson.step(self.task, self.number)

    @property
    def key(self) -> str:
        """By what the browser remembers the step."""
        return sheets.step_key(self.lesson, self.step)

    @property
    def last(self) -> bool:
        """Whether the lesson ends here."""
        return self.number == len(self.lesson.steps[self.task.name])


@dataclass(frozen=True)
class View:
    """The lessons and what they work with."""

    lessons: Sequence[Lesson]
    core: Core

    def find(self, named: str, task: Task) -> Place | None:
        """Return the place of a name such as word_salad.3, None for one that is not given."""
        name, _, number = named.partition(".")
        for lesson in self.lessons:
            if lesson.name == name and task.name in lesson.steps:
                most = len(lesson.steps[task.name])
                asked = int(number) if number.isdecimal() and len(number) < 4 else 1
                return Place(lesson, task, min(max(asked, 1), most))
        return None

    def open_page(
        self, task_name: str, visitor: str, kept: Kept | None, request: gr.Request
    ) -> list[Any]:
        """Show the step that a link names for this task, or all lessons, as they were built."""
        task = task_named(task_name)
        query = request.query_params
        if "lesson" in query:
            named = f"{query['lesson']}.{query.get('step', '1')}"
            if self.find(named, task) is None:
                return self._show_no_lesson(query["lesson"], task).outputs
            return self.show(named, task_name, query.get("model"), visitor, kept)
        if task_name == NLI.name:
            return Outputs().outputs
        return self.show(ALL, task_name, None, visitor, kept)

    def show(
        self, named: str, task_name: str, model: str | None, visitor: str, kept: Kept | None
    ) -> list[Any]:
        """Show a place, or all lessons where there is none of this name in the task."""
        task = task_named(task_name)
        place = self.find(named, task)
        if place is None:
            return self._show_all(task).outputs
        names = self.core.models.names(visitor, task)
        model = model if model in names else next(iter(names), None)
        remembered = remember(kept, seen=place.key)
        return self._show_step(place, model, names, remembered).outputs

    def _show_all(self, task: Task) -> Outputs:
        hidden = gr.update(visible=False)
        return Outputs(
            place=ALL,
            address="learn",
            contents=hidden,
            text=sheets.overview(self.lessons, task),
            guess=hidden,
            model=hidden,
            run=hidden,
            result=NOTHING,
            back=hidden,
            onward=hidden,
            to_print=hidden,
        )

    def _show_no_lesson(self, named: str, task: Task) -> Outputs:
        """Show all lessons in place of one that a link names and the task has not."""
        shown = self._show_all(task)
        instead = f"all lessons for {task.title.lower()} are listed"
        shown.text = alert(not_here("lesson", named, instead)) + shown.text
        return shown

    def _show_step(
        self, place: Place, model: str | None, names: Sequence[str], kept: Kept
    ) -> Outputs:
        step, before = place.step, guessed(kept, place.key, model)
        following = "All lessons" if place.last else f"Next: {self._title_after(place)}"
        return Outputs(
            place=sheets.place_of(place.lesson, place.number),
            address=link_to_lesson(place.lesson.name, place.number, place.task.name, model or ""),
            kept=kept,
            contents=gr.HTML(
                sheets.contents(self.lessons, place.lesson, place.task, place.number, kept["seen"]),
                visible=True,
            ),
            text=sheets.step_text(step),
            guess=_radio(step, before),
            model=gr.Dropdown(
                choices=model_choices(names), value=model, visible=step.live is not None
            ),
            run=gr.Button(
                FINISHED if step.finished else RUN,
                visible=step.live is not None,
                interactive=True,
            ),
            result=NOTHING,
            back=gr.Button(visible=place.number > 1),
            onward=gr.Button(
                following, visible=True, variant="secondary" if step.live else "primary"
            ),
            to_print=gr.update(visible=True),
        )

    def _title_after(self, place: Place) -> str:
        return place.lesson.step(place.task, place.number + 1).title

    def run_step(
        self,
        named: str,
        task_name: str,
        model: str | None,
        visitor: str,
        kept: Kept | None,
        choice: int | None,
    ) -> Iterator[list[Any]]:
        """Run the live part of a step; yield what it has come to, at the end with the verdict."""
        place = self.find(named, task_named(task_name))
        if place is None or place.step.live is None:
            yield Outputs(result=NOTHING).outputs
            return
        step = place.step
        if step.guess and choice not in range(len(step.guess.choices)):
            yield Outputs(result=alert(CHOOSE_FIRST)).outputs
            return
        yield Outputs(result=_waiting("Loading the model …")).outputs
        try:
            classifier = self.core.models.get(visitor, model or "", place.task)
            setting = Setting(place.task, classifier, visitor, self.core)
            finding = Finding()
            for finding in in_steps("file_minutes", place.step.live(setting)):
                yield Outputs(result=sheets.result(finding, choice)).outputs
        except UserError as trouble:
            yield Outputs(result=alert(trouble)).outputs
            return
        remembered = remember(kept, guess=(place.key, classifier.name, choice))
        yield Outputs(
            kept=remembered,
            guess=_radio(step, choice),
            run=gr.Button(FINISHED if step.finished else AGAIN),
            onward=gr.Button(variant="primary"),
        ).outputs


def waiting() -> tuple[Markup, gr.Button]:
    """Show that a press was heard, before its turn comes, and take no other until it is answered.

    Returns the result and the button.
    """
    return _waiting(WAITING), gr.Button(interactive=False)


def _waiting(words: str) -> Markup:
    return Markup('<div class="card">{}</div>').format(told(words))


def _radio(step: Step, choice: int | None) -> Any:  # Any: gradio's update
    """Offer the choices of a step; what was run is not guessed again with the same model."""
    if step.guess is None:
        return gr.Radio(choices=[], value=None, visible=False)
    choices = [(words, number) for number, words in enumerate(step.guess.choices)]
    return gr.Radio(
        choices=choices,
        value=choice,
        label=step.guess.question,
        visible=True,
        interactive=choice is None,
    )


def remember(
    kept: Kept | None, seen: str = "", guess: tuple[str, str, int | None] | None = None
) -> dict[str, Any]:
    """Return what a browser remembers, and one step or guess more; what it sent may be anything."""
    kept = kept if isinstance(kept, dict) else {}
    before, guesses = kept.get("seen"), kept.get("guesses")
    steps = [name for name in before if isinstance(name, str)] if isinstance(before, list) else []
    by_step = dict(guesses) if isinstance(guesses, dict) else {}
    if guess:
        key, model, choice = guess
        of_step = by_step.get(key)
        by_step[key] = {**(of_step if isinstance(of_step, dict) else {}), model: choice}
    return {"seen": list(dict.fromkeys([*steps, *([seen] if seen else [])])), "guesses": by_step}


def guessed(kept: Kept, key: str, model: str | None) -> int | None:
    """Return the choice that was made at a step for a model."""
    of_step = kept["guesses"].get(key)
    choice = of_step.get(model) if isinstance(of_step, dict) else None
    return choice if isinstance(choice, int) else None
