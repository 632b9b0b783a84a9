"""Why a model cannot be used, as one sentence for the person."""

from collections.abc import Sequence

import torch

from probe.errors import ModelError
from probe.tasks.task import Label


class UnclearLabels(ModelError):
    """A model whose outputs are not named after labels: the person has to say which is which.

    `outputs` are the names they have, `labels` one order that they could have; `suggested` is the
    order with which `right` of the sanity examples come out right, None where they do not tell.
    """

    def __init__(
        self,
        name: str,
        outputs: Sequence[str],
        labels: Sequence[Label],
        suggested: tuple[Label, ...] | None,
        right: str,
    ) -> None:
        self.outputs, self.suggested, self.right = tuple(outputs), suggested, right
        order = ", ".join(suggested or labels)
        hint = f"with {order} it gets {right}" if suggested else f"for example {order}"
        super().__init__(
            f"the outputs of the model {name!r} are named {', '.join(outputs)}, which does not say "
            f"what they mean; give the labels in their order: {hint}"
        )


NO_MEMORY = ("not enough memory", "can't allocate memory", "out of memory", "annot allocate memory")


def refusal(name: str, problem: BaseException) -> ModelError:
    """Turn what went wrong while a model was loaded into a sentence."""
    if isinstance(problem, MemoryError | torch.OutOfMemoryError) or any(
        words in str(problem) for words in NO_MEMORY
    ):
        return ModelError(f"the model {name!r} does not fit into the memory that is free")
    if "trust_remote_code" in str(problem):
        return ModelError(needs_code(name))
    if "tiktoken" in str(problem):  # what transformers falls back to
        return ModelError(
            f"the SentencePiece vocabulary of the model {name!r} cannot be read; that needs the "
            "packages sentencepiece and protobuf"
        )
    if "ignore_mismatched_sizes" in str(problem):
        return ModelError(f"the model {name!r} has weights of other shapes than its config says")
    return ModelError(f"the model {name!r} cannot be loaded: {first_line(problem)}")


def needs_code(name: str) -> str:
    """Say that a model brings code."""
    return f"the model {name!r} needs Python code of its own, and such code is never run here"


def first_line(problem: BaseException) -> str:
    """Return the first line of an error's message, or its kind where it has none."""
    if isinstance(problem, KeyError):
        return f"{problem} is not known here"
    return (str(problem).strip() or type(problem).__name__).splitlines()[0].rstrip(":")
