"""A model of any task before training: what it is trained on, and how test sets are scored."""

from collections.abc import Callable
from typing import Any, Protocol

from finetune.training.loop import Trainee, TrainingData
from finetune.training.prepared.reader import PreparedReader
from finetune.training.prepared.tensor_cache import prepare
from finetune.training.recipes import Mode
from probe.errors import ExperimentError
from probe.models.classifier import Precision, resolve
from probe.models.library import AnyModel
from probe.models.reader import Reader
from probe.models.text_model import TextModel
from probe.stopping import Stop, never

Scorer = Callable[[bool], tuple[float, ...]]
"""Scores each example of a set from 0 to 1 (`Task.score`) by the weights as they are.

The scores of a model that is untrained, which the argument says, are computed once for all cells.
"""


class Trainable(Protocol):
    """A model before training: `trained` is the part whose weights change, `whole` all of it."""

    @property
    def whole(self) -> TextModel:
        """All of the model."""

    @property
    def trained(self) -> Trainee:
        """What is trained."""

    @property
    def precision(self) -> Precision:
        """The precision of all computing, fp32 or bf16."""

    def encoded(
        self, examples: tuple[Any, ...], max_tokens: int, stop: Stop = never
    ) -> TrainingData:
        """Return examples to train on, cut where they are longer. Raises Cancelled."""

    def learnt(self, data: Any, stop: Stop = never) -> tuple[float, ...]:
        """Return the score of each example of what `encoded` returned, by the weights as they are.

        Raises Cancelled.  # Any: each kind of model has its own kind of data
        """

    def scorer(self, examples: tuple[Any, ...], stop: Stop = never) -> Scorer:
        """Return what scores these examples."""


def prepare_any(model: AnyModel, mode: Mode, precision: Precision) -> Trainable:
    """Prepare a model for a cell. Raises ExperimentError where it has no fast mode."""
    if not isinstance(model, Reader):
        return prepare(model, mode, precision)
    if mode == "fast":
        raise ExperimentError("a model that answers with spans has no fast mode; choose full")
    return PreparedReader(model, resolve(precision))
