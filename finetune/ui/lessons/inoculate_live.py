"""What the lesson on inoculation shows and computes: the gallery's runs, and one of one's own."""

import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from markupsafe import Markup

from finetune.report.inoculation import meaning, model_name, model_title, shown_runs
from finetune.training.recipes import default_rate
from finetune.trials.challenges import bundled_sets, challenged
from finetune.trials.inoculation import BASE, OUTCOMES, InoculationRun, Plan, inoculation_runs
from finetune.ui.inoculate import start_inoculation
from probe.errors import RunError
from probe.runs.access import chosen_runs
from probe.runs.run import OPEN
from probe.statistics import Estimate, mean_score
from probe.stopping import check_stop
from probe.tasks.nli import NLI
from probe.ui.html.elements import join, link, meter, note
from probe.ui.lessons import drawing
from probe.ui.lessons.bundled_scores import bundled_example, progress, scored
from probe.ui.lessons.lesson import Comparison, Finding, Live, Setting, measured
from probe.ui.lessons.published import published
from probe.ui.links import link_to_run
from probe.ui.visitors.visitor_files import check_start

STRESSED = "word_overlap"
SHOWN = ("news-03-1", "news-16-1")
"""The bundled pairs that are shown with a change, by id."""
CHOICES = ("1", "2", "3")
"""Liu et al.'s outcomes, in the order in which they are guessed."""
OWN_SIZES = (10, 100)
STRESSED_CLAIM = "closed.negation.esim"
"""What the paper says of the first challenge, in the published figures."""
DOSE = 100
"""Examples of the claim that is compared with the paper's."""
LITTLE, MUCH = 0.02, 0.10
LOOK_SECONDS = 1.0
"""Between two looks at a run that is going."""


def show_changed(challenge: str) -> Markup:
    """Show bundled pairs as a challenge changes them."""
    pairs = [bundled_example(NLI, id_) for id_ in SHOWN]
    return join(
        drawing.example(NLI, pair, f"The label stays: {pair.gold}.")
        for pair in challenged(challenge, pairs)
    )


def show_outcomes() -> Markup:
    """Say what each of the three outcomes means."""
    shown = (outcome for name, outcome in OUTCOMES.items() if name in CHOICES)
    return drawing.definitions((outcome.name, outcome.summary) for outcome in shown)


def stress(setting: Setting) -> Iterator[Finding]:
    """Measure how far accuracy falls on changed pairs."""
    for so_far in scored(setting, (STRESSED,)):
        if not so_far.ended:
            yield Finding(progress=progress(so_far.chunk, "pair"))
            continue
        before = so_far.summary.original["accuracy"]
        after = so_far.summary.transforms[STRESSED]["accuracy"]
        lost = before.value - after.value
        yield Finding(
            f"{setting.title} is right on {100 * before.value:.0f} % of the pairs as they are and "
            f"on {100 * after.value:.0f} % of the changed ones.",
            compared=(
                Comparison(
                    "Right answers",
                    (
                        published("stress.whole.infersent"),
                        published("stress.word_overlap.infersent"),
                        measured(f"{setting.title}, pairs as they are, here", before),
                        measured(f"{setting.title}, with the words, here", after),
                    ),
                ),
            ),
            came_true=int(lost >= LITTLE) + int(lost > MUCH),
        )


def from_gallery(challenge: str, *claims: str) -> Live:
    """Return what shows the gallery's run of the chosen model, with the paper's claims."""
    return partial(_from_gallery, challenge, claims)


def _from_gallery(challenge: str, claims: tuple[str, ...], setting: Setting) -> Iterator[Finding]:
    gallery = shown_runs(setting.core.gallery)
    wanted = setting.model, challenge
    runs = [run for run in gallery if (model_name(run), run.plan.challenge) == wanted]
    if not runs:
        others = dict.fromkeys(model_title(run) for run in gallery)
        raise RunError(
            f"no finished run of {setting.title} on this challenge lies in the gallery; choose one "
            f"of {', '.join(others)}"
        )
    yield _judged(runs[0], claims)


def _judged(run: InoculationRun, claims: tuple[str, ...] = ()) -> Finding:
    """Say the outcome of a run, with its accuracies before and after."""
    verdict = run.verdict["oracle_lr"]
    onward = link(link_to_run([run.id]), "this run in Inoculate")
    closed = _closed(run, claims)
    return Finding(
        f"With {verdict['shown_at']} examples: {verdict['headline']}.",
        Markup("<p>{}</p><p>See its curves and warnings: {}.</p>").format(meaning(verdict), onward),
        (*_accuracies(run), *closed),
        CHOICES.index(verdict["outcome"]) if verdict["outcome"] in CHOICES else None,
    )


def _accuracies(run: InoculationRun) -> tuple[Comparison, ...]:
    """Compare the model as it was with the one of the reported size, on both test sets."""
    chosen = run.verdict["oracle_lr"]
    base = next(point for point in run.results if point.cell == BASE)
    after = next(
        point
        for point in run.results
        if (point.cell.size, point.cell.lr) == (chosen["size"], chosen["lr"])
    )
    both = {"Before": base, f"After {after.cell.size} examples": after}
    return (
        Comparison(
            "Right on the challenge",
            tuple(
                measured(when, mean_score(NLI, point.challenge_right))
                for when, point in both.items()
            ),
        ),
        Comparison(
            "Right on the original pairs",
            tuple(
                measured(when, mean_score(NLI, point.original_right))
                for when, point in both.items()
            ),
        ),
    )


def _closed(run: InoculationRun, claims: tuple[str, ...]) -> tuple[Comparison, ...]:
    """Compare the share of the gap that closed at the paper's dose with the paper's claims."""
    at_dose: Mapping[str, Any] = run.verdict["by_size"].get(str(DOSE), {}).get("closed", {})
    if not claims or at_dose.get("value") is None:
        return ()
    value, low, high = (float(at_dose[name]) for name in ("value", "low", "high"))
    estimate = Estimate(value, low, high, at_dose["n"])
    here = measured(f"{model_title(run)}, {DOSE} examples, here", estimate)
    return (Comparison("Share of the gap that closes", (*map(published, claims), here)),)


def own_run(setting: Setting) -> Iterator[Finding]:
    """Inoculate the chosen model now, in fast mode, and say what came out."""
    run = _started(setting)
    while run.state in OPEN:
        done, cells = len(run.results), len(run.cells)
        words = f"{done} of {cells} parts: the model as it was, then each dose. {run.error}"
        yield Finding(progress=meter("parts of the run done", done / cells) + note(words))
        check_stop()
        time.sleep(LOOK_SECONDS)
        (run,) = inoculation_runs(chosen_runs(setting.core.store, setting.visitor, [run.id]))
    if run.state != "done":
        raise RunError(run.error or "the run was cancelled; run it again")
    yield _judged(run, (STRESSED_CLAIM,))


def _started(setting: Setting) -> InoculationRun:
    """Start a run of the visitor's own. Raises a sentence for the person."""
    check_start(setting.core.store, setting.visitor)
    rate = default_rate(setting.model, "fast")
    plan = Plan(setting.model, STRESSED, OWN_SIZES, (rate,), (0,), mode="fast")
    core = setting.core
    sets = bundled_sets(STRESSED)
    return start_inoculation(core.store, core.engine, setting.visitor, plan, sets)
