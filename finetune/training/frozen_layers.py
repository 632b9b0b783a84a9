"""Fast mode: the lower layers are frozen, so that their states of a pair are computed once.

A model is cut in two. The lower part (embeddings and lower layers) computes the states of each pair
once, without dropout; the upper part starts from those states and alone is trained. Both share the
whole model's weights: a whole model is trained when its upper part is, and is saved like any other.
`probe.models.architectures` says where each architecture can be cut.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from finetune.training.encoded import Encoded, correct, encode, predictions
from finetune.training.recipes import Mode
from probe.cache import ByteBoundedCache
from probe.errors import ExperimentError
from probe.models.architectures import EncoderLayers, WordLayers
from probe.models.classifier import Classifier, Precision, resolve
from probe.models.first_token import first_token_layer, replaced
from probe.models.text_model import TextModel
from probe.models.word_models.layers import Side, stack_sides
from probe.models.word_models.word_tokenizer import CHARACTER_IDS
from probe.settings import settings
from probe.stopping import Stop, halt, never

Inputs = Mapping[str, torch.Tensor]
FROZEN_PER_TRAINED = 5
"""Layers frozen for each that is trained. minilm's last of six closes word overlap's gap about as
far as its last two do, at a third of their time; for numbers it does worse than all weights."""


@dataclass(frozen=True)
class Cut:
    """The two parts of an architecture.

    `lower` turns a model and its inputs into states, (batch, tokens, size) without padding:
    (all tokens, size); `upper` returns a model of the same weights that takes such states, padded
    again, as the input `states_input` and none of `unused_inputs`.
    """

    lower: Callable[[PreTrainedModel, Inputs], torch.Tensor]
    upper: Callable[[PreTrainedModel], PreTrainedModel]
    states_input: str
    unused_inputs: frozenset[str]


def cut_of(classifier: Classifier) -> Cut:
    """Return the cut of a model. Raises ExperimentError where it has none."""
    frozen = classifier.architecture.frozen
    if isinstance(frozen, EncoderLayers):
        unused = frozenset({"input_ids", "token_type_ids"})
        lower, upper = partial(_encoder_lower, frozen), partial(_encoder_upper, frozen)
        return Cut(lower, upper, "inputs_embeds", unused)
    if isinstance(frozen, WordLayers):
        lower, upper = partial(_word_lower, frozen), partial(_word_upper, frozen)
        return Cut(lower, upper, "input_ids", frozenset({CHARACTER_IDS}))
    raise ExperimentError(
        f"fast mode cannot take {classifier.name!r} apart (its kind is "
        f"{classifier.model.config.model_type}); use full mode (--mode full)"
    )


def upper_part(classifier: Classifier) -> Classifier:
    """Return a classifier of the upper part, with the weights of the whole."""
    return replace(classifier, model=cut_of(classifier).upper(classifier.model).eval())


def lower_states(
    classifier: Classifier, data: Encoded, precision: Precision, stop: Stop = never
) -> Encoded:
    """Return the inputs of the upper part: float32 states of each token. Raises Cancelled."""
    cut = cut_of(classifier)
    parts: dict[int, torch.Tensor] = {}  # (tokens, size) by row

    def lower(model: Classifier, rows: Sequence[int]) -> torch.Tensor:
        halt(stop)
        inputs = data.padded(rows)
        moved = {name: value.to(model.device) for name, value in inputs.items()}
        return cut.lower(model.model, moved).float().to(data.admissible.device)

    for rows, states in classifier.each_of_like_length(precision, data.lengths, lower):
        parts |= zip(rows, states.split([data.lengths[row] for row in rows]), strict=True)
    all_states = torch.cat([parts[row] for row in range(len(data.lengths))])
    others = {name: value for name, value in data.inputs.items() if name not in cut.unused_inputs}
    padding = {name: value for name, value in data.padding.items() if name != cut.states_input}
    return replace(data, inputs=others | {cut.states_input: all_states}, padding=padding)


class StatesInput(nn.Module):
    """Replaces embeddings: returns the states that were passed as their input."""

    def forward(
        self,
        ids: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
        *_: Any,  # the arguments of the replaced embeddings
        **__: Any,
    ) -> torch.Tensor | None:
        """Return the states, passed by name or instead of ids."""
        return ids if inputs_embeds is None else inputs_embeds


class StatesReader(nn.Module):
    """Replaces ESIM's first reader: its states are the vectors of the sides already."""

    def forward(self, sides: Side) -> torch.Tensor:
        """Return (batch, words, size), zeros at padding."""
        return sides.vectors * sides.mask[..., None]


def trained_layers(layers: int) -> int:
    """Return the number of an encoder's trained layers: the upper sixth, at least one."""
    return max(1, layers // (FROZEN_PER_TRAINED + 1))


def _divided(
    model: PreTrainedModel, frozen_part: EncoderLayers
) -> tuple[nn.ModuleList, nn.ModuleList]:
    """Return the layers that are frozen and those that are trained."""
    layers = model.base_model.get_submodule(frozen_part.layers)
    assert isinstance(layers, nn.ModuleList)  # in every architecture that has such a row
    frozen = len(layers) - trained_layers(len(layers))
    return nn.ModuleList(list(layers)[:frozen]), nn.ModuleList(list(layers)[frozen:])


def _encoder_lower(
    frozen_part: EncoderLayers, model: PreTrainedModel, inputs: Inputs
) -> torch.Tensor:
    frozen, _ = _divided(model, frozen_part)
    states: torch.Tensor = replaced(model.base_model, frozen_part.layers, frozen)(**inputs)[0]
    return states[inputs["attention_mask"].bool()]


def _encoder_upper(frozen_part: EncoderLayers, model: PreTrainedModel) -> PreTrainedModel:
    _, trained = _divided(model, frozen_part)
    if frozen_part.first_token:
        trained[-1] = first_token_layer(trained[-1], frozen_part.first_token)
    base: nn.Module = model.base_model
    parts: dict[str, nn.Module | None] = {
        "embeddings": StatesInput(),
        **dict.fromkeys(frozen_part.bypassed, nn.Identity()),
        **dict.fromkeys(frozen_part.removed, None),
        **_without_gradient(base, frozen_part.shared),
    }
    for path, part in parts.items():
        base = replaced(base, path, part) if _has(base, path) else base
    base = replaced(base, frozen_part.layers, trained)
    return _model(replaced(model, model.base_model_prefix, base))


def _without_gradient(base: nn.Module, paths: Sequence[str]) -> dict[str, nn.Module]:
    """Return copies of parts that take no gradient: the whole model's must not change."""
    present = [path for path in paths if _has(base, path)]
    return {path: deepcopy(base.get_submodule(path)).requires_grad_(False) for path in present}


def _has(module: nn.Module, path: str) -> bool:
    """Whether a model has a part, which not all of its architecture have."""
    return any(name == path for name, _ in module.named_modules())


def _word_lower(frozen_part: WordLayers, model: PreTrainedModel, inputs: Inputs) -> torch.Tensor:
    characters = [inputs[CHARACTER_IDS]] if CHARACTER_IDS in inputs else []
    mask, types = inputs["attention_mask"], inputs["token_type_ids"]
    vectors = model.get_submodule(frozen_part.embeddings)(inputs["input_ids"], *characters)
    encoder = model.get_submodule(frozen_part.encoder)
    if frozen_part.by_side:
        sides = stack_sides(vectors, mask, types)
        return _flat(encoder(sides), sides.mask)
    states: torch.Tensor = encoder(vectors)
    return states[mask.bool()]


def _flat(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Put each pair's hypothesis behind its premise: (2 * batch, words, size) to flat tokens."""
    half = len(states) // 2
    words = [side_states[side_mask] for side_states, side_mask in zip(states, mask, strict=True)]
    pairs = zip(words[:half], words[half:], strict=True)
    return torch.cat([side for pair in pairs for side in pair])


def _word_upper(frozen_part: WordLayers, model: PreTrainedModel) -> PreTrainedModel:
    encoder = StatesReader() if frozen_part.by_side else nn.Identity()
    return _model(
        replaced(
            replaced(model, frozen_part.embeddings, StatesInput()), frozen_part.encoder, encoder
        )
    )


def _model(module: nn.Module) -> PreTrainedModel:
    assert isinstance(module, PreTrainedModel)  # a copy of one
    return module


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
