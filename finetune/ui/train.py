"""The place Train: one form whose first field is what to find out, one list of runs, one result."""

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.training.recipes import (
    CONTEXT,
    IN_WORDS,
    LORA,
    MODES,
    TRAINED,
    Mode,
    published_with_grid,
)
from finetune.trials.inoculation import KIND, LIU_LRS
from finetune.trials.params import GRID_RATES, USUAL_RATE, param_of
from finetune.ui import endpoints, generalise, inoculate, repair
from finetune.ui.aim import (
    RATES,
    Aim,
    Changes,
    Fields,
    Named,
    chosen_in,
    field_of,
    forecast,
    jobs_of,
    on_page,
    shown,
    uploads_of,
    usual_sizes,
)
from probe.errors import UserError
from probe.models.library import is_asked
from probe.models.served import is_served
from probe.runs.access import require_for_runs
from probe.runs.gallery import OWNER
from probe.runs.run import RunRequest
from probe.tasks.task import Task, task_named
from probe.ui.choices import model_choices
from probe.ui.events import CHANGING, LAST, QUIET, in_focus
from probe.ui.html.elements import NOTHING, alert, hint, note
from probe.ui.links import not_here
from probe.ui.page import Page
from probe.ui.panels import hub_dataset
from probe.ui.run_tab.shown import Looked, looking_at
from probe.ui.run_tab.tab import MEASURING, RunArea, Updates, Values
from probe.ui.visitors.visitor_files import own_file, upload_called

AIMS = (inoculate.aim_of, repair.aim_of, generalise.aim_of)
"""What can be found out, in the order of the form."""
PURPOSE = (
    "Train a model a little, and see what that tells: did it lack examples, can it be less sure of "
    "nonsense or unlearn a short cut, did it learn the skill?"
)
QUICK, PUBLISHED = "quick", "published"
HOW = [("Quick", QUICK), ("As published", PUBLISHED)]
CHANGED_BY_HOW = ("sizes", "seeds", "mode")
OF_TRAINING = ("lrs", "batch", "max_epochs", "patience", "include_epoch0", "mode")
"""What is not asked where the examples stand in a prompt."""
RATE_CHOSEN = "rate => rate"
"""What is chosen stands under Settings, too, where other rates may."""
ABOUT_SETTINGS = (
    "Several learning rates: the best on held-out examples counts. The thresholds are ours, the "
    f"papers give none. Liu et al. tried the rates {', '.join(f'{lr:g}' for lr in LIU_LRS)}. Drop, "
    "repeat, replace and copy one token ask the model which tokens matter: where a model "
    "collapses, a smaller share of these helps."
)
ABOUT_FILES = (
    "Your own data instead of the bundled examples: tables with the task's texts and a label. Of "
    "an inoculation your own challenge takes the place of the challenges above: one file, with a "
    "column split or divided at random, or one to train on and one to test on."
)
AIMED = """aim => {
  window.writeAddress({aim, run: "", opened: "", by: "", rule: ""}, true);
}"""
"""Another aim is another view: Back leads to the one before."""
BY_A_PERSON = f"""(...values) => {in_focus("train-models", "train-challenges")}
  ? values : new Promise(() => {{}})"""
STALE = """(...values) => {
  document.getElementById("train-estimate").classList.add("stale");
  return values;
}"""
FRESH = "() => document.getElementById('train-estimate').classList.remove('stale')"
UNFOLD = """element.addEventListener("click", () => {
  const form = document.getElementById("train-new"), open = form.classList.toggle("unfolded");
  element.querySelector("button").setAttribute("aria-expanded", String(open));
});"""
OPEN_FORM = Markup(
    '<div class="strip"><h2 class="title">New run</h2><span class="grow"></span>'
    '<button type="button" class="link" aria-expanded="false">Open the form</button></div>'
)


def build(page: Page) -> None:
    """Put the place together."""
    gr.HTML(hint(PURPOSE), padding=False)
    aims = {aim.view.name: aim for aim in (of(page) for of in AIMS)}
    with gr.Row(elem_id="train", elem_classes="runs-tab"):
        with gr.Column(elem_id="train-new", elem_classes=["card", "new-run"], min_width=240):
            form = Form(page, aims)
        with gr.Column(elem_id="train-shown", min_width=240):
            area = RunArea(page, [aim.view for aim in aims.values()], "train", "train")
    form.wire(area)
    kinds = [kind for aim in aims.values() for kind in aim.view.kinds]
    endpoints.build(page.core.store, page.core.engine, kinds, inoculate.facts)


class Form:
    """The fields of the form by name, and what it answers."""

    def __init__(self, page: Page, aims: dict[str, Aim]) -> None:
        """Lay out the fields: those of all aims, of which a chosen one shows its own."""
        self.page, self.aims = page, aims
        first = next(iter(aims))
        gr.HTML(OPEN_FORM, padding=False, js_on_load=UNFOLD, elem_id="train-open")
        self.aim = gr.Radio(
            self._aims(task_named(page.task.value)), value=first, label="What to find out",
            elem_id="train-aim", elem_classes="lines",
        )  # fmt: skip
        names = page.core.models.names("")
        models = gr.Dropdown(
            model_choices(names), value=names[:1], label="Models", multiselect=True,
            elem_id="train-models", **CHANGING,
        )  # fmt: skip
        self.fields: Fields = {"models": models}
        self.groups: dict[str, gr.Column] = {}
        for name, aim in aims.items():
            with gr.Column(visible=name == first, elem_classes="aim") as self.groups[name]:
                self.fields |= aim.build(page)
        self.about = gr.HTML(elem_id="train-about", padding=False)
        self.fields["sizes"] = gr.Dropdown(
            usual_sizes(KIND, task_named(page.task.value), True),
            value=usual_sizes(KIND, task_named(page.task.value), False),
            label="Show it this many examples", multiselect=True, allow_custom_value=True,
            elem_id="train-sizes",
        )  # fmt: skip
        self.how = gr.Radio(HOW, value=QUICK, label="How", elem_id="train-how", elem_classes="seg")
        self.fields["rate"] = gr.Radio(
            RATES, value=USUAL_RATE, label="Learning rates", visible=False, elem_id="train-rate",
            elem_classes="seg",
        )  # fmt: skip
        # once the page has opened, whose answer would hide the run
        self.start = gr.Button("Start", variant="primary", elem_id="train-start", interactive=False)
        # below the button, which stays under the finger that presses it
        self.estimate = gr.HTML(MEASURING, elem_id="train-estimate", padding=False)
        with gr.Accordion(
            "Settings: rates, seeds, stopping, thresholds, your own data",
            open=False, elem_id="train-settings", elem_classes="fold",
        ):  # fmt: skip
            self._settings()

    def _settings(self) -> None:
        """Lay out what is rarely changed: the parameters of every kind, each once, then files."""
        kinds = [kind for aim in self.aims.values() for kind in aim.view.kinds]
        params = {
            param.name: param for kind in reversed(kinds) for param in reversed(on_page(kind))
        }
        params = dict(reversed(params.items()))  # as of the first kind that has them
        self.kinds_of = {
            name: [kind for kind in kinds if name in {param.name for param in on_page(kind)}]
            for name in params
        }
        own = [param for param in params.values() if param.type == Path | None]
        del params["sizes"]
        with gr.Row(elem_classes="limits"):
            for param in params.values():
                if param not in own and param.name != "train":
                    self.fields[param.name] = field_of(param)
                    self.fields[param.name].visible = KIND in self.kinds_of[param.name]
        gr.HTML(note(ABOUT_SETTINGS), padding=False)
        with gr.Column() as self.files:
            gr.HTML(note(ABOUT_FILES), padding=False)
            uploads = {param.name: field_of(param) for param in own}
            for name, upload in uploads.items():
                upload.visible = KIND in self.kinds_of[name]
            self.fields |= uploads
            hub_dataset.build(self.page, list(uploads.values()), "own")
            self.fields["own_name"] = gr.Textbox("", label="Name of your challenge")
            self.fields["train"] = field_of(param_of(KIND, "train"))

    def _aims(self, task: Task) -> list[tuple[str, str]]:
        """Return the aims that suit a task, each with what it asks."""
        return [
            (f"{aim.view.title}\n{aim.question}", name)
            for name, aim in self.aims.items()
            if aim.suits(task)
        ]

    @property
    def inputs(self) -> set[Any]:
        """What a handler takes: the visitor, the task, and all fields that hold a value."""
        held = [part for part in self.fields.values() if hasattr(part, "change")]
        return {self.page.owner, self.page.task, self.aim, self.how, *held}

    def named(self, values: Values) -> tuple[Aim, dict[str, Any], Task, str]:
        """Return the aim, the fields by name, the task and the visitor."""
        named = {name: values.get(part) for name, part in self.fields.items()}
        task, owner = task_named(values[self.page.task]), values[self.page.owner]
        return self.aims[values[self.aim]], named, task, owner

    def begun(self, aim: Aim, named: Named, task: Task, how: str) -> Changes:
        """Return what the fields of the aim's kind begin with, or what the papers took."""
        kind, published = aim.kind(named), how == PUBLISHED
        values = {
            param.name: shown(param, param.on_page(published))
            for param in on_page(kind)
            if param.name in CHANGED_BY_HOW
        }
        values["sizes"] = usual_sizes(kind, task, published, named["skill"])
        if task.has_spans:
            values["mode"] = "full"
        modes = self._modes(named, kind)
        asked = CONTEXT in modes
        in_prompt = asked and not (named["mode"] == LORA and LORA in modes)
        if asked:
            usual = usual_sizes(kind, task, published, in_prompt=in_prompt)
            values |= {"mode": CONTEXT if in_prompt else LORA, "sizes": usual}
        begun: Changes = {name: {"value": value} for name, value in values.items()}
        sizes = usual_sizes(kind, task, True, named["skill"], in_prompt)
        offered = {"choices": sizes, "allow_custom_value": True}
        begun["sizes"] |= offered
        if asked:
            begun["lrs"] = {"value": USUAL_RATE}
        for name in OF_TRAINING:
            seen = kind in self.kinds_of[name] and (name == "mode" or not in_prompt)
            begun[name] = begun.get(name, {}) | {"visible": seen}
        begun["mode"] |= self._offer(modes, begun["mode"]["visible"] and not task.has_spans)
        grid = published and kind == KIND and not task.has_spans and not asked
        return begun | self._rate(named, grid)

    def _modes(self, named: Named, kind: str) -> tuple[Mode, ...]:
        """Return the modes that suit the models; at an address nothing is trained."""
        if kind != KIND or not self._asked(named):
            return TRAINED
        return (CONTEXT,) if any(map(is_served, named["models"])) else IN_WORDS

    @staticmethod
    def _offer(modes: tuple[Mode, ...], several: bool) -> dict[str, Any]:
        """Offer modes, where a kind has `several` and these are such."""
        choices = [(mode.summary, key) for key, mode in MODES.items() if key in modes]
        return {"choices": choices, "visible": several and len(modes) > 1}

    @staticmethod
    def _asked(named: Named) -> bool:
        """Whether all that is chosen are language models, which are shown the examples."""
        try:
            return bool(named["models"]) and all(map(is_asked, named["models"]))
        except UserError:
            return False  # one that is not there is told by the forecast

    def _rate(self, named: Named, grid: bool) -> Changes:
        """Return the published choice of rates: one for encoders, the grid for word models.

        Where none is offered a rate that a person typed stays.
        """
        rate = USUAL_RATE
        if grid and named["models"] and all(map(published_with_grid, named["models"])):
            rate = GRID_RATES
        changes: Changes = {"rate": {"visible": grid}}
        if grid or named["lrs"] == GRID_RATES:
            changes = {"rate": {"visible": grid, "value": rate}, "lrs": {"value": rate}}
        return changes

    def updates(self, *changes: Changes) -> Updates:
        """Return updates of fields; what is set later counts."""
        together: Changes = {}
        for each in changes:
            for name, given in each.items():
                together[name] = together.get(name, {}) | given
        return {self.fields[name]: type(self.fields[name])(**it) for name, it in together.items()}

    def follow(self, values: Values) -> Updates:
        """Show what belongs to what is chosen: examples, what varies, which methods."""
        aim, named, task, owner = self.named(values)
        try:
            about = aim.about(named, task, owner)
            return {self.about: about} | self.updates(aim.follow(named, task, owner))
        except UserError as trouble:
            return {self.about: alert(trouble)}

    def choose(self, values: Values, *offered: Changes) -> Updates:
        """Begin anew for the kind that is chosen, with what is offered; `follow` comes next."""
        aim, named, task, _ = self.named(values)
        kind = aim.kind(named)
        seen: Changes = {
            name: {"visible": kind in kinds and not (name == "mode" and task.has_spans)}
            for name, kinds in self.kinds_of.items()
        }
        seen["own_name"] = {"visible": kind == KIND}
        begun = self.begun(aim, named, task, values[self.how])
        groups: Updates = {
            group: gr.Column(visible=name == aim.view.name) for name, group in self.groups.items()
        }
        return {
            **groups,
            self.files: gr.Column(visible=bool(uploads_of(kind))),
            self.how: self._how(named, task, kind),
            **self.updates(*offered, seen, begun),
        }

    def _how(self, named: Named, task: Task, kind: str) -> gr.Radio:
        """Offer what the papers took, where they did such."""
        return gr.Radio(visible=not (task.has_spans or (kind == KIND and self._asked(named))))

    def change_how(self, values: Values) -> Updates:
        """Put what the papers took in place of what is quick, or back."""
        aim, named, task, _ = self.named(values)
        return self.updates(self.begun(aim, named, task, values[self.how]))

    def follow_models(self, values: Values) -> Updates:
        """Choose the rates that were published for other models, where they are offered.

        Where language models come or go, the form begins anew for them.
        """
        aim, named, task, _ = self.named(values)
        kind, how = aim.kind(named), values[self.how]
        modes = self._modes(named, kind)
        if kind == KIND and named["mode"] not in modes:
            begun = self.begun(aim, named, task, how)
            return {self.how: self._how(named, task, kind), **self.updates(begun)}
        if CONTEXT in modes:
            return self.updates({"mode": self._offer(modes, not task.has_spans)})
        grid = how == PUBLISHED and kind == KIND and not task.has_spans
        return self.updates(self._rate(named, True)) if grid else {self.about: gr.skip()}

    def follow_mode(self, values: Values) -> Updates:
        """Ask a language model's training what its prompt does not need, or the other way round."""
        aim, named, task, _ = self.named(values)
        if named["mode"] not in IN_WORDS:
            return {self.about: gr.skip()}
        return self.updates(self.begun(aim, named, task, values[self.how]))

    def forecast(self, values: Values) -> Markup:
        """Say about how long the runs take, or what is wrong with the form."""
        aim, named, _, owner = self.named(values)
        try:
            self._check(named, owner)
            return forecast(named, aim, self.page.core.cache.loaded)
        except UserError as trouble:
            return alert(trouble)

    def _check(self, named: Named, owner: str) -> None:
        """Refuse a model or a file that is not there for this visitor. Raises UserError."""
        for model in named["models"] or ():
            require_for_runs(self.page.core.store, owner, model)
        for name, part in self.fields.items():
            if isinstance(part, gr.File) and named[name]:
                own_file(owner, named[name])

    def requests(self, values: Values) -> list[RunRequest]:
        """Return the runs that the form asks for. Raises a sentence for the person."""
        aim, named, _, owner = self.named(values)
        self._check(named, owner)
        sweep = secrets.token_hex(6)
        return [job.request(sweep=sweep) for job in jobs_of(chosen_in(named, aim))]

    def models_of(self, visitor: str, task: str) -> Any:
        """Offer the visitor's own models, and those that came meanwhile."""
        return gr.Dropdown(model_choices(self.page.core.models.names(visitor, task_named(task))))

    def wire(self, area: RunArea) -> None:
        """Wire the form, beside the list and the result."""
        page, runs = self.page, area.runs

        def opened(values: Values, request: gr.Request) -> Updates:
            """Fill the form and show what is looked at, by what the link says."""
            task, owner = task_named(values[page.task]), values[page.owner]
            query = dict(request.query_params)
            aims = self._aims(task)
            named = [name for _, name in aims]
            name = query.get("aim", "")
            aim = self.aims[name if name in named else named[0]]
            known, asked = page.core.models.names(owner, task), query.get("model", "")
            models = [asked] if asked in known else known[:1]
            offered: Changes = {"models": {"choices": model_choices(known), "value": models}}
            for each in self.aims.values():
                offered |= each.offered(task)
            challenge, missing = query.get("challenge", ""), NOTHING
            if challenge:
                offered["challenges"]["value"] = [challenge]
            if query.get("own"):
                try:
                    own = str(upload_called(owner, query["own"]))
                    offered["challenge_file"] = {"value": own}
                    offered["challenges"]["value"] = []
                except UserError as trouble:
                    missing = alert(trouble)
            looked, problem = area.linked(owner, task, query, aim.view.name, models)
            if asked not in ("", *models):
                problem += alert(not_here("model", asked, f"{models[0]} is chosen instead"))
            if name not in ("", *named):
                problem += alert(not_here("aim", name, f"{aim.view.title} is chosen instead"))
            held = {self.fields[key]: given["value"] for key, given in offered.items()}
            looked = _opening(looked, challenge)
            chosen = self.choose({**values, self.aim: aim.view.name, **held}, offered)
            if "challenge_file" in offered and not any(map(is_asked, models)):
                # such a set may hold fewer than the usual sizes
                sizes = [each for each in usual_sizes(KIND, task, True) if each != "all"]
                chosen[self.fields["sizes"]] = gr.Dropdown(choices=[*sizes, "all"], value=["all"])
            return {
                **chosen,
                self.aim: gr.Radio(aims, value=aim.view.name),
                self.start: gr.Button(interactive=True),
                **area.draw(looked),
                area.problem: problem + missing,
            }

        def usual(values: Values) -> Looked:
            models = values[self.fields["models"]] or ()
            looked = runs.usual(area.looked(values), values[self.aim], models)
            challenge = next(iter(values[self.fields["challenges"]] or ()), "")
            return _opening(looking_at(looked, *looked.runs, asked=False), challenge)

        def aimed(values: Values) -> Updates:
            """Show another aim: its fields, and what it begins to look at."""
            return self.choose(values) | area.draw(usual(values))

        def follow_plan(values: Values) -> Updates:
            """Look at the gallery's runs of what is planned, unless at own ones."""
            looked, planned = area.looked(values), usual(values)
            own = any(not run.startswith(f"{OWNER}-") for run in looked.runs)
            same = (set(planned.runs), planned.opened) == (set(looked.runs), looked.opened)
            return {area.problem: gr.skip()} if own or same else area.draw(planned)

        def start(values: Values) -> Updates:
            """Start what the form asks for and look at it; what is wrong stands by the button.

            There it goes once the form changes.
            """
            try:
                begun = runs.start(values[page.owner], self.requests(values))
            except UserError as trouble:
                return {self.estimate: alert(trouble)}
            looked = looking_at(area.looked(values), *(run.id for run in begun))
            return {area.problem: NOTHING} | area.draw(looked)

        fields, asked = self.fields, self.inputs | area.asked
        filled = [
            *fields.values(), *self.groups.values(), self.aim, self.how, self.about, self.files,
            self.start, *area.shown,
        ]  # fmt: skip
        followed = [self.about, *fields.values()]

        def begin(event: gr.events.Dependency) -> gr.events.Dependency:
            """Let what belongs to the chosen aim or method follow."""
            told: gr.events.Dependency = event.then(self.follow, self.inputs, followed, **QUIET)
            return told

        began = begin(page.on_open(opened, asked, filled, **area.turn))
        self.aim.input(None, self.aim, None, js=AIMED, **QUIET)
        begin(self.aim.input(aimed, asked, filled, **LAST, **area.turn))
        begin(fields["method"].input(self.choose, self.inputs, filled, **LAST, **area.turn))
        self.how.input(self.change_how, self.inputs, list(fields.values()), **LAST, **QUIET)
        fields["rate"].input(None, fields["rate"], fields["lrs"], js=RATE_CHOSEN, **QUIET)
        rated = [self.about, self.how, *fields.values()]
        fields["models"].change(self.follow_models, self.inputs, rated, **LAST, **QUIET)
        fields["mode"].input(self.follow_mode, self.inputs, followed, **LAST, **QUIET)
        told = [fields[name].input for name in ("challenges", "skill", "vary", "column")]
        told += [fields["challenges"].change, fields["file"].change]
        page.mark_of(*told).change(self.follow, self.inputs, followed, **QUIET)
        planned = [fields["models"], fields["challenges"]]
        # what is typed into a list is told as a change alone, as is what a link sets there
        chosen = page.mark_of(*(part.change for part in planned))
        chosen.change(follow_plan, asked, area.shown, js=BY_A_PERSON, **area.turn)
        page.on_return(self.models_of, [page.owner, page.task], fields["models"], **QUIET)
        changes = [part.change for part in fields.values() if hasattr(part, "change")]
        measured = page.mark_of(*changes, after=[began])
        measured_anew = measured.change(
            self.forecast, self.inputs, self.estimate, js=STALE, **QUIET
        )
        measured_anew.then(None, js=FRESH, **QUIET)
        self.start.click(start, asked, [self.estimate, *area.shown], **area.turn)


def _opening(looked: Looked, challenge: str) -> Looked:
    """Open the gallery's run on a challenge, where it is among those looked at."""
    named = [run for run in looked.runs if challenge and run.endswith(f"-{challenge}")]
    return replace(looked, opened=named[0]) if named else looked
