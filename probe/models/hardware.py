"""What this machine computes with: its precision, its copy in bf16, its threads and GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from copy import deepcopy
from functools import cache, partial
from itertools import product
from threading import Barrier, Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from probe.first_import import first_import
from probe.settings import settings

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

    if has_gpu():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # torch has no public test; its own kernels call these two
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


@cache
def fast_bf16() -> bool:
    """Whether this machine multiplies faster in bf16 than in fp32.

    Of processors that do it natively some are twice as fast with it and some half as fast, so the
    product of a feed-forward layer is timed in both, once in each process: some 30 ms.
    """
    if not native_bf16() or has_gpu():
        return native_bf16()
    import torch

    times: dict[torch.dtype, list[float]] = {torch.float32: [], torch.bfloat16: []}
    for _, (dtype, taken) in product(range(1 + TIMED), times.items()):
        inputs, weights = (torch.ones(size, WIDTH, dtype=dtype) for size in (ROWS, WIDTH))
        began = perf_counter()
        torch.nn.functional.linear(inputs, weights)
        taken.append(perf_counter() - began)
    # the first product of each is compiled
    return min(times[torch.bfloat16][1:]) < min(times[torch.float32][1:])


def resolve(precision: Precision) -> Literal["fp32", "bf16"]:
    """Return the precision that `precision` stands for on this machine."""
    if precision == "auto":
        return "bf16" if fast_bf16() else "fp32"
    return precision


def autocast(device: torch.device, precision: Precision) -> torch.autocast:
    """Return the context in which weights stay fp32 and products are computed at a precision."""
    import torch

    return torch.autocast(device.type, torch.bfloat16, enabled=resolve(precision) == "bf16")


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
        known = [identity for identity, _, _ in self._state]
        if self._copy is None or [identity for identity, _, _ in state] != known:
            self._pairs = [
                (p, torch.nn.Parameter(p.detach().to(torch.bfloat16), requires_grad=False))
                for p in model.parameters()
            ]
            self._copy = _with_weights(model, self._pairs)
            _lay_out(self._copy)
        elif state != self._state:
            with torch.no_grad():
                for own, copy in self._pairs:
                    copy.copy_(own)
            _lay_out(self._copy)
        self._state = state
        return self._copy


def _with_weights(
    model: PreTrainedModel, pairs: list[tuple[nn.Parameter, nn.Parameter]]
) -> PreTrainedModel:
    """Return a model with other weights; its config and its output layer's weights are shared."""
    from torch import nn

    def outputs(network: PreTrainedModel) -> list[nn.Linear]:
        layers = [module for module in network.modules() if isinstance(module, nn.Linear)]
        return [layer for layer in layers if layer.out_features == model.config.num_labels]

    known: dict[int, Any] = {id(own): copy for own, copy in pairs}  # Any: as deepcopy takes it
    known |= {id(weight): weight for head in outputs(model) for weight in head.parameters()}
    known[id(model.config)] = model.config
    copy = deepcopy(model, known)
    for head in outputs(copy):
        head.register_forward_pre_hook(lambda _, inputs: tuple(value.float() for value in inputs))
    return copy


def _lay_out(copy: PreTrainedModel) -> None:
    """Let linear layers multiply by weights in oneDNN's own layout, where there is one for bf16."""
    import torch

    if copy.device.type != "cpu" or not native_bf16() or not torch.backends.mkldnn.is_available():
        return

    def linear(
        weights: torch.Tensor, bias: torch.Tensor | None, inputs: torch.Tensor
    ) -> torch.Tensor:
        # private to torch, whose own compiler calls it: no public function takes such weights
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            inputs, weights, bias, "none", [], ""
        )
        return product

    for module in copy.modules():
        # subclasses may do more than multiply
        if type(module) is torch.nn.Linear and module.weight.dtype == torch.bfloat16:
            with torch.no_grad():
                weights = torch.ops.mkldnn._reorder_linear_weight(module.weight.detach(), None)
            forward = partial(linear, weights, module.bias)
            module.forward = forward  # type: ignore[method-assign]  # of the copy alone


Batch = TypeVar("Batch")
Result = TypeVar("Result")
MOST_BATCHES = 8
"""At a time, each of which has its tensors in memory; more cores are divided among these."""
_lock = Lock()


def batches_at_once() -> int:
    """Return how many batches this thread may compute side by side: torch's threads."""
    import torch

    return min(MOST_BATCHES, torch.get_num_threads())


def side_by_side(compute: Callable[[Batch], Result], batches: Sequence[Batch]) -> list[Result]:
    """Compute some batches at the same time, one alone with all of torch's threads.

    What torch keeps for each thread, such as inference mode, `compute` has to enter itself.
    """
    import torch

    if len(batches) == 1 or batches_at_once() == 1:
        return [compute(batch) for batch in batches]
    with _lock:
        pool = _pool(torch.get_num_threads())
    futures = [pool.submit(compute, batch) for batch in batches]
    wait(futures)  # where one fails, too: the others use what the caller lent them
    return [future.result() for future in futures]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a thread for each batch, among which so many of torch's are divided."""
    import torch

    size = batches_at_once()
    ready = Barrier(size + 1)

    def take_share() -> None:
        torch.get_num_threads()  # torch counts a thread's own at the first question, not before
        torch.set_num_threads(threads // size)
        ready.wait()

    pool = ThreadPoolExecutor(size, "batches", initializer=take_share)
    for _ in range(size):
        pool.submit(int)
    ready.wait()
    torch.set_num_threads(threads)  # of this thread and of all that begin later
    return pool


def has_gpu() -> bool:
    """Whether there is a GPU that models may use at any time; on ZeroGPU torch only says so."""
    with first_import:
        import torch

    return torch.cuda.is_available() and not settings().zero_gpu


def device() -> torch.device:
    """Return where models run: the GPU where there is one."""
    import torch

    return torch.device("cuda" if has_gpu() else "cpu")


def gpus() -> list[str]:
    """Return the names of the GPUs that models may use at any time."""
    import torch

    count = torch.cuda.device_count() if has_gpu() else 0
    return [torch.cuda.get_device_name(number) for number in range(count)]
