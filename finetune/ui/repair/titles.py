"""What the Repair tab offers and calls methods, broken texts and runs: plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from finetune.training.recipes import mode_words
from finetune.trials import calibration as calibration
from finetune.trials import mitigation as mitigation
from finetune.trials.calibration import CALIBRATION
from finetune.trials.mitigation import MITIGATION
from finetune.trials.transfer import TRANSFER
from finetune.trials.word_salad import salad_names
from probe.models.bundled import title_of
from probe.runs.run import StoredRun
from probe.tasks.task import Task
from probe.terms import Term
from probe.transforms.registry import REGISTRY

ONE_KIND = Term(
    "One kind at a time",
    "The model learns to call one kind of broken text invalid, and is tested on all; and once it "
    "is trained on shuffled texts only.",
)
ALL = "all"
"""Stands for all changes among those that a model is taught with."""


@dataclass(frozen=True)
class Method:
    """A method by its plain words, and the kind of run that tries it."""

    kind: str
    term: Term


METHODS: Mapping[str, Method] = {
    **{name: Method(CALIBRATION.kind, calibration.METHODS[name]) for name in calibration.REPAIRS},
    **{
        name: Method(MITIGATION.kind, mitigation.METHODS[name])
        for name in reversed(mitigation.REPAIRS)
    },
    TRANSFER.kind: Method(TRANSFER.kind, ONE_KIND),
}
"""All methods in the order in which they are offered."""
FIRST = "invalid"
"""The method that the form begins with."""
KINDS = (CALIBRATION.kind, MITIGATION.kind, TRANSFER.kind)


def method_choices() -> list[tuple[str, str]]:
    """Return (title, name) of the methods."""
    return [(method.term.title, name) for name, method in METHODS.items()]


def compared(method: str, others: bool) -> tuple[str, ...]:
    """Return the methods of a run: the chosen one first, then the others of its kind if asked."""
    kind = METHODS[method].kind
    same = [name for name, each in METHODS.items() if each.kind == kind and name != method]
    return (method, *same) if others else (method,)


def change_choices(task: Task) -> list[tuple[str, str]]:
    """Return (title and code name, name) of what breaks texts of a task, all of it first."""
    names = salad_names(task)
    each = [(f"{REGISTRY[name].title} · {name}", name) for name in names]
    return [(f"All {len(names)} changes", ALL), *each]


def tidy(chosen: Sequence[str]) -> list[str]:
    """Return what is chosen: all, or some; what was chosen last counts, nothing is all."""
    some = [name for name in chosen if name != ALL]
    return [ALL] if not some or chosen[-1] == ALL else some


def group(run: StoredRun) -> str:
    """Say which runs are shown together: those of one model."""
    return f"Repairs of {title_of(Path(run.plan['model']).name)}"


def run_title(run: StoredRun) -> str:
    """Name an own run in plain words."""
    method = (*run.plan.get("methods", ()), TRANSFER.kind)[0]
    model = title_of(Path(run.plan["model"]).name)
    mode = run.plan["training"]["mode"]
    return f"{METHODS[method].term.title} on {model}, {mode_words(mode)}"


def place(run: StoredRun) -> int:
    """Return the place of a run's kind among those that are shown together."""
    return KINDS.index(run.kind)
