"""The last layer of a classifier, each of whose rows makes one output."""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn.utils import skip_init
from transformers import PreTrainedModel

from probe.errors import ModelError

Rows = Callable[[torch.Tensor], torch.Tensor]
"""Makes of a tensor with a row for each output one with rows for others."""


def change_outputs(name: str, model: PreTrainedModel, rows: Rows, outputs: tuple[str, ...]) -> None:
    """Change a model's last layer by its weights and bias, and name the outputs that it has then.

    That is the last layer as wide as the model has outputs. Raises ModelError where there is none.
    """
    wide = model.config.num_labels
    paths = [
        path
        for path, module in model.named_modules()
        if isinstance(module, nn.Linear) and module.out_features == wide
    ]
    if not paths:
        kind = model.config.model_type
        raise ModelError(f"the outputs of {name!r}, a {kind} model, cannot be changed")
    old = model.get_submodule(paths[-1])
    assert isinstance(old, nn.Linear)  # as above
    bias = old.bias is not None
    new = skip_init(  # whose start would take numbers from the global random state
        nn.Linear, old.in_features, len(outputs), bias=bias, device=old.weight.device
    )
    with torch.no_grad():
        new.weight.copy_(rows(old.weight))
        if bias:
            new.bias.copy_(rows(old.bias))
    parent, _, last = paths[-1].rpartition(".")
    setattr(model.get_submodule(parent), last, new.train(old.training))
    model.config.id2label = dict(enumerate(outputs))
    model.config.label2id = {label: at for at, label in enumerate(outputs)}
