"""The Probe tab: one pair, live."""

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any, get_args

import gradio as gr
import pandas as pd

from probe.attribution import METHODS, Baseline, Method
from probe.examine import Examination, PairError, Treated, examine
from probe.labels import LABELS
from probe.models.cache import ModelCache
from probe.models.catalogue import ModelError, require
from probe.pairs import Pair, random_pair
from probe.report import examination_json
from probe.transforms import REGISTRY
from probe.transforms.registry import SIGNS, Options, Sign, UnknownTransform
from probe.ui import marks
from probe.ui.choices import alert, model_names, named

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
FAMILIES = {
    "lexical": "Word order (Gupta et al.)",
    "gradient": "Token importance (Gupta et al.)",
    "stress": "Stress tests (Naik et al.)",
}
FIRST = ("sort", "shuffle", "drop", "negation")
CHAINS = ["drop+shuffle", "copysort+reverse", "sort+drop"]
PREDICTED = "predicted label"
TABLE = ["transform", "prediction", "confidence", "agrees", "gold label", "new text"]
PROBLEMS = (PairError, ModelError, UnknownTransform, ValueError)
METHOD_CHOICES = [(words, name) for name, words in METHODS.items()]
SIGN_CHOICES = [(f"{name}: {words}", name) for name, words in SIGNS.items()]

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
COPY_LINK = """(premise, hypothesis, model, seed, ...groups) => {
  const link = new URL(window.location.href);
  const transforms = groups.flat().filter(Boolean).join(",");
  link.search = new URLSearchParams({premise, hypothesis, model, seed, transforms});
  window.history.replaceState(null, "", link);
  navigator.clipboard?.writeText(link.href);
}"""


def by_family() -> dict[str, list[str]]:
    """Return the transforms of each family that the page shows."""
    return {
        family: [name for name, entry in REGISTRY.items() if entry.family == family]
        for family in FAMILIES
    }


def update(
    cache: ModelCache,
    premise: str,
    hypothesis: str,
    model: str,
    seed: float | None,
    explain: str,
    method: Method,
    baseline: Baseline,
    sign: Sign,
    keep: float,
    by_id: bool,
    paper_pin: bool,
    everything: bool,
    chains: Sequence[str],
    *chosen: Sequence[str],
) -> tuple[str, str]:
    """Answer one event: the verdict with its tokens; the result rows, or one table of all."""
    names = list(REGISTRY) if everything else [name for group in chosen for name in group]
    options = Options(keep, sign, (".",) if paper_pin else Options().pin, by_id)
    label = next((label for label in LABELS if label == explain), None)
    try:
        require(model)
        found = examine(
            cache.get(model),
            Pair(premise, hypothesis),
            [*names, *chains],
            int(seed or 0),
            options,
            method,
            baseline,
            label,
        )
    except PROBLEMS as trouble:
        return alert(trouble), ""
    return answer(found), marks.sheet(table(found), "all transforms") if everything else rows(found)


def answer(found: Examination) -> str:
    """Show the prediction and the importance of the tokens."""
    classifier = found.importance.classifier
    cut = "the pair is too long for the model, its end is cut"
    facts = [
        "confidence",
        classifier.name,
        "fp32",
        *([cut] if classifier.too_long(found.pair) else []),
    ]
    return (
        f'<div class="answer"><div class="head">{marks.verdict(found.prediction)}'
        f'<span class="fine">{escape(" · ".join(facts))}</span></div>'
        f"{marks.probabilities(found.prediction)}"
        f"{marks.importance(found.pair, found.importance)}</div>"
    )


def rows(found: Examination) -> str:
    """Show one row for each treatment."""
    model = found.importance.classifier.name
    shown = "".join(marks.row(one, found.prediction, model) for one in found.treated)
    return shown or '<p class="fine">Choose a treatment above.</p>'


def table(found: Examination) -> pd.DataFrame:
    """Return all treatments as one table; the new text is that of the side that changed."""
    return pd.DataFrame([_line(one) for one in found.treated], columns=TABLE)


def _line(one: Treated) -> tuple[object, ...]:
    result = one.result
    moved = result.pair.premise != result.original.premise
    text = result.pair.premise if moved else result.pair.hypothesis
    return (
        result.transform,
        one.prediction.label,
        f"{one.prediction.confidence:.3f}",
        "agrees" if one.agrees else "changed",
        result.rule.name.replace("_", "-"),
        text if result.changed else f"(unchanged) {result.note}",
    )


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
        int(asked["seed"]) if asked.get("seed", "").isdecimal() else 0,
        [name for name in names if "+" in name],
        *([name for name in names if name in group] for group in by_family().values()),
    ]


def draw(count: int) -> tuple[int, str, str]:
    """Return the next random bundled pair."""
    pair = random_pair(count)
    return count + 1, pair.premise, pair.hypothesis


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
) -> dict[str, Any]:
    """Answer the HTTP endpoint with the JSON of `python -m probe pair`."""
    try:
        require(model)
        found = examine(
            cache.get(model),
            Pair(premise, hypothesis),
            transforms,
            seed,
            Options(keep, named("sign", sign, Sign)),
            named("method", method, Method),
            named("baseline", baseline, Baseline),
        )
    except PROBLEMS as trouble:
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
                seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
            with gr.Accordion("Attribution and transform options", open=False):
                method = gr.Dropdown(METHOD_CHOICES, value="gradient_x_input", label="Attribution")
                explain = gr.Dropdown(
                    [PREDICTED, *LABELS], value=PREDICTED, label="Label explained"
                )
                sign = gr.Dropdown(
                    SIGN_CHOICES, value="support", label="Sign, also for the gradient transforms"
                )
                baseline = gr.Dropdown(
                    list(get_args(Baseline)),
                    value="pad",
                    label="Baseline token of integrated gradients and occlusion",
                )
                keep = gr.Slider(
                    0,
                    1,
                    0.5,
                    step=0.05,
                    label="r, the share of tokens that drop, repeat, replace keep",
                )
                by_id = gr.Checkbox(label="Keep tokens by id, as Gupta's code does (by_id)")
                paper_pin = gr.Checkbox(
                    label="Pin only a final full stop, as Gupta's code does (paper_code)"
                )
        with gr.Column(scale=7, min_width=300):
            verdict = gr.HTML(elem_id="answer")
    with gr.Column(elem_classes="treatments"):
        gr.HTML('<h2 class="title">Treatments</h2>')
        with gr.Row():
            chosen = [
                gr.CheckboxGroup(
                    names,
                    value=[name for name in FIRST if name in names],
                    label=FAMILIES[family],
                    min_width=260,
                    elem_id=f"family-{family}",
                )
                for family, names in by_family().items()
            ]
        with gr.Row(equal_height=True):
            chains = gr.Dropdown(
                CHAINS,
                value=[],
                multiselect=True,
                allow_custom_value=True,
                label="Chains: names joined with +, applied from left to right",
                elem_id="chains",
            )
            everything = gr.Checkbox(label="All transforms in one table", elem_id="everything")
    with gr.Column(elem_id="probe-results"):
        results = gr.HTML(elem_id="rows")

    options = [seed, explain, method, baseline, sign, keep, by_id, paper_pin, everything, chains]
    inputs = [premise, hypothesis, model, *options, *chosen]
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
        part.release if part is keep else part.input  # type: ignore[attr-defined]
        for part in (model, *options, *chosen)  # gradio's stubs lack these events
    ]
    refresh(changed, AT_ONCE)
    texts, draws = [premise, hypothesis], gr.State(0)
    example.input(EXAMPLES.__getitem__, example, texts, **quiet)
    swap.click(lambda p, h: (h, p), texts, texts, **quiet)
    random_one.click(draw, draws, [draws, *texts], **quiet)
    blocks.load(open_page, None, [*texts, model, seed, chains, *chosen], **quiet)
    told = "The link to this pair is in the address bar and on the clipboard."
    share.click(None, [*texts, model, seed, chains, *chosen], js=COPY_LINK, **quiet).then(
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
    ) -> dict[str, Any]:
        """Classify a pair, explain it, apply transforms: the JSON of `python -m probe pair`."""
        return probe_api(
            cache, premise, hypothesis, transforms, model, seed, keep, sign, method, baseline
        )

    gr.api(probe, api_name="probe", concurrency_id="probe")
    return model
