"""Errors of models that cannot be used, each with one sentence for the person."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from probe.errors import ModelError, reading
from probe.tasks.task import Label


class UnclearLabels(ModelError):
    """The outputs of a model are not named after labels, so the person has to give their order.

    `outputs` are their names, `labels` one possible order; `suggested` is the order with the best
    score on the sanity examples, `right`, and None where they do not decide. Those of a model that
    answers with one `number` are its two sides.
    """

    def __init__(
        self,
        name: str,
        outputs: Sequence[str],
        labels: Sequence[Label],
        suggested: tuple[Label, ...] | None,
        right: str,
        number: bool = False,
    ) -> None:
        self.outputs, self.suggested, self.right = tuple(outputs), suggested, right
        order = ", ".join(suggested or labels)
        hint = f"with {order} it gets {right}" if suggested else f"for example {order}"
        what = (
            f"the model {name!r} answers with one number, and its folder does not say whether that "
            "is the logit of a label, or a score on a scale, which has no labels; if it is a logit,"
            " give the labels of numbers below 0 and above"
            if number
            else f"the outputs of the model {name!r} are named {', '.join(outputs)}, which does "
            "not say what they mean; give the labels in their order"
        )
        super().__init__(f"{what}: {hint}")


class SeveralCheckpoints(ModelError):
    """A folder holds no model but `checkpoints` of a training, the latest first."""

    def __init__(self, message: str, checkpoints: Sequence[str]) -> None:
        self.checkpoints = tuple(checkpoints)
        super().__init__(message)


class UnclearTask(ModelError):
    """Models of several tasks have outputs of such names, so the person has to name the task."""

    def __init__(self, name: str, outputs: Sequence[str], tasks: Sequence[str]) -> None:
        super().__init__(
            f"the outputs of the model {name!r} are named {', '.join(outputs)}, which does not say "
            f"what it answers; name its task: {', '.join(tasks[:-1])} or {tasks[-1]}"
        )


def reading_part(name: str, path: Path, form: str = "safetensors") -> AbstractContextManager[None]:
    """Raise ModelError in our own words where a library refuses a file of a model."""
    return reading(f"{path.name} of {name!r}", form, "fetch or save the model again", ModelError)
