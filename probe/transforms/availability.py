"""The resources that transforms need beside the text, and the transforms that a task can use."""

from collections.abc import Callable, Mapping

from probe import pbsmt
from probe.errors import Unavailable
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.text import tagger, wordnet
from probe.transforms.registry import REGISTRY, Need, Transform, chain

RESOURCES: Mapping[Need, Callable[[Task], str]] = {
    "model": lambda task: "",  # the caller brings the model
    "wordnet": lambda task: wordnet.missing(),
    "tagger": lambda task: tagger.missing(),
    "phrases": lambda task: pbsmt.missing(task.translated),
}


def missing(transform: Transform, task: Task = NLI) -> str:
    """Return what a transform lacks here for a task and how to get it, "" for nothing."""
    return " ".join(filter(None, (RESOURCES[need](task) for need in transform.needs)))


def require_ready(name: str, task: Task) -> None:
    """Raise UnknownTransform or Unavailable where a transform or chain cannot run for a task."""
    for link in chain(name):
        if not link.suits(task):
            raise Unavailable(f"{link.name} is not for the task {task.name} ({task.title})")
        if message := missing(link, task):
            raise Unavailable(f"{link.name} cannot run here: {message}")


def ready(task: Task) -> list[str]:
    """Return the names of the transforms that can run here for a task."""
    return [
        name
        for name, transform in REGISTRY.items()
        if transform.suits(task) and not missing(transform, task)
    ]
