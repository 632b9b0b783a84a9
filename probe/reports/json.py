"""The catalogue as JSON values: one shape for command line and HTTP."""

from typing import Any

from probe.models.library import Entry
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.transforms.options import DEFAULTS, OPTIONS
from probe.transforms.registry import (
    REGISTRY,
    Transform,
    group_of,
    missing,
    options_of,
    source_of,
    summary_of,
)


def transforms_json(task: Task = NLI) -> list[dict[str, Any]]:
    """Return every transform for a task with its facts."""
    return [_transform(entry, task) for entry in REGISTRY.values() if entry.suits(task)]


def _transform(entry: Transform, task: Task) -> dict[str, Any]:
    lacks, edited = missing(entry, task), entry.edited(task)
    return {
        "name": entry.name,
        "title": entry.title,
        "summary": summary_of(entry, task),
        "family": entry.family,
        "side": "both" if len(edited) > 1 else edited[0],
        "label_rule": entry.rule.name,
        "level": entry.level,
        "needs": list(entry.needs),
        "language": entry.language,
        "compared_with": (entry.default and task.default_label) or "original prediction",
        "source": source_of(entry, task),
        "available": not lacks,
        "missing": lacks,
    }


def options_json(task: Task | None = None) -> list[dict[str, Any]]:
    """Return the options of the transforms: what each means, its default, what it may be.

    Of a task they are those that its transforms read.
    """
    return [
        {
            "name": name,
            "family": group_of(name),
            "words": option.words,
            "default": _plain(getattr(DEFAULTS, name)),
            "values": {str(value).lower(): words for value, words in option.values.items()},
            "range": None if option.values else [option.low, option.high],
        }
        for name, option in OPTIONS.items()
        if task is None or name in options_of(task)
    ]


def _plain(value: object) -> object:
    return "".join(value) if isinstance(value, tuple) else value


def model_json(entry: Entry) -> dict[str, Any]:
    """Return one model on disk."""
    return {
        "name": entry.name,
        "title": entry.title,
        "summary": entry.summary,
        "source": entry.source,
        "task": entry.task.name if entry.task else None,
        "parameters": entry.parameters,
        "bytes": entry.size,
    }
