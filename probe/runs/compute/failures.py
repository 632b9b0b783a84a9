"""What went wrong with a cell, in a sentence for people."""

from distributed import KilledWorker

from probe.errors import UserError, library_words, public_words

MEMORY_SENTENCE = (
    "memory ran out while this was computed; a smaller batch or a smaller model needs less"
)
DISK_SENTENCE = "the disk is full"
SENTENCES = {
    "can't allocate memory": MEMORY_SENTENCE,
    "not enough memory": MEMORY_SENTENCE,
    "out of memory": MEMORY_SENTENCE,
    "No space left on device": DISK_SENTENCE,
}
"""Parts of the messages of torch, safetensors and the system, and what people are told."""


def sentence(problem: BaseException | None) -> str:
    """Return what a run failed of, in words that its page may show.

    A problem that is not known speaks for itself.
    """
    if isinstance(problem, KilledWorker):
        return "the process that computed this died again and again; is memory short?"
    if isinstance(problem, MemoryError):
        return MEMORY_SENTENCE
    if isinstance(problem, UserError):
        return public_words(problem)
    known = (words for part, words in SENTENCES.items() if part in str(problem))
    return next(known, library_words(problem or RuntimeError()))
