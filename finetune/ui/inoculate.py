"""The aim Inoculate: its challenges and their examples, what its form asks for, what is shown."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast

import gradio as gr
from markupsafe import Markup

from finetune.report.files import export
from finetune.report.inoculation import (
    CHALLENGES,
    MODELS,
    NUMERICAL,
    READERS,
    TONES,
    badge_of,
    plan_that_tells,
    task_of,
)
from finetune.trials.challenges import (
    UserFiles,
    bundled_sets,
    catalogue,
    challenged,
    challenges,
    make_sets,
    template_challenges,
    title_of,
)
from finetune.trials.datasets import Sets, SourceData, bundled
from finetune.trials.inoculation import (
    KIND,
    InoculationRun,
    Plan,
    Selection,
    check,
    inoculation_run,
    run_request,
    sets_from,
)
from finetune.trials.planning import Choices
from finetune.ui.aim import Aim, Changes, Fields, Named, called, choices_of, files_in, read_values
from finetune.ui.html.inoculation import results
from probe.data.names import stem_of
from probe.errors import ExperimentError, RunError, UserError
from probe.first_import import first_import
from probe.models.library import AnyModel
from probe.runs.access import check_kept_models, require_for_runs, start_runs
from probe.runs.engine import Engine
from probe.runs.gallery import OWNER
from probe.runs.run import Json, RunRequest, StoredRun, environment
from probe.runs.store import Store
from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import NLI
from probe.tasks.task import Task, offered_tasks, task_named
from probe.text.difference import edits
from probe.text.duration import duration_words
from probe.transforms.registry import rule_of
from probe.ui.html.edits import diff, short_diff
from probe.ui.html.elements import NOTHING, alert, join, note, twin
from probe.ui.html.prediction import label_name
from probe.ui.page import Page
from probe.ui.run_tab.shown import Looked, RunView

SAMPLES = 5
SAMPLED = 100  # examples among which the samples are sought: some challenges leave most out
BETWEEN = Markup(' <span class="soft">/</span> ')
"""What stands between the texts of an example."""
FAMILIES = ("distractor", "stress", "heuristic", "templates")
"""The families of challenges in the order in which they are offered; others follow."""
FIRST_CHALLENGE, FIRST_OF_SPANS = "word_overlap", "addsent"
COUNTS = ("no", "one", "two", "three", "four", "five")
OFFER = Markup(
    '<p class="onward">What would tell{}: <button type="button" class="btn" data-begin="{}">{}'
    "</button> {} on one core.</p>"
)


def challenge_choices(task: Task = NLI) -> list[tuple[str, str]]:
    """Return (title and name, name) of each challenge of a task, those of a family together."""
    choices = catalogue(task)
    order = list(dict.fromkeys([*FAMILIES, *(choice.family for choice in choices)]))
    ordered = sorted(choices, key=lambda choice: order.index(choice.family))
    return [(f"{choice.title} · {choice.name}", choice.name) for choice in ordered]


def first_challenge(task: Task) -> str:
    """Return the challenge that the form begins with."""
    names = [name for _, name in challenge_choices(task)]
    first = FIRST_OF_SPANS if task.has_spans else FIRST_CHALLENGE
    return first if first in names else names[0]


def samples(name: str, task: Task = NLI) -> Markup:
    """Show a few examples of a challenge, their edits marked where it changes texts."""
    if not name:
        return note("Choose at least one challenge.")
    try:
        return _samples(name, task)
    except ExperimentError as trouble:
        return alert(trouble)


@lru_cache(maxsize=64)
def _samples(name: str, task: Task) -> Markup:
    """Show the first example, and the others folded away."""

    def gold(example: Any) -> Markup:
        """Return the gold label on one line, or the first of the right answers."""
        if task.has_spans:
            return label_name(example.references[0])
        return Markup("<span class=nowrap>{}</span>").format(label_name(example.gold or ""))

    first, *others = [
        Markup("<li>{} {}</li>").format(text, gold(each)) for text, each in _shown(name, task)
    ]
    about = next((entry.summary for entry in catalogue(task) if entry.name == name), "")
    listed = Markup('<ul class="samples">{}</ul>')
    words = (note(about) if about else NOTHING) + note(f"{len(others) + 1} {task.unit}s of {name}.")
    return listed.format(first) + twin(
        f"{COUNTS[len(others)]} more", listed.format(join(others)) + words
    )


def _shown(name: str, task: Task) -> Iterator[tuple[Markup, Any]]:
    """Yield examples of a challenge with their texts as they are shown."""
    plain = Markup("{}").format
    if name in template_challenges(task):
        of_templates = make_sets(name, SourceData((), (), (), task)).challenge_train
        for each in _spread(of_templates, SAMPLES):
            yield join(map(plain, task.texts(each).values()), BETWEEN), each
        return
    before = {each.id: each for each in _spread(bundled(task).pool, SAMPLED)}
    mark = short_diff if task.has_spans else diff
    for new in _spread(challenged(name, list(before.values()), task=task), SAMPLES):
        texts = task.texts(new)
        if rule_of(name) is COMPUTED:  # the new text has none of the old one's words
            yield join(map(plain, texts.values()), BETWEEN), new
            continue
        # of several made from one the ids are numbered
        old = task.texts(before.get(new.id) or before[new.id.rpartition("-")[0]])
        yield join((mark(edits(old[field], texts[field])) for field in old), BETWEEN), new


def _spread(examples: Sequence[Any], n: int) -> Sequence[Any]:
    return examples[:: max(1, len(examples) // n)][:n]


def build(page: Page) -> Fields:
    """Lay out what a model fails on."""
    challenge = gr.Dropdown(
        challenge_choices(), value=[FIRST_CHALLENGE], label="It fails on", multiselect=True,
        allow_custom_value=True, elem_id="train-challenges",
    )  # fmt: skip
    return {"challenges": challenge}


def offered(task: Task) -> Changes:
    """Return the challenges of a task."""
    return {"challenges": {"choices": challenge_choices(task), "value": [first_challenge(task)]}}


def choices(values: Named) -> list[Choices]:
    """Return what is chosen, for each challenge and model.

    Uploaded files are one challenge and the only one. Raises ExperimentError, ModelError.
    """
    chosen, files = values["challenges"], files_of(values)
    if own := files.challenge or files.challenge_train:
        chosen = [(values["own_name"] or "").strip() or stem_of(own)]
        if any(chosen[0] in challenges(task) for task in offered_tasks()):
            known = f"there is a challenge called {chosen[0]} already"
            raise ExperimentError(f"{known}; give yours a name")
    if not chosen:
        raise ExperimentError("choose at least one challenge, or upload your own challenge")
    given = read_values(KIND, values)
    given |= {"batch": given.get("batch") or None}
    del given["train"]
    return [
        choices_of(KIND, model, files, challenge=challenge, **given)
        for challenge in dict.fromkeys(chosen)
        for model in dict.fromkeys(values["models"])
    ]


def files_of(values: Named) -> UserFiles:
    """Return the files that are uploaded, by option. Raises ExperimentError."""
    given = files_in(KIND, values)
    whole = given.pop("challenge_file", None)
    parts = {"challenge_train", "challenge_test"} & set(given)
    if whole and parts:
        raise ExperimentError("upload one challenge file or two, not all three")
    if len(parts) == 1:
        raise ExperimentError("upload both challenge files, to train on and to test on, or neither")
    drawn: dict[str, Any] = {"challenge": whole}  # Any: as above
    if whole:
        if values["train"] is None or values["train"] < 1:
            raise ExperimentError("Pairs to train on: give a number from 1")
        drawn |= {"train": int(values["train"])}
    return UserFiles(**given, **drawn)


def named(run: StoredRun) -> str:
    """Say what a run is of: model, challenge, and on how many examples."""
    title = _title(run.plan["challenge"], task_named(run.plan.get("task") or NLI.name))
    return called(run, f"{title}, to {max(run.plan['sizes'], default=0):,}")


_title = lru_cache(maxsize=256)(title_of)


def badge(run: StoredRun) -> tuple[str, str]:
    """Return what a judged run came to."""
    found = run.verdict["oracle_lr"]
    return TONES[found["outcome"]], badge_of(found)


def rank(run: StoredRun) -> int:
    """Return the place of a run of the gallery: by model, then by challenge."""
    orders = ([*MODELS, *READERS], CHALLENGES)
    places = zip(orders, (run.plan["model"], run.plan["challenge"]), strict=True)
    first, second = (own.index(it) if it in own else len(own) for own, it in places)
    return 100 * first + second


def job(store: Store, owner: str, run: InoculationRun, selection: Selection) -> tuple[Plan, Sets]:
    """Return the plan and sets of the run that would tell; the gallery's keep no sets.

    Raises RunError where no run would, ModelError where the visitor has not its model.
    """
    plan, task = plan_that_tells(run, selection) if run.verdict else None, task_of(run)
    is_public = run.owner == OWNER
    same = run.plan.challenge in challenges(task) and run.plan.challenge != NUMERICAL
    if plan is None or not (same if is_public else run.owner == owner):
        raise RunError("no run that can be started here would tell more")
    require_for_runs(store, owner, plan.model)
    if is_public:
        sets = bundled_sets(plan.challenge, task)
        most = len(sets.challenge_train)
        plan = replace(plan, sizes=tuple(min(size, most) for size in plan.sizes))
    else:
        sets = sets_from(store.inputs(run.id))
    check(plan, sets)
    return plan, sets


def _seconds(plan: Plan, sets: Sets, loaded: Callable[[str], AnyModel | None]) -> float:
    with first_import:
        from finetune.trials.duration import run_seconds

    return run_seconds(plan, sets, loaded(plan.model))


def facts(store: Store, owner: str, run: StoredRun) -> Json | None:
    """Return the arguments of `/inoculate` that would tell, and their seconds, None of none."""
    try:
        plan, sets = job(store, owner, inoculation_run(run), "oracle_lr")
        seconds = _seconds(plan, sets, lambda name: None)
    except UserError:
        return None
    lists = {name: ", ".join(f"{n:g}" for n in getattr(plan, name)) for name in ("sizes", "lrs")}
    numbers = {name: getattr(plan, name) for name in ("mode", "max_epochs", "patience")}
    return {**lists, **numbers, "seconds": round(seconds, 1)}


def start_inoculation(
    store: Store, engine: Engine, owner: str, plan: Plan, sets: Sets
) -> InoculationRun:
    """Start a run for a visitor. Raises a sentence for the person."""
    check_kept_models(store, owner, 1)
    request = run_request(plan, sets, environment(), {"sweep": secrets.token_hex(6)})
    return inoculation_run(start_runs(store, engine, owner, [request])[0])


def about(values: Named, task: Task, owner: str) -> Markup:
    """Show examples of the first challenge, or say that a file takes its place."""
    if own := values.get("challenge_file"):
        return note(f"What it fails on is in {Path(own).name}, which stands under Settings.")
    return samples(next(iter(values["challenges"] or ()), ""), task)


def aim_of(page: Page) -> Aim:
    """Return the aim, whose results start what would tell."""
    store, loaded = page.core.store, page.core.cache.loaded

    def by(looked: Looked) -> Selection:
        return cast(Selection, looked.by) if looked.by == "dev_lr" else "oracle_lr"

    def offer(looked: Looked, run: InoculationRun) -> Markup:
        """Offer the press that starts what would tell, with its time; nothing of none."""
        try:
            plan, sets = job(store, looked.owner, run, by(looked))
            wait = duration_words(_seconds(plan, sets, loaded))
        except UserError:
            return NOTHING
        where = ", on the bundled examples" if run.owner == OWNER else ""
        return OFFER.format(where, run.id, in_words(plan), wait)

    def show(runs: Sequence[StoredRun], looked: Looked) -> Markup:
        typed = list(map(inoculation_run, runs))
        return results(typed, by(looked), looked.opened, partial(offer, looked))

    def begin(looked: Looked, run: StoredRun) -> RunRequest:
        plan, sets = job(store, looked.owner, inoculation_run(run), by(looked))
        sources = {} if run.owner == OWNER else run.artefacts.get("sources")
        return run_request(plan, sets, environment(), {"sources": sources} if sources else {})

    def files(runs: Sequence[StoredRun], folder: Path, looked: Looked) -> list[Path]:
        return list(export(list(map(inoculation_run, runs)), by(looked), folder))

    view = RunView(
        name="inoculate", title="Inoculate", kinds=(KIND,), named=named, badge=badge, results=show,
        files=files, rank=rank, begin=begin,
        empty=(
            "No finished run here yet",
            "Here will stand how the answers get better with the number of examples, how much of "
            "the gap closes, and what that means. Choose what the model fails on, and press Start.",
        ),
    )  # fmt: skip
    return Aim(
        question="Does it lack examples, or the ability?",
        view=view, build=build, choices=choices, offered=offered, suits=lambda task: True,
        about=about,
        kind=lambda values: KIND,
    )  # fmt: skip


def in_words(plan: Plan) -> str:
    """Say what a plan that would tell trains."""
    rates = " and ".join(f"{lr:g}" for lr in plan.lrs)
    several = f", at the rates {rates}" if len(plan.lrs) > 1 else ""
    return f"train all weights on {plan.sizes[0]} examples{several}"
