"""What Probe answers: an example predicted, explained and changed; one change in full."""

from collections.abc import Sequence
from secrets import randbelow
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.importance import Importance, attribute, checked, known_check
from probe.analysis.smallest import smallest
from probe.analysis.transformed import (
    Examination,
    Transformed,
    examine,
    explained,
    require_usable,
    transform_all,
)
from probe.errors import AttributionError, TransformError, UnknownTransform, UserError
from probe.models.library import AnyModel, that_reads
from probe.runs.access import ModelAccess
from probe.tasks.examples import random_example
from probe.tasks.task import Task, task_named
from probe.transforms.registry import presets
from probe.ui.answers.answering import MAX_SHOWN, SharedAnswers, model_key
from probe.ui.html.elements import NOTHING, alert, join, note
from probe.ui.html.examination import (
    FLIPS,
    NO_ANSWER,
    announcement,
    answer,
    flips,
    full_view,
    rows,
)
from probe.ui.html.shared_link import MAX_LINK, shared_link
from probe.ui.links import link_to_view
from probe.ui.tabs.example_pairs import examples_of
from probe.ui.tabs.probe.view import View, example_fields, file_text, parameters, read_view

NO_CHANGE = "“{name}” is none of the changes: choose from the list, or join two of it with +"
SAID = Markup('<span data-address="{}">{}</span>')
"""What is announced, with the address of what is shown, unless that is too long for one."""
UNCHECKED = Markup("<span data-unchecked hidden></span>")
"""Marks an answer whose importance has not been checked."""
WHO = "Link to this view; whoever has it sees these texts and what is chosen, nothing else of yours"
OTHER_SEEDS = 4
"""How often a change is made anew in its full view."""
Shown = dict[str, Any]  # Any: markup, values and gradio's updates
"""What parts of the view show, by their names."""


def update(
    models: ModelAccess, answers: SharedAnswers, visitor: str, task: str, **fields: Any
) -> Shown:
    """Answer one event: the answer with its tokens, the results, and both in one breath.

    A change that cannot be made is said above the results; the others are made.
    """
    try:
        view = read_view(task, fields)
        model = model_of(models, visitor, view)
        key = model_key(model), view
        verdict, results, said = answers.get(key, lambda: answered(model, view))
    except UserError as trouble:
        return {"verdict": alert(trouble), "rows": NO_ANSWER, "said": Markup("{}").format(trouble)}
    check = known_check(model)
    noted = UNCHECKED if check is None else join(map(note, check.sentences))
    return {"verdict": verdict, "rows": results, "said": said, "checked": noted}


def model_of(models: ModelAccess, visitor: str, view: View) -> AnyModel:
    """Return what answers a view. Raises UserError where it holds too little or too much."""
    view.check()
    return that_reads(models.get(visitor, view.model, view.task), view.long)


def answered(model: AnyModel, view: View) -> tuple[Markup, Markup, Markup]:
    """Answer what is asked of a view; raises what `examine` raises."""
    troubles = {name: trouble for name in view.names if (trouble := problem(name, model))}
    usable = [name for name in view.names if name not in troubles]
    examination = examined(model, view, usable)
    address = link_to_view(parameters(view, model.revision))
    said = SAID.format(address if len(address) <= MAX_LINK else "", announcement(examination))
    return answer(examination), rows(examination, list(troubles.values())), said


def problem(name: str, model: AnyModel) -> TransformError | None:
    """Return why a transform or chain cannot be used with a model, None where it can."""
    try:
        require_usable(name, model)
    except UnknownTransform:
        shown = name if len(name) <= MAX_SHOWN else f"{name[:MAX_SHOWN]} …"
        return UnknownTransform(NO_CHANGE.format(name=shown))
    except TransformError as trouble:
        return trouble
    return None


def examined(model: AnyModel, view: View, names: Sequence[str]) -> Examination:
    """Look at the example of a view, changed by these transforms."""
    how = view.options, view.method, view.baseline, view.label
    return examine(model, view.example, names, view.seed, *how, against=view.against)


def check_importance(models: ModelAccess, visitor: str, task: str, name: str) -> Markup:
    """Check the network whose answer is shown, and say what its importance does not hold."""
    try:
        found = checked(models.get(visitor, name, task_named(task)))
    except UserError:  # there is no importance, or no model: the answer has said so
        return NOTHING
    return join(map(note, found.sentences))


def open_row(
    models: ModelAccess,
    answers: SharedAnswers,
    visitor: str,
    task: str,
    pressed: tuple[str, str],
    **fields: Any,
) -> Markup:
    """Show one result in full, with the transform and the number by which its row is found."""
    name, number = pressed
    try:
        view = read_view(task, fields)
        model = model_of(models, visitor, view)
        key = model_key(model), view, name, number
        (shown,) = answers.get(key, lambda: (full(model, view, name, number),))
    except UserError as trouble:
        shown = alert(trouble)
    return Markup('<div data-transform="{}" data-number="{}">{}</div>').format(name, number, shown)


def full(model: AnyModel, view: View, name: str, number: str) -> Markup:
    """Show a result with what it rests on, and the same change with other seeds.

    Behind a number, or alone for the example itself, `FLIPS` asks for the smallest changes instead.
    """
    if number == FLIPS:
        return flips(smallest(model, view.example), view.task)
    if name not in view.names:
        return note("This change is no longer chosen.")
    examination = examined(model, view, [name])
    made = {str(each.result.number): each for each in examination.transformed}
    shown = made.get(number.removesuffix(FLIPS), examination.transformed[0])
    if number.endswith(FLIPS):
        return flips(smallest(model, shown.result.example), view.task)
    example, label = shown.result.example, shown.prediction.answer
    explains = [view.label or explained(view.task, [example], [label])[0]]
    try:
        scores: Importance | str = attribute(
            model,
            [example],
            explains,
            view.method,
            view.options.sign,
            view.baseline,
            against=view.against,
        )[0]
    except AttributionError as problem:
        scores = str(problem)
    others = with_other_seeds(model, view, name)
    return full_view(shown, examination.prediction, scores, others, model.name)


def with_other_seeds(model: AnyModel, view: View, name: str) -> list[Transformed]:
    """Make one change with the seeds that follow; of several new examples the first."""
    before = model.predict([view.example])
    how: dict[str, Any] = {"method": view.method, "baseline": view.baseline}
    seeds = range(view.seed + 1, view.seed + 1 + OTHER_SEEDS)
    return [
        transform_all(model, [view.example], before, [name], seed, view.options, **how)[name][0][0]
        for seed in seeds
    ]


def share_view(models: ModelAccess, visitor: str, task: str, **fields: Any) -> Markup:
    """Return a view's link and file; a model of one's own is opened to who has them."""
    try:
        view = read_view(task, fields)
        revision = models.get(visitor, view.model, view.task).revision
        grant = models.share(visitor, view.model)
    except UserError as trouble:
        return alert(trouble)
    link = link_to_view(parameters(view, revision, grant))
    return shared_link(link, bool(grant), file_text(view, revision, grant), WHO)


def draw(task: str) -> Shown:
    """Return a random bundled example with its right answer, and no title."""
    asked = task_named(task)
    return {**example_fields(asked, random_example(asked, randbelow(2**31))), "example": None}


def take_example(task: str, title: str | None) -> Shown:
    """Return an example with its right answer, where one is chosen."""
    asked = task_named(task)
    example = examples_of(asked).get(title or "")
    # of an empty answer gradio would make a value
    return {"answer": gr.skip()} if example is None else example_fields(asked, example)


def preset_of(task: Task, names: object) -> str | None:
    """Return the preset that has just these transforms, None where none has."""
    chosen = set(names) if isinstance(names, list | tuple) else set()
    return next((title for title, held in presets(task).items() if set(held) == chosen), None)
