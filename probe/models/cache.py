"""Loaded models, the least recently used ones let go when they weigh too much."""

from collections import OrderedDict
from dataclasses import replace
from threading import Lock

from probe.models.classifier import Classifier
from probe.models.library import load, require
from probe.models.user_models import LoadedModel, open_model
from probe.settings import settings
from probe.tasks.task import Label


class ModelCache:
    """Keeps loaded classifiers within a bound of bytes; safe to use from several threads.

    Who was given a classifier can go on using it when the cache has let it go.
    """

    def __init__(self, limit: int | None = None) -> None:
        """`limit` in bytes; by default NLI_CLINIC_MODEL_MB (4096) megabytes."""
        self.limit = settings().model_mb * 1_000_000 if limit is None else limit
        self._loaded: OrderedDict[str, Classifier] = OrderedDict()
        self._opened: dict[str, tuple[str, tuple[Label, ...]]] = {}  # where it is, and its labels
        self._lock = Lock()

    def get(self, name: str) -> Classifier:
        """Return a classifier, loaded at most once at a time. Raises ModelError."""
        with self._lock:
            if name not in self._loaded:
                place, order = self._opened.get(name, (name, None))
                self._loaded[name] = replace(load(place, order), name=name)
            return self._keep(name)

    def open(self, name: str, order: tuple[Label, ...] | None = None) -> LoadedModel:
        """Load a model that a person named, so that `require` lets it pass from now on.

        A given `order` becomes part of its name: nobody else's labels change. The other models
        can be used meanwhile. Raises ModelError.
        """
        opened = open_model(name, order)
        key = f"{name} ({', '.join(order)})" if order else name
        classifier = replace(opened.classifier, name=key)
        repository = name.partition("@")[0]
        place = f"{repository}@{classifier.revision}" if classifier.revision else name
        with self._lock:
            self._opened[key] = place, classifier.order
            self._loaded[key] = classifier
            self._keep(key)
        return replace(opened, classifier=classifier)

    def require(self, name: str) -> None:
        """Refuse a name that is neither on disk nor was opened. Raises ModelError."""
        if name not in self._opened:
            require(name)

    def _keep(self, name: str) -> Classifier:
        self._loaded.move_to_end(name)
        while len(self._loaded) > 1 and sum(map(weight, self._loaded.values())) > self.limit:
            self._loaded.popitem(last=False)
        return self._loaded[name]


def weight(classifier: Classifier) -> int:
    """Return the bytes of a model's parameters."""
    return sum(p.numel() * p.element_size() for p in classifier.model.parameters())
