"""What the first answer needs, loaded behind the page: torch, transformers, Captum, the model."""

from collections.abc import Callable
from threading import Thread

from probe.analysis.transformed import examine
from probe.models.library import DEFAULT, ModelCache
from probe.tasks.nli import NLI

TRANSFORMS = ("sort", "drop")
"""They need the tokenizer, the importance and what computes it."""


def load_behind(cache: ModelCache, then: Callable[[], None] = lambda: None) -> None:
    """Load the default model and answer once with it, on a thread of its own; then do more."""

    def work() -> None:
        answer_once(cache)
        then()

    Thread(target=work, daemon=True).start()


def answer_once(cache: ModelCache) -> None:
    """Answer a question as the page does, so that nobody waits for what is imported on the way."""
    examine(cache.get(DEFAULT), NLI.sanity_examples[0], TRANSFORMS)
