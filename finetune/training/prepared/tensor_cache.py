"""Tensors that cells and runs share: tokens, states of frozen layers, initial predictions."""

import hashlib
from collections.abc import Callable, Set
from dataclasses import dataclass, replace
from typing import Any

import torch

from finetune.training.prepared.encoded import Encoded, correct, encode, predictions
from finetune.training.prepared.frozen_layers import lower_states, upper_part
from finetune.training.recipes import Mode
from probe.cache import ByteBoundedCache
from probe.models.classifier import Classifier, Precision, resolve
from probe.models.text_model import TextModel
from probe.settings import settings
from probe.stopping import Stop, never


def _size(value: Encoded | torch.Tensor) -> int:
    return value.size if isinstance(value, Encoded) else value.nbytes


TENSOR_CACHE = ByteBoundedCache(lambda: settings().states_mb * 1_000_000, _size)
"""Bounded by NLI_CLINIC_STATES_MB megabytes in each process."""


@dataclass(frozen=True)
class Prepared:
    """A model before training: `trained` is the part whose weights change, `whole` all of it.

    `frozen_key` identifies the frozen weights and the precision of their states, "" where all
    weights are trained.
    """

    whole: Classifier
    trained: Classifier
    frozen_key: str
    precision: Precision

    def encoded(self, pairs: tuple[Any, ...], max_tokens: int, stop: Stop = never) -> Encoded:
        """Return pairs as `trained` takes them. Raises Cancelled."""
        whole = self.whole
        data = TENSOR_CACHE.get(
            (whole.tokenizer, whole.task, whole.labels, max_tokens, pairs),
            lambda: encode(whole, pairs, max_tokens, whole.device),
        )
        if not self.frozen_key:
            return data
        states = TENSOR_CACHE.get(
            (self.frozen_key, data.digest), lambda: lower_states(whole, data, self.precision, stop)
        )
        return replace(states, admissible=data.admissible)

    def initial_predictions(self, data: Encoded, stop: Stop = never) -> torch.Tensor:
        """Return the untrained model's predictions, computed once for all cells.

        Raises Cancelled.
        """
        return TENSOR_CACHE.get(
            (weights_hash(self.trained), self.frozen_key, self.precision, data.digest),
            lambda: predictions(self.trained, data, self.precision, stop),
        )

    def learnt(self, data: Encoded, stop: Stop = never) -> tuple[float, ...]:
        """Return of each pair whether `trained` is right as it is. Raises Cancelled."""
        return correct(data, predictions(self.trained, data, self.precision, stop))

    def scorer(
        self, examples: tuple[Any, ...], stop: Stop = never
    ) -> Callable[[bool], tuple[float, ...]]:
        """Return what says of each example whether the model, perhaps untrained, is right."""
        data = self.encoded(examples, self.whole.max_tokens, stop)

        def scores(untrained: bool) -> tuple[float, ...]:
            if untrained:
                return correct(data, self.initial_predictions(data, stop))
            return self.learnt(data, stop)

        return scores


def prepare(classifier: Classifier, mode: Mode, precision: Precision) -> Prepared:
    """Prepare a model for a cell. Raises ExperimentError where it has no fast mode."""
    exact = resolve(precision)
    if mode == "full":
        return Prepared(classifier, classifier, "", exact)
    upper = upper_part(classifier)
    trained = {weight.data_ptr() for weight in upper.model.parameters()}
    return Prepared(classifier, upper, f"{exact} {weights_hash(classifier, trained)}", exact)


def weights_hash(classifier: TextModel, excluded: Set[int] = frozenset()) -> str:
    """Return a hash of a model's config and weights, those at excluded addresses left out."""
    digest = hashlib.sha256(classifier.model.config.to_json_string().encode())
    for name, value in classifier.model.state_dict().items():
        if value.data_ptr() not in excluded:
            digest.update(name.encode())
            digest.update(value.contiguous().cpu().numpy())
    return digest.hexdigest()
