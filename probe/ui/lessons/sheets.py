"""What the Learn tab shows of lessons: all of them, the steps of one, a step, its result."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from probe.tasks.task import Task
from probe.ui.html.elements import NOTHING, join, unbroken
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import Finding, Lesson, Question, Step
from probe.ui.links import link_to_lesson

DONE, HERE, OPEN = "✓", "●", "○"


def place_of(lesson: Lesson, number: int) -> str:
    """Return what the page calls a step of a lesson."""
    return f"{lesson.name}.{number}"


def overview(lessons: Sequence[Lesson], task: Task) -> Markup:
    """Show all lessons; one that is not given in the task leads to one in which it is."""
    cards = join(_lesson_card(number, lesson, task) for number, lesson in enumerate(lessons, 1))
    return Markup(
        "<h2>Lessons</h2><p>Each takes about twenty minutes and is about one claim of one paper. "
        "You say what you expect, run it live on this page, and see the paper's figure beside "
        'your own. Nothing to install, nothing to know before.</p><div class="lessons">{}</div>'
    ).format(cards)


def _lesson_card(number: int, lesson: Lesson, task: Task) -> Markup:
    return Markup(
        '<article class="lesson-card"><h3>{}. {}</h3><p>{}</p><p class="tiny soft">{} · about {} '
        "minutes</p>{}</article>"
    ).format(number, lesson.title, lesson.claim, lesson.paper, lesson.minutes, _start(lesson, task))


def _start(lesson: Lesson, task: Task) -> Markup:
    if task.name in lesson.steps:
        return Markup('<button type="button" class="begin" data-cell="{}">{}</button>').format(
            place_of(lesson, 1), f"Begin {lesson.title}"
        )
    given = lesson.tasks[0]
    return Markup(
        '<a class="begin elsewhere" href="{}">Begin in {}<span class="sr-only">: {}</span></a>'
    ).format(link_to_lesson(lesson.name, 1, given.name), given.choice, lesson.title)


def contents(
    lessons: Sequence[Lesson], lesson: Lesson, task: Task, number: int, seen: Iterable[str]
) -> Markup:
    """Show the steps of a lesson as buttons, with what was seen and where one is."""
    seen = set(seen)
    items = join(
        _item(lesson, at, step, at == number, step_key(lesson, step) in seen)
        for at, step in enumerate(lesson.steps[task.name], 1)
    )
    return Markup(
        '<nav aria-label="Steps of the lesson"><h2>{}</h2><p class="tiny soft">Lesson {} of {} · '
        'about {} minutes</p><ol class="steps">{}</ol><p class="tiny beside">'
        '<button type="button" class="plain" data-cell="all">All lessons</button>'
        '<a href="{}">Link to this step</a></p></nav>'
    ).format(
        lesson.title,
        lessons.index(lesson) + 1,
        len(lessons),
        lesson.minutes,
        items,
        link_to_lesson(lesson.name, number, task.name),
    )


def step_key(lesson: Lesson, step: Step) -> str:
    """Return by what a browser remembers a step, whatever its number."""
    return f"{lesson.name}.{step.name}"


def _item(lesson: Lesson, number: int, step: Step, here: bool, seen: bool) -> Markup:
    mark, words = (HERE, ", you are here") if here else (DONE, ", seen") if seen else (OPEN, "")
    current = Markup(' aria-current="step"') if here else NOTHING
    return Markup(
        '<li><button type="button" data-cell="{}"{} aria-label="Step {}: {}{}">'
        '<span class="mark" aria-hidden="true">{}</span><span class="at">{}</span>'
        '<span class="named">{}</span></button></li>'
    ).format(place_of(lesson, number), current, number, step.title, words, mark, number, step.title)


def step_text(step: Step) -> Markup:
    """Show what a step says, what is looked at, and its questions."""
    return Markup("<h2>{}</h2>{}{}{}").format(
        step.title, drawing.paragraphs(step.text), step.exhibit(), _questions(step.questions)
    )


def _questions(questions: Sequence[Question]) -> Markup:
    if not questions:
        return NOTHING
    return Markup('<ol class="questions">{}</ol>').format(
        join(
            Markup(
                "<li><p>{}</p><details><summary>Answer for the teacher</summary><p>{}</p>"
                "</details></li>"
            ).format(question.text, question.answer)
            for question in questions
        )
    )


def result(finding: Finding, choice: int | None) -> Markup:
    """Show what a live part has come to, and whether it was expected."""
    published = any(not each.live for shown in finding.compared for each in shown.figures)
    head = "In the paper, and here" if published else "Measured here"
    if finding.progress:
        compared = join(map(drawing.comparison, finding.compared))
        return Markup('<div class="card">{}{}</div>').format(finding.progress, compared)
    badge = NOTHING
    if choice is not None and finding.came_true is not None:
        right = choice == finding.came_true
        badge = Markup('<span class="badge {}">{}</span> ').format(
            "good" if right else "keep", "You were right" if right else "You said otherwise"
        )
    figures = drawing.figures(head, finding.compared)
    return Markup('<div class="card"><p class="found" role="status">{}{}</p>{}</div>{}').format(
        badge, unbroken(finding.says), finding.shown, figures
    )


def to_print(lesson: Lesson, task: Task, answers: bool) -> Markup:
    """Return a whole lesson for paper: texts, choices to tick, questions, answers on request."""
    steps = join(
        _printed(number, step, answers) for number, step in enumerate(lesson.steps[task.name], 1)
    )
    return Markup(
        '<h1>{}</h1><p>{}</p><p class="soft">{} · about {} minutes · NLI Clinic</p>{}'
    ).format(lesson.title, lesson.claim, lesson.paper, lesson.minutes, steps)


def _printed(number: int, step: Step, answers: bool) -> Markup:
    guess = NOTHING
    if step.guess:
        boxes = join(Markup("<li>☐ {}</li>").format(choice) for choice in step.guess.choices)
        guess = Markup('<p><b>{}</b></p><ul class="boxes">{}</ul>').format(
            step.guess.question, boxes
        )
    questions = join(
        Markup("<li><p>{}</p>{}</li>").format(
            question.text,
            Markup("<p><b>Answer.</b> {}</p>").format(question.answer) if answers else NOTHING,
        )
        for question in step.questions
    )
    asked = Markup("<ol>{}</ol>").format(questions) if questions else NOTHING
    return Markup("<section><h2>{}. {}</h2>{}{}{}{}</section>").format(
        number, step.title, drawing.paragraphs(step.text), step.exhibit(), guess, asked
    )
