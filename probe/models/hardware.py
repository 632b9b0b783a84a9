"""In which precision a model computes, and which one this machine is quick in."""

from __future__ import annotations

from copy import deepcopy
from functools import cache, partial
from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from probe.first_import import first_import

if TYPE_CHECKING:
    import torch
    from torch import nn
    from transformers import PreTrainedModel


Precision = Literal["auto", "fp32", "bf16"]
ROWS, WIDTH, TIMED = 128, 768, 7
"""Of the product by which the speeds are compared, and how often it is timed."""


def native_bf16() -> bool:
    """Whether this machine multiplies bf16 natively; elsewhere it is 6 to 100 times slower."""
    with first_import:
        import torch

        from probe.models.torch_threads import has_gpu

    if has_gpu():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # torch has no public test; its own kernels call these two
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


@cache
def fast_bf16() -> bool:
    """Whether this machine multiplies faster in bf16 than in fp32.

    Of processors that do it natively some are twice as fast with it and some half as fast, so a
    product is timed in both, once in each process: some 30 ms.
    """
    if not native_bf16():
        return False
    from probe.models.torch_threads import has_gpu

    return has_gpu() or _quicker_in_bf16()


def _quicker_in_bf16() -> bool:
    """Time the product of a feed-forward layer, as often as makes other programs matter little."""
    import torch

    times: dict[torch.dtype, list[float]] = {torch.float32: [], torch.bfloat16: []}
    for _, (dtype, taken) in product(range(1 + TIMED), times.items()):
        inputs, weights = (
            torch.ones(ROWS, WIDTH, dtype=dtype),
            torch.ones(WIDTH, WIDTH, dtype=dtype),
        )
        began = perf_counter()
        torch.nn.functional.linear(inputs, weights)
        taken.append(perf_counter() - began)
    # the first product of each is compiled
    quickest = {dtype: min(taken[1:]) for dtype, taken in times.items()}
    return quickest[torch.bfloat16] < quickest[torch.float32]


def resolve(precision: Precision) -> Literal["fp32", "bf16"]:
    """Return the precision that `precision` stands for on this machine."""
    if precision == "auto":
        return "bf16" if fast_bf16() else "fp32"
    return precision


def autocast(device: torch.device, precision: Precision) -> torch.autocast:
    """Return the context in which weights stay fp32 and products are computed at a precision."""
    import torch

    return torch.autocast(device.type, torch.bfloat16, enabled=resolve(precision) == "bf16")


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
