"""What the cells of a run share, and the runs of a sweep: tokens, states, the starting point."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, TypeVar

import torch

from finetune.experiments.inoculation.plan import Mode
from finetune.training.encoded import Encoded, encode, said
from finetune.training.frozen_layers import lower_states, upper_part
from probe.models.classifier import Classifier, Precision, resolve
from probe.runs.stopping import Stop, never
from probe.settings import settings
from probe.tasks.nli import Pair

Value = TypeVar("Value", Encoded, torch.Tensor)


class TensorCache:
    """Keeps what was computed within a bound of bytes, the least recently used let go.

    Safe to use from several threads. What is larger than the bound is computed whenever it is
    asked for.
    """

    def __init__(self, limit: int | None = None) -> None:
        """`limit` in bytes; by default NLI_CLINIC_STATES_MB (1024) megabytes."""
        self.limit = settings().states_mb * 1_000_000 if limit is None else limit
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()  # Any: get's type is its maker's
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return what is kept under a key, made where nothing is."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: Value = self._kept[key]
                return found
        made = make()
        with self._lock:
            self._kept[key] = made
            while self._kept and sum(map(_bytes, self._kept.values())) > self.limit:
                self._kept.popitem(last=False)
        return made


def _bytes(value: Encoded | torch.Tensor) -> int:
    return value.size if isinstance(value, Encoded) else value.nbytes


TENSOR_CACHE = TensorCache()


@dataclass(frozen=True)
class Prepared:
    """A model before training: `trained` is the part whose weights change, `whole` all of it.

    `lower` names the weights below, "" where all are trained.
    """

    whole: Classifier
    trained: Classifier
    lower: str
    precision: Precision

    def encoded(self, pairs: tuple[Pair, ...], max_tokens: int, stop: Stop = never) -> Encoded:
        """Return pairs as `trained` takes them. Raises Cancelled."""
        whole = self.whole
        data = TENSOR_CACHE.get(
            (whole.tokenizer, whole.task, max_tokens, pairs),
            lambda: encode(whole, pairs, max_tokens, whole.device),
        )
        if not self.lower:
            return data
        states = TENSOR_CACHE.get(
            (self.lower, data.digest), lambda: lower_states(whole, data, self.precision, stop)
        )
        return replace(states, admissible=data.admissible)

    def at_start(self, data: Encoded, stop: Stop = never) -> torch.Tensor:
        """Return what the untrained model says, computed once for all cells. Raises Cancelled."""
        return TENSOR_CACHE.get(
            (weights_hash(self.trained), self.lower, self.precision, data.digest),
            lambda: said(self.trained, data, self.precision, stop),
        )


def prepare(classifier: Classifier, mode: Mode, precision: Precision) -> Prepared:
    """Prepare a model for a cell. Raises ExperimentError where it has no fast mode."""
    exact = resolve(precision)
    if mode == "full":
        return Prepared(classifier, classifier, "", exact)
    upper = upper_part(classifier)
    held = {weight.data_ptr() for weight in upper.model.parameters()}
    return Prepared(classifier, upper, f"{exact} {weights_hash(classifier, held)}", exact)


def weights_hash(classifier: Classifier, but: frozenset[int] | set[int] = frozenset()) -> str:
    """Return what tells a model's settings and weights from all others, but for some weights."""
    found = hashlib.sha256(classifier.model.config.to_json_string().encode())
    for name, value in classifier.model.state_dict().items():
        if value.data_ptr() not in but:
            found.update(name.encode())
            found.update(value.contiguous().cpu().numpy())
    return found.hexdigest()
