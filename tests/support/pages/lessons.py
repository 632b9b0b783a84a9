"""Every step of the lessons that there are, and what it comes to with a tiny model."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from probe.models.library import AnyModel, ModelCache, load_any
from probe.models.reader import Reader
from probe.runs.engine import Engine
from probe.runs.gallery import FOLDER
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.ui.lessons.lesson import Finding, Lesson, Setting, Step
from probe.ui.page import Core
from tests.support.models.tiny_bert import tiny_reader
from tests.support.models.tiny_models import tiny_classifier
from tests.support.pages.visitors import ME

MODELS: dict[str, AnyModel] = {}
Place = tuple[Lesson, Task, Step]


def places(lessons: Iterable[Lesson]) -> list[Place]:
    """Return each step of each task of the lessons."""
    return [
        (lesson, task, step)
        for lesson in lessons
        for task in lesson.tasks
        for step in lesson.steps[task.name]
    ]


def title(place: Place) -> str:
    """Name a step, for a test."""
    lesson, task, step = place
    return f"{lesson.name}-{task.name}-{step.name}"


def setting(task: Task) -> Setting:
    """Return a tiny model of a task, the same one each time, so that results are shared."""
    if task.name not in MODELS:
        MODELS[task.name] = _tiny_reader() if task.has_spans else tiny_classifier(order=task.labels)
    return Setting(task, MODELS[task.name], ME, core())


def _tiny_reader() -> Reader:
    with TemporaryDirectory() as folder:
        return load_any(str(tiny_reader(Path(folder))))


def gallery_setting(model: str) -> Setting:
    """Return inference with the gallery, in which a model of this name was chosen."""
    tiny = setting(NLI)
    return replace(
        tiny,
        classifier=replace(tiny.classifier, name=model),
        core=replace(tiny.core, gallery=FOLDER),
    )


def core() -> Core:
    """Return a core without a gallery of its own; its store lies in the home of the test."""
    store = Store()
    return Core(ModelCache(), store, Engine(store), Path("no gallery"))


def last_finding(place: Place) -> Finding:
    """Run the live part of a step and return what it came to."""
    _, task, step = place
    assert step.live is not None
    *_, last = step.live(setting(task))
    return last
