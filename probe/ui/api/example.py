"""The example of any task that an endpoint is asked about."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from probe.errors import ModelError, OptionError
from probe.runs.access import ModelAccess
from probe.tasks.task import Task, offered_tasks, task_named
from probe.ui.answers.request_limits import check_example
from probe.ui.api.arguments import MAX_NAMES, Name, Text, opened

Texts = Annotated[
    dict[Name, Text],
    BeforeValidator(opened),
    Field(max_length=MAX_NAMES, description='a JSON object such as {"text1": "A dog barks."}'),
]
"""The texts of an example by field, as JSON or as its text."""


def task_of(models: ModelAccess, owner: str, name: str, model: str) -> Task:
    """Return a task that the page offers; where none is named, the model's. Raises OptionError."""
    if not name:
        return models.task(owner, model)
    known = [task.name for task in offered_tasks()]
    if name not in known:
        raise OptionError(f"there is no task {name!r} here; there are: {', '.join(known)}")
    return task_named(name)


def first_model(models: ModelAccess, owner: str, task: Task) -> str:
    """Return the model that the page offers first for a task. Raises ModelError where none is."""
    name = next(iter(models.names(owner, task)), None)
    if name is None:
        raise ModelError(f"no model of the task {task.name} is here; name one of your own")
    return name


def read_example(
    task: Task, texts: Mapping[str, str], premise: str, hypothesis: str, gold: str
) -> Any:  # Any: of the task's own dataclass
    """Return the example of a task; premise and hypothesis are a shorthand for inference's texts.

    Raises OptionError for a text that the task has not or that is given twice, ExampleError without
    a text, LabelError.
    """
    short = {"premise": premise, "hypothesis": hypothesis}
    said = {name: text for name, text in short.items() if text}
    if twice := [name for name in said if name in texts]:
        raise OptionError(f"the text {twice[0]} is given twice")
    given = {**texts, **said}
    if unknown := [name for name in given if name not in task.fields]:
        fields = ", ".join(task.fields)
        raise OptionError(f"the task {task.name} has no text {unknown[0]!r}; it has: {fields}")
    whole = {field: given.get(field, "") for field in task.fields}
    example = task.example(**whole, gold=task.read_gold(gold))
    check_example(task, example)
    return example
