"""The HANS profile: which heuristics the chosen models follow, on pairs from templates."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gradio as gr
import pandas as pd
from markupsafe import Markup

from probe.analysis.hans import NOTE, REPORTED, Profiled, in_heuristics, profile, verdicts
from probe.errors import UserError
from probe.models.bundled import title_of
from probe.pictures.forest import DotPlot, DotRow
from probe.runs.access import ModelAccess
from probe.statistics import percent
from probe.tasks.nli import ENTAILMENT
from probe.templates import subcases
from probe.text.duration import duration
from probe.ui.answers.answering import STOPPED, Answered, StopRequests, seen_in_steps
from probe.ui.api import models as hans_api
from probe.ui.api.models import require_profile
from probe.ui.events import GIVE_BACK_AND_HIDE, QUIET
from probe.ui.html.elements import NOTHING, alert, join, meter, note, sheet, title, told, twin
from probe.ui.html.picture import chart
from probe.ui.page import Page

GOLDS = {True: "entailed", False: "not entailed"}
HEURISTICS: Mapping[str, tuple[str, str, str, str]] = {
    "lexical_overlap": (
        "Lexical overlap",
        "All words of the hypothesis stand somewhere in the premise.",
        "The doctor was paid by the actor.",
        "The doctor paid the actor.",
    ),
    "subsequence": (
        "Subsequence",
        "The hypothesis stands in the premise word for word, without a gap.",
        "The doctor near the actor danced.",
        "The actor danced.",
    ),
    "constituent": (
        "Constituent",
        "The hypothesis is a whole clause or phrase of the premise.",
        "If the artist slept, the actor ran.",
        "The artist slept.",
    ),
}
"""Title, meaning, and an example by McCoy et al. 2019 (Table 1) that is not entailed."""
TITLE = "HANS: right where the words alone suggest entailment"
Profiles = Mapping[str, Sequence[Profiled]]
"""The profiled sub-cases of each model."""
FRITZ = "Dickerson’s fritz reports, on HANS itself, right over all three heuristics"


def about() -> Markup:
    """Say what is asked, and what the three heuristics are."""
    kinds = join(
        Markup(
            '<div><b>{}</b><p class="soft">{}</p>'
            '<p class="tiny">“{}” does not entail “{}”</p></div>'
        ).format(*words)
        for words in HEURISTICS.values()
    )
    return Markup(
        '<p class="soft">Does a model say entailment wherever the hypothesis repeats the words of '
        "the premise? Three such heuristics (McCoy et al. 2019) with ten sub-cases each, half of "
        "them entailed, on pairs from our own templates.</p>"
        '<div class="promises plain">{}</div>'
    ).format(kinds)


def progress(
    profiles: Profiles, models: int, n: int, under_way: Answered | None = None, seconds: float = 0.0
) -> Markup:
    """Show how many sub-cases of all models are profiled, and how far the next one is.

    The time left is told by the `seconds` since the first model was asked for.
    """
    total, done = models * len(subcases()), sum(map(len, profiles.values()))
    pairs, words = 0, ""
    if under_way:
        pairs = min(under_way.texts, n)
        words = f", {pairs} of {n} pairs of the next, for {duration(under_way.seconds)}"
    share = (done + pairs / n) / total
    left = f"about {duration(seconds * (1 - share) / share)} left" if share and seconds else ""
    told = f"; {left or 'measuring how long it takes'}"
    return meter("sub-cases done", share) + note(f"{done} of {total} sub-cases{words}{told}")


def sentences(profiles: Profiles) -> Markup:
    """Say for each model and heuristic whether the published profile is there."""
    lines = join(
        Markup("<li><b>{}</b>, {}: {}.</li>").format(
            title_of(name), HEURISTICS[heuristic][0].lower(), words
        )
        for name, rows in profiles.items()
        for heuristic, words in verdicts(rows).items()
    )
    counts = "; ".join(
        f"{case.model} {case.correct:,} of {case.n:,} {GOLDS[case.gold == ENTAILMENT]}"
        for case in REPORTED
    )
    return Markup('<ul class="tests" role="status">{}</ul>{}').format(
        lines,
        note(f"{FRITZ}: {counts}. {NOTE}"),
    )


def drawn(profiles: Profiles) -> Markup:
    """Draw the accuracy by heuristic and gold label, a mark a model, with intervals."""
    whole = [in_heuristics(rows) for rows in profiles.values()]
    rows = [
        DotRow(
            f"{HEURISTICS[first.heuristic][0]}, {GOLDS[first.gold == ENTAILMENT]}",
            [first.estimate, *(row.estimate for row in others)],
        )
        for first, *others in zip(*whole, strict=True)
    ]
    plot = DotPlot([title_of(name) for name in profiles], rows, 0.5, "a guess", unit="pair")
    return chart(TITLE, plot, stem="hans-profile")


def sub_cases(profiles: Profiles) -> Markup:
    """Return the table of the thirty sub-cases, a column a model, folded away."""
    first = next(iter(profiles.values()))
    frame = pd.DataFrame(
        {
            "heuristic": [HEURISTICS[row.heuristic][0] for row in first],
            "right answer": [GOLDS[row.gold == ENTAILMENT] for row in first],
            "sub-case": [row.subcase for row in first],
            "pairs": [row.n for row in first],
            **{
                title_of(name): [percent(row.estimate, "–") for row in rows]
                for name, rows in profiles.items()
            },
        }
    )
    return twin("The 30 sub-cases", sheet(frame, "accuracy by sub-case"))


STOPPED_EARLY = "Stopped before the profile was complete."


def waiting() -> tuple[gr.Button, Markup]:
    """Take no second press, and show that this one was heard, before its turn comes."""
    return gr.Button(interactive=False), told("Waiting for its turn …")


def _profile(models: ModelAccess, visitor: str, name: str, n: int, seed: int) -> Iterator[Profiled]:
    """Load a model, and profile it sub-case by sub-case. Raises ModelError."""
    yield from profile(models.get(visitor, name), n, seed)


def build(page: Page, names: gr.Dropdown) -> None:
    """Lay out the panel; `names` is the list of the models that it profiles."""
    models, stops = page.core.models, StopRequests()
    with gr.Column(elem_classes="card", elem_id="hans"):
        gr.HTML(title("HANS profile: does it only match words?", 2) + about(), padding=False)
        with gr.Row(elem_classes="beside-button"):
            n = gr.Number(
                40, label="Pairs for each sub-case", precision=0, minimum=1, min_width=120
            )
            seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
            go = gr.Button("Run the HANS profile", elem_id="hans-run", min_width=160)
            halt = gr.Button("Stop", visible=False, elem_id="hans-halt", min_width=0)
        far, drawing, said, cases = (
            gr.HTML(elem_id=f"hans-{part}", padding=False)
            for part in ("progress", "picture", "verdicts", "cases")
        )

    def profiled(
        request: gr.Request, visitor: str, chosen: Sequence[str], n: float, seed: float
    ) -> Iterator[dict[Any, Any]]:  # Any: components and what they show
        """Profile the models; yield how far that is, at the end the profile.

        What follows the end gives the button back and hides Stop.
        """
        session, profiles = request.session_hash, dict[str, list[Profiled]]()
        stops.withdraw(session)
        try:
            count = require_profile(models, visitor, chosen, int(n or 0))
            nothing = dict.fromkeys((drawing, said, cases), NOTHING)
            yield {halt: gr.Button(visible=True), far: told("Loading the models …"), **nothing}
            began = time.monotonic()
            for name in chosen:
                profiles[name] = []
                rows = _profile(models, visitor, name, count, int(seed or 0))
                for step in seen_in_steps("file_minutes", rows, stops.reason(session)):
                    if not isinstance(step, Answered):
                        profiles[name].append(step)
                    now = step if isinstance(step, Answered) else None
                    since = time.monotonic() - began
                    yield {far: progress(profiles, len(chosen), count, now, since)}
        except UserError as trouble:
            yield {far: told(STOPPED_EARLY) if str(trouble) == STOPPED else alert(trouble)}
            return
        finally:
            stops.withdraw(session)
        drawings = {drawing: drawn(profiles), said: sentences(profiles), cases: sub_cases(profiles)}
        yield {far: NOTHING, **drawings}

    stops.heed(halt, far)
    heard = go.click(waiting, None, [go, far], queue=False, **QUIET)
    asked, shown = [page.owner, names, n, seed], [go, halt, far, drawing, said, cases]
    ran = heard.then(profiled, asked, shown, concurrency_id="compare", **QUIET)
    ran.then(None, None, [go, halt], js=GIVE_BACK_AND_HIDE, **QUIET)
    hans_api.build_hans(models)
