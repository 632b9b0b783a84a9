"""In which precision a model computes, and which one this machine is quick in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from probe.first_import import first_import

if TYPE_CHECKING:
    import torch

Precision = Literal["auto", "fp32", "bf16"]


def fast_bf16() -> bool:
    """Whether this machine multiplies bf16 natively; elsewhere it is 6 to 100 times slower."""
    with first_import:
        import torch

        from probe.models.hardware.device import has_gpu

    if has_gpu():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # torch has no public test; its own kernels call these two
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def resolve(precision: Precision) -> Literal["fp32", "bf16"]:
    """Return the precision that `precision` stands for on this machine."""
    if precision == "auto":
        return "bf16" if fast_bf16() else "fp32"
    return precision


def autocast(device: torch.device, precision: Precision) -> torch.autocast:
    """Return the context in which weights stay fp32 and products are computed at a precision."""
    import torch

    return torch.autocast(device.type, torch.bfloat16, enabled=resolve(precision) == "bf16")
