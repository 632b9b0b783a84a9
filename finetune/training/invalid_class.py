"""One more class for what is no example of the task (Gupta et al. 2021, section 5)."""

from copy import deepcopy
from dataclasses import replace

import torch

from probe.models.classifier import Classifier
from probe.models.head import change_outputs
from probe.tasks.task import INVALID


def with_invalid_class(classifier: Classifier) -> Classifier:
    """Return a copy whose model has one more output, `INVALID`; a model that has it keeps it.

    How the new output begins is not published. Here its weights are the mean of the others', so
    that its logit is the mean of theirs and no answer changes before training. Raises ModelError
    where the last layer of a model is not known.
    """
    model = deepcopy(classifier.model)
    if INVALID in classifier.order:
        return replace(classifier, model=model)
    order = (*classifier.order, INVALID)
    change_outputs(classifier.name, model, _with_mean, order)
    return replace(classifier, model=model.eval(), order=order)


def _with_mean(rows: torch.Tensor) -> torch.Tensor:
    return torch.cat([rows, rows.mean(0, keepdim=True)])
