"""A class at a lesson: its link, and what all guess at a step as one histogram.

A class is of one lesson, task and model. Where the teacher is in it is kept with it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import time
from typing import Any

import gradio as gr
import pandas as pd
from markupsafe import Markup

from probe.errors import SurveyError, UserError
from probe.runs.database import Survey
from probe.runs.store import Store
from probe.surveys.annotation_results import write_table
from probe.surveys.survey import (
    answers_of,
    change_survey,
    end_survey,
    guesses,
    own_survey,
    record_guess,
    respondents,
    responses,
    start_class,
    survey_of,
)
from probe.tasks.task import task_named
from probe.ui.events import EACH, PRESSED, QUIET, cell_of, fetched, scroll_to
from probe.ui.html.elements import NOTHING, alert, note, saved
from probe.ui.html.elements import join as together
from probe.ui.html.shared_link import qr_code
from probe.ui.lessons import live
from probe.ui.lessons.lesson import Finding, Lesson, Place, find, places_of
from probe.ui.links import address_for_others, link_to_guest
from probe.ui.page import Page
from probe.ui.visitors.belongings import CLASS_FILES
from probe.ui.visitors.visitor_files import fresh_folder

SECONDS = 3
"""Between two looks at what the class has guessed."""
HOUR = 3600
TEACHER = Markup(
    '<section class="card classroom"><div class="guesses"><div class="strip"><h2>Your class at '
    '{title}</h2><span class="badge plain">{people} in the class</span><span class="grow"></span>'
    '<span class="tiny soft">{until}</span></div>{guesses}<div class="strip tools">{buttons}'
    "</div></div>{hand_out}</section>"
)
HAND_OUT = Markup(
    '<div class="of-group">{qr}<div><p class="tiny soft">Students open</p>'
    '<p class="address">{typed}</p><p class="strip"><button type="button" class="btn" '
    'data-copy="{address}">Copy link</button><button type="button" class="btn" '
    'data-large="of-group">Show large</button></p><p class="tiny soft" role="status"></p>'
    '<p class="tiny soft">No names, '
    "no sign-in. They see the lesson alone, without its answers and without the places. {notice}"
    "</p></div></div>"
)
ENDED = "Its link takes no more guesses. What was guessed stays, until you delete it in Mine."
BUTTON = Markup('<button type="button" class="btn {}" data-cell="{}">{}</button>')
PROJECT = Markup('<button type="button" class="btn" data-large="guesses">Project it</button>')
ROW = Markup(
    '<tr class="{}"><th scope="row">{}</th><td class="drawn" aria-hidden="true">'
    '<span class="compared-bar"><span style="width:{:.1f}%"></span></span></td>'
    '<td class="num">{}</td></tr>'
)


@dataclass(frozen=True)
class Card:
    """The components of a class: its code, what is shown of it, its file, what looks again."""

    code: gr.Textbox
    timer: gr.Timer
    shown: gr.HTML
    files: gr.HTML


def lay_out_card() -> Card:
    """Lay out what is shown of a class."""
    with gr.Column(elem_id="learn-class"):
        shown = gr.HTML(padding=False, elem_id="learn-guessed", js_on_load=PRESSED)
        files = gr.HTML(padding=False, elem_id="learn-saved")
    code = gr.Textbox("", label="class", visible=False)
    return Card(code, gr.Timer(SECONDS, active=False), shown, files)


def record(store: Store, code: str, visitor: str, here: Place, choice: int | None) -> None:
    """Keep a guess of a member of a class, if this is one. Raises SurveyError."""
    if code and choice is not None:
        group = survey_of(store, code, "lesson")
        ours = group.content["lesson"] == here.lesson.name
        if ours and group.owner != visitor and not group.ended:
            record_guess(store, group, visitor, here.key, choice)


def of_teacher(
    store: Store, lessons: Sequence[Lesson], group: Survey, request: gr.Request
) -> Markup:
    """Show a class of one's own: how many guess what at its step, and its link."""
    places = _places(lessons, group)
    at = min(max(int(group.content.get("step", 1)), 1), len(places))
    reached, notice = address_for_others(request)
    address = reached + link_to_guest("class", group.id)
    left = max(group.ends - time(), 0)
    hours = max(round(left / HOUR), 1)
    buttons = [
        BUTTON.format("", f"step {at - 1}", "Previous step") if at > 1 else NOTHING,
        BUTTON.format("", f"step {at + 1}", "Next step") if at < len(places) else NOTHING,
        Markup('<span class="grow"></span>'),
        BUTTON.format("", "file", "Guesses as a file"),
        PROJECT,
        BUTTON.format("bad", "end", "End") if left else NOTHING,
    ]
    return TEACHER.format(
        title=group.title,
        people=respondents(store, group.id),
        until=f"for {hours} more hour{'s' if hours > 1 else ''}" if left else "ended",
        guesses=_guesses(store, group, places[at - 1], True),
        buttons=together(buttons),
        hand_out=HAND_OUT.format(
            qr=_code(address), address=address, typed=address.partition("://")[2], notice=notice
        )
        if left
        else note(ENDED),
    )


@cache
def _code(address: str) -> Markup:
    return qr_code(address)


def _places(lessons: Sequence[Lesson], group: Survey) -> list[Place]:
    told = group.content
    lesson = next(lesson for lesson in lessons if lesson.name == told["lesson"])
    return places_of(lesson, task_named(told["task"]))


def _came_to(group: Survey, here: Place) -> Finding | None:
    """Return what the class's model came to at a step, None where nobody has run it."""
    try:
        return live.kept(group.content["model"], here)
    except UserError:  # the model is gone
        return None


def _guesses(store: Store, group: Survey, here: Place, teacher: bool) -> Markup:
    """Draw how many guessed what, and what came out."""
    step = here.step
    head = Markup('<p class="soft">Step {}, {}{}</p>').format(
        here.number, step.title, f": {step.guess.question}" if step.guess else ""
    )
    if step.guess is None:
        return head + note("Nothing is guessed at this step.")
    counts = guesses(store, group.id, here.key, len(step.guess.choices))
    n = sum(counts)
    finding = _came_to(group, here) if n else None  # the first guess may be made on the wall
    true = finding.came_true if finding else None
    rows = [
        ROW.format("true" if at == true else "", words, 100 * count / max(n, 1), count)
        for at, (words, count) in enumerate(zip(step.guess.choices, counts, strict=True))
    ]
    bars = Markup('<table class="compared guessed"><tbody>{}</tbody></table>').format(
        together(rows)
    )
    foreseen = f" {counts[true]} of {n} foresaw it." if true is not None else ""
    said = note(finding.says + foreseen) if finding else NOTHING
    return (head if teacher else NOTHING) + bars + said


def of_member(store: Store, group: Survey, visitor: str, here: Place | None) -> Markup:
    """Show a member what the class expected, once they have guessed themselves."""
    if here is None or here.step.guess is None:
        return NOTHING
    if group.ended:
        return note("This class has ended: guesses are not counted any more.")
    people = respondents(store, group.id)
    if here.key not in answers_of(store, group.id, visitor) and group.owner != visitor:
        return note(f"{people} in the class. You see what they guess once you have guessed.")
    n = sum(guesses(store, group.id, here.key, len(here.step.guess.choices)))
    return Markup(
        '<section class="card"><div class="strip"><h3>What your class expected</h3>'
        '<span class="grow"></span><span class="tiny soft">{} guess{}</span></div>{}</section>'
    ).format(n, "" if n == 1 else "es", _guesses(store, group, here, False))


def guesses_frame(store: Store, lessons: Sequence[Lesson], group: Survey) -> pd.DataFrame:
    """Return all guesses of a class in words, in the order in which they came."""
    places = {place.key: place for place in _places(lessons, group)}
    rows = []
    for row in responses(store, group.id):
        here = places.get(row.item)
        if here is None or here.step.guess is None:
            continue
        choices, finding = here.step.guess.choices, _came_to(group, here)
        true = finding.came_true if finding else None
        rows.append(
            {
                "student": row.respondent,
                "lesson": here.lesson.title,
                "step": f"{here.number}. {here.step.title}",
                "question": here.step.guess.question,
                "guess": choices[int(row.answer)],
                "came out": "" if true is None else choices[true],
                "foreseen": "" if true is None else "yes" if int(row.answer) == true else "no",
            }
        )
    columns = ["student", "lesson", "step", "question", "guess", "came out", "foreseen"]
    return pd.DataFrame(rows, columns=columns)


def write_guesses(lessons: Sequence[Lesson], store: Store, group: Survey, folder: Path) -> Path:
    """Write all guesses of a class into a folder; return where."""
    path = folder / "guesses.csv"
    write_table(guesses_frame(store, lessons, group), path)
    return path


def go_to(store: Store, group: Survey, step: int) -> None:
    """Let a class be at a step."""
    change_survey(store, group.owner, group.id, content={**group.content, "step": step})


def follow(
    page: Page,
    lessons: Sequence[Lesson],
    parts: Mapping[str, Any],
    card: Card,
    after: Sequence[gr.events.Dependency],
    guests: bool,
) -> None:
    """Let a class follow the step that is shown, and what is guessed there."""
    store = page.core.store
    CLASS_FILES["guesses"] = partial(write_guesses, lessons)

    def look(code: str, visitor: str, place: str, task: str, request: gr.Request) -> Markup:
        """Show what the class has guessed so far."""
        if not code:
            return NOTHING
        try:
            if guests:
                here = find(lessons, place, task_named(task))
                return of_member(store, survey_of(store, code, "lesson"), visitor, here)
            return of_teacher(store, lessons, own_survey(store, visitor, code), request)
        except UserError as trouble:
            return alert(trouble)

    def moved(code: str, visitor: str, place: str, task: str, request: gr.Request) -> Markup:
        """Let the class follow to the step that its teacher shows."""
        here = find(lessons, place, task_named(task))
        with suppress(SurveyError):  # none, or deleted, which is said below
            group = own_survey(store, visitor, code)
            if here and here in _places(lessons, group):
                go_to(store, group, here.number)
        return look(code, visitor, place, task, request)

    def act(
        event: gr.EventData, code: str, visitor: str, place: str, task: str, request: gr.Request
    ) -> list[Any]:  # Any: markup and gradio's updates
        """Do what a button of the teacher's names."""
        what, files = cell_of(event), NOTHING
        try:
            group = own_survey(store, visitor, code)
            if what.startswith("step ") and what[5:].isdecimal():
                go_to(store, group, int(what[5:7]))
            elif what == "end":
                end_survey(store, visitor, code)
            elif what == "file":
                files = saved([write_guesses(lessons, store, group, fresh_folder(visitor))])
        except UserError as trouble:
            return [alert(trouble), files]
        return [look(code, visitor, place, task, request), files]

    def teach(
        visitor: str, place: str, task: str, model: str | None, request: gr.Request
    ) -> list[Any]:
        """Begin a class at this step."""
        here = find(lessons, place, task_named(task))
        try:
            if here is None:
                raise SurveyError("open a lesson first")
            lesson = here.lesson
            group = start_class(store, visitor, lesson.title, lesson.name, task, model or "")
            go_to(store, group, here.number)
            group = own_survey(store, visitor, group.id)
        except UserError as trouble:
            return ["", gr.skip(), alert(trouble)]
        return [group.id, gr.Timer(active=True), of_teacher(store, lessons, group, request)]

    def open_class(request: gr.Request) -> list[Any]:
        code = request.query_params.get("class", "")
        return [code, gr.Timer(active=bool(code))]

    here = [card.code, page.owner, parts["place"], page.task]
    for event in after:
        event.then(moved, here, card.shown, **QUIET)
    card.timer.tick(look, here, card.shown, **QUIET)
    if guests:
        return
    opened = page.on_open(open_class, None, [card.code, card.timer], **QUIET)
    opened.then(look, here, card.shown, **QUIET)
    acted = card.shown.click(act, here, [card.shown, card.files], **EACH, **QUIET)
    acted.then(None, js=fetched("learn-saved"), **QUIET)
    begun = parts["contents"].submit(
        teach,
        [page.owner, parts["place"], page.task, parts["model"]],
        [card.code, card.timer, card.shown],
        **QUIET,
    )
    to_address = "code => code && window.writeAddress({ class: code })"
    begun.then(None, card.code, None, js=to_address, **QUIET)
    begun.then(None, js=scroll_to("learn-class"), **QUIET)
