"""Models that a person names by a hub id or a folder, checked before they are used."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from probe.errors import ModelError
from probe.models.classifier import Classifier
from probe.models.label_check import LabelCheck, check_labels
from probe.models.library import AnyModel, Entry, entries, load_any
from probe.settings import settings
from probe.tasks.task import Label, Task


@dataclass(frozen=True)
class LoadedModel:
    """A loaded model and the check of its labels, None for a model on disk."""

    model: AnyModel
    label_check: LabelCheck | None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know: how it was read, and doubts about the order of its labels."""
        check = self.label_check
        doubts = filter(None, (check.warning, check.doubt) if check else ())
        return (*notes_of(self.model), *(f"{self.model.name}: {doubt}" for doubt in doubts))

    @property
    def summary(self) -> str:
        """The model's type, size, outputs and revision, in one sentence."""
        network, check, revision = self.model.model, self.label_check, self.model.revision
        unit = self.model.task.unit
        size = sum(weight.numel() for weight in network.parameters())
        facts = [
            f"{self.model.name} is a {network.config.model_type} model of {size:,} weights "
            f"{_outputs(self.model)}",
            *([f"{check.correct} of {check.n} plain {unit}s are right"] if check else []),
            "precision fp32",
            f"revision {revision[:12]}" if revision else "read from a folder",
        ]
        return "; ".join(facts) + "."


def notes_of(model: AnyModel) -> list[str]:
    """Return what a person should know of how a model was read, each as a sentence."""
    return [f"{model.name}: {note}" for note in model.notes]


def _outputs(model: AnyModel) -> str:
    if isinstance(model, Classifier):
        return f"with the outputs {', '.join(filter(None, dict.fromkeys(model.order)))}"
    return f"that answers with spans, {model.max_tokens} sub-words at a time"


def open_model(
    name: str,
    order: tuple[Label, ...] | None = None,
    task: Task | None = None,
    *,
    likely: Task | None = None,
    relative: bool = True,
    template: str = "",
) -> LoadedModel:
    """Load any model and check its labels, unless it is one on disk. Raises ModelError.

    `likely` and `template` are as of `load`. Without `relative` a folder is named by its full path
    alone.
    """
    model = load_any(name, order, task, likely=likely, relative=relative, template=template)
    on_disk = name in models_on_disk() and not order
    if on_disk or not isinstance(model, Classifier):
        return LoadedModel(model, None)
    return LoadedModel(model, check_labels(model))


def models_on_disk() -> dict[str, Entry]:
    """Return the models on disk by name."""
    return {entry.name: entry for entry in entries()}


def require_open(name: str, hidden: Collection[str] = ()) -> None:
    """Raise ModelError for a model that a page's visitor may not open; `hidden` are not there.

    NLI_CLINIC_OWN_MODELS lists what may be opened: hub, folder. A folder is named by its full path;
    any other name is the hub's. The disk is not asked: nobody learns which folders there are.
    """
    kind = "folder" if Path(name).is_absolute() else "hub"
    here = name in models_on_disk() and name not in hidden
    if not here and kind not in settings().user_models:
        raise ModelError(f"models of your own cannot be opened here from a {kind}")
