"""Where models run."""

import torch

from probe.settings import settings


def has_gpu() -> bool:
    """Whether there is a GPU that models may use at any time; on ZeroGPU torch only says so."""
    return torch.cuda.is_available() and not settings().zero_gpu


def device() -> torch.device:
    """Return where models run: the GPU where there is one."""
    return torch.device("cuda" if has_gpu() else "cpu")


def gpus() -> list[str]:
    """Return the names of the GPUs that models may use at any time."""
    count = torch.cuda.device_count() if has_gpu() else 0
    return [torch.cuda.get_device_name(number) for number in range(count)]
