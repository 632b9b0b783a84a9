"""A class at a lesson: its link, and what all guess at a step as one histogram.

A class is of one lesson, task and model. Where the teacher is in it is kept with it.
"""

from collections.abc import Sequence
from pathlib import Path
from time import time

import gradio as gr
import pandas as pd
from markupsafe import Markup

from probe.data.writers import write_table
from probe.errors import UserError
from probe.runs.database import Survey
from probe.runs.store import Store
from probe.surveys.survey import (
    answers_of,
    change_survey,
    guesses,
    record_guess,
    respondents,
    responses,
    survey_of,
)
from probe.tasks.task import task_named
from probe.ui.html.elements import NOTHING, note
from probe.ui.html.elements import join as together
from probe.ui.html.shared_link import CLASSROOM, PROJECT, handed_out
from probe.ui.lessons import live
from probe.ui.lessons.drawing import BAR
from probe.ui.lessons.lesson import Finding, Lesson, Place, places_of
from probe.ui.links import link_to_guest

HOUR = 3600
SEEN = (
    "No names, no sign-in. They see the lesson alone, without its answers and without the places."
)
ENDED = "Its link takes no more guesses. What was guessed stays, until you delete it in Mine."
BUTTON = Markup('<button type="button" class="btn {}" data-cell="{}">{}</button>')


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
    steps = places(lessons, group)
    at = min(max(int(group.content.get("step", 1)), 1), len(steps))
    left = max(group.ends - time(), 0)
    hours = max(round(left / HOUR), 1)
    buttons = [
        BUTTON.format("", f"step {at - 1}", "Previous step") if at > 1 else NOTHING,
        BUTTON.format("", f"step {at + 1}", "Next step") if at < len(steps) else NOTHING,
        Markup('<span class="grow"></span>'),
        BUTTON.format("", "file", "Guesses as a file"),
        PROJECT,
        BUTTON.format("bad", "end", "End") if left else NOTHING,
    ]
    return CLASSROOM.format(
        title=f"Your class at {group.title}",
        people=f"{respondents(store, group.id)} in the class",
        until=f"for {hours} more hour{'s' if hours > 1 else ''}" if left else "ended",
        shown=_guesses(store, group, steps[at - 1], True),
        buttons=together(buttons),
        hand_out=handed_out(link_to_guest("class", group.id), request, "Students open", SEEN)
        if left
        else note(ENDED),
    )


def places(lessons: Sequence[Lesson], group: Survey) -> list[Place]:
    """Return the steps of a class's lesson."""
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
        here.number, step.title, f": {step.asks}" if step.asks else ""
    )
    if not step.choices:
        return head + note("Nothing is guessed at this step.")
    counts = guesses(store, group.id, here.key, len(step.choices))
    n = sum(counts)
    most = max(n, 1)
    finding = _came_to(group, here) if n else None  # the first guess may be made on the wall
    true = finding.came_true if finding else None
    rows = [
        BAR.format(kind="true" * (at == true), who=words, percent=100 * count / most, said=count)
        for at, (words, count) in enumerate(zip(step.choices, counts, strict=True))
    ]
    bars = Markup('<table class="compared guessed"><tbody>{}</tbody></table>').format(
        together(rows)
    )
    foreseen = f" {counts[true]} of {n} foresaw it." if true is not None else ""
    said = note(finding.says + foreseen) if finding else NOTHING
    return (head if teacher else NOTHING) + bars + said


def of_member(store: Store, group: Survey, visitor: str, here: Place | None) -> Markup:
    """Show a member what the class expected, once they have guessed themselves."""
    if here is None or not here.step.choices:
        return NOTHING
    if group.ended:
        return note("This class has ended: guesses are not counted any more.")
    people = respondents(store, group.id)
    if here.key not in answers_of(store, group.id, visitor) and group.owner != visitor:
        return note(f"{people} in the class. You see what they guess once you have guessed.")
    n = sum(guesses(store, group.id, here.key, len(here.step.choices)))
    return Markup(
        '<section class="card"><div class="strip"><h3>What your class expected</h3>'
        '<span class="grow"></span><span class="tiny soft">{} guess{}</span></div>{}</section>'
    ).format(n, "" if n == 1 else "es", _guesses(store, group, here, False))


def guesses_frame(store: Store, lessons: Sequence[Lesson], group: Survey) -> pd.DataFrame:
    """Return all guesses of a class in words, in the order in which they came."""
    steps = {place.key: place for place in places(lessons, group)}
    rows = []
    for row in responses(store, group.id):
        here = steps.get(row.item)
        if here is None or not here.step.choices:
            continue
        choices, finding = here.step.choices, _came_to(group, here)
        true = finding.came_true if finding else None
        rows.append(
            {
                "student": row.respondent,
                "lesson": here.lesson.title,
                "step": f"{here.number}. {here.step.title}",
                "question": here.step.asks,
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
