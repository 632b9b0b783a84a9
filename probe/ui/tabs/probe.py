"""The Probe tab: one pair, live."""

from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import gradio as gr
from markupsafe import Markup

from probe.analysis.methods import METHODS, BaselineToken
from probe.tasks.nli import LABELS
from probe.transforms.presets import FIRST
from probe.transforms.registry import FAMILIES
from probe.ui.answers.shared_answers import SharedAnswers
from probe.ui.api import probe as probe_api
from probe.ui.choices import refresh_models
from probe.ui.events import QUIET
from probe.ui.page import Page
from probe.ui.panels import options, own_model
from probe.ui.tabs import probe_answer
from probe.ui.tabs.example_pairs import EXAMPLES
from probe.ui.tabs.probe_answer import UNKNOWN, by_family, not_available

LINES = (("lexical", "gradient", "statistical"), ("heuristic",), ("stress",))
"""The families that stand side by side."""
CHAINS = ["drop+shuffle", "copysort+reverse", "sort+drop"]
PREDICTED = "gold label, else the predicted one"
HEAD = Markup('<h2 class="title">Transforms</h2>')
LINK_COPIED = "The link to this pair is in the address bar and on the clipboard."
MODEL_SHARED = " It lets others use this model and read its run; My data takes it back."

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
COPY_LINK = """(grant, premise, hypothesis, model, gold, seed, ...groups) => {
  const link = new URL(window.location.href);
  const transforms = groups.flat().filter(Boolean).join(",");
  const shared = grant ? {grant} : {};
  link.search = new URLSearchParams({
    premise, hypothesis, model, gold, seed, transforms, ...shared
  });
  window.history.replaceState(null, "", link);
  navigator.clipboard?.writeText(link.href);
}"""


def tell_copied(grant: str) -> None:
    """Say that the link was copied, and what it lets others do."""
    gr.Info(LINK_COPIED + (MODEL_SHARED if grant else ""))


@dataclass(frozen=True)
class Fields:
    """What a person sets; `transforms` has a list for each family."""

    texts: list[gr.Textbox]
    model: gr.Dropdown
    gold: gr.Dropdown
    seed: gr.Number
    attribution: list[gr.Dropdown]
    everything: gr.Checkbox
    chains: gr.Dropdown
    transforms: list[gr.CheckboxGroup]
    options: list[Any]  # Any: components share no useful type

    @property
    def settings(self) -> list[Any]:
        """All but the texts, in the order of `update`."""
        asked = [self.model, self.gold, self.seed, *self.attribution, self.everything, self.chains]
        return [*asked, *self.transforms, *self.options]

    @property
    def in_link(self) -> list[Any]:
        """What a permalink holds, in the order of `open_page`."""
        asked = [*self.texts, self.model, self.gold, self.seed, self.chains]
        return [*asked, *self.transforms]


@dataclass(frozen=True)
class Tools:
    """What brings another pair, and what copies the link to this one."""

    example: gr.Dropdown
    random: gr.Button
    swap: gr.Button
    link: gr.Button


def build(page: Page) -> None:
    """Put the tab together."""
    with gr.Row():
        with gr.Column(scale=5, min_width=300):
            texts, tools = _pair()
            model, gold, seed = _model(page)
            loaded = own_model.build(page, model)
            attribution = _attribution()
        with gr.Column(scale=7, min_width=300):
            verdict = gr.HTML(elem_id="answer")
    transforms, chains, everything, controls = _transforms()
    with gr.Column(elem_id="probe-results"):
        results = gr.HTML(elem_id="rows")
    fields = Fields(texts, model, gold, seed, attribution, everything, chains, transforms, controls)
    answer = _answer_on_change(page, fields, [verdict, results])
    loaded.then(**answer, concurrency_id="probe", **QUIET)
    _fill_on_press(page, fields, tools)

    def open_page(visitor: str, request: gr.Request) -> list[Any]:
        return probe_answer.open_page(page.core.models, visitor, request.query_params)

    page.opened.then(open_page, page.owner, fields.in_link, **QUIET)
    probe_api.build(page.core.models)
    refresh_models(page, model)


def _answer_on_change(page: Page, fields: Fields, outputs: list[gr.HTML]) -> dict[str, Any]:
    """Answer each change of a field once; return what answers, for other events."""
    inputs = [page.owner, *fields.texts, *fields.settings]
    update = partial(probe_answer.update, page.core.models, SharedAnswers())
    answer: dict[str, Any] = {"fn": update, "inputs": inputs, "outputs": outputs}
    listen = {"trigger_mode": "always_last", "concurrency_id": "probe", **QUIET}

    def answer_on(triggers: list[Any], js: str) -> None:
        answered = gr.on(triggers, **answer, js=js, **listen)
        answered.then(None, js=FRESH, **QUIET)

    # a text's own change, whoever makes it: a key, a paste, an example, a permalink
    answer_on([text.change for text in fields.texts], DEBOUNCE)
    changes = [
        field.release if isinstance(field, gr.Slider) else field.input for field in fields.settings
    ]
    answer_on(changes, AT_ONCE)
    return answer


def _fill_on_press(page: Page, fields: Fields, tools: Tools) -> None:
    """Bring another pair, or copy the link to this one, when a tool is pressed."""
    pair = [*fields.texts, fields.gold]
    draws = gr.Number(0, label="random pairs so far", precision=0, visible=False)
    tools.example.input(probe_answer.take_example, tools.example, pair, **QUIET)
    tools.swap.click(probe_answer.swap, fields.texts, pair, **QUIET)
    tools.random.click(probe_answer.draw, draws, [draws, *pair], **QUIET)
    grant = gr.Textbox(visible=False)
    given = tools.link.click(page.core.models.share, [page.owner, fields.model], grant, **QUIET)
    copied = given.then(None, [grant, *fields.in_link], js=COPY_LINK, **QUIET)
    copied.then(tell_copied, grant, **QUIET)


def _pair() -> tuple[list[gr.Textbox], Tools]:
    """Lay out the texts and the tools below them."""
    texts = [
        gr.Textbox(label="Premise", lines=3, max_lines=8, elem_id="premise"),
        gr.Textbox(label="Hypothesis", lines=2, max_lines=8, elem_id="hypothesis"),
    ]
    with gr.Row(elem_classes="tools"):
        return texts, Tools(
            gr.Dropdown(
                list(EXAMPLES), value=None, label="Example", min_width=140, elem_id="example"
            ),
            gr.Button("Random pair", size="sm", min_width=90, elem_id="random"),
            gr.Button("Swap", size="sm", min_width=60, elem_id="swap"),
            gr.Button("Copy link", size="sm", min_width=80, elem_id="link"),
        )


def _model(page: Page) -> tuple[gr.Dropdown, gr.Dropdown, gr.Number]:
    """Lay out the model, the gold label and the seed."""
    with gr.Row():
        model = gr.Dropdown(
            page.core.models.names(""),
            label="Model",
            min_width=150,
            allow_custom_value=True,
            elem_id="model",
        )
        gold = gr.Dropdown(
            [UNKNOWN, *LABELS], value=UNKNOWN, label="Gold label", min_width=120, elem_id="gold"
        )
        seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
    return model, gold, seed


def _attribution() -> list[gr.Dropdown]:
    """Lay out the label explained, the method and the baseline token, in the order of `update`."""
    methods = [(term.title, name) for name, term in METHODS.items()]
    with gr.Accordion("Attribution", open=False):
        method = gr.Dropdown(methods, value="gradient_x_input", label="Attribution")
        explain = gr.Dropdown([PREDICTED, *LABELS], value=PREDICTED, label="Label explained")
        baseline = gr.Dropdown(
            list(get_args(BaselineToken)),
            value="pad",
            label="Baseline token of integrated gradients and occlusion",
        )
    return [explain, method, baseline]


def _transforms() -> tuple[list[gr.CheckboxGroup], gr.Dropdown, gr.Checkbox, list[Any]]:
    """Lay out the transforms by family, chains, the table of all, and the options."""
    missing = not_available()
    with gr.Column(elem_classes="transforms"):
        gr.HTML(HEAD)
        groups = _families()
        chains = gr.Dropdown(
            CHAINS,
            value=[],
            multiselect=True,
            allow_custom_value=True,
            label="Chains: names joined with +, applied from left to right",
            elem_id="chains",
        )
        everything = gr.Checkbox(label="All transforms in one table", elem_id="everything")
        gr.HTML(missing, visible=bool(missing))
        with gr.Accordion("Options of the transforms", open=False, elem_id="options"):
            controls = options.build()
    return groups, chains, everything, controls


def _families() -> list[gr.CheckboxGroup]:
    """Lay out a list of transforms for each family, in the order of `FAMILIES`."""
    names, groups = by_family(), dict[str, gr.CheckboxGroup]()
    for line in LINES:
        with gr.Row():
            for family in line:
                groups[family] = gr.CheckboxGroup(
                    names[family],
                    value=[name for name in FIRST if name in names[family]],
                    label=FAMILIES[family].title,
                    min_width=260,
                    elem_id=f"family-{family}",
                )
    return [groups[family] for family in FAMILIES]
