"""What a free Space of the hub, which runs on ZeroGPU, asks of an app that computes on the CPU.

The `spaces` package, which the hub brings there, reports the functions that want a GPU when the
page is launched; an app without one is ended. Ours all run on the CPU, so that the one it reports
does nothing and is never called. The package patches torch, and must be imported before CUDA is
initialised. `torch.cuda.is_available` then says yes, and `probe.models.hardware` knows
better.
"""

from importlib import import_module

from probe.settings import settings


def register() -> None:
    """Report a function that wants a GPU; nothing anywhere but on ZeroGPU. Imports torch there."""
    if settings().zero_gpu:
        import_module("spaces").GPU(do_nothing)


def do_nothing() -> None:
    """Want a GPU."""
