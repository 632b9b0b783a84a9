"""Low-rank adapters (LoRA, Hu et al. 2021) of language models that are asked in words.

Beside each linear layer the product of two small matrices learns; all else stays as it was. The
logits are the scores of the labels, by their words behind the prompt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from transformers import BatchEncoding

from finetune.training.encoder import rightly
from finetune.training.losses import admissible
from finetune.training.recipes import ADAPTERS
from probe.errors import ExperimentError
from probe.models.architectures import Recipe
from probe.models.checkpoint import LANGUAGE_MODEL
from probe.models.classifier import Precision, resolve
from probe.models.library import full_name, locate
from probe.models.prompted import Prompted
from probe.models.weights import ADAPTER
from probe.stopping import Stop, never
from probe.tasks.task import Example

RANK = 8


@dataclass(frozen=True)
class AskedExamples:
    """Examples to train on, each tokenised as it is asked about when its batch comes."""

    model: Prompted
    examples: tuple[Example, ...]

    @cached_property
    def lengths(self) -> Sequence[int]:
        """The tokens of each example's texts; the prompt has as many for all."""
        texts = map(self.model.task.texts, self.examples)
        return [len(self.model.sub_words("".join(each.values()))) for each in texts]

    def batch(self, rows: Sequence[int]) -> tuple[BatchEncoding, torch.Tensor]:
        """Return the inputs of some examples and which labels are right.  # (rows, labels)"""
        chosen, model = [self.examples[row] for row in rows], self.model
        return BatchEncoding(model.batch_of(chosen)), admissible(chosen, model.task, model.labels)

    def first(self, rows: int) -> "AskedExamples":
        """Return the first examples alone."""
        return replace(self, examples=self.examples[:rows])


@dataclass(frozen=True)
class PreparedPrompted:
    """A language model with adapters to train; see `finetune.trials.trial.Trainable`."""

    whole: Prompted
    precision: Precision
    recipe: Recipe = ADAPTERS

    @property
    def trained(self) -> Prompted:
        """What is trained: all that takes a gradient."""
        return self.whole

    def encoded(
        self, examples: tuple[Example, ...], max_tokens: int, stop: Stop = never
    ) -> AskedExamples:
        """Return examples to train on, cut where they are when the model is asked."""
        return AskedExamples(self.whole, examples)

    def learnt(self, data: AskedExamples, stop: Stop = never) -> tuple[float, ...]:
        """Return of each example whether the answer is right now. Raises Cancelled."""
        return rightly(self.whole, data.examples, self.precision, stop)

    def scorer(
        self, examples: tuple[Example, ...], stop: Stop = never
    ) -> Callable[[bool], tuple[float, ...]]:
        """Return what answers and says of each example whether that is right."""
        return lambda untrained: self.learnt(AskedExamples(self.whole, examples), stop)


def prepare_adapters(model: Prompted, precision: Precision, seed: int) -> PreparedPrompted:
    """Put adapters into a model, in place, that change no answer yet; only they take gradients.

    Raises ExperimentError for a calibrated model, and for one that an adapter was merged into.
    """
    from peft import LoraConfig, inject_adapter_in_model

    address = full_name(model.name).partition("?")[0]
    if model.asking.calibration != "none":
        raise ExperimentError(
            f"adapters learn the scores of the labels themselves, so ask {address} without "
            "calibration"
        )
    if (locate(address)[0] / ADAPTER).is_file():
        raise ExperimentError(
            f"{address} is an adapter already; train its base model, with all the examples"
        )
    how = LoraConfig(
        task_type=LANGUAGE_MODEL.adapter,
        base_model_name_or_path=address,
        r=RANK,
        lora_alpha=2 * RANK,
        target_modules="all-linear",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        inject_adapter_in_model(how, model.model)
    return PreparedPrompted(model, resolve(precision))
