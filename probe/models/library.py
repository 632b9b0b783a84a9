"""The models on disk, and the loading of any model: safetensors only, no remote code."""

import json
import os.path
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from probe.cache import ByteBoundedCache
from probe.errors import ModelError, OptionError
from probe.first_import import first_import
from probe.models.asked import Asked, PromptCheck, check_prompt
from probe.models.bundled import BUNDLED, shared_folder, title_of
from probe.models.classifier import Classifier, fast_bf16
from probe.models.gguf import SUFFIX, converted, gguf_in
from probe.models.outputs import LabelCheck, check_labels, read_outputs
from probe.models.prompted import Prompted
from probe.models.prompts import Asking, chosen_task, kept_asking, prompts, split_name
from probe.models.reader import Reader
from probe.models.served import Served, is_served, read_served
from probe.models.weights import (
    ADAPTER,
    CONFIG,
    fetch,
    free_memory_bytes,
    has_weights,
    read_json,
    read_sizes,
    weight_files,
)
from probe.models.windows import Long
from probe.settings import ASSETS, settings
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.tasks.task import TASKS, Label, Task, offered_tasks
from probe.terms import capitalised

Network = Classifier | Reader | Prompted
"""A model whose network is here, with its tokenizer."""
AnyModel = Network | Served
"""A model of any task, loaded."""
Trainee = Classifier | Reader
"""A model that can be trained further."""

DEFAULT = "minilm"
"""The model of the page and of commands that name none."""


@dataclass(frozen=True)
class Entry:
    """A model on disk; a file is opened when it is asked for. `source` is bundled or inoculated."""

    name: str
    folder: Path
    source: str

    @cached_property
    def task(self) -> Task | None:
        """The task that its config names, or else whose labels its outputs have; None for none."""
        config = _config(self.folder)
        if _answers_with_spans(config):
            return READING
        try:
            names = [str(name) for _, name in sorted(config.get("id2label", {}).items())]
            own = TASKS.get(config.get("task", ""))
            task, order = read_outputs(self.name, names, own)
        except (AttributeError, TypeError, ModelError):
            return None
        return task if own or order else None

    @property
    def size(self) -> int:
        """The bytes of its weights, without what it shares with others."""
        return sum(path.stat().st_size for path in self.folder.glob("*.safetensors"))

    @property
    def parameters(self) -> int:
        """The number of its weights, by the headers of their files; 0 where they are damaged."""
        try:
            return sum(read_sizes(self.name, weight_files(self.folder)))
        except ModelError:
            return 0

    @property
    def title(self) -> str:
        """What a person calls it; a model that was inoculated here has only its name."""
        return title_of(self.name) if self.source == "bundled" else self.name

    @property
    def summary(self) -> str:
        """One sentence that says what it is."""
        if self.source == "bundled" and self.name in BUNDLED:
            return BUNDLED[self.name].summary
        return "A model that was inoculated here."


def _config(folder: Path) -> dict[str, Any]:  # Any: JSON
    """Return a model's config, nothing of one that cannot be read: loading says what is wrong."""
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def _answers_with_spans(config: Mapping[str, Any]) -> bool:  # Any: JSON
    kinds = config.get("architectures")
    return isinstance(kinds, list) and any("QuestionAnswering" in str(kind) for kind in kinds)


def _goes_on(config: Mapping[str, Any]) -> bool:  # Any: JSON
    """Whether a config is of a language model, which goes on with a text."""
    kinds = config.get("architectures")
    ends = ("ForCausalLM", "LMHeadModel")
    return isinstance(kinds, list) and any(str(kind).endswith(ends) for kind in kinds)


def model_folders() -> dict[str, Path]:
    """Return the folders whose sub-folders are models."""
    return {"bundled": ASSETS / "models", "inoculated": settings().home / "models"}


def entries() -> Iterator[Entry]:
    """Yield the models on disk: bundled ones in their order, then the newest inoculated first.

    No file is opened; without weights, as where Git LFS left pointers, a folder is no model.
    """
    places = {name: place for place, name in enumerate(BUNDLED)}
    for source, folder_of_models in model_folders().items():
        folders = sorted(path.parent for path in folder_of_models.glob(f"*/{CONFIG}"))
        if source == "inoculated":
            folders.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
        else:
            folders.sort(key=lambda folder: places.get(folder.name, len(places)))
        for folder in folders:
            if has_weights(folder):
                yield Entry(folder.name, folder, source)


def models_on_disk() -> dict[str, Entry]:
    """Return the models on disk by name."""
    return {entry.name: entry for entry in entries()}


def served_names() -> dict[str, Task]:
    """Return the served models, once for each task that they are asked about, with the task."""
    asked = [task for task in offered_tasks() if prompts(task) and not task.has_spans]
    return {
        name + (Asking(task.name) if task is not asked[0] else Asking()).suffix: task
        for name in settings().served
        for task in asked
    }


def find(name: str) -> str:
    """Return the folder of a model on disk, or the name itself: a folder or a hub id."""
    name = name.partition("?")[0]
    entry = models_on_disk().get(name)
    return str(entry.folder) if entry else name


def full_name(name: str) -> str:
    """Return the name that leads to a model from wherever a process starts.

    A folder is named by its full path, a model on disk or of a hub by its name.
    """
    address, mark, asked = name.partition("?")
    here = os.path.isdir(address) or (address.endswith(SUFFIX) and os.path.isfile(address))
    is_folder = here and find(address) == address
    return f"{Path(address).resolve()}{mark}{asked}" if is_folder else name


def is_asked(name: str) -> bool:
    """Whether a name is of a language model, which is asked in words. Raises ModelError."""
    return is_served(name) or _goes_on(_config(locate(name)[0]))


def task_of_model(name: str) -> Task:
    """Return the task of a model on this disk, brought or at an address, by its config or its name.

    Raises ModelError, also where neither says one.
    """
    if is_served(name):
        return chosen_task(name, split_name(name)[1], None)
    folder, _ = locate(name)
    if _goes_on(config := _config(folder)):
        return TASKS.get(kept_asking(name, config)[0].task) or NLI
    task = Entry(name, folder, "").task
    if task is None:
        raise ModelError(f"the config of the model {name!r} does not say what task it answers")
    return task


def require_on_disk(name: str, hidden: Collection[str] = ()) -> None:
    """Raise ModelError for a name that is not on disk: a page's visitor opens no other folder.

    Those that are `hidden` are not there. A served model may be asked in any way.
    """
    if is_served(name):
        return
    known = [*(entry.name for entry in entries() if entry.name not in hidden), *served_names()]
    if name not in known:
        others = f"there is no model called {name!r} here; there are: {', '.join(known)}"
        raise ModelError(_absent(name) or others)


def _absent(name: str) -> str:
    """Return where to get a bundled model that is not here, "" for any other name."""
    if name not in BUNDLED:
        return ""
    return (
        f"the bundled model {name!r} is not in this installation: copy assets/models/{name} and "
        f"{shared_folder(name)} of NLI Clinic's repository (with Git LFS, git lfs pull) into "
        f"{ASSETS}"
    )


def locate(name: str, relative: bool = True) -> tuple[Path, str | None]:
    """Return a model's folder, and its commit where it is a hub's. Raises ModelError.

    Without `relative` a folder is named by its full path alone: a name such as owner/name is then
    the hub's, whatever folders lie where the app was started.
    """
    here = ", ".join(entry.name for entry in entries() if entry.source == "bundled")
    if not name.strip():
        raise ModelError(f"name a model; bundled are {here}")
    path = Path(find(name))
    name = name.partition("?")[0]
    if (relative or path.is_absolute()) and os.path.exists(path):  # false for too long a name
        if found := gguf_in(name, path):
            return converted(name, found), None
        if os.path.isdir(path):
            return path, None
    if "/" not in name or path.is_absolute():
        raise ModelError(
            _absent(name) or f"there is no model or folder called {name!r}; bundled are {here}"
        )
    address, _, revision = name.partition("@")
    repository, file = address, ""
    if address.endswith(SUFFIX):
        owner, inner, *rest = address.split("/")
        repository, file = f"{owner}/{inner}", "/".join(rest)
    folder, commit = fetch(repository, revision or None, free_memory_bytes(), file)
    found = gguf_in(name, folder / file)
    return (converted(name, found) if found else folder), commit


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


def load_any(
    name: str,
    order: tuple[Label, ...] | None = None,
    task: Task | None = None,
    likely: Task | None = None,
    relative: bool = True,
    template: str = "",
    labelled: bool = False,
) -> AnyModel:
    """Load a bundled or inoculated model, a folder, or a hub's model as owner/name[@revision].

    `order`, `task` and `likely` are as of `read_outputs`; a `template` takes the place of a
    decoder's own, or is a language model's prompt, which `?prompt=` behind the name may say too
    (see `probe.models.prompts.Asking`). Without `relative` a folder is named by its full path
    alone. Raises ModelError, also for another task or, where it is to be `labelled`, for one that
    answers with spans; UnclearTask where the config does not say the task and none is given, and
    UnclearLabels where the same is true of the order.
    """
    address, asking = split_name(name)
    if is_served(name):
        _check_order(name, asking, order, task or likely)
        return read_served(name, address, asking, task or likely, template, files=relative)
    folder, revision = locate(address, relative)
    config, base = _config(folder), _base_of(address, folder, relative)
    spans, words = _answers_with_spans(config), _goes_on(config)
    if "?" in name and not words:
        raise ModelError(f"{address!r} is no language model, so it is asked by no prompt")
    if spans and labelled:
        raise without_labels(name)
    if spans and task and task is not READING:
        raise ModelError(
            f"the model {name!r} answers {READING.title.lower()}, not {task.title.lower()}"
        )
    for given, lacking in ((order, "has no labels to order"), (template, "takes no template")):
        if spans and given:
            raise ModelError(f"the model {name!r} answers with spans, so it {lacking}")
    with first_import:
        from probe.models.checkpoint import read_classifier, read_prompted, read_reader

    if spans:
        return read_reader(name, folder, revision)
    if words:
        asking, kept = kept_asking(name, config)
        _check_order(name, asking, order, task or likely)
        return read_prompted(
            *(name, folder, revision, asking, task or likely, template or kept),
            files=relative,
            base=base,
        )
    return read_classifier(name, folder, revision, base, order, task, likely, template)


def without_labels(name: str) -> ModelError:
    """Return the refusal of a model that answers with spans where labels are asked for."""
    return ModelError(f"the model {name!r} answers with spans of a passage, not with labels")


def _check_order(
    name: str, asking: Asking, order: tuple[Label, ...] | None, task: Task | None
) -> None:
    """Refuse another order of a language model's labels than its task's. Raises ModelError."""
    if order and order != chosen_task(name, asking, task).labels:
        raise ModelError(f"the labels of {name!r} are the words of its prompt, in their order")


def asked_in_words(name: str) -> ModelError:
    """Return the refusal of a language model where one is trained."""
    adapters = "" if is_served(name) else " or trains adapters beside its weights (mode lora)"
    return ModelError(
        f"{name!r} is a language model that is asked in words; it is not trained here, but an "
        f"inoculation shows it examples in its prompt (mode context){adapters}"
    )


def load(name: str, order: tuple[Label, ...] | None = None, task: Task | None = None) -> Classifier:
    """Load a model as `load_any` does. Raises ModelError also for one that answers with spans."""
    model = load_any(name, order, task, labelled=True)
    if isinstance(model, Asked):
        raise asked_in_words(name)
    assert isinstance(model, Classifier)  # as asked for
    return model


def that_reads(model: AnyModel, long: Long) -> AnyModel:
    """Return the model as it does this with texts longer than it reads.

    A reader reads a long passage in windows whatever is asked. Raises OptionError for a task whose
    texts cannot be read in parts.
    """
    if long == "cut" or isinstance(model, Reader):
        return model
    if isinstance(model, Asked):
        raise OptionError("a language model reads no text in parts: leave it at long=cut")
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


@dataclass(frozen=True)
class LoadedModel:
    """A loaded model and the check of its labels, None for a model on disk."""

    model: AnyModel
    label_check: LabelCheck | PromptCheck | None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know: how it was read, and doubts about the order of its labels."""
        doubt = self.label_check.doubt if self.label_check else ""
        return (*notes_of(self.model), *([f"{self.model.name}: {doubt}"] if doubt else []))

    @property
    def summary(self) -> str:
        """The model's type, size, outputs and revision, in one sentence."""
        check, revision = self.label_check, self.model.revision
        if isinstance(self.model, Served):
            right = f"{check.right} are right; " if check else ""
            return f"{right}{self.model.connection.counted}. {capitalised(self.model.told)}"
        network = self.model.model
        answers = f"that answers with spans, {self.model.max_tokens} sub-words at a time"
        if isinstance(self.model, Classifier):
            order = filter(None, dict.fromkeys(self.model.order))
            answers = f"with the outputs {', '.join(order)}"
        if isinstance(self.model, Prompted):
            wanted = ", ".join(self.model.order) or "an answer"
            answers = f"that is asked in words for {wanted}"
        size = sum(weight.numel() for weight in network.parameters())
        facts = [
            f"{self.model.name} is a {network.config.model_type} model of {size:,} weights "
            f"{answers}",
            *([f"{check.right} are right"] if check else []),
            "precision fp32",
            f"revision {revision[:12]}" if revision else "read from disk",
        ]
        how = f" {capitalised(self.model.told)}" if isinstance(self.model, Prompted) else ""
        return "; ".join(facts) + f".{how}"


def on_cpu(model: AnyModel) -> bool:
    """Whether a model computes on a core of this machine, whose time it takes then."""
    return not isinstance(model, Served) and model.device.type == "cpu"


def notes_of(model: AnyModel) -> list[str]:
    """Return what a person should know of how a model was read, each as a sentence."""
    return [f"{model.name}: {note}" for note in model.notes]


def open_model(
    name: str,
    order: tuple[Label, ...] | None = None,
    task: Task | None = None,
    likely: Task | None = None,
    relative: bool = True,
    template: str = "",
) -> LoadedModel:
    """Load any model and check its labels, unless it is one on disk. Raises ModelError."""
    model = load_any(name, order, task, likely, relative, template)
    on_disk = name in models_on_disk() and not order
    if isinstance(model, Asked):
        return LoadedModel(model, check_prompt(model))
    if on_disk or not isinstance(model, Classifier):
        return LoadedModel(model, None)
    return LoadedModel(model, check_labels(model))


def require_open(name: str, hidden: Collection[str] = ()) -> None:
    """Raise ModelError for a model that a page's visitor may not open; `hidden` are not there.

    NLI_CLINIC_OWN_MODELS lists what may be opened: hub, folder. A folder is named by its full path;
    any other name is the hub's. The disk is not asked: nobody learns which folders there are.
    """
    kind = "folder" if Path(name).is_absolute() else "hub"
    here = is_served(name) or (name in models_on_disk() and name not in hidden)
    if not here and kind not in settings().user_models:
        raise ModelError(f"models of your own cannot be opened here from a {kind}")


def model_bytes() -> int:
    """Return how many bytes loaded models may take: NLI_CLINIC_MODEL_MB megabytes."""
    return settings().model_mb * 1_000_000


class Opened(NamedTuple):
    """How a model that a person named is read: its address, label order and template."""

    address: str
    labels: tuple[Label, ...] | None = None
    template: str = ""


class ModelCache:
    """Keeps loaded models within a bound of bytes; safe to use from several threads.

    A caller can go on using a model that the cache has dropped. The newest stays, however
    large it is.
    """

    def __init__(self, limit: Callable[[], int] = model_bytes) -> None:
        """`limit` returns the bound in bytes, asked for at each use."""
        self._loaded = ByteBoundedCache(limit, parameter_bytes, keep_newest=True)
        self._opened = dict[str, Opened]()
        self._lock = Lock()

    def get(self, name: str) -> AnyModel:
        """Return a model, loaded at most once at a time. Raises ModelError."""

        def load_again() -> AnyModel:
            address, order, template = self._opened.get(name, Opened(name))
            model = load_any(address, order, relative=False, template=template)
            return replace(model, name=name)

        with self._lock:
            return self._loaded.get(name, load_again)

    def loaded(self, name: str) -> AnyModel | None:
        """Return a model that is loaded already, None for others."""
        model: AnyModel | None = self._loaded.peek(name)
        return model

    def open(
        self,
        name: str,
        order: tuple[Label, ...] | None = None,
        likely: Task | None = None,
        template: str = "",
    ) -> LoadedModel:
        """Load the model that a person named, so that `require` accepts it from now on.

        A folder is named by its full path; any other name that is not on disk is the hub's. A
        given `order` or `template` becomes part of its name: nobody else's model changes. The other
        models can be used meanwhile. `likely` is the task that outputs without names are asked
        about. Raises ModelError.
        """
        loaded = open_model(name, order, likely=likely, relative=False, template=template)
        outputs = None if isinstance(loaded.model, Asked) else loaded.model.order or None
        if isinstance(loaded.model, Prompted) and (task := loaded.model.task) is not NLI:
            asking = replace(loaded.model.asking, task=task.name)  # by its name it is opened again
            name = name.partition("?")[0] + asking.suffix
        revision = loaded.model.revision
        told = [*([", ".join(outputs or order)] if order else []), *filter(None, [template])]
        key = f"{name} ({'; '.join(told)})" if told else name
        model = replace(loaded.model, name=key)
        address, mark, asked = name.partition("?")
        if revision:
            address = f"{address.partition('@')[0]}@{revision}"
        with self._lock:
            self._opened[key] = Opened(address + mark + asked, outputs, template)
            self._loaded.put(key, model)
        return replace(loaded, model=model)

    def opened(self, name: str) -> Opened | None:
        """Return how a model that a person named is read, None for one that nobody did."""
        return self._opened.get(name)

    def remember(self, name: str, opened: Opened) -> None:
        """Let `require` accept a model that was opened before the app was started."""
        with self._lock:
            self._opened.setdefault(name, opened)

    def require(self, name: str, hidden: Collection[str] = ()) -> None:
        """Refuse a name that is neither on disk nor was opened. Raises ModelError.

        The models on disk that are `hidden` are not there, with an order of one's own either.
        """
        address = self._opened.get(name, Opened(name)).address
        on_disk = address == Path(address).name  # neither owner/name nor the path of a folder
        if on_disk or name not in self._opened:
            require_on_disk(address, hidden)


def parameter_bytes(model: AnyModel) -> int:
    """Return the bytes of a model's parameters, and of the copy that it computes with in bf16."""
    if isinstance(model, Served):
        return 0
    own = sum(p.numel() * p.element_size() for p in model.model.parameters())
    return own + (model.bf16_bytes if fast_bf16() else 0)
