"""What a lesson is: its steps, what each asks, what it computes and which figures it shows.

A lesson is a module: what it computes and its text. Learn shows any of them; app.py lists those
that there are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from markupsafe import Markup
from pydantic import PlainSerializer, PlainValidator

from probe.models.bundled import title_of
from probe.models.library import AnyModel
from probe.published import published_shares
from probe.statistics import Estimate
from probe.tasks.task import TASKS, Task
from probe.ui.html.elements import NOTHING
from probe.ui.page import Core


@dataclass(frozen=True)
class Figure:
    """One measured share in a comparison: whose it is, and where it comes from or how sure it is.

    `live` says that it was measured on this page; a published share has no interval.
    """

    who: str
    share: float
    note: str
    live: bool = False


def measured(who: str, estimate: Estimate) -> Figure:
    """Return a figure that was measured here, with n and its interval."""
    low, high = 100 * estimate.low, 100 * estimate.high
    note = f"n = {estimate.n:,}, 95 % interval {low:.1f} to {high:.1f}"
    return Figure(who, estimate.value, note, live=True)


@cache
def published(name: str) -> Figure:
    """Return a share that a paper reports with its source, and with n where it is told."""
    known = published_shares()[name]
    n = f", n = {known.n:,}" if known.n is not None else ""
    return Figure(known.who, known.share, known.source + n)


Compared = Mapping[str, tuple[Figure, ...]]
"""Figures of one measure under its title, published ones first."""
Html = Annotated[Markup, PlainValidator(Markup), PlainSerializer(str)]
"""Markup, as a finding is kept."""


@dataclass(frozen=True)
class Finding:
    """What a live part has come to so far.

    `came_true` is the number of the choice that was right, None while that is open or nothing was
    asked; `says` is the sentence that is read first.
    """

    says: str = ""
    shown: Html = NOTHING
    compared: Compared = field(default_factory=dict)
    came_true: int | None = None
    progress: Html = NOTHING


@dataclass(frozen=True)
class Setting:
    """What a live part works with: the task of the page, a loaded model, for which visitor."""

    task: Task
    classifier: AnyModel
    visitor: str
    core: Core

    @property
    def model(self) -> str:
        """The model's name."""
        return self.classifier.name

    @property
    def title(self) -> str:
        """What the model is called."""
        return title_of(Path(self.classifier.name).name)


Live = Callable[[Setting], Iterator[Finding]]
"""Computes a step on this page; the last finding is the whole one."""


@dataclass(frozen=True)
class Step:
    """One step: a text, what is looked at, what is guessed among which choices, what is computed.

    `exhibit` draws the examples that the text speaks of; `finished` says that the live part shows a
    finished run and computes nothing. Where it is a run of the visitor's own, `again` shows what
    became of the latest one, and `stop` ends it. `questions` are to talk about, each with an answer
    for the teacher.
    """

    name: str
    title: str
    text: tuple[str, ...]
    asks: str = ""
    choices: tuple[str, ...] = ()
    questions: tuple[tuple[str, str], ...] = ()
    exhibit: Callable[[], Markup] = Markup
    live: Live | None = None
    finished: bool = False
    again: Live | None = None
    stop: Callable[[Core, str, str], None] | None = None


def as_choices(words: Iterable[str]) -> str:
    """Return the choices of a guess as `written` reads them."""
    return "\n".join(f"- {each}" for each in words)


def written(text: str, **parts: Mapping[str, Any]) -> tuple[Step, ...]:  # Any: as `Step` has them
    """Read the steps of a lesson as its author wrote them; `parts` are fields by names of steps.

    A line "# name: title" begins a step and an empty one a paragraph; "? " is what is guessed and
    each "- " a choice, or "? " is a question to talk about and "> " its answer.
    """
    steps = []
    for block in text.strip().removeprefix("# ").split("\n# "):
        head, *lines = block.splitlines()
        name, title = head.split(": ", 1)
        said: list[tuple[str, str]] = []
        for before, line in zip(["", *lines], lines, strict=False):
            if line[:2] in ("? ", "- ", "> "):
                said.append((line[0], line[2:]))
            elif line and said and before:
                said[-1] = (said[-1][0], f"{said[-1][1]} {line}")
            elif line:
                said.append(("", line))
        told, asked, choices, answers = (
            tuple(words for mark, words in said if mark == each) for each in ("", "?", "-", ">")
        )
        own = {field: named[name] for field, named in parts.items() if name in named}
        if answers:
            own["questions"] = tuple(zip(asked, answers, strict=True))
        elif asked:
            own |= {"asks": asked[0], "choices": choices}
        steps.append(Step(name, title, told, **own))
    return tuple(steps)


@dataclass(frozen=True)
class Lesson:
    """A lesson about one claim of one paper, with the steps that it has in each of its tasks."""

    name: str
    title: str
    minutes: int
    claim: str
    paper: str
    steps: Mapping[str, Sequence[Step]] = field(repr=False)

    @property
    def slug(self) -> str:
        """What addresses call it."""
        return self.name.replace("_", "-")

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks in which it is given."""
        return tuple(TASKS[name] for name in self.steps)

    def nearest(self, task: Task) -> Task:
        """Return the task, or where it is not given there the first one in which it is."""
        return task if task.name in self.steps else self.tasks[0]


@dataclass(frozen=True)
class Place:
    """A step of a lesson in a task; the first has number 1."""

    lesson: Lesson
    task: Task
    number: int

    @property
    def steps(self) -> Sequence[Step]:
        """All steps of the lesson in the task."""
        return self.lesson.steps[self.task.name]

    @property
    def step(self) -> Step:
        """The step."""
        return self.steps[self.number - 1]

    @property
    def name(self) -> str:
        """What the page calls the place, such as word_salad.3."""
        return f"{self.lesson.name}.{self.number}"

    @property
    def key(self) -> str:
        """By what a browser remembers the step, whatever its number."""
        return f"{self.lesson.name}.{self.step.name}"

    @property
    def last(self) -> bool:
        """Whether the lesson ends here."""
        return self.number == len(self.steps)


def places_of(lesson: Lesson, task: Task) -> list[Place]:
    """Return the steps of a lesson in a task."""
    return [Place(lesson, task, number) for number in range(1, len(lesson.steps[task.name]) + 1)]


def find(lessons: Sequence[Lesson], named: str, task: Task) -> Place | None:
    """Return the place of a name such as word_salad.3, None for one that is not given."""
    name, _, number = named.partition(".")
    for lesson in lessons:
        if lesson.name == name.replace("-", "_") and task.name in lesson.steps:
            most = len(lesson.steps[task.name])
            asked = int(number) if number.isdecimal() and len(number) < 4 else 1
            return Place(lesson, task, min(max(asked, 1), most))
    return None
