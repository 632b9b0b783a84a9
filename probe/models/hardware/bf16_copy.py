"""A copy of a network in bf16, beside the weights in fp32 that training and importance need.

Under autocast the weights would be turned into bf16 for each batch anew, and what lies between two
products would stay fp32. The output layer stays fp32, so that logits are not rounded to 8 bits.
On a CPU the weights are laid out once more, as oneDNN's products read them: it would do that for
each batch anew, which costs a tenth of the time.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

from probe.models.hardware.precision import native_bf16

if TYPE_CHECKING:
    import torch
    from torch import nn
    from transformers import PreTrainedModel

COPY_BYTES = 4  # of a weight, as it is and as oneDNN reads it


class Bf16Copy:
    """Makes the copy when it is first asked for, and brings it up to date where weights changed.

    It sees a change by torch's count of changes in place, which fused optimisers leave to others.
    """

    def __init__(self) -> None:
        self._copy: PreTrainedModel | None = None
        self._pairs: list[tuple[nn.Parameter, nn.Parameter]] = []
        self._state: list[tuple[int, int, int]] = []

    def of(self, model: PreTrainedModel) -> PreTrainedModel:
        """Return the copy of a model; always the same model."""
        import torch

        state = [(id(p), p.data_ptr(), p._version) for p in model.parameters()]
        if self._copy is None or _ids(state) != _ids(self._state):
            self._pairs = [(p, _in_bf16(p)) for p in model.parameters()]
            self._copy = _with_weights(model, self._pairs)
            _lay_out(self._copy)
        elif state != self._state:
            with torch.no_grad():
                for own, copy in self._pairs:
                    copy.copy_(own)
            _lay_out(self._copy)
        self._state = state
        return self._copy


def _ids(state: list[tuple[int, int, int]]) -> list[int]:
    return [identity for identity, _, _ in state]


def copy_bytes(model: PreTrainedModel) -> int:
    """Return the bytes of a model's copy."""
    return sum(COPY_BYTES * p.numel() for p in model.parameters())


def _in_bf16(weight: nn.Parameter) -> nn.Parameter:
    import torch

    return torch.nn.Parameter(weight.detach().to(torch.bfloat16), requires_grad=False)


def _with_weights(
    model: PreTrainedModel, pairs: list[tuple[nn.Parameter, nn.Parameter]]
) -> PreTrainedModel:
    """Return a model with other weights; its config and its output layer's weights are shared."""
    heads = [module for module in model.modules() if _is_output(module, model)]
    known: dict[int, Any] = {id(own): copy for own, copy in pairs}  # Any: as deepcopy takes it
    known |= {id(weight): weight for head in heads for weight in head.parameters()}
    known[id(model.config)] = model.config
    copy = deepcopy(model, known)
    for module in copy.modules():
        if _is_output(module, model):
            module.register_forward_pre_hook(_as_float)
    return copy


def _lay_out(copy: PreTrainedModel) -> None:
    """Let linear layers multiply by weights in oneDNN's own layout, where there is one for bf16."""
    import torch

    if copy.device.type != "cpu" or not native_bf16() or not torch.backends.mkldnn.is_available():
        return
    for module in copy.modules():
        # subclasses may do more than multiply
        if type(module) is torch.nn.Linear and module.weight.dtype == torch.bfloat16:
            with torch.no_grad():
                weights = torch.ops.mkldnn._reorder_linear_weight(module.weight.detach(), None)
            forward = partial(_linear, weights, module.bias)
            module.forward = forward  # type: ignore[method-assign]  # of the copy alone


def _linear(weights: torch.Tensor, bias: torch.Tensor | None, inputs: torch.Tensor) -> torch.Tensor:
    import torch

    # private to torch, whose own compiler calls it: no public function takes such weights
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
        inputs, weights, bias, "none", [], ""
    )
    return product


def _is_output(module: nn.Module, model: PreTrainedModel) -> bool:
    from torch import nn

    return isinstance(module, nn.Linear) and module.out_features == model.config.num_labels


def _as_float(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(value.float() for value in inputs)
