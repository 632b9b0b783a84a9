"""Loaded models, the least recently used ones let go when they weigh too much."""

import os
from collections import OrderedDict
from threading import Lock

from probe.models.catalogue import load
from probe.models.classifier import Classifier


class ModelCache:
    """Keeps loaded classifiers within a bound of bytes; safe to use from several threads."""

    def __init__(self, limit: int | None = None) -> None:
        """`limit` in bytes; by default NLI_CLINIC_MODEL_MB (4096) megabytes."""
        megabytes = int(os.environ.get("NLI_CLINIC_MODEL_MB", "4096"))
        self.limit = megabytes * 1_000_000 if limit is None else limit
        self._loaded: OrderedDict[str, Classifier] = OrderedDict()
        self._lock = Lock()

    def get(self, name: str) -> Classifier:
        """Return a classifier, loaded at most once at a time. Raises ModelError."""
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = load(name)
            self._loaded.move_to_end(name)
            self._shrink()
            return self._loaded[name]

    def _shrink(self) -> None:
        """Let the oldest go until the rest fits; the newest always stays."""
        while len(self._loaded) > 1 and sum(map(weight, self._loaded.values())) > self.limit:
            self._loaded.popitem(last=False)


def weight(classifier: Classifier) -> int:
    """Return the bytes of a model's parameters."""
    return sum(p.numel() * p.element_size() for p in classifier.model.parameters())
