"""What the Probe tab looks at: an example with all that is set for it, and its way into a link."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from probe.analysis.importance import AskedMethod, BaselineToken
from probe.errors import OptionError
from probe.models.windows import Long
from probe.tasks.task import Label, Task, offered_tasks, task_named
from probe.transforms.options import Options
from probe.ui.answers.request_limits import check_example, check_transforms
from probe.ui.panels import options


def max_fields() -> int:
    """Return how many texts the task with the most of them has."""
    return max(len(task.fields) for task in offered_tasks())


@dataclass(frozen=True)
class View:
    """An example, what answers it, and what is asked.

    `label` is the one explained, None for the gold label, else the predicted one; `long` is as
    `probe.models.windows.LONG` has it.
    """

    task: Task
    example: Any  # Any: of the task's own dataclass
    model: str
    names: tuple[str, ...]
    seed: int
    options: Options
    method: AskedMethod
    baseline: BaselineToken
    label: Label | None
    long: Long = "cut"

    def check(self) -> None:
        """Refuse a view that holds too little or too much.

        Raises ExampleError, LimitError, OptionError.
        """
        check_example(self.task, self.example)
        if self.seed < 0:
            raise OptionError(f"the seed is a whole number from 0, and {self.seed} is below it")
        check_transforms(self.names)


def read_view(
    task: str,
    model: str,
    gold: str,
    answer: str,
    seed: float | None,
    explain: str,
    method: AskedMethod,
    baseline: BaselineToken,
    long: Long,
    names: Sequence[str],
    *rest: Any,  # Any: the texts, then the options' values
) -> View:
    """Read what the fields hold; labels come by their places, a span as it is.

    Raises LabelError, OptionError.
    """
    asked = task_named(task)
    texts, values = rest[: max_fields()], rest[max_fields() :]
    example = asked.example(
        **dict(zip(asked.fields, texts, strict=False)),
        gold=asked.read_gold(answer) if asked.has_spans else label_at(asked, gold),
    )
    return View(
        asked,
        example,
        model,
        tuple(dict.fromkeys(names)),
        int(seed or 0),
        options.read(values, asked),
        method,
        baseline,
        label_at(asked, explain),
        options.read_long(long, asked),
    )


def label_at(task: Task, place: str) -> Label | None:
    """Return the label at a place of a task, None where there is none.

    Fields hold places, so that what one task's list offers is in every other task's too.
    """
    return task.labels[int(place)] if place.isdecimal() and int(place) < len(task.labels) else None


def place_of(task: Task, label: Label | None) -> str:
    """Return the place of a label, "" for none."""
    return str(task.labels.index(label)) if label in task.labels else ""


def span_of(task: Task, gold: Label | None) -> str:
    """Return the right answer where it is a span, "" for a label."""
    return (gold or "") if task.has_spans else ""


def parameters(view: View, revision: str | None = None, grant: str = "") -> dict[str, str]:
    """Return what a link holds of a view; what is empty is left out.

    `revision` is the commit of a hub's model, `grant` lets others use a model of one's own.
    """
    held = {
        "task": view.task.name,
        **view.task.texts(view.example),
        "gold": view.example.gold or "",
        "model": view.model,
        "revision": revision or "",
        "transforms": ",".join(view.names),
        "seed": str(view.seed),
        "method": view.method,
        "baseline": view.baseline,
        "label": view.label or "",
        "long": view.long if view.task.settled and view.long != "cut" else "",
        "options": options_json(view.options),
        "grant": grant,
    }
    needed = {"transforms", *view.task.fields}
    return {name: value for name, value in held.items() if value or name in needed}


def options_json(chosen: Options) -> str:
    """Return the options that differ from the defaults as JSON, "" where none does."""
    return json.dumps(chosen.changed) if chosen.changed else ""
