"""The Probe tab: one pair, live."""

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, get_args

import gradio as gr

from probe.analysis.attribution import METHODS, BaselineToken, Method
from probe.analysis.transformed import examine
from probe.errors import UserError
from probe.models.cache import ModelCache
from probe.reports.json import examination_json
from probe.tasks.examples import random_pair
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.task import Label
from probe.transforms import REGISTRY
from probe.transforms.availability import missing, ready
from probe.transforms.options import read_options
from probe.ui import models_panel, option_controls
from probe.ui.html import elements
from probe.ui.html.probe import answer, rows, table
from probe.ui.option_controls import FAMILIES
from probe.ui.widgets import alert, model_names, named

EXAMPLES = {
    "an opposite": (
        "The country's history has been turbulent, with three constitutions in ten years.",
        "The country has had a calm and settled history.",
    ),
    "a paraphrase": (
        "Two of the buyers stayed behind after the talk to ask for the slides.",
        "Some of the buyers asked for the slides.",
    ),
    "a new detail": (
        "A woman in a red coat is waiting at the tram stop with two suitcases.",
        "The woman is on her way to the airport.",
    ),
    "same words, other roles": (
        "The lawyer who advised the mayor thanked the doctor.",
        "The mayor thanked the doctor.",
    ),
}
LINES = (("lexical", "gradient", "statistical"), ("heuristic",), ("stress",))
FIRST = ("sort", "shuffle", "drop", "negation")
CHAINS = ["drop+shuffle", "copysort+reverse", "sort+drop"]
UNKNOWN = "not known"
PREDICTED = "gold label, else the predicted one"
METHOD_CHOICES = [(words, name) for name, words in METHODS.items()]

# 300 ms after the last key; what is on the page is dimmed until the answer is there. A key that
# was followed by another waits for ever: its promise is dropped with nothing to tell.
STALE = 'document.getElementById("probe-results")?.classList.add("stale");'
DEBOUNCE = f"""async (...values) => {{
  {STALE} const key = window.lastKey = {{}};
  await new Promise(done => setTimeout(done, 300));
  return window.lastKey === key ? values : new Promise(() => {{}});
}}"""
AT_ONCE = f"(...values) => {{ {STALE} return values; }}"
FRESH = '() => { document.getElementById("probe-results")?.classList.remove("stale"); }'
COPY_LINK = """(premise, hypothesis, model, gold, seed, ...groups) => {
  const link = new URL(window.location.href);
  const transforms = groups.flat().filter(Boolean).join(",");
  link.search = new URLSearchParams({premise, hypothesis, model, gold, seed, transforms});
  window.history.replaceState(null, "", link);
  navigator.clipboard?.writeText(link.href);
}"""


def by_family() -> dict[str, list[str]]:
    """Return the transforms of each family that can run here."""
    able = ready()
    return {
        family: [name for name in able if REGISTRY[name].family == family] for family in FAMILIES
    }


def not_here() -> str:
    """Say which transforms cannot run here, and what would have to be done."""
    lacking: dict[str, list[str]] = {}
    for name, entry in REGISTRY.items():
        if why := missing(entry):
            lacking.setdefault(why, []).append(name)
    return "".join(
        f'<p class="fine off"><b>Not available here:</b> {escape(", ".join(names))}. '
        f"{escape(why)}</p>"
        for why, names in lacking.items()
    )


def update(
    cache: ModelCache,
    premise: str,
    hypothesis: str,
    model: str,
    gold: str,
    seed: float | None,
    explain: str,
    method: Method,
    baseline: BaselineToken,
    everything: bool,
    chains: Sequence[str],
    *rest: Any,  # Any: a list of names for each family, then the options' values
) -> tuple[str, str]:
    """Answer one event: the verdict with its tokens; the result rows, or one table of all."""
    chosen, values = rest[: len(FAMILIES)], rest[len(FAMILIES) :]
    names = ready() if everything else [name for group in chosen for name in group]
    label = next((label for label in LABELS if label == explain), None)
    try:
        cache.require(model)
        found = examine(
            cache.get(model),
            Pair(premise, hypothesis, as_gold(gold)),
            [*names, *chains],
            int(seed or 0),
            option_controls.read(values),
            method,
            baseline,
            label,
        )
    except UserError as trouble:
        return alert(trouble), ""
    return answer(found), elements.sheet(table(found), "all transforms") if everything else rows(
        found
    )


def as_gold(text: str) -> Label | None:
    """Return a chosen gold label, None where it is not known."""
    return next((label for label in LABELS if label == text), None)


def open_page(request: gr.Request) -> list[Any]:
    """Read a permalink, or begin with the first example."""
    asked = request.query_params
    premise, hypothesis = next(iter(EXAMPLES.values()))
    names = asked["transforms"].split(",") if "transforms" in asked else FIRST
    known, wanted = model_names(), asked.get("model", "")
    return [
        asked.get("premise", premise),
        asked.get("hypothesis", hypothesis),
        gr.Dropdown(choices=known, value=wanted if wanted in known else next(iter(known), None)),
        as_gold(asked.get("gold", "")) or UNKNOWN,
        int(asked["seed"]) if asked.get("seed", "").isdecimal() else 0,
        [name for name in names if "+" in name],
        *([name for name in names if name in group] for group in by_family().values()),
    ]


def draw(count: int) -> tuple[int, str, str, str]:
    """Return the next random bundled pair."""
    pair = random_pair(count)
    return count + 1, pair.premise, pair.hypothesis, pair.gold or UNKNOWN


def take(name: str) -> tuple[str, str, str]:
    """Return an example; its gold label is for the person to say."""
    return *EXAMPLES[name], UNKNOWN


def probe_api(
    cache: ModelCache,
    premise: str,
    hypothesis: str,
    transforms: Sequence[str],
    model: str,
    seed: int,
    keep: float,
    sign: str,
    method: str,
    baseline: str,
    options: Mapping[str, Any],  # Any: JSON values
    gold: str,
) -> dict[str, Any]:
    """Answer the HTTP endpoint with the JSON of `python -m probe pair`."""
    try:
        cache.require(model)
        found = examine(
            cache.get(model),
            Pair(premise, hypothesis, NLI.read_gold(gold)),
            transforms,
            seed,
            read_options({"keep": keep, "sign": sign, **options}),
            named("method", method, Method),
            named("baseline", baseline, BaselineToken),
        )
    except UserError as trouble:
        raise gr.Error(str(trouble)) from trouble
    return examination_json(found, "fp32")


def build(cache: ModelCache, blocks: gr.Blocks) -> gr.Dropdown:
    """Put the tab together inside `blocks` and return its list of models."""
    with gr.Row():
        with gr.Column(scale=5, min_width=300):
            premise = gr.Textbox(label="Premise", lines=3, max_lines=8, elem_id="premise")
            hypothesis = gr.Textbox(label="Hypothesis", lines=2, max_lines=8, elem_id="hypothesis")
            with gr.Row(elem_classes="tools"):
                example = gr.Dropdown(
                    list(EXAMPLES), value=None, label="Example", min_width=140, elem_id="example"
                )
                random_one = gr.Button("Random pair", size="sm", min_width=90, elem_id="random")
                swap = gr.Button("Swap", size="sm", min_width=60, elem_id="swap")
                share = gr.Button("Copy link", size="sm", min_width=80, elem_id="link")
            with gr.Row():
                model = gr.Dropdown(
                    model_names(),
                    label="Model",
                    min_width=150,
                    allow_custom_value=True,
                    elem_id="model",
                )
                gold = gr.Dropdown(
                    [UNKNOWN, *LABELS],
                    value=UNKNOWN,
                    label="Label label",
                    min_width=120,
                    elem_id="gold",
                )
                seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
            loaded = models_panel.build(cache, model)
            with gr.Accordion("Attribution", open=False):
                method = gr.Dropdown(METHOD_CHOICES, value="gradient_x_input", label="Attribution")
                explain = gr.Dropdown(
                    [PREDICTED, *LABELS], value=PREDICTED, label="Label explained"
                )
                baseline = gr.Dropdown(
                    list(get_args(BaselineToken)),
                    value="pad",
                    label="Baseline token of integrated gradients and occlusion",
                )
        with gr.Column(scale=7, min_width=300):
            verdict = gr.HTML(elem_id="answer")
    with gr.Column(elem_classes="treatments"):
        gr.HTML('<h2 class="title">Treatments</h2>')
        groups = by_family()
        chosen = []
        for line in LINES:
            with gr.Row():
                chosen += [
                    gr.CheckboxGroup(
                        groups[family],
                        value=[name for name in FIRST if name in groups[family]],
                        label=FAMILIES[family],
                        min_width=260,
                        elem_id=f"family-{family}",
                    )
                    for family in line
                ]
        chains = gr.Dropdown(
            CHAINS,
            value=[],
            multiselect=True,
            allow_custom_value=True,
            label="Chains: names joined with +, applied from left to right",
            elem_id="chains",
        )
        everything = gr.Checkbox(label="All transforms in one table", elem_id="everything")
        gr.HTML(not_here(), visible=bool(not_here()))
        with gr.Accordion("Options of the transforms", open=False, elem_id="options"):
            choices = option_controls.build()
    with gr.Column(elem_id="probe-results"):
        results = gr.HTML(elem_id="rows")

    asked = [gold, seed, explain, method, baseline, everything, chains]
    inputs = [premise, hypothesis, model, *asked, *chosen, *choices]
    outputs = [verdict, results]
    quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    listen: dict[str, Any] = {"trigger_mode": "always_last", "concurrency_id": "probe", **quiet}
    answer_now = partial(update, cache)

    def refresh(triggers: list[Any], js: str) -> None:
        answered = gr.on(triggers, answer_now, inputs, outputs, js=js, **listen)
        answered.then(None, js=FRESH, **quiet)

    # a text's own change, whoever makes it: a key, a paste, an example, a permalink
    refresh([premise.change, hypothesis.change], DEBOUNCE)
    changed = [
        part.release if isinstance(part, gr.Slider) else part.input
        for part in (model, *asked, *chosen, *choices)
    ]
    refresh(changed, AT_ONCE)
    loaded.then(answer_now, inputs, outputs, concurrency_id="probe", **quiet)
    texts, draws = [premise, hypothesis], gr.State(0)
    example.input(take, example, [*texts, gold], **quiet)
    swap.click(lambda p, h: (h, p, UNKNOWN), texts, [*texts, gold], **quiet)
    random_one.click(draw, draws, [draws, *texts, gold], **quiet)
    blocks.load(open_page, None, [*texts, model, gold, seed, chains, *chosen], **quiet)
    told = "The link to this pair is in the address bar and on the clipboard."
    share.click(None, [*texts, model, gold, seed, chains, *chosen], js=COPY_LINK, **quiet).then(
        lambda: gr.Info(told), **quiet
    )

    def probe(
        premise: str,
        hypothesis: str,
        transforms: list[str] = [],  # noqa: B006  # gradio reads the default for its schema
        model: str = "minilm",
        seed: int = 0,
        keep: float = 0.5,
        sign: str = "support",
        method: str = "gradient_x_input",
        baseline: str = "pad",
        options: dict[str, Any] = {},  # noqa: B006
        gold: str = "",
    ) -> dict[str, Any]:
        """Classify a pair, explain it, apply transforms: the JSON of `python -m probe pair`."""
        return probe_api(
            cache,
            premise,
            hypothesis,
            transforms,
            model,
            seed,
            keep,
            sign,
            method,
            baseline,
            options,
            gold,
        )

    gr.api(probe, api_name="probe", concurrency_id="probe")
    return model
