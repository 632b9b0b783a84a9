"""The aim Generalise: its skills and their kinds of examples, what its form asks for, is shown."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from finetune.report.files import write_files
from finetune.training.data import Asked
from finetune.trials.challenges import UserFiles
from finetune.trials.generalisation import (
    FILE,
    GRIDS,
    KIND,
    MAX_CONDITIONS,
    conditions,
    generalisation_run,
    grids,
    judged_anew,
    loss_in,
    phenomena,
    read_conditions,
    same_phenomenon,
)
from finetune.trials.planning import Choices
from finetune.ui.aim import Aim, Changes, Fields, Named, called, choices_of, read_values
from finetune.ui.html.generalisation import badge_of, results
from probe.data.rows import guess, is_missing
from probe.data.source import read_table
from probe.errors import ExperimentError, FileError, UserError
from probe.limits import visitor_bounds
from probe.runs.gallery import gallery_runs
from probe.runs.run import StoredRun
from probe.tasks.examples import bundled_file
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.templates import Request, generate
from probe.templates.grammar import grammar
from probe.ui.api.files import is_open
from probe.ui.events import CHANGING
from probe.ui.html.elements import alert, join, note, sheet, twin
from probe.ui.html.prediction import label_name
from probe.ui.page import Page
from probe.ui.panels import hub_dataset
from probe.ui.run_tab.shown import Looked, RunView
from probe.ui.visitors.visitor_files import own_file

SEED = 3
BETWEEN = Markup(' <span class="soft">/</span> ')
COUNTS = ("no other kind", "one other kind", "two other kinds", "three other kinds")
USUAL_COLUMN = "condition"
KIND_COLUMN = "genre"
"""What the bundled examples call their kind."""
FILE_HINT = (
    "A table with the task's texts, a label, and a column that names the kind of each row, such as "
    "its genre. The model is trained on each kind and tested on all."
)
PLAIN: Mapping[str, str] = {
    "numerical": "Numbers",
    "dative": "Give and receive",
    FILE: "From your own file",
}
"""Skills that have a plainer title than their templates."""


def skill_title(name: str) -> str:
    """Return what a skill is called."""
    return PLAIN.get(name) or grammar(name).title


def skills(task: Task) -> tuple[str, ...]:
    """Return the skills of a task, the first for a newcomer; the templates are inference's."""
    of_templates = sorted(phenomena(), key=lambda name: name != "numerical")
    return (*of_templates, FILE) if task is NLI else (FILE,)


def skill_choices(task: Task) -> list[tuple[str, str]]:
    """Return (title, name) of the skills of a task."""
    return [(skill_title(name), name) for name in skills(task)]


def varied(skill: str) -> tuple[str, ...]:
    """Return what may vary in a skill, nothing where a file's column says it."""
    return () if skill == FILE else grids(skill)


def fitting_vary(skill: str, vary: str | None) -> str:
    """Return what varies if the skill has it, else the first that it has, "" of a file."""
    there = varied(skill)
    return vary if vary in there else next(iter(there), "")


@lru_cache(maxsize=16)
def kinds_shown(skill: str, vary: str) -> Markup:
    """Show an example of the first kind of a skill, and one of each other kind folded away."""
    texts = Markup("{}").format
    first, *others = [
        Markup('<li><b class="tiny">{}</b> {} <span class="nowrap">{}</span></li>').format(
            condition.title,
            join(map(texts, NLI.texts(example).values()), BETWEEN),
            label_name(example.gold or ""),
        )
        for condition in conditions(skill, vary)
        for example in generate(Request(skill, **condition.test), 1, SEED)
    ]
    listed = Markup('<ul class="samples">{}</ul>')
    more = twin(COUNTS[len(others)], listed.format(join(others)))
    return listed.format(first) + more + note(GRIDS[vary].summary)


def file_shown(path: str | None, column: str | None, task: Task) -> Markup:
    """Say what a file has to hold, or which kinds it holds and how many rows of each.

    Raises FileError, LabelError or LimitError.
    """
    if not path:
        return note(FILE_HINT) + _such_a_table(task)
    rows = read_conditions(
        Path(path), named_column(path, column), task, Asked(bounds=visitor_bounds())
    )
    counts = ", ".join(f"{name} {len(examples):,}" for name, examples in rows.items())
    return note(f"{len(rows)} kinds of rows: {counts}.")


@lru_cache(maxsize=8)
def _such_a_table(task: Task) -> Markup:
    """Show a few of the bundled examples as rows of such a table, each of another kind."""
    rows = read_table(bundled_file(task)).frame.drop_duplicates(KIND_COLUMN).head(3)
    shown = sheet(rows[[KIND_COLUMN, "label", *task.fields]], "an example of such a table")
    return twin("such as this", shown)


def named_column(path: str, column: str | None) -> str:
    """Return the column that names the kinds. Raises FileError where none is chosen."""
    if not column:
        raise FileError(
            f"say which column of {Path(path).name} names the kind of each row; it must have 2 to "
            f"{MAX_CONDITIONS} different values"
        )
    return column


def kind_columns(path: str, task: Task) -> list[str]:
    """Return the columns of a file that may name kinds, the likeliest first.

    It is no text and no label, and has neither one value nor too many. Raises FileError or
    LimitError.
    """
    frame = read_table(Path(path), visitor_bounds()).frame
    names = [str(name) for name in frame.columns]
    columns = guess(names, task)
    taken = {*columns.texts.values(), columns.gold}
    likely = [name for name in names if name not in taken and _names_kinds(frame[name])]
    return sorted(likely, key=lambda name: name.strip().lower() != USUAL_COLUMN)


def _names_kinds(cells: Iterable[object]) -> bool:
    values = {str(cell).strip() for cell in cells if not is_missing(cell)} - {""}
    return 2 <= len(values) <= MAX_CONDITIONS


def build(page: Page) -> Fields:
    """Lay out the skill, what varies in it, and a file in its place."""
    first = skills(NLI)[0]
    skill = gr.Radio(
        skill_choices(NLI), value=first, label="Skill", elem_id="train-skill", elem_classes="lines"
    )
    file = gr.File(
        label="Your table", type="filepath", height=150, visible=False, elem_id="train-file"
    )
    hub = hub_dataset.build(page, [file], "train-file", shown=False)
    column = gr.Dropdown(
        [], label="Column that names the kind of each row", visible=False, elem_id="train-column",
        **CHANGING,
    )  # fmt: skip
    vary = gr.Radio(
        [(grid.title, name) for name, grid in GRIDS.items()],
        value=fitting_vary(first, ""), label="Vary", elem_id="train-vary", elem_classes="seg",
    )  # fmt: skip
    return {"skill": skill, "file": file, "hub": hub, "column": column, "vary": vary}


def offered(task: Task) -> Changes:
    """Return the skills of a task; the other fields follow the skill."""
    return {"skill": {"choices": skill_choices(task), "value": skills(task)[0]}}


def follow(values: Named, task: Task, owner: str) -> Changes:
    """Show what belongs to the chosen skill: what varies, or a file and its column."""
    skill, own = values["skill"], values["skill"] == FILE
    choices = [(GRIDS[name].title, name) for name in varied(skill)]
    vary = {"choices": choices, "value": fitting_vary(skill, values["vary"]), "visible": True}
    shown: Changes = {
        "file": {"visible": own},
        "hub": {"visible": own and is_open()},
        "column": {"visible": False},
        "vary": {"visible": False} if own else vary,
    }
    if own and values["file"]:
        names = kind_columns(str(own_file(owner, values["file"])), task)
        shown["column"] = {
            "choices": names,
            "value": _column(values, names),
            "visible": True,
        }
    return shown


def _column(values: Named, names: Sequence[str]) -> str | None:
    return values["column"] if values["column"] in names else next(iter(names), None)


def about(values: Named, task: Task, owner: str) -> Markup:
    """Show the kinds of examples of the chosen skill, or of a file. Raises UserError."""
    if values["skill"] != FILE:
        return kinds_shown(values["skill"], fitting_vary(values["skill"], values["vary"]))
    path = str(own_file(owner, values["file"])) if values["file"] else None
    names = kind_columns(path, task) if path else []
    return file_shown(path, _column(values, names), task)


def choices(values: Named) -> list[Choices]:
    """Return what is chosen, a run for each model. Raises UserError."""
    read = read_values(KIND, values)
    asked, file = Asked(bounds=visitor_bounds()), values["file"]
    if values["skill"] != FILE:
        read |= {"phenomenon": values["skill"], "vary": values["vary"] or ""}
        files = UserFiles(asked=asked)
    elif not file:
        raise ExperimentError(
            "choose a file of your own: a table with the task's texts, a label, and a column that "
            "names the kind of each row"
        )
    else:
        read["condition"] = named_column(file, values["column"])
        files = UserFiles(challenge=Path(file), asked=asked)
    return [choices_of(KIND, model, files, **read) for model in dict.fromkeys(values["models"])]


def needs(values: Named) -> str:
    """Say what is lacking before it can be told how long a run takes."""
    if values["skill"] != FILE or values["file"]:
        return ""
    return "Once there is a file, it stands here how long the run takes."


def named(run: StoredRun) -> str:
    """Say what a run is of: model, skill and what varies."""
    vary, skill = run.plan["vary"], run.plan["phenomenon"]
    if vary == FILE:
        return called(run, f"{skill} (own file)")
    return called(run, f"{skill_title(skill)} by {GRIDS[vary].title.lower()}")


def badge(run: StoredRun) -> tuple[str, str]:
    """Return what a judged run came to."""
    return badge_of(run.verdict, run.plan["thresholds"]["loss"])


def rank(run: StoredRun) -> int:
    """Return the place of a run's skill among those offered, behind them where it is a file's."""
    names = skills(NLI)
    return names.index(run.plan["phenomenon"]) if run.plan["phenomenon"] in names else len(names)


def show(gallery: Path, runs: Sequence[StoredRun], looked: Looked) -> Markup:
    """Show what runs came to, one under the other; one may be judged by a rule that was typed."""
    public, shown = gallery_runs(gallery), list[Markup]()
    judged, _, points = looked.rule.partition(":")
    for run in map(generalisation_run, runs):
        beside = same_phenomenon(run.plan, public)
        anew, trouble = None, Markup("")
        if run.id == judged and run.verdict:
            try:
                anew = judged_anew(run, loss_in(points))
            except UserError as problem:
                trouble = alert(problem)
        shown.append(trouble + results(run, beside, anew))
    return join(shown)


def aim_of(page: Page) -> Aim:
    """Return the aim; inoculations of the gallery stand beside its runs."""
    view = RunView(
        name="generalise", title="Generalise", kinds=(KIND,), named=named, badge=badge, rank=rank,
        results=lambda runs, looked: show(page.core.gallery, runs, looked),
        files=lambda runs, folder, looked: write_files(runs, folder),
        together=lambda runs: named(runs[0]),
        empty=(
            "No finished run here yet",
            "A model that learnt a skill does every kind of example; one that learnt the set does "
            "only what it saw. Choose a skill, or give a table of your own, and press Start.",
        ),
    )  # fmt: skip
    return Aim(
        question="Did it learn the skill, or the set?",
        view=view, build=build, about=about, choices=choices, offered=offered,
        kind=lambda values: KIND, follow=follow, needs=needs,
    )  # fmt: skip
