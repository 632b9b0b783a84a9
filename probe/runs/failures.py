"""What went wrong with a cell, in a sentence for people."""

from distributed import KilledWorker

MEMORY = "memory ran out while this was computed; a smaller batch or a smaller model needs less"
ROOM = "the disk is full"
SIGNS = {
    "can't allocate memory": MEMORY,
    "not enough memory": MEMORY,
    "out of memory": MEMORY,
    "No space left on device": ROOM,
}
"""What torch, safetensors and the system say, and what people are told."""


def sentence(problem: BaseException | None) -> str:
    """Say what a cell failed of; what we do not know speaks for itself."""
    if isinstance(problem, KilledWorker):
        return "the process that computed this died again and again; is memory short?"
    if isinstance(problem, MemoryError):
        return MEMORY
    said = str(problem) or type(problem).__name__
    return next((words for sign, words in SIGNS.items() if sign in said), said)
