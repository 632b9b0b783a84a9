"""In which precision a model computes, and which one this machine is quick in."""

from __future__ import annotations

from functools import cache
from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from probe.first_import import first_import

if TYPE_CHECKING:
    import torch

Precision = Literal["auto", "fp32", "bf16"]
ROWS, WIDTH, TIMED = 128, 768, 7
"""Of the product by which the speeds are compared, and how often it is timed."""


def native_bf16() -> bool:
    """Whether this machine multiplies bf16 natively; elsewhere it is 6 to 100 times slower."""
    with first_import:
        import torch

        from probe.models.hardware.device import has_gpu

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
    from probe.models.hardware.device import has_gpu

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
