"""The Catalogue tab: what there is for a task, in words and with examples; the glossary."""

from collections.abc import Callable, Sequence
from functools import partial

import gradio as gr
from markupsafe import Markup

from probe.analysis.transformed import ImportanceReader
from probe.errors import UserError
from probe.models.library import AnyModel
from probe.runs.access import ModelAccess
from probe.tasks.examples import random_example
from probe.tasks.task import Example, Task, task_named
from probe.transforms import REGISTRY, Options, Result, apply
from probe.transforms.registry import SubWords, ready
from probe.ui.answers.shared_answers import SharedAnswers, model_key
from probe.ui.events import QUIET
from probe.ui.html.catalogue import catalogue
from probe.ui.html.elements import alert, hint
from probe.ui.page import Page

LOADING = hint("Every transform in words, with an example, and the glossary: being put together.")


def show(models: ModelAccess, answers: SharedAnswers, visitor: str, task_name: str) -> Markup:
    """Show what there is for a task, its transforms applied to the task's own example."""
    task = task_named(task_name)
    try:
        model = first_model(models, visitor, task)
        key = task.name, model_key(model) if model else None
        (shown,) = answers.get(key, lambda: (described(task, model),))
    except UserError as trouble:
        return alert(trouble)
    return shown


def first_model(models: ModelAccess, visitor: str, task: Task) -> AnyModel | None:
    """Return the first model for a task, which reads the tokens; None where there is none."""
    name = next(iter(models.names(visitor, task)), None)
    return models.get(visitor, name, task) if name else None


def described(task: Task, model: AnyModel | None) -> Markup:
    """Show the catalogue of a task; without a model those that read tokens have no example."""
    example = task.showcase or random_example(task, 0)
    reader = ImportanceReader(model, Options()) if model else unread
    able = [name for name in ready(task) if model or "model" not in REGISTRY[name].needs]
    made: dict[str, Sequence[Result]] = {
        name: apply(name, [example], task, 0, Options(), reader)[0] for name in able
    }
    return catalogue(task, example, made)


def unread(examples: Sequence[Example]) -> list[SubWords | str]:
    """Read no tokens."""
    return []


def build(page: Page) -> None:
    """Put the tab together; it is filled when it is opened."""
    listed = gr.HTML(LOADING, elem_id="catalogue", padding=False)
    fill: Callable[..., Markup] = partial(show, page.core.models, SharedAnswers())
    filled = page.on_open(fill, [page.owner, page.task], listed, concurrency_id="probe", **QUIET)
    filled.then(None, js="() => window.showTerm()", **QUIET)
