"""What Probe looks at: an example with all that is set, from its fields, a link or a file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast, get_args

from probe.analysis.importance import AUTO, METHODS, AskedMethod, BaselineToken
from probe.errors import FileError, LabelError, ModelError, OptionError
from probe.models.bundled import title_of
from probe.models.windows import LONG, Long
from probe.runs.access import ModelAccess
from probe.tasks.nli import NLI
from probe.tasks.task import TASKS, Label, Task, offered_tasks, task_named
from probe.transforms.options import DEFAULTS, OPTIONS, Options, read_options
from probe.transforms.registry import first_choice, foreign
from probe.ui.answers.answering import check_example, check_transforms
from probe.ui.api.endpoint import MAX_WHOLE, whole_in
from probe.ui.links import not_here, shortened
from probe.ui.panels import options
from probe.ui.tabs.example_pairs import examples_of


def max_fields() -> int:
    """Return how many texts the task with the most of them has."""
    return max(len(task.fields) for task in offered_tasks())


@dataclass(frozen=True)
class View:
    """An example, what answers it, and what is asked.

    `label` is the one explained, None for the gold label, else the predicted one; with `against`
    what sets it apart from that. `long` is as `probe.models.windows.LONG` has it.
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
    against: Label | None = None

    def check(self) -> None:
        """Refuse a view that holds too little or too much.

        Raises ExampleError, LimitError, OptionError.
        """
        check_example(self.task, self.example)
        if self.seed < 0:
            raise OptionError(f"the seed is a whole number from 0, and {self.seed} is below it")
        check_transforms(self.names)


def read_view(task: str, fields: Mapping[str, Any]) -> View:
    """Read what the fields hold; labels come by their places, a span as it is.

    Raises LabelError, OptionError.
    """
    asked = task_named(task)
    gold = asked.read_gold(fields["answer"]) if asked.has_spans else label_at(asked, fields["gold"])
    texts = {name: fields[f"text_{at}"] for at, name in enumerate(asked.fields, 1)}
    label, _, against = str(fields["explain"] or "").partition(AND_NOT)
    return View(
        asked,
        asked.example(**texts, gold=gold),
        fields["model"],
        tuple(dict.fromkeys(fields["transforms"])),
        int(fields["seed"] or 0),
        options.read([fields[name] for name in OPTIONS], asked),
        fields["method"],
        fields["baseline"],
        label_at(asked, label),
        options.read_long(fields["long"], asked),
        label_at(asked, against),
    )


def fields_of(view: View) -> dict[str, Any]:
    """Return what the fields hold of a view, as `read_view` reads it."""
    return {
        "model": view.model or None,
        **example_fields(view.task, view.example),
        "transforms": list(view.names),
        "seed": view.seed,
        "method": view.method,
        "baseline": view.baseline,
        "explain": explained_by(view.task, view.label, view.against),
        "long": view.long,
        **{name: options.shown(name, getattr(view.options, name)) for name in OPTIONS},
    }


def example_fields(task: Task, example: Any) -> dict[str, str]:  # Any: of the task's own dataclass
    """Return what the fields hold of an example: its texts and its right answer."""
    texts = dict(enumerate(task.texts(example).values(), 1))
    return {
        **{f"text_{at}": texts.get(at, "") for at in range(1, max_fields() + 1)},
        "gold": place_of(task, example.gold),
        "answer": (example.gold or "") if task.has_spans else "",
    }


def label_at(task: Task, place: str) -> Label | None:
    """Return the label at a place of a task, None where there is none.

    Fields hold places, so that what one task's list offers is in every other task's too.
    """
    return task.labels[int(place)] if place.isdecimal() and int(place) < len(task.labels) else None


def place_of(task: Task, label: Label | None) -> str:
    """Return the place of a label, "" for none."""
    return str(task.labels.index(label)) if label in task.labels else ""


AND_NOT = "-"
"""Stands between the places of two labels of which the difference is explained."""


def explained_by(task: Task, label: Label | None, against: Label | None = None) -> str:
    """Return what the field holds of the label explained, and of the one that it is set against."""
    return AND_NOT.join(filter(None, (place_of(task, label), place_of(task, against))))


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
        "against": view.against or "",
        "long": view.long if view.task.settled and view.long != "cut" else "",
        "options": json.dumps(view.options.changed) if view.options.changed else "",
        "grant": grant,
    }
    needed = {"transforms", *view.task.fields}
    return {name: value for name, value in held.items() if value or name in needed}


MAX_FILE = 2_000_000
"""Bytes of a view's file."""
PARTS = {
    *("task", "gold", "model", "revision", "transforms", "seed", "method", "baseline", "label"),
    *("against", "long", "options", "grant"),
}
"""What a link may hold of a view beside the texts."""


@dataclass(frozen=True)
class Opened:
    """What to show, the models to choose from, and a sentence for all that is not as named."""

    view: View
    models: list[str]
    notices: tuple[str, ...] = ()


def open_link(models: ModelAccess, visitor: str, query: Mapping[str, str]) -> Opened:
    """Read a link, or begin with the first example of its task.

    What it names and is not here is said, with what takes its place. Transforms stay as named: the
    results say what is wrong with one.
    """
    link = LinkReader(query)
    task = link.task()
    known = models.names(visitor, task)
    view = View(
        task,
        link.example(task),
        link.model(models, visitor, task, known),
        link.names(task),
        link.seed(),
        link.options(task),
        cast(AskedMethod, link.one_of("method", (AUTO, *METHODS), AUTO)),
        cast(BaselineToken, link.one_of("baseline", get_args(BaselineToken), "pad")),
        link.label("label", "label explained", task),
        cast(Long, link.one_of("long", tuple(LONG), "cut")),
        link.label("against", "label it is set against", task),
    )
    return Opened(view, known, tuple(link.notices))


def absent_tab(query: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence where an older link names a place that the app never had."""
    return (not_here("place", query["tab"], "Probe is shown"),) if query.get("tab") else ()


def names_a_view(query: Mapping[str, str]) -> bool:
    """Whether a link holds anything of a view."""
    texts = {name for task in offered_tasks() for name in task.fields}
    return not (PARTS | texts).isdisjoint(query)


@dataclass
class LinkReader:
    """Reads the values of a link one by one and notes what it names that is not here."""

    query: Mapping[str, str]
    notices: list[str] = field(default_factory=list)

    def task(self) -> Task:
        """Return the task, inference where it is not offered."""
        task = TASKS.get(self.query.get("task", NLI.name))
        if task in offered_tasks():
            return task
        self._absent("task", self.query["task"], "inference is shown instead")
        return NLI

    def example(self, task: Task) -> Any:  # Any: of the task's own dataclass
        """Return the texts with their gold label, the task's first example where none is given."""
        if not any(name in self.query for name in task.fields):
            return next(iter(examples_of(task).values()))
        texts = {name: self.query.get(name, "") for name in task.fields}
        return task.example(**texts, gold=self.label("gold", "right answer", task))

    def model(self, models: ModelAccess, visitor: str, task: Task, known: list[str]) -> str:
        """Return the model that answers: the one that is named, where it is here for the task."""
        wanted, revision = self.query.get("model", ""), self.query.get("revision", "")
        if wanted in ("", *known) and not revision:
            return wanted or next(iter(known), "")
        try:
            here = models.get(visitor, wanted, task).revision or ""
        except ModelError as trouble:
            instead = next(iter(known), "")
            remedy = "; Settings, Your own model, loads it" if "/" in wanted else ""
            self._absent(
                "model", wanted, f"{title_of(instead) or 'no model'} answers instead{remedy}"
            )
            if "another task" in str(trouble):
                self.notices[-1] = (
                    f"{shortened(str(trouble))}: {title_of(instead) or 'no model'} answers here."
                )
            return instead
        if here != revision:
            self._absent(
                f"revision of {shortened(wanted)}", revision, f"{here or 'another'} answers"
            )
        return wanted

    def label(self, name: str, words: str, task: Task) -> Label | None:
        """Return a label, None where none is named or it is not one of the task's."""
        text = self.query.get(name, "")
        try:
            label = task.read_gold(text)
        except LabelError:
            label = None
        if text and not task.has_spans and label not in task.labels:
            self._absent(words, text, f"the task has {', '.join(task.labels)}")
            return None
        return label

    def names(self, task: Task) -> tuple[str, ...]:
        """Return the transforms, those chosen at first where the link says nothing of them."""
        if "transforms" not in self.query:
            return first_choice(task)
        return tuple(filter(None, map(str.strip, self.query["transforms"].split(","))))

    def seed(self) -> int:
        """Return the seed, 0 where none is named or the field does not take it."""
        text = self.query.get("seed", "")
        seed = whole_in(text)
        if text and seed is None:
            self.notices.append(
                f"The link names the seed {shortened(text)!r}, which is not a number from 0 to "
                f"{MAX_WHOLE:,}; 0 is used."
            )
        return seed or 0

    def options(self, task: Task) -> Options:
        """Return the task's options, the usual ones where they cannot be read."""
        text = self.query.get("options", "") or "{}"
        try:
            options = read_options(dict(json.loads(text)))
        except (ValueError, TypeError, RecursionError, OptionError) as wrong:
            self.notices.append(f"The link's options are not set: {shortened(str(wrong))}.")
            return DEFAULTS
        absent = foreign(options, task)
        self.notices += [
            f"The link sets the option {name}, which no change of this task has; it is left out."
            for name in absent
        ]
        return replace(options, **{name: getattr(DEFAULTS, name) for name in absent})

    def one_of(self, name: str, known: tuple[str, ...], usual: str) -> str:
        """Return a value that has to be one of several, the usual one where it is not."""
        text = self.query.get(name, usual)
        if text in known:
            return text
        self._absent(name, text, f"{usual or 'none'} is used")
        return usual

    def _absent(self, what: str, named: str, instead: str) -> None:
        self.notices.append(not_here(what, named, instead))


def read_file(path: Path) -> dict[str, str]:
    """Read a view that was saved as a file. Raises FileError."""
    if path.stat().st_size > MAX_FILE:
        raise FileError(f"the file of a view has at most {MAX_FILE:,} bytes, and this has more")
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as wrong:
        raise FileError(f"this file holds no view of Probe: {wrong}") from wrong
    if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
        raise FileError("this file holds no view of Probe: it is no JSON object of texts")
    return held


def file_text(view: View, revision: str | None = None, grant: str = "") -> str:
    """Return a view as the text of its file."""
    return json.dumps(parameters(view, revision, grant), ensure_ascii=False, indent=1)
