"""What a lesson is: its steps, what each asks, what it computes and which figures it shows.

A lesson is a module of data. The Learn tab shows any of them; app.py lists those that there are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from probe.models.bundled import title_of
from probe.models.library import AnyModel
from probe.statistics import Estimate
from probe.tasks.task import TASKS, Task
from probe.ui.html.elements import NOTHING
from probe.ui.page import Core


@dataclass(frozen=True)
class Question:
    """A question to talk about in class, with an answer for the teacher."""

    text: str
    answer: str


@dataclass(frozen=True)
class Guess:
    """What a student predicts before anything is computed."""

    question: str
    choices: tuple[str, ...]


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


@dataclass(frozen=True)
class Comparison:
    """Figures of one measure under each other, published ones first."""

    title: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Finding:
    """What a live part has come to so far.

    `came_true` is the number of the choice that was right, None while that is open or nothing was
    asked; `says` is the sentence that is read first.
    """

    says: str = ""
    shown: Markup = NOTHING
    compared: tuple[Comparison, ...] = ()
    came_true: int | None = None
    progress: Markup = NOTHING


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
        return title_of(self.classifier.name)


Live = Callable[[Setting], Iterator[Finding]]
"""Computes a step on this page; the last finding is the whole one."""


def _nothing() -> Markup:
    return NOTHING


@dataclass(frozen=True)
class Step:
    """One step: a text, what is looked at, a guess, what is computed, questions.

    `exhibit` draws the examples that the text speaks of; `finished` says that the live part shows a
    finished run and computes nothing.
    """

    name: str
    title: str
    text: tuple[str, ...]
    exhibit: Callable[[], Markup] = _nothing
    guess: Guess | None = None
    live: Live | None = None
    finished: bool = False
    questions: tuple[Question, ...] = ()


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
    def tasks(self) -> tuple[Task, ...]:
        """The tasks in which it is given."""
        return tuple(TASKS[name] for name in self.steps)

    def step(self, task: Task, number: int) -> Step:
        """Return a step of a task, the first has number 1."""
        return self.steps[task.name][number - 1]
