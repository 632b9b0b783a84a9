"""Lesson: is it the data's fault or the model's? (Liu et al. 2019)."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from markupsafe import Markup

from finetune.report.inoculation import meaning, model_name, model_title, shown_runs
from finetune.training.recipes import CONTEXT, default_rate
from finetune.trials.challenges import bundled_sets, challenged
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import (
    BASE,
    KIND,
    OUTCOMES,
    InoculationRun,
    Plan,
    Point,
    inoculation_run,
    inoculation_runs,
)
from finetune.ui.inoculate import start_inoculation
from probe.analysis.summary import Summary
from probe.errors import RunError
from probe.models.library import is_asked
from probe.runs.access import chosen_runs, readable_runs, require_for_runs
from probe.runs.run import OPEN, Json
from probe.statistics import Estimate, mean_score
from probe.stopping import check_stop
from probe.tasks.nli import NLI
from probe.ui.html.elements import join, link, meter, told, uncapitalised
from probe.ui.html.run import state_in_words
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import Compared, Finding, Lesson, Setting, measured, published, written
from probe.ui.lessons.live import ROWS, bundled_example, on_bundled
from probe.ui.links import link_to_run
from probe.ui.page import Core
from probe.ui.run_tab.shown import how_far
from probe.ui.visitors.visitor_files import check_start

STRESSED = "word_overlap"
SHOWN = ("news-03-1", "news-16-1")
"""The bundled pairs that are shown with a change, by id."""
CHOICES = ("1", "2", "3")
"""Liu et al.'s outcomes, in the order in which they are guessed."""
OWN_SIZES = (10, 100)
IN_PROMPT = (8, 32)
"""The same of a language model, which finds them in its prompt."""
PROMPT_TESTS, PROMPT_DEV = 60, 6
"""Pairs of each test set, and held-out ones, of a language model, which takes long for each."""
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


@on_bundled(STRESSED)
def stress(setting: Setting, summary: Summary) -> Finding:
    """Measure how far accuracy falls on changed pairs."""
    before, after = summary.original["accuracy"], summary.transforms[STRESSED]["accuracy"]
    lost = before.value - after.value
    figures = (
        published("stress.whole.infersent"),
        published("stress.word_overlap.infersent"),
        measured(f"{setting.title}, pairs as they are, here", before),
        measured(f"{setting.title}, with the words, here", after),
    )
    return Finding(
        f"{setting.title} is right on {100 * before.value:.0f} % of the pairs as they are and "
        f"on {100 * after.value:.0f} % of the changed ones.",
        compared={"Right answers": figures},
        came_true=int(lost >= LITTLE) + int(lost > MUCH),
    )


def from_gallery(challenge: str, claims: tuple[str, ...], setting: Setting) -> Iterator[Finding]:
    """Show the gallery's run of the chosen model on a challenge, with the paper's claims."""
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
    return Finding(
        f"With {verdict['shown_at']} examples: {verdict['headline']}.",
        Markup("<p>{}</p><p>See its curves and warnings: {}.</p>").format(meaning(verdict), onward),
        {**accuracies(verdict, run.results), **_closed(run, claims)},
        CHOICES.index(verdict["outcome"]) if verdict["outcome"] in CHOICES else None,
    )


def accuracies(chosen: Json, points: Sequence[Point], who: str = "") -> Compared:
    """Compare the model as it was with the one of the reported size, on both test sets.

    `chosen` is a verdict at one choice of rates; `who` names the model beside another one.
    """
    reported = chosen["size"], chosen["lr"]
    base = next(point for point in points if point.cell == BASE)
    after = next(point for point in points if (point.cell.size, point.cell.lr) == reported)
    both = {"Before": base, f"After {after.cell.size} examples": after}
    if who:
        both = {f"{who}, {uncapitalised(when)}": point for when, point in both.items()}
    return {
        title: tuple(measured(when, mean_score(NLI, right(at))) for when, at in both.items())
        for title, right in (
            ("Right on the challenge", attrgetter("challenge_right")),
            ("Right on the original pairs", attrgetter("original_right")),
        )
    }


def _closed(run: InoculationRun, claims: tuple[str, ...]) -> Compared:
    """Compare the share of the gap that closed at the paper's dose with the paper's claims."""
    at_dose: Mapping[str, Any] = run.verdict["by_size"].get(str(DOSE), {}).get("closed", {})
    if not claims or at_dose.get("value") is None:
        return {}
    value, low, high = (float(at_dose[name]) for name in ("value", "low", "high"))
    estimate = Estimate(value, low, high, at_dose["n"])
    here = measured(f"{model_title(run)}, {DOSE} examples, here", estimate)
    return {"Share of the gap that closes": (*map(published, claims), here)}


def own_plan(model: str) -> Plan:
    """Return what this lesson would start: a training, or examples in a language model's prompt."""
    if is_asked(model):
        return Plan(model, STRESSED, IN_PROMPT, (0.0,), (0,), mode=CONTEXT)
    return Plan(model, STRESSED, OWN_SIZES, (default_rate(model, "fast"),), (0,), mode="fast")


def own_sets(plan: Plan) -> Sets:
    """Return the bundled sets, the first pairs of each where a language model is asked."""
    sets = bundled_sets(STRESSED)
    if plan.mode != CONTEXT:
        return sets
    return replace(
        sets,
        original_dev=sets.original_dev[:PROMPT_DEV],
        original_test=sets.original_test[:PROMPT_TESTS],
        challenge_test=sets.challenge_test[:PROMPT_TESTS],
        control=(),
    )


def _latest(core: Core, visitor: str, model: str) -> InoculationRun | None:
    """Return the latest of a visitor's own runs that this lesson would start."""
    runs, plan = inoculation_runs(readable_runs(core.store, visitor, KIND)), own_plan(model)
    own = (run for run in runs if run.owner == visitor and run.plan == plan)
    return next(own, None)


def own_run(setting: Setting) -> Iterator[Finding]:
    """Inoculate the chosen model now, in fast mode or in its prompt, and say what came out.

    One that still goes is followed.
    """
    require_for_runs(setting.core.store, setting.visitor, setting.model)
    run = _latest(setting.core, setting.visitor, setting.model)
    if run is None or run.state not in OPEN:
        core = setting.core
        check_start(core.store, setting.visitor)
        plan = own_plan(setting.model)
        run = start_inoculation(core.store, core.engine, setting.visitor, plan, own_sets(plan))
    yield from _followed(setting, run)


def own_again(setting: Setting) -> Iterator[Finding]:
    """Show what became of the latest run of one's own, nothing of one that was stopped."""
    run = _latest(setting.core, setting.visitor, setting.model)
    if run and run.state in (*OPEN, "done"):
        yield from _followed(setting, run)


def stop_own(core: Core, visitor: str, model: str) -> None:
    """Cancel the run of one's own that goes."""
    run = _latest(core, visitor, model)
    if run and run.state in OPEN:
        core.engine.cancel(run.id)


def _followed(setting: Setting, run: InoculationRun) -> Iterator[Finding]:
    while run.state in OPEN:
        (stored,) = chosen_runs(setting.core.store, setting.visitor, [run.id])
        run = inoculation_run(stored)
        epoch = next((cell.progress.epoch for cell in run.cells if cell.progress), 0)
        words = f"{state_in_words(run)}: {how_far(stored)}{f', epoch {epoch}' if epoch else ''}."
        share = len(run.results) / max(len(run.cells), 1)
        yield Finding(progress=meter("of the run done", share) + told(f"{words} {run.error}"))
        check_stop()
        time.sleep(LOOK_SECONDS)
    if run.state != "done":
        raise RunError(run.error or "the run was stopped; run it again")
    yield _judged(run, (STRESSED_CLAIM,))


OUTCOME = """? Which outcome do you expect?
- 1: the gap closes and the original accuracy stays
- 2: the gap stays
- 3: the original accuracy suffers"""
TEXT = f"""
# stress: A test that stresses
A model for natural language inference (NLI) says whether a hypothesis follows from a premise. Naik
et al. add words that change nothing, as below: the right answer is what it was. Such sets of
changed pairs are called challenges or stress tests.

You run the model on {ROWS} pairs as they are and with the added words.
? How far does its accuracy fall?
- Hardly: less than 2 points
- By 2 to 10 points
- By more than 10 points

# dose: A small dose
Why does a model fail a stress test? Either its training data had no such pairs, or the model cannot
do it. Liu et al. tell the two apart as a doctor would, by inoculation: show the model a few
examples of the challenge, train it a little, and test it again, on the challenge and on the
original pairs. How much worse it does on the challenge than on the original pairs is the gap. There
are three outcomes.

First the test from before, on a finished run of this app's gallery.
{OUTCOME}

# spelling: Spelling mistakes
Now the hypotheses have a spelling mistake each, and again there is a finished run. Choose ESIM as
the model if you want one like the paper's: it reads whole words.
{OUTCOME}

# numbers: Numbers
The third challenge, again as a finished run, needs arithmetic: does “The shop sold less than 70
lamps” follow from “The shop sold 40 lamps”? Its pairs are made by rules from word problems and look
like no other pair that the model was trained on.
{OUTCOME}

# own: Your own dose
Now you inoculate. The model is shown {" and then ".join(map(str, OWN_SIZES))} pairs of the first
challenge and tested on about 600 changed and 600 original pairs, in fast mode, where only its upper
layers learn; a language model finds {" and ".join(map(str, IN_PROMPT))} in its prompt and learns
nothing. It takes a minute or two on an idle machine and several on a busy one. It goes on if you
leave: you find it again in Train and in Mine.

Fewer examples and other settings than in the gallery: will the outcome be the same?
{OUTCOME}

# questions: Questions
Talk about these with your neighbour before you unfold an answer.
? The gap closed with a hundred examples. Has the model learnt what “and” means?
> It has learnt to answer such pairs. Whether it ignores any added clause or only these words,
another test must say: Inoculate tests a control set with other words that are true of themselves.
Liu et al. say the same: an easily closed gap is a weakness of the data and no proof of
understanding.
? Why is the original test set measured after each dose as well?
> A model may buy the challenge with what it knew. Without the original accuracy outcome 3 looks
like outcome 1.
? Spelling mistakes stay hard for a model of whole words, however many it sees. Why?
> A misspelt word is not in its vocabulary and is read as the one unknown word, so what was written
is lost before the model begins. More examples cannot bring it back. A model that reads characters
or pieces of words can do better; compare the two forms of ESIM.
? In the numerical challenge a rule that only looks for “more than” and “less than” gets 82 % right.
What does that do to the meaning of a closed gap?
> The model may have learnt the rule and not the numbers: the labels can be guessed from how the
pairs were made. Liu et al. show this rule in an appendix, and it is why a good score on a challenge
is only as good as the challenge.
? The outcomes have limits: 80 % closed, 3 points lost. Who set them?
> We did. Liu et al. give examples and no limits. Each run shows its figures with their intervals,
and Inoculate lets you set other limits; near a limit the name of the outcome says less than the
figures.
"""
INOCULATE = Lesson(
    "inoculate",
    "Inoculate",
    20,
    "A few examples tell whether a model fails for lack of data or for lack of ability.",
    "Liu, Schwartz and Smith 2019, Inoculation by Fine-Tuning",
    {
        NLI.name: written(
            TEXT,
            exhibit={
                "stress": partial(show_changed, STRESSED),
                "dose": show_outcomes,
                "spelling": partial(show_changed, "spelling"),
                "own": partial(show_changed, STRESSED),
            },
            live={
                "stress": stress,
                "dose": partial(from_gallery, STRESSED, (STRESSED_CLAIM,)),
                "spelling": partial(from_gallery, "spelling", ()),
                "numbers": partial(from_gallery, "numerical", ("closed.numerical.esim",)),
                "own": own_run,
            },
            finished=dict.fromkeys(("dose", "spelling", "numbers"), True),
            again={"own": own_again},
            stop={"own": stop_own},
        )
    },
)
