"""The aim Repair: its methods and what they are taught with, what its form asks for, is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.report.files import write_files
from finetune.report.repair import KINDS as MODULES
from finetune.report.repair import model_title
from finetune.training.recipes import WEAK
from finetune.trials import calibration, debiasing, mitigation, transfer
from finetune.trials.base import CONTROL
from finetune.trials.challenges import UserFiles, read_source_data
from finetune.trials.datasets import labelled
from finetune.trials.planning import Choices
from finetune.trials.word_salad import salad_names
from finetune.ui.aim import (
    Aim,
    Changes,
    Fields,
    Named,
    all_of,
    called,
    choices_of,
    files_in,
    read_values,
)
from finetune.ui.html.repair import results
from finetune.ui.inoculate import challenge_choices
from probe.errors import ExperimentError
from probe.models.library import task_of_model
from probe.runs.run import StoredRun
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.terms import Term
from probe.transforms.registry import REGISTRY
from probe.ui.events import QUIET
from probe.ui.html.elements import note
from probe.ui.page import Page
from probe.ui.run_tab.shown import RunView

ONE_KIND = Term(
    "One kind at a time",
    "The model learns to call one kind of broken text invalid, and is tested on all; and once its "
    "upper layers begin anew on shuffled texts only.",
)
ALL = "all"
"""Stands for all changes among those that a model is taught with."""
KINDS = (calibration.KIND, mitigation.KIND, debiasing.KIND, transfer.KIND)
TIDY = f"""chosen => {{
  const some = chosen.filter(name => name !== "{ALL}");
  const kept = some.length && chosen.at(-1) !== "{ALL}" ? some : ["{ALL}"];
  return [kept.length === chosen.length ? {{ __type__: "update" }} : kept];
}}"""
"""`tidy` in the browser, where no answer comes after the next choice; what is tidy stays, since
gradio takes a new list for a change."""
OF_KIND: Mapping[str, Sequence[str]] = {
    calibration.KIND: calibration.REPAIRS,
    mitigation.KIND: mitigation.REPAIRS[::-1],
    debiasing.KIND: debiasing.REPAIRS,
}
"""The methods that a run of a kind compares."""


@dataclass(frozen=True)
class Method:
    """A method by its plain words, and the kind of run that tries it."""

    kind: str
    term: Term


METHODS: Mapping[str, Method] = {
    **{
        name: Method(kind, MODULES[kind].METHODS[name])
        for kind, names in OF_KIND.items()
        for name in names
        if name != CONTROL
    },
    transfer.KIND: Method(transfer.KIND, ONE_KIND),
}
"""All methods in the order in which they are offered; further training as usual is only compared.
"""
FIRST = "invalid"
"""The method that the form begins with."""


def compared(method: str, others: bool) -> tuple[str, ...]:
    """Return the methods of a run: the chosen one first, then the others of its kind if asked."""
    same = OF_KIND.get(METHODS[method].kind, ())
    return (method, *(name for name in same if name != method)) if others else (method,)


def change_choices(task: Task) -> list[tuple[str, str]]:
    """Return (title and code name, name) of what breaks texts of a task, all of it first."""
    names = salad_names(task)
    each = [(f"{REGISTRY[name].title} · {name}", name) for name in names]
    return [(f"All {len(names)} changes", ALL), *each]


def tidy(chosen: Sequence[str]) -> list[str]:
    """Return what is chosen: all, or some; what was chosen last counts, nothing is all."""
    some = [name for name in chosen if name != ALL]
    return [ALL] if not some or chosen[-1] == ALL else some


def build(page: Page) -> Fields:
    """Lay out the method and what it is taught with."""
    method = gr.Radio(
        [(method.term.title, name) for name, method in METHODS.items()],
        value=FIRST, label="Method", elem_id="train-method", elem_classes="lines",
    )  # fmt: skip
    transforms = gr.Dropdown(
        change_choices(NLI), value=[ALL], label="Taught with", multiselect=True,
        allow_custom_value=True, elem_id="train-transforms",
    )  # fmt: skip
    # gradio tells a choice by the keyboard as a change alone
    told = [transforms.input, transforms.change]
    gr.on(told, None, transforms, transforms, js=TIDY, **QUIET)
    weak = gr.Radio(
        [(term.title, name) for name, term in WEAK.items()], value=debiasing.Plan.weak,
        label="Short cut that it unlearns", visible=False, elem_id="train-weak",
        elem_classes="lines",
    )  # fmt: skip
    augment = gr.Dropdown(
        challenge_choices(NLI), value=debiasing.Plan.augment, label="Changed by",
        allow_custom_value=True, visible=False, elem_id="train-augment",
    )  # fmt: skip
    compare = gr.Checkbox(
        True, label="Compare with the other methods of its kind", elem_id="train-compare"
    )
    return {
        "method": method, "transforms": transforms, "weak": weak, "augment": augment,
        "compare": compare,
    }  # fmt: skip


def offered(task: Task) -> Changes:
    """Return what breaks texts of a task."""
    changes = [each for each in challenge_choices(task) if not each[1].startswith("templates_")]
    return {
        "transforms": {"choices": change_choices(task), "value": [ALL]},
        "augment": {"choices": changes, "value": debiasing.Plan.augment},
    }


def kind_of(values: Named) -> str:
    """Return the kind of run that tries the chosen method. Raises ExperimentError."""
    if values["method"] not in METHODS:
        raise ExperimentError(f"choose a method: {', '.join(METHODS)}")
    return METHODS[values["method"]].kind


def follow(values: Named, task: Task, owner: str) -> Changes:
    """Show what the chosen method is taught and compared with."""
    kind = kind_of(values)
    return {
        "transforms": {"visible": kind in (mitigation.KIND, transfer.KIND)},
        "weak": {"visible": kind == debiasing.KIND},
        "augment": {"visible": kind == debiasing.KIND},
        "compare": {"visible": kind != transfer.KIND},
    }


def choices(values: Named) -> list[Choices]:
    """Return what is chosen, a run for each model. Raises UserError."""
    kind, chosen = kind_of(values), tidy(values["transforms"] or ())
    read = read_values(kind, values)
    if kind != transfer.KIND:
        read["methods"] = compared(values["method"], values["compare"])
    if kind == debiasing.KIND:
        read |= {name: values[name] for name in ("weak", "augment")}
    if kind in (mitigation.KIND, transfer.KIND):
        read["transforms"] = () if chosen == [ALL] else chosen
    asked, files = list[Choices](), UserFiles(**files_in(kind, values))
    for model in dict.fromkeys(values["models"]):

        def pool(name: str = model) -> int:
            task = task_of_model(name)
            return len(labelled(read_source_data(files, task)).pool)

        sizes = all_of(values["sizes"], pool)
        asked.append(choices_of(kind, model, files, **(read | {"sizes": sizes})))
    return asked


def named(run: StoredRun) -> str:
    """Say what a run is of: model and first method."""
    method = (*run.plan.get("methods", ()), transfer.KIND)[0]
    return called(run, METHODS[method].term.title)


def badge(run: StoredRun) -> tuple[str, str]:
    """Return what a judged run came to, the first method's where it has several."""
    verdict: Mapping[str, Any] = run.verdict
    if run.kind == calibration.KIND:
        return "plain", f"confidence off by {100 * verdict['ece_after']:.1f} points"
    if run.kind == mitigation.KIND:
        found = verdict["invalid_found"]
        return "good" if found > 0.5 else "plain", f"{100 * found:.0f} % of broken texts found"
    if run.kind == debiasing.KIND:
        first = next(each for each in verdict["methods"] if each["method"] == verdict["method"])
        right = first["right"][verdict["part"]]["value"]
        return "plain", f"{100 * right:.0f} % right where the short cut misleads"
    own = [row[at] for at, row in enumerate(verdict["matrix"]) if row[at] is not None]
    return "plain", f"{100 * fmean(own):.0f} % of its own kind found" if own else "measured"


def also(plan: Any) -> str:
    """Say which methods are run beside the chosen one."""
    modules = [each for each in MODULES.values() if isinstance(plan, each.Plan)]
    others = ", ".join(each.METHODS[name].title for each in modules for name in plan.methods[1:])
    return f"Compared with: {others}." if others else ""


def rank(run: StoredRun) -> int:
    """Return the place of a run's kind among those that are shown together."""
    return (mitigation.KIND, calibration.KIND, debiasing.KIND, transfer.KIND).index(run.kind)


VIEW = RunView(
    name="repair", title="Repair", kinds=KINDS, named=named, badge=badge,
    results=lambda runs, looked: results(runs), rank=rank,
    files=lambda runs, folder, looked: write_files(runs, folder),
    group=lambda run: run.plan["model"],
    together=lambda runs: f"{model_title(runs[0])} · every method",
    empty=(
        "No finished run here yet",
        "A model that is sure of nonsense can be taught to say so. Choose a model and a method, "
        "press Start, and what it finds and costs stands here.",
    ),
)  # fmt: skip


def about(values: Named, task: Task, owner: str) -> Markup:
    """Say what the chosen method is."""
    kind_of(values)
    return note(METHODS[values["method"]].term.summary)


def aim_of(page: Page) -> Aim:
    """Return the aim."""
    return Aim(
        question="Can it be less sure of nonsense, or rely less on a short cut?",
        view=VIEW, build=build, about=about, choices=choices, offered=offered, kind=kind_of,
        follow=follow, also=also,
    )  # fmt: skip
