"""A class at a lesson: the teacher's link, and what all guess at a step as one histogram."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import SurveyError, UserError
from probe.runs.database import Survey
from probe.runs.store import Store
from probe.surveys.annotation_results import write_table
from probe.surveys.survey import (
    answers_of,
    guesses,
    guesses_frame,
    join,
    own_survey,
    record_guess,
    respondents,
    start_class,
    survey_of,
)
from probe.tasks.task import task_named
from probe.ui.events import QUIET
from probe.ui.html.elements import NOTHING, alert, card, note
from probe.ui.html.shared_link import copy_script, shared_link
from probe.ui.lessons.drawing import comparison
from probe.ui.lessons.lesson import Comparison, Figure
from probe.ui.links import code_in, link_to_guest
from probe.ui.page import Page
from probe.ui.tab_outputs import TabOutputs
from probe.ui.tabs.learn.view import ALL, Kept, Outputs, Place, View
from probe.ui.visitors.visitor_files import fresh_folder

SECONDS = 3
"""Between two looks at what the class has guessed."""
SMALL: dict[str, Any] = {"size": "sm", "min_width": 0}
LABEL = "Link for the class, for a day"


@dataclass
class ClassOutputs(TabOutputs):
    """What is shown of a class, in the order of the outputs; what is not given stays."""

    named: Any = field(default_factory=gr.skip)  # Any: markup, values and gradio's updates
    link: Any = field(default_factory=gr.skip)
    copy: Any = field(default_factory=gr.skip)
    export: Any = field(default_factory=gr.skip)
    guessed: Any = field(default_factory=gr.skip)
    timer: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class LessonClass:
    """What the buttons of a class do."""

    store: Store
    view: View

    def start(self, visitor: str, named: str, task_name: str, model: str) -> list[Any]:
        """Begin a class at this step, and show the link that its members open."""
        place = self.view.find(named, task_named(task_name))
        if place is None:
            return ClassOutputs(guessed=alert("open a lesson first")).outputs
        lesson = place.lesson
        try:
            survey = start_class(
                self.store, visitor, lesson.title, lesson.name, task_name, model or ""
            )
        except UserError as trouble:
            return ClassOutputs(guessed=alert(trouble)).outputs
        guessed = self._shown(survey, visitor, place)
        return self._of_teacher(survey, guessed, str(place.number)).outputs

    def _of_teacher(self, survey: Survey, guessed: Any, step: str = "") -> ClassOutputs:
        return ClassOutputs(
            named=survey.id,
            link=shared_link(link_to_guest("class", survey.id, step), grants=False, label=LABEL),
            copy=gr.Button(visible=True),
            export=gr.Button(visible=True),
            guessed=guessed,
            timer=gr.Timer(active=True),
        )

    def open(self, visitor: str, class_id: str) -> list[Any]:
        """Show a class of one's own again; without one nothing changes."""
        if not class_id:
            return ClassOutputs().outputs
        try:
            survey = own_survey(self.store, visitor, class_id)
        except UserError as trouble:
            return ClassOutputs(guessed=alert(trouble)).outputs
        return self._of_teacher(survey, gr.skip()).outputs

    def take_part(self, visitor: str, kept: Kept | None, query: Mapping[str, str]) -> list[Any]:
        """Take part in the class of a link, at the step that the address names.

        Returns the task, what is shown of the class, and what is shown of the lesson.
        """
        try:
            survey = survey_of(self.store, code_in(query), "lesson")
            if survey.owner != visitor and not survey.ended:
                join(self.store, survey, visitor)
        except UserError as trouble:
            lost = Outputs(text=alert(trouble))
            return [gr.skip(), *ClassOutputs().outputs, *lost.outputs]
        told = survey.content
        named = f"{told['lesson']}.{query.get('step', '1')}"
        model = query.get("model", told["model"])
        step = self.view.show(named, told["task"], model, visitor, kept)
        shown = ClassOutputs(named=survey.id, timer=gr.Timer(active=True))
        return [told["task"], *shown.outputs, *step]

    def record(
        self, visitor: str, class_id: str, named: str, task_name: str, choice: int | None
    ) -> Any:  # Any: markup, or gradio's mark to skip
        """Keep a guess of a member, and show what all have guessed."""
        place = self.view.find(named, task_named(task_name))
        if not class_id or place is None or place.step.guess is None:
            return gr.skip()
        try:
            survey = survey_of(self.store, class_id, "lesson")
            offered = range(len(place.step.guess.choices))
            # who teaches is no member
            if choice is not None and choice in offered and survey.owner != visitor:
                record_guess(self.store, survey, visitor, place.key, choice)
        except UserError as trouble:
            return alert(trouble)
        return self._shown(survey, visitor, place)

    def look(self, visitor: str, class_id: str, named: str, task_name: str) -> Markup:
        """Show what the class has guessed at a step so far."""
        place = self.view.find(named, task_named(task_name))
        if not class_id or place is None:
            return NOTHING
        try:
            return self._shown(survey_of(self.store, class_id, "lesson"), visitor, place)
        except UserError as trouble:
            return alert(trouble)

    def look_first(self, visitor: str, class_id: str, named: str, task_name: str) -> Any:
        """Show the class that a link opened; what else was said of one stays."""
        return self.look(visitor, class_id, named, task_name) if class_id else gr.skip()

    def _shown(self, survey: Survey, visitor: str, place: Place) -> Markup:
        """Draw the histogram: for the teacher at once, for a member after their own guess."""
        people = f"{respondents(self.store, survey.id)} in the class."
        guess = place.step.guess
        if guess is None:
            return card(note(f"{people} Nothing is guessed at this step."))
        guessed_too = place.key in answers_of(self.store, survey.id, visitor)
        if survey.owner != visitor and not guessed_too:
            return card(note(f"{people} You see what they guess once you have guessed."))
        counts = guesses(self.store, survey.id, place.key, len(guess.choices))
        n = sum(counts)
        figures = tuple(
            Figure(words, count / n if n else 0.0, f"{count} of {n}", live=True)
            for words, count in zip(guess.choices, counts, strict=True)
        )
        return card(note(people) + comparison(Comparison("What the class guesses", figures)))

    def export(self, visitor: str, class_id: str) -> Any:  # Any: gradio's updates
        """Write the guesses as a file of the teacher's."""
        try:
            if not class_id:
                raise SurveyError("begin a class first")
            own_survey(self.store, visitor, class_id)
            path = fresh_folder(visitor) / "guesses.csv"
            write_table(guesses_frame(self.store, class_id), path)
        except UserError as trouble:
            return [alert(trouble), gr.Files(visible=False)]
        return [gr.skip(), gr.Files([str(path)], visible=True)]


@dataclass
class ClassParts:
    """The components of a class: what is shown of it, its other buttons, its files."""

    shown: ClassOutputs
    tools: gr.Row
    begin: gr.Button
    files: gr.Files


def lay_out_class() -> ClassParts:
    """Lay out a class under a step."""
    shown = ClassOutputs()
    later: dict[str, Any] = {"visible": False, **SMALL}
    with gr.Column(elem_id="learn-class"):
        shown.guessed = gr.HTML(padding=False, elem_id="learn-guessed")
        shown.link = gr.HTML(padding=False, elem_id="learn-class-link")
        with gr.Row(visible=False, elem_id="learn-class-tools") as tools:
            begin = gr.Button("Teach this to a class", elem_id="learn-class-begin", **SMALL)
            shown.copy = gr.Button("Copy link", elem_id="learn-class-copy", **later)
            shown.export = gr.Button("Guesses as a file", elem_id="learn-class-export", **later)
        files = gr.Files(visible=False, label="Guesses", interactive=False)
    shown.named = gr.Textbox("", label="class", visible=False)
    shown.timer = gr.Timer(SECONDS, active=False)
    return ClassParts(shown, tools, begin, files)


def follow_class(page: Page, view: View, shown: Outputs, parts: ClassParts, guests: bool) -> None:
    """Let a class follow the step that is shown, and what is guessed there."""
    own, outputs, guessed = LessonClass(page.core.store, view), parts.shown, parts.shown.guessed

    def open_page(visitor: str, request: gr.Request) -> list[Any]:
        return own.open(visitor, request.query_params.get("class", ""))

    def take_part(visitor: str, kept: Kept | None, request: gr.Request) -> list[Any]:
        return own.take_part(visitor, kept, request.query_params)

    here = [page.owner, outputs.named, shown.place, page.task]
    if guests:
        joined = [page.task, *outputs.outputs, *shown.outputs]
        arrived = page.on_open(take_part, [page.owner, shown.kept], joined)
        arrived.then(None, page.task, None, js="task => window.showTask(task)", **QUIET)
    else:
        arrived = page.on_open(open_page, page.owner, outputs.outputs)
        outputs.named.change(
            None, outputs.named, None, js="named => window.writeAddress({ class: named })", **QUIET
        )
    arrived.then(own.look_first, here, guessed, **QUIET)
    begun = [page.owner, shown.place, page.task, shown.model]
    parts.begin.click(own.start, begun, outputs.outputs, **QUIET)
    shown.run.click(own.record, [*here, shown.guess], guessed, **QUIET)
    if not guests:
        page.mark_of(shown.place.change).change(
            lambda place: gr.Row(visible=place != ALL), shown.place, parts.tools, **QUIET
        )
    shown.place.change(own.look, here, guessed, **QUIET)
    outputs.timer.tick(own.look, here, guessed, **QUIET)
    outputs.copy.click(None, js=copy_script("learn-class-link"), **QUIET)
    outputs.export.click(own.export, here[:2], [guessed, parts.files], **QUIET)
