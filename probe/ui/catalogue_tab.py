"""The Catalogue tab: every transform with its facts, its code and an example computed live."""

import inspect
from collections.abc import Sequence
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from probe.analysis.transformed import Transformed, require_text, transform_all
from probe.baselines import BASELINES
from probe.errors import UserError
from probe.models.cache import ModelCache
from probe.tasks.nli import Pair
from probe.templates import KINDS, Request, generate, template_ids
from probe.transforms import REGISTRY
from probe.transforms.availability import missing, ready
from probe.transforms.registry import Transform
from probe.ui.html.elements import verdict
from probe.ui.html.transformed import changes
from probe.ui.option_controls import FAMILIES
from probe.ui.widgets import alert, model_names

PREMISE = "Maria sold 48 tickets for the evening concert, and the old hall was full."
HYPOTHESIS = "Maria quickly sold the tickets, and her success filled the large hall."
ROOT = Path(__file__).resolve().parents[2]
COMPARED = "compared with {} instead of the prediction before"
WAITING = '<p class="fine">Every transform is being applied to this pair.</p>'


def show(cache_: ModelCache, premise: str, hypothesis: str, model: str, seed: float | None) -> str:
    """Show every transform, applied to this pair."""
    pair = Pair(premise, hypothesis)
    try:
        require_text(pair)
        cache_.require(model)
        classifier = cache_.get(model)
        before = classifier.predict([pair])
        made = transform_all(classifier, [pair], before, ready(), int(seed or 0))
    except UserError as trouble:
        return alert(trouble)
    examples = {name: rows[0] for name, rows in made.items()}
    return "".join(_family(family, examples) for family in FAMILIES) + templates() + rules()


def _family(family: str, examples: dict[str, tuple[Transformed, ...]]) -> str:
    entries = [entry for entry in REGISTRY.values() if entry.family == family]
    shown = "".join(_entry(entry, examples.get(entry.name, ())) for entry in entries)
    return f'<section><h2 class="title">{FAMILIES[family]}</h2>{shown}</section>'


def _entry(entry: Transform, made: Sequence[Transformed]) -> str:
    facts = {
        "changes": "premise and hypothesis" if entry.side == "both" else f"the {entry.side}",
        "works on": f"{entry.level}s",
        "gold label": entry.rule.words,
        "source": entry.source,
    } | ({"agreement": COMPARED.format(entry.default)} if entry.default else {})
    listed = "".join(
        f"<div><dt>{name}</dt> <dd>{escape(text)}</dd></div>" for name, text in facts.items()
    )
    lacks = missing(entry)
    off = f'<p class="problem">Not available here: {escape(lacks)}</p>' if lacks else ""
    return (
        f'<article class="entry"><h3><code>{entry.name}</code> {escape(entry.summary)}</h3>'
        f'<dl class="facts">{listed}</dl>{off}{"".join(map(_example, made))}'
        f"{_code(entry)}</article>"
    )


def _example(transformed: Transformed) -> str:
    result = transformed.result
    if not result.changed:
        return f'<p class="fine">this pair is left unchanged; {escape(result.note)}</p>'
    gold = f" · gold label {result.gold}" if result.gold else ""
    said = f"<p>{verdict(transformed.prediction)}{gold}</p>"
    return f'<div class="made">{changes(result)}{said}</div>'


def _code(entry: Transform) -> str:
    text, place = source(entry.name)
    return (
        f'<details class="twin"><summary>code: {escape(place)}</summary>'
        f"<pre>{escape(text)}</pre></details>"
    )


@cache
def source(name: str) -> tuple[str, str]:
    """Return the code of a transform and where it stands: file and line."""
    made = REGISTRY[name].function
    function = made.func if isinstance(made, partial) else made
    lines, start = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function) or "").resolve().relative_to(ROOT)
    return inspect.cleandoc("\n" + "".join(lines)), f"{file}, line {start}"


@cache
def templates() -> str:
    """Show each kind of template with its size and a few pairs."""
    shown = "".join(
        f'<article class="entry"><h3><code>{kind}</code> {len(template_ids(kind))} templates</h3>'
        + "".join(
            f'<p class="text">{escape(made.premise)} ▸ {escape(made.hypothesis)} '
            f'<span class="fine">{made.gold}</span></p>'
            for made in generate(Request(kind), 3, 0)
        )
        + "</article>"
        for kind in KINDS
    )
    return (
        '<section><h2 class="title">Templates (Rozen et al., McCoy et al.)</h2>'
        '<p class="fine">The Batch tab makes pairs from them, as does <code>python -m probe '
        f"templates</code>.</p>{shown}</section>"
    )


@cache
def rules() -> str:
    """Show the rule baselines."""
    shown = "".join(
        f'<article class="entry"><h3><code>{name}</code> {escape(rule.summary)}</h3>'
        f'<p class="fine">{escape(rule.source)}</p></article>'
        for name, rule in BASELINES.items()
    )
    return (
        '<section><h2 class="title">Rule baselines</h2><p class="fine">The Batch tab shows them '
        f"beside the model, as does <code>python -m probe rules</code>.</p>{shown}</section>"
    )


def build(cache_: ModelCache, tab: gr.Tab) -> gr.Dropdown:
    """Put the tab together; it is filled when it is opened. Return its list of models."""
    with gr.Row():
        premise = gr.Textbox(PREMISE, label="Premise", lines=2, scale=4, min_width=260)
        hypothesis = gr.Textbox(HYPOTHESIS, label="Hypothesis", lines=2, scale=4, min_width=260)
        model = gr.Dropdown(model_names(), label="Model", allow_custom_value=True, min_width=140)
        seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
        go = gr.Button("Apply all", elem_id="apply-all", min_width=90)
    listed = gr.HTML(WAITING, elem_id="catalogue")
    inputs: list[Any] = [premise, hypothesis, model, seed]
    quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}
    gr.on(
        [tab.select, go.click, premise.submit, hypothesis.submit],
        partial(show, cache_),
        inputs,
        listed,
        concurrency_id="probe",
        **quiet,
    )
    return model
