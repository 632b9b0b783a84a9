"""What the Probe tab opens with: a link or a file read into its fields, each absent thing said."""

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
from probe.tasks.task import TASKS, Label, Task, offered_tasks
from probe.transforms.options import DEFAULTS, Options, read_options
from probe.transforms.registry import first_choice, foreign
from probe.ui.api.arguments import MAX_WHOLE, whole_in
from probe.ui.links import not_here, shortened
from probe.ui.tabs.example_pairs import examples_of
from probe.ui.tabs.probe.view import View, parameters

MAX_FILE = 2_000_000
"""Bytes of a view's file."""
PARTS = [
    "task",
    "gold",
    "model",
    "revision",
    "transforms",
    "seed",
    "method",
    "baseline",
    "label",
    "long",
    "options",
    "grant",
]
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
    )
    return Opened(view, known, tuple(link.notices))


def absent_tab(query: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence where an older link names a tab that the app never had."""
    return (not_here("tab", query["tab"], "Probe is shown"),) if query.get("tab") else ()


def names_a_view(query: Mapping[str, str]) -> bool:
    """Whether a link holds anything of a view."""
    texts = (name for task in offered_tasks() for name in task.fields)
    return any(name in query for name in (*PARTS, *texts))


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
        self._absent(name, text, f"{usual} is used")
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
        raise FileError(f"this file holds no view of the Probe tab: {wrong}") from wrong
    if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
        raise FileError("this file holds no view of the Probe tab: it is no JSON object of texts")
    return held


def file_text(view: View, revision: str | None = None, grant: str = "") -> str:
    """Return a view as the text of its file."""
    return json.dumps(parameters(view, revision, grant), ensure_ascii=False, indent=1)
