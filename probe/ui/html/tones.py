"""The colours of labels: by their place in their task, so that all tasks share one palette."""

from typing import Literal

from probe.tasks.task import INVALID, TASKS, Label

Tone = Literal["first", "middle", "last", "invalid"]
"""Blue, grey, vermilion, and purple for what is no example: `.tone-first` and so on in page.css."""


def tone_class(label: Label) -> str:
    """Return the class that gives a label its colour, "" for a span, which has none."""
    known = label == INVALID or any(label in task.labels for task in TASKS.values())
    return f"tone-{tone(label)}" if known else ""


def tone(label: Label) -> Tone:
    """Return the tone of a label of any task; the middle one for what is no label."""
    if label == INVALID:
        return "invalid"
    labels = next((task.labels for task in TASKS.values() if label in task.labels), ())
    if label not in labels[:1] + labels[-1:]:
        return "middle"
    return "first" if label == labels[0] else "last"
