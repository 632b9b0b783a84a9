"""A model that a person brings: loaded by a hub id or a folder, and checked before it is used."""

import os
from dataclasses import dataclass
from pathlib import Path

from probe.models.classifier import Classifier
from probe.models.label_check import Canaries, sing
from probe.models.library import Entry, ModelError, entries, load
from probe.tasks.nli import Gold


@dataclass(frozen=True)
class Opened:
    """A loaded model and how the six plain pairs came out; None for one of our own."""

    classifier: Classifier
    canaries: Canaries | None

    @property
    def warning(self) -> str:
        """What seems wrong with the order of the labels, empty where nothing does."""
        return self.canaries.warning if self.canaries else ""

    @property
    def doubt(self) -> str:
        """What else seems wrong with it, empty where nothing does."""
        return self.canaries.doubt if self.canaries else ""

    @property
    def words(self) -> str:
        """What the model is, in one sentence."""
        model, found = self.classifier.model, self.canaries
        order = ", ".join(self.classifier.order)
        size = sum(weight.numel() for weight in model.parameters())
        revision = self.classifier.revision
        facts = [
            f"{self.classifier.name} is a {model.config.model_type} model of {size:,} weights "
            f"with the outputs {order}",
            *([f"{found.right} of {found.of} plain pairs are right"] if found else []),
            "precision fp32",
            f"revision {revision[:12]}" if revision else "read from a folder",
        ]
        return "; ".join(facts) + "."


def open_model(name: str, order: tuple[Gold, ...] | None = None) -> Opened:
    """Load any model; unless it is as it stands on our shelves, it sings. Raises ModelError."""
    classifier = load(name, order)
    ours = name in shelved() and not order
    return Opened(classifier, None if ours else sing(classifier))


def shelved() -> dict[str, Entry]:
    """Return the models on our shelves by name."""
    return {entry.name: entry for entry in entries()}


def require_open(name: str) -> None:
    """Refuse what a page's visitor may not open. Raises ModelError.

    NLI_CLINIC_OWN_MODELS lists what may be: hub, folder. Both by default; only the hub on a Space,
    whose disk is not the visitor's own.
    """
    default = "hub" if "SPACE_ID" in os.environ else "hub,folder"
    allowed = os.environ.get("NLI_CLINIC_OWN_MODELS", default).split(",")
    kind = "folder" if Path(name).is_absolute() or Path(name).is_dir() else "hub"
    if name not in shelved() and kind not in allowed:
        raise ModelError(f"models of your own cannot be opened here from a {kind}")
