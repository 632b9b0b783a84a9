"""One more class for what is no example of the task (Gupta et al. 2021, section 5)."""

from copy import deepcopy
from dataclasses import replace

import torch
from torch import nn

from probe.errors import ExperimentError
from probe.models.classifier import Classifier
from probe.tasks.task import INVALID


def with_invalid_class(classifier: Classifier) -> Classifier:
    """Return a copy whose model has one more output, `INVALID`; a model that has it keeps it.

    How the new output begins is not published. Here its weights are the mean of the others', so
    that its logit is the mean of theirs and no answer changes before training. Raises
    ExperimentError where the last layer of a model is not known.
    """
    model = deepcopy(classifier.model)
    if INVALID in classifier.order:
        return replace(classifier, model=model)
    path = _head(classifier)
    old = model.get_submodule(path)
    assert isinstance(old, nn.Linear)  # _head looks for one
    new = nn.Linear(old.in_features, old.out_features + 1, old.bias is not None, old.weight.device)
    with torch.no_grad():
        new.weight.copy_(torch.cat([old.weight, old.weight.mean(0, keepdim=True)]))
        if old.bias is not None:
            new.bias.copy_(torch.cat([old.bias, old.bias.mean(0, keepdim=True)]))
    parent, _, name = path.rpartition(".")
    setattr(model.get_submodule(parent), name, new)
    order = (*classifier.order, INVALID)
    model.config.id2label = dict(enumerate(order))
    model.config.label2id = {label: at for at, label in enumerate(order)}
    return replace(classifier, model=model.eval(), order=order)


def _head(classifier: Classifier) -> str:
    """Return the dotted path of the layer whose outputs are the logits: the last such one."""
    paths: list[str] = [
        path
        for path, module in classifier.model.named_modules()
        if isinstance(module, nn.Linear) and module.out_features == len(classifier.order)
    ]
    if not paths:
        kind = classifier.model.config.model_type
        raise ExperimentError(f"no class can be added to {classifier.name!r}, a {kind} model")
    return paths[-1]
