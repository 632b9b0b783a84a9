"""The Inoculate tab: plan a run, watch its cells, read what it means."""

import secrets
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from finetune.engine import Engine
from finetune.plan import Plan, check, numbers
from finetune.plots import curve, curve_frame
from finetune.record import environment
from finetune.runs import OPEN, Run, Store, run_json
from finetune.sets import InoculationError, Sets, bundled_sets, challenged, challenges, read_pairs
from finetune.ui.estimate import estimate
from finetune.ui.run_view import NO_RUN, outcome, progress, samples
from probe.files import FileError
from probe.labels import LabelError
from probe.models.catalogue import ModelError, home, require
from probe.pairs import bundled_pairs
from probe.ui.choices import alert, model_names

SIZES, LRS = "10, 50, 100, 400", "2e-5"
OPEN_RUNS = 5  # of one browser at a time
TICK = 1.0
PROBLEMS = (InoculationError, FileError, LabelError, ModelError)


def plan_of(model: str, challenge: str, sizes: str, lrs: str, seeds: str) -> Plan:
    """Read a plan from the page's fields. Raises InoculationError, ModelError."""
    require(model)
    return Plan(
        model,
        challenge,
        numbers("Sizes", sizes, int),
        numbers("Learning rates", lrs, float),
        numbers("Seeds", seeds, int),
    )


def sets_of(
    challenge: str, dev: str | None, test: str | None, learn: str | None, hard: str | None
) -> Sets:
    """Return bundled sets with the uploads in their places. Raises a sentence for the person."""
    if (learn is None) != (hard is None):
        raise InoculationError(
            "upload both challenge files, to train on and to test on, or neither"
        )
    original_test = read_pairs(Path(test)) if test else bundled_pairs("test")
    return Sets(
        read_pairs(Path(dev)) if dev else bundled_pairs("dev"),
        original_test,
        read_pairs(Path(learn)) if learn else challenged(challenge, bundled_pairs("pool")),
        read_pairs(Path(hard)) if hard else challenged(challenge, original_test),
    )


def forecast(model: str, challenge: str, sizes: str, lrs: str, seeds: str) -> str:
    """Say about how long a run on the bundled pairs takes, or what is wrong with the plan."""
    try:
        plan = plan_of(model, challenge, sizes, lrs, seeds)
        sets = bundled_sets(challenge)
        check(plan, sets)
    except PROBLEMS as trouble:
        return alert(trouble)
    return f'<p class="fine">About {estimate(plan, sets)} on one core of a machine like ours.</p>'


def start(
    store: Store,
    engine: Engine,
    owner: str,
    model: str,
    challenge: str,
    sizes: str,
    lrs: str,
    seeds: str,
    dev: str | None,
    test: str | None,
    learn: str | None,
    hard: str | None,
) -> Run:
    """Store a run and hand it to the engine. Raises a sentence for the person."""
    mine = [run for run in store.runs(owner) if run.state in OPEN]
    if len(mine) >= OPEN_RUNS:
        raise InoculationError(f"{OPEN_RUNS} of your runs are still going; wait or cancel one")
    plan, sets = (
        plan_of(model, challenge, sizes, lrs, seeds),
        sets_of(challenge, dev, test, learn, hard),
    )
    check(plan, sets)
    run = store.create(owner, plan, sets, environment())
    engine.submit(run.id)
    return run


def run_choices(store: Store, owner: str) -> list[tuple[str, str]]:
    """Return the owner's runs as (words, id), newest first."""
    return [
        (f"{run.plan.challenge} · {run.plan.model} · {run.state} · {run.id}", run.id)
        for run in store.runs(owner)
    ]


def show(store: Store, owner: str, run_id: str | None, seen: str) -> list[Any]:
    """Return progress, curve, outcome, the mark of what is shown, and whether to go on asking.

    `seen` is the mark of the last answer: what has not changed is not sent again.
    """
    run = next((run for run in store.runs(owner) if run.id == run_id), None)
    if run is None:
        return [
            NO_RUN,
            gr.Plot(visible=False),
            "",
            "",
            gr.Timer(active=False),
            gr.Button(visible=False),
        ]
    mark = f"{run.id} {len(run.points)} {run.state} {bool(run.verdict)}"
    going = run.state in OPEN
    fresh = mark != seen
    return [
        progress(run),
        gr.Plot(curve(curve_frame(run.points), run.plan.sizes), visible=bool(run.points))
        if fresh
        else gr.skip(),
        outcome(run) if fresh else gr.skip(),
        mark,
        gr.Timer(active=going),
        gr.Button(visible=going and not run.cancelling),
    ]


def browser_secret() -> str:
    """Return the key that seals a browser's token, the same after a restart."""
    path = home() / "browser-secret"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(secrets.token_hex(32), encoding="utf-8")
        path.chmod(0o600)
    return path.read_text(encoding="utf-8")


def browser_token() -> gr.BrowserState:
    """Return the token by which a browser finds its runs again.

    It belongs outside the tabs: gradio mounts a tab's parts only when the tab is opened, and
    until then the token would read as none.
    """
    return gr.BrowserState("", storage_key="nli-clinic-owner", secret=browser_secret())


def build(store: Store, engine: Engine, blocks: gr.Blocks, owner: gr.BrowserState) -> gr.Dropdown:
    """Put the tab together and return its list of models."""

    def open_page(owner: str | None) -> list[Any]:
        """Find the browser's runs again, the newest first."""
        owner = owner or secrets.token_hex(16)
        mine = run_choices(store, owner)
        run_id = mine[0][1] if mine else None
        return [
            owner,
            gr.Dropdown(mine, value=run_id, visible=bool(mine)),
            *show(store, owner, run_id, ""),
        ]

    def begin(owner: str, *fields: Any) -> list[Any]:
        try:
            run = start(store, engine, owner, *fields)
        except PROBLEMS as trouble:
            return [alert(trouble), gr.skip(), *[gr.skip()] * 6]
        choices = gr.Dropdown(run_choices(store, owner), value=run.id, visible=True)
        return ["", choices, *show(store, owner, run.id, "")]

    def stop_run(owner: str, run_id: str) -> list[Any]:
        if any(run.id == run_id for run in store.runs(owner)):
            engine.cancel(run_id)
        return show(store, owner, run_id, "")

    def tick(owner: str, run_id: str, seen: str) -> list[Any]:
        shown = show(store, owner, run_id, seen)
        changed = shown[3] != seen
        return [*shown, gr.Dropdown(run_choices(store, owner)) if changed else gr.skip()]

    seen = gr.State("")
    timer = gr.Timer(TICK, active=False)
    with gr.Row():
        with gr.Column(scale=4, min_width=300):
            model = gr.Dropdown(
                model_names(), label="Patient (model)", allow_custom_value=True, elem_id="patient"
            )
            challenge = gr.Dropdown(
                list(challenges()),
                value="word_overlap",
                label="Pathogen (challenge)",
                elem_id="pathogen",
            )
            shown_samples = gr.HTML(elem_id="samples")
            with gr.Row():
                sizes = gr.Textbox(SIZES, label="Sizes (vaccine)", min_width=140, elem_id="sizes")
                lrs = gr.Textbox(LRS, label="Learning rates", min_width=100, elem_id="lrs")
                seeds = gr.Textbox("0", label="Seeds", min_width=70, elem_id="seeds")
            with gr.Accordion("Your own data instead of the bundled pairs", open=False):
                files = [
                    gr.File(label=words, type="filepath", height=110)
                    for words in (
                        "Original dev (early stopping)",
                        "Original test",
                        "Challenge to train on",
                        "Challenge to test on",
                    )
                ]
            about = gr.HTML(elem_id="estimate")
            go = gr.Button("Inoculate", variant="primary", elem_id="inoculate")
            wrong = gr.HTML(elem_id="inoculate-problem")
        with gr.Column(scale=7, min_width=300):
            runs = gr.Dropdown([], label="Your runs", visible=False, elem_id="runs")
            plot = gr.Plot(visible=False, show_label=False, elem_id="curve")
            state = gr.HTML(NO_RUN, elem_id="run-state")
            halt = gr.Button("Cancel this run", visible=False, size="sm", elem_id="cancel")
            result = gr.HTML(elem_id="outcome")

    fields = [model, challenge, sizes, lrs, seeds]
    shown = [state, plot, result, seen, timer, halt]
    quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    blocks.load(open_page, owner, [owner, runs, *shown], **quiet)
    blocks.load(samples, challenge, shown_samples, **quiet).then(forecast, fields, about, **quiet)
    challenge.input(samples, challenge, shown_samples, **quiet)
    changed = [model.input, challenge.input, sizes.change, lrs.change, seeds.change]
    gr.on(changed, forecast, fields, about, trigger_mode="always_last", **quiet)
    go.click(begin, [owner, *fields, *files], [wrong, runs, *shown], **quiet)
    halt.click(stop_run, [owner, runs], shown, **quiet)
    runs.input(partial(show, store), [owner, runs, gr.State("")], shown, **quiet)
    timer.tick(tick, [owner, runs, seen], [*shown, runs], concurrency_id="poll", **quiet)

    def inoculate(
        model: str, challenge: str, sizes: str = SIZES, lrs: str = LRS, seeds: str = "0"
    ) -> dict[str, Any]:
        """Start a run on the bundled pairs; returns its id, which `run` and `cancel` ask for."""
        try:
            run = start(store, engine, "api", model, challenge, sizes, lrs, seeds, *[None] * 4)
        except PROBLEMS as trouble:
            raise gr.Error(str(trouble)) from trouble
        return {"run": run.id}

    def run(run_id: str) -> dict[str, Any]:
        """Return a run: its state, its cells with their accuracies, its verdict."""
        try:
            return run_json(store.get(run_id))
        except InoculationError as trouble:
            raise gr.Error(str(trouble)) from trouble

    def cancel_run(run_id: str) -> dict[str, Any]:
        """Cancel a run; returns it as it stands."""
        found = run(run_id)
        engine.cancel(run_id)
        return found

    gr.api(inoculate, api_name="inoculate")
    gr.api(run, api_name="run", concurrency_id="poll")
    gr.api(cancel_run, api_name="cancel")
    return model
