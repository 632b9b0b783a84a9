"""Loaded models, the least recently used dropped when they take too much memory."""

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from threading import Lock

from probe.cache import ByteBoundedCache
from probe.models.classifier import Classifier, fast_bf16
from probe.models.library import AnyModel, load_any, require_on_disk
from probe.models.user_models import LoadedModel, open_model
from probe.settings import settings
from probe.tasks.task import Label, Task


def model_bytes() -> int:
    """Return how many bytes loaded models may take: NLI_CLINIC_MODEL_MB megabytes."""
    return settings().model_mb * 1_000_000


class ModelCache:
    """Keeps loaded models within a bound of bytes; safe to use from several threads.

    A caller can go on using a model that the cache has dropped. The newest stays, however
    large it is.
    """

    def __init__(self, limit: Callable[[], int] = model_bytes) -> None:
        """`limit` returns the bound in bytes, asked for at each use."""
        self._loaded = ByteBoundedCache(limit, parameter_bytes, keep_newest=True)
        self._opened: dict[str, tuple[str, tuple[Label, ...] | None, str]] = {}
        """The address, the label order and the template of each."""
        self._lock = Lock()

    def get(self, name: str) -> AnyModel:
        """Return a model, loaded at most once at a time. Raises ModelError."""
        with self._lock:
            return self._loaded.get(name, lambda: self._load(name))

    def loaded(self, name: str) -> AnyModel | None:
        """Return a model that is loaded already, None for others."""
        model: AnyModel | None = self._loaded.peek(name)
        return model

    def _load(self, name: str) -> AnyModel:
        address, order, template = self._opened.get(name, (name, None, ""))
        model = load_any(address, order, relative=False, template=template)
        return replace(model, name=name)

    def open(
        self,
        name: str,
        order: tuple[Label, ...] | None = None,
        likely: Task | None = None,
        template: str = "",
    ) -> LoadedModel:
        """Load a model that a person named, so that `require` accepts it from now on.

        A folder is named by its full path; any other name that is not on disk is the hub's. A
        given `order` or `template` becomes part of its name: nobody else's model changes. The other
        models can be used meanwhile. `likely` is the task that outputs without names are asked
        about. Raises ModelError.
        """
        loaded = open_model(name, order, likely=likely, relative=False, template=template)
        outputs = loaded.model.order if isinstance(loaded.model, Classifier) else None
        told = [*([", ".join(outputs or order)] if order else []), *filter(None, [template])]
        key = f"{name} ({'; '.join(told)})" if told else name
        model = replace(loaded.model, name=key)
        repository = name.partition("@")[0]
        revision = model.revision
        with self._lock:
            address = f"{repository}@{revision}" if revision else name
            self._opened[key] = address, outputs, template
            self._loaded.put(key, model)
        return replace(loaded, model=model)

    def require(self, name: str, hidden: Collection[str] = ()) -> None:
        """Refuse a name that is neither on disk nor was opened. Raises ModelError.

        The models on disk that are `hidden` are not there, with an order of one's own either.
        """
        address = self._opened.get(name, (name,))[0]
        on_disk = address == Path(address).name  # neither owner/name nor the path of a folder
        if on_disk or name not in self._opened:
            require_on_disk(address, hidden)


def parameter_bytes(model: AnyModel) -> int:
    """Return the bytes of a model's parameters, and of the copy that it computes with in bf16."""
    own = sum(p.numel() * p.element_size() for p in model.model.parameters())
    return own + (model.bf16_bytes if fast_bf16() else 0)
