"""The HANS profile: which heuristics the chosen models follow, on pairs from templates."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import altair as alt
import gradio as gr
import pandas as pd

from probe.analysis.hans import (
    NOTE,
    REPORTED,
    Profiled,
    hans_json,
    in_heuristics,
    profile,
    verdicts,
)
from probe.errors import ModelError, TemplateError, UserError
from probe.models.cache import ModelCache
from probe.reports import charts
from probe.tasks.nli import ENTAILMENT
from probe.templates import subcases
from probe.ui.html.compare import percent
from probe.ui.html.elements import meter, sheet
from probe.ui.widgets import alert

MOST = 500  # pairs of a sub-case that the page asks for; the command line asks for any number
COLOURS = ["#009E73", "#56B4E9", "#E69F00", "#CC79A7", "#8C6D31", "#7A8088"]
GOLDS = {True: "entailed", False: "not entailed"}
Found = Mapping[str, Sequence[Profiled]]


def run(
    cache: ModelCache, names: Sequence[str], n: float | None, seed: float | None
) -> Iterator[list[Any]]:
    """Profile the models; yield progress, verdicts, chart, table by heuristic, by sub-case."""
    found: dict[str, list[Profiled]] = {}
    try:
        count = checked(cache, names, int(n or 0))
        for name in names:
            found[name] = []
            for row in profile(cache.get(name), count, int(seed or 0)):
                found[name].append(row)
                yield [_progress(found, len(names)), *[gr.skip()] * 4]
    except UserError as trouble:
        yield [alert(trouble), *[gr.skip()] * 4]
        return
    yield ["", said(found), gr.Plot(chart(found), visible=True), *tables(found)]


def checked(cache: ModelCache, names: Sequence[str], n: int) -> int:
    """Return n. Raises ModelError without a model, TemplateError for a wrong number."""
    if not names:
        raise ModelError("choose a model first")
    for name in names:
        cache.require(name)
    if not 1 <= n <= MOST:
        raise TemplateError(
            f"the page takes 1 to {MOST} pairs for each sub-case; the command line takes more"
        )
    return n


def _progress(found: Found, models: int) -> str:
    total, done = models * len(subcases()), sum(map(len, found.values()))
    return meter("sub-cases done", done / total) + (
        f'<p class="fine">{done} of {total} sub-cases</p>'
    )


def said(found: Found) -> str:
    """Say for each model and heuristic whether the published profile is there."""
    lines = "".join(
        f"<li><b>{escape(name)}</b>, {heuristic}: {escape(words)}.</li>"
        for name, rows in found.items()
        for heuristic, words in verdicts(rows).items()
    )
    counts = "; ".join(
        f"{one.model} {one.correct:,} of {one.n:,} {GOLDS[one.gold == ENTAILMENT]}"
        for one in REPORTED
    )
    return (
        f'<ul class="tests">{lines}</ul><p class="fine">fritz reports on HANS itself, right over '
        f"all three heuristics: {counts}. {NOTE}</p>"
    )


def frame(found: Found) -> pd.DataFrame:
    """Return the accuracies as a tidy frame: model, case, accuracy, low, high, n."""
    return pd.DataFrame(
        [
            (name, _case(row), row.accuracy, row.low, row.high, row.n)
            for name, rows in found.items()
            for row in in_heuristics(rows)
        ],
        columns=["model", "case", "accuracy", "low", "high", "n"],
    )


def _case(row: Profiled) -> str:
    return f"{row.heuristic}, {GOLDS[row.gold == ENTAILMENT]}"


def chart(found: Found) -> alt.LayerChart:
    """Draw the accuracy by heuristic and gold label, a mark a model, with intervals."""
    table, names = frame(found), list(found)
    two_lines = alt.Axis(labelExpr="split(datum.label, ', ')")
    base = alt.Chart(table).encode(
        y=alt.Y("case:N", sort=list(dict.fromkeys(table["case"])), title=None, axis=two_lines),
        yOffset=alt.YOffset("model:N", sort=names),
        color=alt.Color(
            "model:N",
            sort=names,
            title=None,
            scale=alt.Scale(
                domain=names, range=[COLOURS[at % len(COLOURS)] for at in range(len(names))]
            ),
        ),
        shape=alt.Shape("model:N", sort=names, title=None, scale=alt.Scale(domain=names)),
    )
    scale, share = alt.Scale(domain=[0, 1]), alt.Axis(format=".0%", title="accuracy, two classes")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("accuracy:Q", axis=share, scale=scale),
        tooltip=[
            "model:N",
            "case:N",
            alt.Tooltip("accuracy:Q", format=".1%"),
            alt.Tooltip("low:Q", format=".1%", title="95 % from"),
            alt.Tooltip("high:Q", format=".1%", title="to"),
            "n:Q",
        ],
    )
    spread = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    chance = (
        alt.Chart(pd.DataFrame({"x": [0.5], "name": ["chance, 1/2"]}))
        .mark_rule(strokeDash=[4, 4], color=charts.INK)
        .encode(x="x:Q", tooltip="name:N")
    )
    layers = alt.LayerChart(layer=[chance, spread, points])
    return charts.themed(layers, height=6 * max(36, 14 * len(names)))


def tables(found: Found) -> tuple[str, str]:
    """Return the table by heuristic and the one by sub-case, a column a model."""
    whole = {name: in_heuristics(rows) for name, rows in found.items()}
    cases = sheet(_table(found), "accuracy by sub-case")
    return (
        sheet(_table(whole), "accuracy by heuristic"),
        f'<details class="twin"><summary>The 30 sub-cases</summary>{cases}</details>',
    )


def _table(found: Found) -> pd.DataFrame:
    first = next(iter(found.values()))
    columns: dict[str, list[Any]] = {"heuristic": [row.heuristic for row in first]}
    if any(row.subcase for row in first):
        columns["sub-case"] = [row.subcase for row in first]
    columns["gold"] = [str(row.gold) for row in first]
    columns["n"] = [row.n for row in first]
    return pd.DataFrame(
        columns | {name: [percent(row.estimate) for row in rows] for name, rows in found.items()}
    )


def build(cache: ModelCache, names: gr.Dropdown) -> None:
    """Lay out the panel; `names` is the list of the models that it profiles."""
    with gr.Accordion("HANS profile", open=False, elem_id="hans"):
        gr.HTML(
            '<p class="fine">Does a model say entailment wherever the words of the hypothesis '
            "stand in the premise? Three heuristics with ten sub-cases each (McCoy et al. 2019), "
            "on pairs from our own templates. Entailed and not entailed are never pooled.</p>"
        )
        with gr.Row(elem_classes="tools"):
            n = gr.Number(
                40, label="Pairs for each sub-case", precision=0, minimum=1, min_width=120
            )
            seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
            go = gr.Button("Run the HANS profile", elem_id="hans-run", min_width=160)
        going = gr.HTML(elem_id="hans-progress")
        words = gr.HTML(elem_id="hans-verdicts")
        plot = gr.Plot(visible=False, show_label=False, elem_id="hans-plot")
        whole, cases = gr.HTML(elem_id="hans-table"), gr.HTML(elem_id="hans-cases")
    go.click(
        partial(run, cache),
        [names, n, seed],
        [going, words, plot, whole, cases],
        api_visibility="private",
        show_progress="hidden",
        concurrency_id="compare",
    )

    def hans(models: list[str], n: int = 100, seed: int = 0) -> dict[str, Any]:
        """Profile models by the heuristics of HANS: the JSON of `python -m probe hans`."""
        try:
            count = checked(cache, models, n)
            found = {name: list(profile(cache.get(name), count, seed)) for name in models}
        except UserError as trouble:
            raise gr.Error(str(trouble)) from trouble
        return hans_json(found, count, seed, "auto")

    gr.api(hans, api_name="hans", concurrency_id="compare")
