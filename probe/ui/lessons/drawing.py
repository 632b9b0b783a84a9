"""What lessons draw: texts, answers, figures; all lessons, the steps of one, a step, on paper."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from probe.models.classifier import Prediction
from probe.pictures.bars import Bar, bars_frame, bars_svg
from probe.tasks.task import Task
from probe.ui.html.elements import NOTHING, each, join, shown_texts, unbroken
from probe.ui.html.picture import picture
from probe.ui.html.prediction import bar, verdict
from probe.ui.lessons.lesson import (
    Compared,
    Finding,
    Lesson,
    Place,
    Step,
    places_of,
)
from probe.ui.links import link_to_lesson

PARAGRAPH = Markup("<p>{}</p>")
PURPOSE = (
    "Lessons of about twenty minutes, each about one claim of one paper: say what you expect, run "
    "it live, see the paper's figure beside yours. Nothing to install, nothing to know before."
)
DONE, HERE, OPEN = "✓", "●", "○"
CARD = Markup(
    '<article class="lesson-card"><div class="strip"><h3>{number}. {lesson.title}</h3>{badge}</div>'
    '<p>{lesson.claim}</p><p class="tiny soft">{lesson.paper} · about {lesson.minutes} minutes</p>'
    '<div class="strip">{start}<span class="tiny soft">{said}</span></div></article>'
)
BEGIN = Markup(
    '<button type="button" class="btn begin {}" data-cell="{}">{}<span class="sr-only">: {}</span>'
    "</button>"
)
ELSEWHERE = Markup('<a class="btn begin" href="{}">Begin<span class="sr-only"> {}</span></a>')
CONTENTS = Markup(
    '<nav aria-label="Steps of the lesson"><h2>{lesson.title}</h2><p class="tiny soft">Lesson '
    '{number} of {all} · about {lesson.minutes} minutes</p><ol class="steps">{items}</ol>'
    '<button type="button" class="btn" data-cell="teach" data-event="submit">Teach this to a class'
    '</button><p class="tiny beside"><button type="button" class="plain" data-cell="all">All '
    'lessons</button><button type="button" class="plain" data-copy="{link}">Copy link to this step'
    '</button><button type="button" class="plain" data-cell="print {here.name}" '
    'data-event="select">Print</button><button type="button" class="plain" '
    'data-cell="answers {here.name}" data-event="select">Print with answers</button>'
    '<span role="status"></span></p></nav>'
)
ITEM = Markup(
    '<li><button type="button" data-cell="{place.name}"{current} aria-label="Step '
    '{place.number}: {place.step.title}{words}">'
    '<span class="mark" aria-hidden="true">{mark}</span><span class="at">{place.number}</span>'
    '<span class="named">{place.step.title}</span></button></li>'
)
MOVE = Markup('<button type="button" class="btn {}" data-cell="{}">{}</button>')
BAR = Markup(
    '<tr class="{kind}"><th scope="row">{who}</th><td class="drawn" aria-hidden="true"><span '
    'class="compared-bar"><span style="width:{percent:.1f}%"></span></span></td>'
    '<td class="num">{said}</td></tr>'
)
GUEST = Markup(
    '<p class="tiny soft" data-lesson="{0.name}">{0.title} · step {1} of {2}, with your class</p>'
)


def paragraphs(texts: Iterable[str]) -> Markup:
    """Return a paragraph for each text."""
    return each(PARAGRAPH, texts)


def example(task: Task, shown: Any, note: str | Markup = "") -> Markup:  # Any: the task's own
    """Show the texts of an example, each under its title, and a note behind them."""
    titled = {task.title_of(field): text for field, text in task.texts(shown).items()}
    return shown_texts(titled, note)


def definitions(meanings: Iterable[tuple[object, str]]) -> Markup:
    """Show terms, each with what it means."""
    line = Markup("<div><dt>{}</dt><dd>{}</dd></div>")
    return Markup('<dl class="terms">{}</dl>').format(
        join(line.format(term, meaning) for term, meaning in meanings)
    )


def answers(named: Iterable[tuple[str, Prediction]]) -> Markup:
    """Show predictions under each other, each with what it is of and its bar."""
    line = Markup('<div class="answer-line"><span class="soft">{}</span><span>{}</span>{}</div>')
    return join(line.format(name, verdict(shown), bar(shown)) for name, shown in named)


def figures(title: str, compared: Compared) -> Markup:
    """Show comparisons under a title, with their table and files to take away; nothing of none."""
    bars = [
        Bar(measure, figure.who, figure.share, figure.note, figure.live)
        for measure, each in compared.items()
        for figure in each
    ]
    if not bars:
        return NOTHING
    svg = bars_svg(bars, title)
    return picture(title, tables(compared), bars_frame(bars), svg, stem="lesson")


def tables(compared: Compared) -> Markup:
    """Show the figures of each measure as bars with their numbers, n and interval or source."""
    table = Markup('<table class="compared"><caption>{}</caption><tbody>{}</tbody></table>')
    who = Markup('{0.who}<span class="tiny soft">{0.note}</span>')
    return join(
        table.format(
            measure,
            join(
                BAR.format(
                    kind="live" if figure.live else "published",
                    who=who.format(figure),
                    percent=100 * figure.share,
                    said=Markup("{:.1f}&nbsp;%").format(100 * figure.share),
                )
                for figure in shown
            ),
        )
        for measure, shown in compared.items()
    )


def overview(
    lessons: Sequence[Lesson],
    task: Task,
    seen: Sequence[str] = (),
    right: Mapping[str, bool] = MappingProxyType({}),
) -> Markup:
    """Show all lessons, what was `seen` of them, the latest last, and which guesses were `right`.

    One that is not given in the task leads to one in which it is.
    """
    all_steps = [places_of(lesson, lesson.nearest(task)) for lesson in lessons]
    left = [places for places in all_steps if not {place.key for place in places} <= set(seen)]
    last = {each.rpartition(".")[0]: at for at, each in enumerate(seen)}
    following = max(left, key=lambda places: last.get(places[0].lesson.name, -1), default=None)
    cards = join(
        _lesson_card(number, places, task, seen, right, places is following)
        for number, places in enumerate(all_steps, 1)
    )
    return Markup(
        '<p class="hint">{}</p><div class="strip"><h2>Lessons</h2><span class="tiny soft">{} of {} '
        'done</span></div><div class="lessons">{}</div>'
    ).format(PURPOSE, len(lessons) - len(left), len(lessons), cards)


def _lesson_card(
    number: int,
    places: Sequence[Place],
    task: Task,
    seen: Sequence[str],
    right: Mapping[str, bool],
    following: bool,
) -> Markup:
    lesson, given = places[0].lesson, places[0].task
    by_key = {place.key: place for place in places}
    begun = [by_key[key] for key in seen if key in by_key]
    done, judged = len(begun) == len(places), [right[key] for key in by_key if key in right]
    going_on = bool(begun) and not done
    at = begun[-1] if going_on else places[0]
    said = [f"step {at.number} of {len(places)}"] if going_on else []
    said += [f"{sum(judged)} of {len(judged)} guessed right"] if judged else []
    if given is task:
        words = "Go on" if going_on else "Once more" if done else "Begin"
        start = BEGIN.format("main" * following, at.name, words, lesson.title)
    else:
        start = ELSEWHERE.format(link_to_lesson(lesson.slug, at.number, given.name), lesson.title)
        said = [f"for {given.choice}: switches the task"]
    kind, words = ("good", f"{DONE} done") if done else ("keep", "begun")
    badge = Markup('<span class="badge {}">{}</span>').format(kind, words) if begun else NOTHING
    return CARD.format(
        number=number, lesson=lesson, badge=badge, start=start, said=" · ".join(said)
    )


def contents(lessons: Sequence[Lesson], here: Place, seen: Sequence[str]) -> Markup:
    """Show the steps of a lesson as buttons, with what was seen and where one is."""
    marks = {True: (HERE, ", you are here"), False: (OPEN, "")}
    items = []
    for place in places_of(here.lesson, here.task):
        mark, words = marks[place == here]
        if place != here and place.key in seen:
            mark, words = DONE, ", seen"
        current = Markup(' aria-current="step"') if place == here else ""
        items.append(ITEM.format(place=place, mark=mark, words=words, current=current))
    return CONTENTS.format(
        here=here,
        lesson=here.lesson,
        number=lessons.index(here.lesson) + 1,
        all=len(lessons),
        items=join(items),
        link=link_to_lesson(here.lesson.slug, here.number, here.task.name),
    )


def moves(here: Place, guests: bool = False, ran: bool = False) -> Markup:
    """Show what leads back and onward; after the last step to all lessons, but no guests."""
    places = places_of(here.lesson, here.task)
    before = places[here.number - 2] if here.number > 1 else None
    back = MOVE.format("", before.name, "Back") if before else NOTHING
    if not here.last:
        following = places[here.number]
        kind = "" if here.step.live and not ran else "main"
        onward = MOVE.format(f"{kind} onward", following.name, f"Next: {following.step.title}")
    else:
        onward = NOTHING if guests else MOVE.format("main onward", "all", "All lessons")
    return Markup('<div class="moves">{}{}</div>').format(back, onward)


def step_text(step: Step, head: Markup = NOTHING, answers: bool = True) -> Markup:
    """Show what a step says, what is looked at, and its questions."""
    fold = Markup("<details><summary>Answer for the teacher</summary><p>{}</p></details>")
    asked = _questions(step.questions, fold if answers else NOTHING, "questions")
    return Markup("{}<h2>{}</h2>{}{}{}").format(
        head, step.title, paragraphs(step.text), step.exhibit(), asked
    )


def _questions(questions: Sequence[tuple[str, str]], answer: Markup, kind: str) -> Markup:
    if not questions:
        return NOTHING
    return Markup('<ol class="{}">{}</ol>').format(
        kind,
        join(
            Markup("<li><p>{}</p>{}</li>").format(asked, answer.format(said))
            for asked, said in questions
        ),
    )


def under_way(finding: Finding) -> Markup:
    """Show how far a live part is, and its figures so far."""
    return Markup('<div class="card">{}{}</div>').format(finding.progress, tables(finding.compared))


def came_to(finding: Finding, choice: int | None) -> tuple[Markup, Markup]:
    """Show what a live part has come to, and whether it was foreseen; below it the figures."""
    published = any(not each.live for shown in finding.compared.values() for each in shown)
    badge = NOTHING
    if choice is not None and finding.came_true is not None:
        right = choice == finding.came_true
        badge = Markup('<span class="badge {}">{}</span> ').format(
            "good" if right else "keep", "You foresaw it" if right else "You said otherwise"
        )
    said = Markup('<div class="card"><p class="found" role="status">{}{}</p>{}</div>')
    return (
        said.format(badge, unbroken(finding.says), finding.shown),
        figures("In the paper, and here" if published else "Measured here", finding.compared),
    )


def to_print(lesson: Lesson, task: Task, answers: bool) -> Markup:
    """Return a whole lesson for paper: texts, choices to tick, questions, answers on request."""
    steps = join(_printed(place, answers) for place in places_of(lesson, task))
    return Markup(
        '<h1>{}</h1><p>{}</p><p class="soft">{} · about {} minutes · NLI Clinic</p>{}'
    ).format(lesson.title, lesson.claim, lesson.paper, lesson.minutes, steps)


def _printed(place: Place, answers: bool) -> Markup:
    step, guess = place.step, NOTHING
    if step.choices:
        boxes = each(Markup("<li>☐ {}</li>"), step.choices)
        guess = Markup('<p><b>{}</b></p><ul class="boxes">{}</ul>').format(step.asks, boxes)
    answer = Markup("<p><b>Answer.</b> {}</p>") if answers else NOTHING
    asked = _questions(step.questions, answer, "on-paper")
    return Markup("<section><h2>{}. {}</h2>{}{}{}{}</section>").format(
        place.number, step.title, paragraphs(step.text), step.exhibit(), guess, asked
    )
