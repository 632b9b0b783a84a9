"""The models on disk, and the loading of any model: safetensors only, no remote code."""

import json
import os.path
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from probe.errors import ModelError, OptionError
from probe.first_import import first_import
from probe.models.bundled import BUNDLED, Bundled
from probe.models.classifier import Classifier
from probe.models.errors import UnclearLabels
from probe.models.hub import fetch, free_memory_bytes
from probe.models.inputs.template import TEMPLATE, framed_sentence, read_template
from probe.models.label_check import check_labels, guessed
from probe.models.outputs import (
    is_merged,
    is_probability,
    merged_sentence,
    number_sentence,
    read_config,
)
from probe.models.reader import Reader
from probe.models.weights.files import READ_ERRORS, count_parameters, weight_files
from probe.models.weights.folder import ADAPTER, read_json
from probe.models.windows import Long
from probe.settings import ASSETS, settings
from probe.tasks.reading import READING
from probe.tasks.task import GUESS, TASKS, Label, Task

AnyModel = Classifier | Reader
"""A model of any task, loaded."""

DEFAULT = "minilm"
"""The model of the page and of commands that name none."""


@dataclass(frozen=True)
class Entry:
    """A model on disk. `source` is bundled or inoculated, `task` None where it does not say one.

    `size` is in bytes, without what it shares with other models.
    """

    name: str
    folder: Path
    source: str
    task: Task | None
    size: int
    parameters: int

    @property
    def title(self) -> str:
        """What a person calls it; a model that was inoculated here has only its name."""
        words = self._words
        return words.title if words else self.name

    @property
    def summary(self) -> str:
        """One sentence that says what it is."""
        words = self._words
        return words.summary if words else "A model that was inoculated here."

    @property
    def _words(self) -> Bundled | None:
        return BUNDLED.get(self.name) if self.source == "bundled" else None


def model_folders() -> dict[str, Path]:
    """Return the folders whose sub-folders are models."""
    return {"bundled": ASSETS / "models", "inoculated": settings().home / "models"}


def entries() -> Iterator[Entry]:
    """Yield the models on disk: bundled ones in their order, then the newest inoculated first."""
    for source, folder_of_models in model_folders().items():
        folders = [path.parent for path in folder_of_models.glob("*/config.json")]
        newest = source == "inoculated"
        key = (lambda folder: -folder.stat().st_mtime) if newest else _in_order
        for folder in sorted(folders, key=key):
            try:
                files = weight_files(folder)
                count = sum(map(count_parameters, files))
            except (ModelError, *READ_ERRORS):
                continue  # half written, or a pointer of Git LFS
            size = sum(path.stat().st_size for path in files if path.parent == folder.resolve())
            if files:
                yield Entry(folder.name, folder, source, _task_of(folder), size, count)


def _bundled() -> list[str]:
    """Return the names of the bundled models that are here."""
    return [entry.name for entry in entries() if entry.source == "bundled"]


def _task_of(folder: Path) -> Task | None:
    """Return the task that a model's config names, or else whose labels its outputs have."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if _answers_with_spans(config):
            return READING
        names = [str(name) for _, name in sorted(config.get("id2label", {}).items())]
        own = TASKS.get(config.get("task", ""))
        task, order = read_config(folder.name, names, own)
    except (OSError, ValueError, AttributeError, ModelError):
        return None
    return task if own or order else None


def _in_order(folder: Path) -> tuple[int, str]:
    place = list(BUNDLED).index(folder.name) if folder.name in BUNDLED else len(BUNDLED)
    return place, folder.name


def find(name: str) -> str:
    """Return the folder of a model on disk, or the name itself: a folder or a hub id."""
    known = {entry.name: entry.folder for entry in entries()}
    return str(known.get(name, name))


def full_name(name: str) -> str:
    """Return the name that leads to a model from wherever a process starts.

    A folder is named by its full path, a model on disk or of a hub by its name.
    """
    is_folder = os.path.isdir(name) and find(name) == name
    return str(Path(name).resolve()) if is_folder else name


def task_of_model(name: str) -> Task:
    """Return the task of a model on disk. Raises ModelError, also where its config says none."""
    require_on_disk(name)
    task = next((entry.task for entry in entries() if entry.name == name), None)
    if task is None:
        raise ModelError(f"the config of the model {name!r} does not say what task it answers")
    return task


def require_on_disk(name: str, hidden: Collection[str] = ()) -> None:
    """Raise ModelError for a name that is not on disk: a page's visitor opens no other folder.

    Those that are `hidden` are not there.
    """
    known = [entry.name for entry in entries() if entry.name not in hidden]
    if name not in known:
        raise ModelError(
            _absent(name)
            or f"there is no model called {name!r} here; there are: {', '.join(known)}"
        )


def _absent(name: str) -> str:
    """Return where to get a bundled model that is not here, "" for any other name."""
    if name not in BUNDLED:
        return ""
    return (
        f"the bundled model {name!r} is not in this installation: copy {BUNDLED[name].folders} of "
        f"NLI Clinic's repository (with Git LFS, git lfs pull) into {ASSETS}"
    )


def without_labels(name: str) -> ModelError:
    """Return the refusal of a model that answers with spans where labels are asked for."""
    return ModelError(f"the model {name!r} answers with spans of a passage, not with labels")


def load(
    name: str,
    order: tuple[Label, ...] | None = None,
    task: Task | None = None,
    *,
    likely: Task | None = None,
    relative: bool = True,
    template: str = "",
) -> Classifier:
    """Load a bundled or inoculated model, a folder, or a hub's model as owner/name[@revision].

    `order`, `task` and `likely` are as of `read_config`, `relative` is as of `locate`; a `template`
    takes the place of a decoder's own. Raises ModelError with a sentence, UnclearTask where the
    config does not say the task and none is given, and UnclearLabels where the same is true of the
    order.
    """
    with first_import:
        from probe.models.checkpoint import read_checkpoint, that_answers
        from probe.models.hardware.device import device

    if answers_with_spans(name, relative):
        raise without_labels(name)
    folder, revision = locate(name, relative)
    checkpoint = read_checkpoint(name, folder, device(), _base_of(name, folder, relative))
    outputs = checkpoint.outputs
    config = checkpoint.model.config
    own, guess = TASKS.get(str(getattr(config, "task", ""))), order == GUESS
    answered, known = read_config(name, outputs, own, task, None if guess else order, likely)
    usual = answered.labels[::-1] if checkpoint.number else answered.labels
    if checkpoint.number and not guess and is_probability(config):
        known = known or usual
    notes = checkpoint.notes
    if known and checkpoint.number:
        notes += (number_sentence(known, told=bool(order)),)
    elif known and is_merged(known):
        notes += (merged_sentence(outputs, known),)
    classifier = Classifier(
        name, checkpoint.model, checkpoint.tokenizer, answered, known or usual, device(), revision,
        notes=notes,
    )  # fmt: skip
    if template and not classifier.frame:
        raise ModelError(
            f"the model {name!r} reads its texts as they are; a template is for a decoder, which "
            "reads them as one"
        )
    if template:
        setattr(config, TEMPLATE, template)
    read_template(config, answered.fields)
    if frame := classifier.frame:
        classifier = replace(classifier, notes=(*notes, framed_sentence(frame)))
    that_answers(classifier)
    if guess:
        return guessed(classifier, outputs)
    if known is None:
        raise _unclear(classifier, outputs, checkpoint.number)
    return classifier


def _base_of(name: str, folder: Path, relative: bool) -> Path | None:
    """Return the folder of what an adapter was trained on, None for a whole model.

    Raises ModelError where it is not there, or may not be opened by the visitors of a page.
    """
    base = str(read_json(name, folder / ADAPTER).get("base_model_name_or_path") or "")
    if not base:
        return None
    own = relative or find(name) != name  # brought by who runs the app
    if own and not os.path.isdir(find(base)):  # trained by a process that began in another folder
        above = (parent / base for parent in folder.resolve().parents)
        base = next((str(path) for path in above if path.is_dir()), base)
    kind = "folder" if os.path.isabs(base) else "hub"
    if not own and kind not in settings().user_models:
        raise ModelError(f"the adapter {name!r} needs {base}, and no {kind}'s models open here")
    try:
        return locate(base, relative)[0]
    except ModelError as problem:
        raise ModelError(f"the adapter {name!r} was trained on {base!r}: {problem}") from problem


def load_reader(name: str, relative: bool = True) -> Reader:
    """Load a model that answers questions with spans, named as for `load`. Raises ModelError."""
    with first_import:
        from probe.models.checkpoint import read_reader, that_answers
        from probe.models.hardware.device import device

    folder, revision = locate(name, relative)
    read = read_reader(name, folder, device())
    reader = Reader(name, read.model, read.tokenizer, device(), revision, notes=read.notes)
    return that_answers(reader)


def load_any(
    name: str,
    order: tuple[Label, ...] | None = None,
    task: Task | None = None,
    *,
    likely: Task | None = None,
    relative: bool = True,
    template: str = "",
) -> AnyModel:
    """Load a classifier as `load` does, or a reader. Raises ModelError, also for another task."""
    if not answers_with_spans(name, relative):
        return load(name, order, task, likely=likely, relative=relative, template=template)
    if task and task is not READING:
        raise ModelError(
            f"the model {name!r} answers {READING.title.lower()}, not {task.title.lower()}"
        )
    if order:
        raise ModelError(f"the model {name!r} answers with spans, so it has no labels to order")
    if template:
        raise ModelError(f"the model {name!r} answers with spans, so it takes no template")
    return load_reader(name, relative)


def that_reads(model: AnyModel, long: Long) -> AnyModel:
    """Return the model as it does this with texts longer than it reads.

    A reader reads a long passage in windows whatever is asked. Raises OptionError for a task whose
    texts cannot be read in parts.
    """
    if long == "cut" or isinstance(model, Reader):
        return model
    require_parts(model.task, long)
    windowed = replace(model, long=long)
    object.__setattr__(windowed, "bf16", model.bf16)  # one copy of the weights serves both
    return windowed


def require_parts(task: Task, long: Long) -> None:
    """Refuse to read texts in parts for a task where none settles the answer. Raises OptionError.

    A passage with a question is always read so.
    """
    if long != "cut" and not (task.settled or task.has_spans):
        raise OptionError(
            f"long={long} is for inference, where one part of a premise can settle the answer; "
            f"{task.title.lower()} has no such text, so leave it at long=cut"
        )


def answers_with_spans(name: str, relative: bool = True) -> bool:
    """Whether a model's config says that it answers questions with spans. Raises ModelError."""
    path = locate(name, relative)[0] / "config.json"
    try:
        return _answers_with_spans(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError):
        return False  # loading says what is wrong with it


def _answers_with_spans(config: Mapping[str, Any]) -> bool:  # Any: JSON
    return any("QuestionAnswering" in str(kind) for kind in config.get("architectures") or [])


def _unclear(classifier: Classifier, outputs: Sequence[str], number: bool) -> UnclearLabels:
    """Return the error for outputs without labels, with the order that scores best."""
    check = check_labels(classifier)
    right = (
        f"{check.best_correct} of {check.n} plain {classifier.task.unit}s right" if check else ""
    )
    suggestion = check.suggestion if check else None
    return UnclearLabels(classifier.name, outputs, classifier.order, suggestion, right, number)


def locate(name: str, relative: bool = True) -> tuple[Path, str | None]:
    """Return a model's folder, and its commit where it is a hub's. Raises ModelError.

    Without `relative` a folder is named by its full path alone: a name such as owner/name is then
    the hub's, whatever folders lie where the app was started.
    """
    if not name.strip():
        raise ModelError(f"name a model; bundled are {', '.join(_bundled())}")
    path = Path(find(name))
    if (relative or path.is_absolute()) and os.path.isdir(path):  # false for too long a name
        return path, None
    if "/" not in name or path.is_absolute():
        raise ModelError(
            _absent(name)
            or f"there is no model or folder called {name!r}; bundled are {', '.join(_bundled())}"
        )
    repository, _, revision = name.partition("@")
    return fetch(repository, revision or None, free_memory_bytes())
