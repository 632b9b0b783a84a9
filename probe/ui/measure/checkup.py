"""Check-up: its form, what it came to, an older report beside it, and HANS alone."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from typing import Any, get_type_hints

import gradio as gr
from markupsafe import Markup

from probe import limits
from probe.checkup import experiment, measuring
from probe.checkup.page import write_report
from probe.checkup.report import against, read_report, report_of
from probe.data.file_options import option_words
from probe.data.hub_dataset import source_name
from probe.data.rows import read_rows
from probe.errors import CheckupError, FileError, UserError
from probe.models.bundled import title_of
from probe.models.library import require_parts
from probe.runs.access import ModelAccess, chosen_runs, new_owner, start_runs
from probe.runs.engine import Engine
from probe.runs.experiment import run_title
from probe.runs.run import StoredRun
from probe.runs.store import Store
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import task_named
from probe.terms import capitalised, sentence
from probe.text.duration import duration_words
from probe.transforms import REGISTRY
from probe.ui.api.endpoint import (
    REQUIRED,
    Name,
    NamesByName,
    OptionalUpload,
    Seed,
    Stated,
    Token,
    Whole,
    endpoint_of,
    over_http,
)
from probe.ui.events import QUIET
from probe.ui.html.checkup import changed, results
from probe.ui.html.elements import NOTHING, alert, hint, note
from probe.ui.measure import hans
from probe.ui.measure.choice import BUNDLED, Asked, Choice
from probe.ui.measure.texts import columns_of, options_of
from probe.ui.page import Page
from probe.ui.panels.options import control, tasks_with
from probe.ui.run_tab.shown import RunView, looking_at
from probe.ui.run_tab.tab import MEASURING, RunArea, Updates, Values
from probe.ui.visitors.visitor_files import own_file, read_upload

CHOSEN = ("seed", "long", "precision")
"""What of a check-up is asked beside the texts, for every view."""
FORM = tuple(name for name in measuring.ASKED if name not in CHOSEN)
HINT = (
    "Everything that the papers would ask of one model, in one report: each change of the texts, "
    "how sure it is, kinds of texts, for inference HANS, beside the other models, and what to try "
    "next."
)
HEAD = Markup('<h2 class="title">Everything, in one report</h2>')
EMPTY = (
    "No check-up here yet",
    "Choose a model and press Check up. Its report stands here, part by part.",
)
Planned = tuple[measuring.Plan, Sequence[Any]]  # Any: the task's own examples
"""A plan, and the examples that it is made on."""


def plan_of(
    models: ModelAccess, visitor: str, model: str, asked: measuring.Asked,
    file: str | Path | None = None, meanings: str = "", columns: Sequence[str | None] = (),
) -> Planned:  # fmt: skip
    """Return the plan of a check-up, of no more than a visitor may ask, and its examples.

    Without a file these are the app's. `columns` are as those of `LabelledFile`, guessed where
    there are none; `meanings` says as JSON what values of the labels mean. Raises a sentence for
    the person.
    """
    task, (address, order, template) = models.for_run(visitor, model)
    for name in measuring.NUMBERS:
        if (number := getattr(asked, name)) > (most := measuring.ASKED[name].high):
            raise CheckupError(
                f"{name} is {number:,}, of which the page takes up to {most:,}; "
                "the command line takes more"
            )
    name, words = "", tuple[str, ...]()
    examples: Sequence[Any] = bundled_examples(task, "test")
    if file:
        said = options_of(columns or (None, None), task, meanings)
        table = read_upload(visitor, str(file), said)
        rows = read_rows(table, columns_of(table, table.path, task, said), task)
        examples = measuring.with_gold([row.example for row in rows], task)
        name, words = source_name(Path(file)), option_words(said.said)
    plan = measuring.new_plan(model, task, asked, order or (), name, words)
    require_parts(task, asked.long)
    limits.check("max_cells", len(plan.parts))
    return replace(plan, address=address if address != model else "", template=template), examples


def plans_of(
    models: ModelAccess, *values: Any
) -> list[Planned]:  # Any: of the choice, then of FORM
    """Return the plan of each model that is chosen. Raises a sentence for the person."""
    choice = Asked.read(*values[: -len(FORM)])
    form = dict(zip(FORM, values[-len(FORM) :], strict=True))
    if lacking := [name for name, value in form.items() if value is None]:
        words = measuring.ASKED[lacking[0]].words
        raise CheckupError(f"{lacking[0]} must be a whole number: {words}")
    if not choice.models:
        raise CheckupError("choose a model above first")
    asked = measuring.Asked(
        **form | {name: getattr(choice, name) for name in CHOSEN}  # as they are named there
    )
    file = None if choice.source == BUNDLED else choice.file
    said = (file, choice.meanings, choice.columns)
    return [plan_of(models, choice.visitor, model, asked, *said) for model in choice.models]


def forecast(models: ModelAccess, *values: Any) -> Markup:
    """Say what is examined and about how long it takes, or what has to be chosen first."""
    try:
        plans = plans_of(models, *values)
        wait = duration_words(sum(starmap(measuring.estimate_seconds, plans)))
    except (CheckupError, FileError) as lacking:
        return note(f"{capitalised(str(lacking))}.")
    except UserError as trouble:
        return alert(trouble)
    plan, examples = plans[0]
    few, ways = min(plan.asked.n, len(examples)), sum(part in REGISTRY for part in plan.parts)
    where = plan.file or "the app's examples"
    changed = f"of which {few:,} are changed" if few < len(examples) else "all of them changed"
    titles = " and ".join(title_of(each.model) for each, _ in plans)
    return note(
        f"{titles} on {where}: {len(examples):,}, {changed} in each of {ways} ways. "
        f"{capitalised(wait)} on one core. You may close the page."
    )


def view_of() -> RunView:
    """Return how check-ups are listed and shown."""
    return RunView(
        name="checkup", title="Check-up", kinds=(experiment.KIND,), named=run_title,
        badge=lambda run: ("plain", "finished"),
        results=lambda runs, looked: results(runs), empty=EMPTY,
        files=lambda runs, folder, looked: write_files(runs, folder),
    )  # fmt: skip


def build(page: Page) -> None:
    """Put the view together."""
    choice: Choice = page.shared
    models, store = page.core.models, page.core.store
    gr.HTML(hint(HINT), padding=False)
    with gr.Row(elem_id="checkup", elem_classes="runs-tab"):
        with gr.Column(elem_id="checkup-new", elem_classes=["card", "new-run"], min_width=240):
            gr.HTML(HEAD, padding=False)
            form = build_form()
            estimate = gr.HTML(MEASURING, elem_id="checkup-estimate", padding=False)
            start = gr.Button(
                "Check up", variant="primary", elem_id="checkup-start", interactive=False
            )
        with gr.Column(elem_id="checkup-shown", min_width=240):
            area = RunArea(page, [view_of()], "checkup", "measure")
            with gr.Row(elem_classes="tools"):
                older = gr.UploadButton(
                    "Compare with an older report.json", file_types=[".json"], type="filepath",
                    size="sm", scale=0, elem_id="checkup-older",
                )  # fmt: skip
            changes = gr.HTML(elem_id="checkup-changes", padding=False)
    build_api(models, page.core.engine)
    with gr.Column() as inference_only:
        hans.build(page, choice.models)
    page.on_open(lambda task: gr.Column(visible=task == NLI.name), page.task, inference_only)
    fields = [*choice.inputs, *form]

    def opened(values: Values, request: gr.Request) -> Updates:
        task, query = task_named(values[page.task]), dict(request.query_params)
        if query.get("view") != "checkup":
            query = {}
        named = (query.get("models") or "").split(",")
        looked, problem = area.linked(values[page.owner], task, query, "checkup", named)
        return {**area.draw(looked), area.problem: problem}

    def begin(values: Values) -> Updates:
        try:
            plans = plans_of(models, *(values[part] for part in fields))
            asked = list(starmap(experiment.run_request, plans))
            begun = area.runs.start(values[page.owner], asked, keeps_models=False)
        except UserError as trouble:
            return {area.problem: alert(trouble)}
        looked = looking_at(area.looked(values), *(run.id for run in begun))
        return {area.problem: NOTHING} | area.draw(looked)

    def show_changes(values: Values) -> Markup:
        looked = area.looked(values)
        return since(store, looked.owner, looked.runs, values[older])

    drawn = page.on_open(opened, area.asked, area.shown, **area.turn)
    mark = page.mark_of(*choice.changed, *(each.change for each in form), after=[drawn])
    mark.change(lambda *values: forecast(models, *values), fields, estimate, **QUIET)
    start.click(begin, {*fields, *area.asked}, area.shown, **area.turn)
    choice.allow(start)
    told = page.mark_of(older.upload, area.list.select)
    told.change(show_changes, {*area.asked, older}, changes, **QUIET)


def build_form() -> list[Any]:
    """Lay out what is asked of a check-up alone; the first stands in sight. In the order of FORM.

    What does not suit the task that is chosen is out of sight.
    """
    suited = {"n": [], "per_subcase": ["of-tasks", f"of-{NLI.name}"]}

    def laid_out(name: str) -> Any:
        facts, begins = measuring.ASKED[name], getattr(measuring.Asked, name)
        classes = suited[name] if name in suited else tasks_with([name])
        return control(name, facts, begins, classes, elem_id=f"checkup-{name}")

    first, *others = FORM
    shown = laid_out(first)
    with gr.Accordion("Settings: word salad, HANS", open=False, elem_classes="fold"):
        return [shown, *map(laid_out, others)]


def since(store: Store, owner: str, ids: Sequence[str], path: str | None) -> Markup:
    """Say what changed since an older report, or why that cannot be said; nothing without one."""
    if not path:
        return NOTHING
    try:
        older = read_report(own_file(owner, path))
        runs = [run for run in chosen_runs(store, owner, ids) if run.kind == experiment.KIND]
        if not runs:
            raise CheckupError("choose a check-up above first: the older report is set beside it")
        return changed(older, against(older, report_of(runs[0])))
    except UserError as trouble:
        return alert(trouble)


def write_files(runs: Sequence[StoredRun], folder: Path) -> list[Path]:
    """Write the report of each check-up, as page and as JSON. Raises FileError."""
    return [
        path
        for run in runs
        for path in write_report(report_of(run), folder if len(runs) == 1 else folder / run.id)
    ]


def _field(argument: Stated) -> Any:
    """Return the component in which an argument travels beside a file."""
    begins = "" if argument.default is REQUIRED else argument.default
    if argument.type is OptionalUpload:
        return gr.File(type="filepath", label=argument.name)
    if isinstance(begins, int):
        return gr.Number(begins, label=argument.name, precision=0)
    value = begins if isinstance(begins, str) else json.dumps(begins)
    return gr.Textbox(value, label=argument.name)


@over_http()
def build_api(models: ModelAccess, engine: Engine) -> None:
    """Add `/checkup`; `/run`, `/cancel` and `/again` take its runs."""
    about = """Start a check-up of a model; returns its id and owner's token.

Without the token nobody reads the run. What `/run` returns at its end holds the findings."""

    def checkup(values: dict[str, Any]) -> dict[str, Any]:  # Any: as their types have them
        asked = measuring.Asked(**{name: values[name] for name in measuring.ASKED})
        visitor, said = values["owner"] or new_owner(), json.dumps(values["label_values"])
        planned = plan_of(models, visitor, values["model"], asked, values["file"], said)
        request = experiment.run_request(*planned)
        (run,) = start_runs(models.store, engine, visitor, [request])
        return {"run": run.id, "owner": visitor}

    types = {
        **get_type_hints(measuring.Asked),
        **dict.fromkeys(measuring.NUMBERS, Whole),
        "seed": Seed,
    }
    asked = [
        Stated(
            name,
            types[name],
            sentence(": ".join(filter(None, (facts.words, ", ".join(facts.values))))),
            getattr(measuring.Asked, name),
        )
        for name, facts in measuring.ASKED.items()
    ]
    file = "A labelled table of the model's task, in place of the app's examples."
    meant = "Labels by the value of the file that means them, as a JSON object."
    token = "A token that an earlier call returned; a new one is made without."
    arguments = [
        Stated("model", Name, "A model of any task that the page offers."),
        *asked[:3],
        Stated("owner", Token, token, ""),
        Stated("file", OptionalUpload, file, None),
        Stated("label_values", NamesByName, meant, {}),
        *asked[3:],  # at the end, where those of earlier versions are
    ]
    with gr.Row(visible=False):  # a file needs components of its own to travel in
        fields = list(map(_field, arguments))
        answered = gr.JSON(label="run")
        call = gr.Button()
    call.click(endpoint_of(checkup, about, arguments), fields, answered, api_name="checkup")
