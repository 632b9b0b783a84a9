"""Examples tokenised once for all epochs and trials, and fast mode, where their states are too.

In fast mode a model is cut in two. The lower part (embeddings and lower layers) is frozen: it
computes the states of each pair once, without dropout. The upper part starts from those states and
alone is trained. Both share the whole model's weights: a whole model is trained when its upper part
is, and is saved like any other.
`probe.models.architectures` says where each architecture can be cut.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from transformers import BatchEncoding, PreTrainedModel

from finetune.training.loop import weights_digest
from finetune.training.losses import admissible
from finetune.training.recipes import Mode
from probe.cache import ByteBoundedCache
from probe.errors import ExperimentError
from probe.models.architectures import EncoderLayers, Recipe, WordLayers
from probe.models.classifier import Classifier, Precision, resolve
from probe.models.first_token import first_token_layer, replaced
from probe.models.text_model import TextModel, TokenRows
from probe.models.word_models.layers import Side, stack_sides
from probe.models.word_models.word_tokenizer import CHARACTER_IDS
from probe.settings import settings
from probe.stopping import Stop, never, raise_if_stopped
from probe.tasks.task import Example


@dataclass(frozen=True)
class Encoded(TokenRows):
    """Examples as tensors on one device, and the labels right for each."""

    targets: torch.Tensor  # (examples, labels), true where right, or probabilities

    def first(self, examples: int) -> "Encoded":
        """Return the first examples alone."""
        return replace(self, lengths=self.lengths[:examples], targets=self.targets[:examples])

    def batch(self, rows: Sequence[int]) -> tuple[BatchEncoding, torch.Tensor]:
        """Return the inputs of some rows, padded to their longest, and their targets."""
        return self.padded(rows), self.targets[torch.tensor(rows, device=self.device)]


def encode(
    classifier: Classifier, examples: Sequence[Example], max_tokens: int, device: torch.device
) -> Encoded:
    """Tokenise examples once for all epochs."""
    rows = classifier.token_rows(examples, max_tokens)
    return Encoded(
        {name: value.to(device) for name, value in rows.inputs.items()},
        rows.padding,
        rows.left,
        rows.lengths,
        admissible(examples, classifier.task, classifier.labels).to(device),
    )


def correct(data: Encoded, logits: torch.Tensor) -> tuple[bool, ...]:
    """Return for each pair whether the likeliest label is right; never without a gold."""
    return tuple(data.targets.gather(1, logits.argmax(1, keepdim=True)).squeeze(1).tolist())


def score(
    classifier: Classifier, data: Encoded, precision: Precision = "fp32", stop: Stop = never
) -> float:
    """Return the accuracy on encoded pairs. Raises Cancelled."""
    outcomes = correct(data, classifier.unscaled(data, precision, stop))
    return sum(outcomes) / len(outcomes)


FROZEN_PER_TRAINED = 5
"""Layers frozen for each that is trained. minilm's last of six closes word overlap's gap about as
far as its last two do, at a third of their time; for numbers it does worse than all weights."""


def cut_of(classifier: Classifier) -> EncoderLayers | WordLayers:
    """Return where a model is cut. Raises ExperimentError where it is nowhere."""
    if frozen := classifier.architecture.frozen:
        return frozen
    raise ExperimentError(
        f"fast mode cannot take {classifier.name!r} apart (its kind is "
        f"{classifier.model.config.model_type}); use full mode (--mode full)"
    )


def upper_part(classifier: Classifier) -> Classifier:
    """Return a classifier of the upper part, with the weights of the whole."""
    cut, model = cut_of(classifier), classifier.model
    if isinstance(cut, WordLayers):
        encoder = StatesReader() if cut.by_side else nn.Identity()
        upper = replaced(replaced(model, cut.embeddings, StatesInput()), cut.encoder, encoder)
    else:
        upper = _encoder_upper(cut, model)
    assert isinstance(upper, PreTrainedModel)  # a copy of one
    return replace(classifier, model=upper.eval())


def lower_states(
    classifier: Classifier, data: Encoded, precision: Precision, stop: Stop = never
) -> Encoded:
    """Return the inputs of the upper part: float32 states of each token. Raises Cancelled."""
    cut = cut_of(classifier)
    if isinstance(cut, WordLayers):
        states_input, unused = "input_ids", {CHARACTER_IDS}
    else:
        states_input, unused = "inputs_embeds", {"input_ids", "token_type_ids"}
    parts: dict[int, torch.Tensor] = {}  # (tokens, size) by row

    def lower(model: Classifier, rows: Sequence[int]) -> torch.Tensor:
        raise_if_stopped(stop)
        inputs = {name: value.to(model.device) for name, value in data.padded(rows).items()}
        if isinstance(cut, WordLayers):
            states = _word_lower(cut, model.model, inputs)
        else:
            frozen, _ = _divided(model.model, cut)
            states = replaced(model.model.base_model, cut.layers, frozen)(**inputs)[0]
            states = states[inputs["attention_mask"].bool()]
        return states.float().to(data.targets.device)

    for rows, states in classifier.each_of_like_length(precision, data.lengths, lower):
        parts |= zip(rows, states.split([data.lengths[row] for row in rows]), strict=True)
    all_states = torch.cat([parts[row] for row in range(len(data.lengths))])
    others = {name: value for name, value in data.inputs.items() if name not in unused}
    padding = {name: value for name, value in data.padding.items() if name != states_input}
    return replace(data, inputs=others | {states_input: all_states}, padding=padding)


class StatesInput(nn.Module):
    """Replaces embeddings: returns the states that were passed as their input, padded again."""

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


def _divided(model: PreTrainedModel, cut: EncoderLayers) -> tuple[nn.ModuleList, nn.ModuleList]:
    """Return the layers that are frozen and those that are trained."""
    layers = list(model.base_model.get_submodule(cut.layers).children())
    frozen = len(layers) - trained_layers(len(layers))
    return nn.ModuleList(layers[:frozen]), nn.ModuleList(layers[frozen:])


def _encoder_upper(cut: EncoderLayers, model: PreTrainedModel) -> nn.Module:
    base: nn.Module = model.base_model
    present = {name for name, _ in base.named_modules()}  # no architecture's models have all parts
    _, trained = _divided(model, cut)
    if cut.first_token:
        trained[-1] = first_token_layer(trained[-1], cut.first_token)
    parts: dict[str, nn.Module | None] = {
        "embeddings": StatesInput(),
        **dict.fromkeys(cut.bypassed, nn.Identity()),
        **dict.fromkeys(cut.removed, None),
        cut.layers: trained,
    }
    for path in present.intersection(cut.shared):  # copies: the whole model's must not change
        parts[path] = deepcopy(base.get_submodule(path)).requires_grad_(False)
    for path in present.intersection(parts):
        base = replaced(base, path, parts[path])
    return replaced(model, model.base_model_prefix, base)


def _word_lower(
    cut: WordLayers, model: PreTrainedModel, inputs: Mapping[str, torch.Tensor]
) -> torch.Tensor:
    """Return the states of all words, a pair's hypothesis behind its premise.  # (words, size)"""
    characters = [inputs[CHARACTER_IDS]] if CHARACTER_IDS in inputs else []
    mask, types = inputs["attention_mask"], inputs["token_type_ids"]
    vectors = model.get_submodule(cut.embeddings)(inputs["input_ids"], *characters)
    encoder = model.get_submodule(cut.encoder)
    if not cut.by_side:
        states: torch.Tensor = encoder(vectors)[mask.bool()]
        return states
    sides = stack_sides(vectors, mask, types)  # (2 * batch, words, size), premises first
    words = [side[known] for side, known in zip(encoder(sides), sides.mask, strict=True)]
    half = len(words) // 2
    return torch.cat([words[row + end] for row in range(half) for end in (0, half)])


TENSOR_CACHE = ByteBoundedCache(
    lambda: settings().states_mb * 1_000_000,
    lambda value: value.size if isinstance(value, Encoded) else value.nbytes,
)
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

    @property
    def recipe(self) -> Recipe:
        """That of its architecture."""
        return self.whole.architecture.recipe

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
        return replace(states, targets=data.targets)

    def initial_logits(self, data: Encoded, stop: Stop = never) -> torch.Tensor:
        """Return the untrained model's logits, computed once for all cells. Raises Cancelled."""
        return TENSOR_CACHE.get(
            (weights_hash(self.trained), self.frozen_key, self.precision, data.digest),
            lambda: self.trained.unscaled(data, self.precision, stop),
        )

    def learnt(self, data: Encoded, stop: Stop = never) -> tuple[float, ...]:
        """Return of each pair whether `trained` is right as it is. Raises Cancelled."""
        return correct(data, self.trained.unscaled(data, self.precision, stop))

    def scorer(
        self, examples: tuple[Any, ...], stop: Stop = never
    ) -> Callable[[bool], tuple[float, ...]]:
        """Return what says of each example whether the model, perhaps untrained, is right."""
        data = self.encoded(examples, self.whole.max_tokens, stop)

        return lambda untrained: (
            correct(data, self.initial_logits(data, stop)) if untrained else self.learnt(data, stop)
        )


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
    model = classifier.model
    return weights_digest(model, excluded, model.config.to_json_string())
