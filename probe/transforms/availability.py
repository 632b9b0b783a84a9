"""What transforms need beside the text, and whether it is there."""

from collections.abc import Callable, Mapping

from probe import pbsmt
from probe.errors import Unavailable
from probe.text import tagger, wordnet
from probe.transforms.registry import REGISTRY, Need, Transform, chain

RESOURCES: Mapping[Need, Callable[[], str]] = {
    "model": lambda: "",  # whoever applies a transform brings the model
    "wordnet": wordnet.missing,
    "tagger": tagger.missing,
    "phrases": pbsmt.missing,
}


def missing(transform: Transform) -> str:
    """Say what a transform lacks here and how to get it, "" where it lacks nothing."""
    return " ".join(filter(None, (RESOURCES[need]() for need in transform.needs)))


def require_ready(name: str) -> None:
    """Raise UnknownTransform or Unavailable where a transform or chain cannot run."""
    for link in chain(name):
        if lacks := missing(link):
            raise Unavailable(f"{link.name} cannot run here: {lacks}")


def ready() -> list[str]:
    """Return the names of the transforms that can run here."""
    return [name for name, transform in REGISTRY.items() if not missing(transform)]
