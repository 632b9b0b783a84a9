"""Fast mode: the lower layers stay as they are, so what they say of a pair is computed once.

A model is cut in two. The lower part (embeddings and lower layers) reads each pair once, without
dropout; the upper part starts from those states and alone is trained. Both share the whole model's
weights: a whole model is trained when its upper part is, and is saved like any other.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from finetune.training.encoded import TOGETHER, Encoded
from finetune.training.first_token_attention import FirstTokenAttention, first_token_only
from probe.errors import ExperimentError
from probe.models.classifier import Classifier, Precision, autocast, by_length
from probe.models.word_models.soft_alignment import Sides, stack
from probe.runs.stopping import Stop, halt, never

Inputs = Mapping[str, torch.Tensor]
FROZEN = 5
"""Layers frozen for each that is trained. minilm's last of six closes word overlap's gap about as
far as its last two do, at a third of their time; for numbers it does worse than all weights."""


@dataclass(frozen=True)
class Cut:
    """How an architecture comes apart.

    `lower` turns a model and its inputs into states, (batch, tokens, size) without padding:
    (all tokens, size); `upper` returns a model of the same weights that takes such states, padded
    again, as its input `takes` and leaves out the inputs `drops`.
    """

    lower: Callable[[PreTrainedModel, Inputs], torch.Tensor]
    upper: Callable[[PreTrainedModel], PreTrainedModel]
    takes: str
    drops: frozenset[str]


class StatesInput(nn.Module):
    """Stands for embeddings: gives back the states that came in their place."""

    def forward(
        self,
        ids: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
        *_: Any,  # what the embeddings replaced would take
        **__: Any,
    ) -> torch.Tensor | None:
        """Return the states, given by name or in the place of ids."""
        return ids if inputs_embeds is None else inputs_embeds


class StatesReader(nn.Module):
    """Stands for ESIM's first reader: its states are the vectors of the sides already."""

    def forward(self, sides: Sides) -> torch.Tensor:
        """Return (batch, words, size), zeros at padding."""
        return sides.vectors * sides.mask[..., None]


def replaced(module: nn.Module, path: str, part: nn.Module | None) -> nn.Module:
    """Return a module with another part at a dotted path; it shares all its weights."""
    name, _, rest = path.partition(".")
    made = copy(module)
    made._modules = dict(module._modules)
    made._modules[name] = replaced(module.get_submodule(name), rest, part) if rest else part
    return made


@dataclass(frozen=True)
class Layout:
    """Where things lie in a transformer, below its base model.

    `shared` parts serve all layers, so that they are frozen; `instead` stands for parts that belong
    to the embeddings or the first layer. `last` stands for the last layer's attention where that
    gives back all that the rest of the layer reads: it gives the first token, where the head looks.
    """

    layers: str = "encoder.layer"
    shared: tuple[str, ...] = ()
    instead: tuple[tuple[str, nn.Module | None], ...] = ()
    last: Callable[[nn.Module], nn.Module] | None = FirstTokenAttention


def _layers(model: PreTrainedModel, layout: Layout) -> list[nn.Module]:
    found = model.base_model.get_submodule(layout.layers)
    assert isinstance(found, nn.ModuleList)  # in every model of CUTS
    return list(found)


def trained_layers(layers: int) -> int:
    """Return how many of an encoder's layers are trained: the upper sixth, at least one."""
    return max(1, layers // (FROZEN + 1))


def _encoder_lower(layout: Layout, model: PreTrainedModel, inputs: Inputs) -> torch.Tensor:
    layers = _layers(model, layout)
    kept = nn.ModuleList(layers[: len(layers) - trained_layers(len(layers))])
    states: torch.Tensor = replaced(model.base_model, layout.layers, kept)(**inputs)[0]
    return states[inputs["attention_mask"].bool()]


def _encoder_upper(layout: Layout, model: PreTrainedModel) -> PreTrainedModel:
    layers = _layers(model, layout)
    kept = layers[len(layers) - trained_layers(len(layers)) :]
    if layout.last:
        attention = kept[-1].get_submodule("attention")
        kept[-1] = replaced(kept[-1], "attention", layout.last(attention))
    base: nn.Module = model.base_model
    for path, part in (
        ("embeddings", StatesInput()),
        *layout.instead,
        *_frozen(base, layout.shared),
    ):
        base = replaced(base, path, part) if _has(base, path) else base
    base = replaced(base, layout.layers, nn.ModuleList(kept))
    return _model(replaced(model, model.base_model_prefix, base))


def _frozen(base: nn.Module, paths: Sequence[str]) -> list[tuple[str, nn.Module]]:
    """Return copies of parts that take no gradient: the whole model's must not change."""
    there = [path for path in paths if _has(base, path)]
    return [(path, deepcopy(base.get_submodule(path)).requires_grad_(False)) for path in there]


def _has(module: nn.Module, path: str) -> bool:
    """Whether this model has a part that others of its kind may lack."""
    return any(name == path for name, _ in module.named_modules())


def _esim_lower(model: Any, inputs: Inputs) -> torch.Tensor:  # Any: our own, read by its parts
    vectors = model.embeddings(inputs["input_ids"], inputs.get("character_ids"))
    sides = stack(vectors, inputs["attention_mask"], inputs["token_type_ids"])
    return _flat(model.encoding(sides), sides.mask)


def _flat(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Put each pair's hypothesis behind its premise: (2 * batch, words, size) to flat tokens."""
    half = len(states) // 2
    both = zip(states[:half], mask[:half], states[half:], mask[half:], strict=True)
    return torch.cat([side for a, m, b, n in both for side in (a[m], b[n])])


def _esim_upper(model: PreTrainedModel) -> PreTrainedModel:
    return _model(
        replaced(replaced(model, "embeddings", StatesInput()), "encoding", StatesReader())
    )


def _da_lower(model: Any, inputs: Inputs) -> torch.Tensor:  # Any: our own, read by its parts
    words: torch.Tensor = model.projection(model.words(inputs["input_ids"]))
    return words[inputs["attention_mask"].bool()]


def _da_upper(model: PreTrainedModel) -> PreTrainedModel:
    return _model(replaced(replaced(model, "words", StatesInput()), "projection", nn.Identity()))


def _model(module: nn.Module) -> PreTrainedModel:
    assert isinstance(module, PreTrainedModel)  # a copy of one
    return module


def _encoder(layout: Layout) -> Cut:
    unread = frozenset({"input_ids", "token_type_ids"})
    lower, upper = partial(_encoder_lower, layout), partial(_encoder_upper, layout)
    return Cut(lower, upper, "inputs_embeds", unread)


BERT, RELATIVE = Layout(), Layout(shared=("encoder.rel_embeddings",), last=first_token_only)
LAYOUTS: Mapping[str, Layout] = {
    "bert": BERT,
    "roberta": BERT,
    "xlm-roberta": BERT,
    "camembert": BERT,
    "electra": Layout(instead=(("embeddings_project", nn.Identity()),)),
    "distilbert": Layout("transformer.layer", last=None),
    "mpnet": Layout(shared=("encoder.relative_attention_bias",), last=first_token_only),
    "deberta": RELATIVE,
    "deberta-v2": Layout(
        shared=("encoder.rel_embeddings", "encoder.LayerNorm"),
        instead=(("encoder.conv", None),),
        last=first_token_only,
    ),
}
_SPELT = frozenset({"character_ids"})
CUTS: Mapping[str, Cut] = {
    **{name: _encoder(layout) for name, layout in LAYOUTS.items()},
    "esim": Cut(_esim_lower, _esim_upper, "input_ids", _SPELT),
    "decomposable": Cut(_da_lower, _da_upper, "input_ids", _SPELT),
}
"""By `model_type`. ALBERT uses one layer again and again, so it cannot be cut; nor are BART, XLNet
and others here."""


def cut_of(classifier: Classifier) -> Cut:
    """Return where a model is cut. Raises ExperimentError where it cannot be."""
    kind = classifier.model.config.model_type
    if kind not in CUTS:
        raise ExperimentError(
            f"fast mode cannot take {classifier.name!r} apart (its kind is {kind}); "
            "use full mode (--mode full)"
        )
    return CUTS[kind]


def upper_part(classifier: Classifier) -> Classifier:
    """Return a classifier of the upper part, with the weights of the whole."""
    return replace(classifier, model=cut_of(classifier).upper(classifier.model).eval())


def lower_states(
    classifier: Classifier, data: Encoded, precision: Precision, stop: Stop = never
) -> Encoded:
    """Return the inputs of the upper part: float32 states of each token. Raises Cancelled."""
    cut = cut_of(classifier)
    parts: dict[int, torch.Tensor] = {}  # (tokens, size) by row
    for rows in by_length(data.lengths, TOGETHER[classifier.device.type]):
        halt(stop)
        inputs, _ = data.batch(rows)
        moved = {name: value.to(classifier.device) for name, value in inputs.items()}
        with torch.inference_mode(), autocast(classifier.device, precision):
            states = cut.lower(classifier.model, moved).float().to(data.admissible.device)
        parts |= zip(rows, states.split([data.lengths[row] for row in rows]), strict=True)
    found = torch.cat([parts[row] for row in range(len(data.lengths))])
    kept = {name: value for name, value in data.inputs.items() if name not in cut.drops}
    padding = {name: value for name, value in data.padding.items() if name != cut.takes}
    return replace(data, inputs=kept | {cut.takes: found}, padding=padding)
