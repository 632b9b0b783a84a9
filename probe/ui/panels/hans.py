"""The HANS profile: which heuristics the chosen models follow, on pairs from templates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.hans import Profiled, profile
from probe.errors import UserError
from probe.runs.access import ModelAccess
from probe.ui.answers.answering import in_steps
from probe.ui.answers.pacing import STOPPED, StopRequests
from probe.ui.api import hans as hans_api
from probe.ui.api.hans import require_profile
from probe.ui.events import GIVE_BACK_AND_HIDE, QUIET
from probe.ui.html.elements import NOTHING, alert, title, told
from probe.ui.html.hans import about, drawn, progress, sentences, sub_cases
from probe.ui.page import Page
from probe.ui.tab_outputs import TabOutputs

STOPPED_EARLY = "Stopped before the profile was complete."


@dataclass
class Outputs(TabOutputs):
    """What the panel shows, in the order of its outputs; what is not given stays."""

    go: Any = field(default_factory=gr.skip)  # Any: markup, or one of gradio's updates
    halt: Any = field(default_factory=gr.skip)
    progress: Any = field(default_factory=gr.skip)
    picture: Any = field(default_factory=gr.skip)
    verdicts: Any = field(default_factory=gr.skip)
    cases: Any = field(default_factory=gr.skip)


def waiting() -> tuple[gr.Button, Markup]:
    """Take no second press, and show that this one was heard, before its turn comes."""
    return gr.Button(interactive=False), told("Waiting for its turn …")


def run(
    models: ModelAccess,
    stops: StopRequests,
    session: str | None,
    visitor: str,
    names: Sequence[str],
    n: float | None,
    seed: float | None,
) -> Iterator[list[Any]]:
    """Profile the models; yield how far that is, at the end the profile.

    What follows the end gives the button back and hides Stop.
    """
    profiles: dict[str, list[Profiled]] = {}
    stops.withdraw(session)
    try:
        count = require_profile(models, visitor, names, int(n or 0))
        halt, loading = gr.Button(visible=True), told("Loading the models …")
        yield Outputs(gr.skip(), halt, loading, NOTHING, NOTHING, NOTHING).outputs
        for name in names:
            profiles[name] = []
            rows = profile(models.get(visitor, name), count, int(seed or 0))
            for row in in_steps("file_minutes", rows, stops.reason(session)):
                profiles[name].append(row)
                yield Outputs(progress=progress(profiles, len(names))).outputs
    except UserError as trouble:
        why = told(STOPPED_EARLY) if str(trouble) == STOPPED else alert(trouble)
        yield Outputs(progress=why).outputs
        return
    finally:
        stops.withdraw(session)
    yield Outputs(
        progress=NOTHING,
        picture=drawn(profiles),
        verdicts=sentences(profiles),
        cases=sub_cases(profiles),
    ).outputs


def build(page: Page, names: gr.Dropdown) -> None:
    """Lay out the panel; `names` is the list of the models that it profiles."""
    shown = Outputs()
    with gr.Column(elem_classes="card", elem_id="hans"):
        gr.HTML(title("HANS profile: does it only match words?", 2) + about(), padding=False)
        with gr.Row(elem_classes="beside-button"):
            n = gr.Number(
                40, label="Pairs for each sub-case", precision=0, minimum=1, min_width=120
            )
            seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
            shown.go = gr.Button("Run the HANS profile", elem_id="hans-run", min_width=160)
            shown.halt = gr.Button("Stop", visible=False, elem_id="hans-halt", min_width=0)
        for part in ("progress", "picture", "verdicts", "cases"):
            setattr(shown, part, gr.HTML(elem_id=f"hans-{part}", padding=False))
    _run_on_press(page, shown, [page.owner, names, n, seed])
    hans_api.build(page.core.models)


def _run_on_press(page: Page, shown: Outputs, asked: list[Any]) -> None:
    stops = StopRequests()

    def profiled(request: gr.Request, *values: Any) -> Iterator[list[Any]]:
        yield from run(page.core.models, stops, request.session_hash, *values)

    stops.heed(shown.halt, shown.progress)
    heard = shown.go.click(waiting, None, [shown.go, shown.progress], queue=False, **QUIET)
    ran = heard.then(profiled, asked, shown.outputs, concurrency_id="compare", **QUIET)
    ran.then(None, None, [shown.go, shown.halt], js=GIVE_BACK_AND_HIDE, **QUIET)
