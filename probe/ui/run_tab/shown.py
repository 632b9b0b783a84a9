"""What is shown of runs: a row for each, how far it is, and what those looked at came to."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from probe.runs.gallery import OWNER
from probe.runs.run import OPEN, STOPPED, Json, RunRequest, StoredRun
from probe.tasks.task import Task, task_named
from probe.text.duration import duration, duration_words
from probe.ui.html.earlier_weights import earlier_weights
from probe.ui.html.elements import NOTHING, alert, join, meter, twin
from probe.ui.html.run import cells_table, renewed, state_in_words, took, worked
from probe.ui.visitors.belongings import moment

MOST = 60
"""Runs that are looked at together, at most."""
Badge = tuple[str, str]
"""The class of a badge, and its words."""


@dataclass(frozen=True)
class Looked:
    """What a visitor looks at: runs by their ids, and how they are shown.

    `opened` is the run that is told in words, `by` how its figures are chosen, `rule` the run that
    is judged anew with what was typed, as ID:TEXT. `seen` marks what is drawn already; `asked` says
    that a person chose this, so that the page's address names it.
    """

    owner: str
    task: Task
    runs: tuple[str, ...] = ()
    opened: str = ""
    by: str = ""
    rule: str = ""
    seen: str = ""
    asked: bool = False

    @classmethod
    def read(cls, owner: str, task: str, value: object) -> "Looked":
        """Read what the list of runs holds; what a browser should not have sent is left out."""
        given: Mapping[str, Any] = value if isinstance(value, dict) else {}
        rows = given.get("runs")
        ids = [row for row in rows if isinstance(row, str)] if isinstance(rows, list) else []
        texts = {name: str(given.get(name, "")) for name in ("opened", "by", "rule", "seen")}
        asked = given.get("asked") is True
        return cls(owner, task_named(task), ids_of(",".join(ids)), **texts, asked=asked)

    @property
    def value(self) -> Json:
        """What the list of runs holds."""
        names = ("runs", "opened", "by", "rule", "seen", "asked")
        return {name: getattr(self, name) for name in names} | {"runs": list(self.runs)}


def ids_of(text: str) -> tuple[str, ...]:
    """Return the ids of a row, or of the `run` of a link, each once."""
    return tuple(dict.fromkeys(name for name in text.split(",") if name))[:MOST]


def _own_id(run: StoredRun) -> str:
    return run.id


@dataclass(frozen=True)
class RunView:
    """How runs of some kinds are listed and shown.

    `name` stands in links, `title` in the list. `named` says what a run is of, `badge` what it came
    to. `results` shows runs that have results, `files` writes what a person takes away of them.
    The gallery's runs of one `group` stand in one row, `together` names it; those of the lowest
    `rank` come first. `begin` asks for the run that a press in a result starts.
    """

    name: str
    title: str
    kinds: tuple[str, ...]
    named: Callable[[StoredRun], str]
    badge: Callable[[StoredRun], Badge]
    results: Callable[[Sequence[StoredRun], Looked], Markup]
    files: Callable[[Sequence[StoredRun], Path, Looked], list[Path]]
    empty: tuple[str, str]
    rank: Callable[[StoredRun], int] = lambda run: 0
    group: Callable[[StoredRun], str] = _own_id
    together: Callable[[Sequence[StoredRun]], str] | None = None
    begin: Callable[[Looked, StoredRun], RunRequest] | None = None


def row(view: RunView, runs: Sequence[StoredRun], looked: Looked, far: str = "") -> Markup:
    """Show runs that stand in one row; `far` says how far one is that is open."""
    first, ids = runs[0], ",".join(run.id for run in runs)
    name = view.together(runs) if view.together and len(runs) > 1 else view.named(first)
    ready, own = first.owner == OWNER, first.owner == looked.owner
    ticked = set(looked.runs) >= {run.id for run in runs}
    kind = " ".join(
        [
            "ready" if ready else "mine",
            *(["ticked"] if ticked else []),
            *(["going"] if first.state in OPEN else []),
        ]
    )
    return Markup(
        '<li class="{}"><input type="checkbox" data-run="{}" aria-label="show {}: {}"{}>'
        '<span class="kind">{}</span><button type="button" class="open" data-open="{}">{}</button>'
        '<span class="far">{}</span><span class="acts">{}</span></li>'
    ).format(
        kind, ids, view.title, name, Markup(" checked") if ticked else NOTHING, view.title, ids,
        name, _far(view, first, ready, own, far), join(_acts(first, ids, name, ready, own)),
    )  # fmt: skip


def _far(view: RunView, run: StoredRun, ready: bool, own: bool, far: str) -> Markup:
    """Say how far a run is, or what it came to and when."""
    if run.state in OPEN:
        drawn = meter(f"how far {view.named(run)} is", share_done(run))
        words = f"{state_in_words(run)} · {far}"
        return Markup('{}<span class="tiny num">{}</span>{}').format(
            drawn, words, alert(run.error) if run.error else NOTHING
        )
    where = "ready-made" if ready else moment(run.finished or run.created)
    shown = "" if ready or own else " · shown to you"
    said = Markup('<span class="badge {}">{}</span> ')
    if run.state in STOPPED:
        badge = said.format("plain", state_in_words(run).lower())
        where = f"{steps_done(run)} · {where}"
    else:
        badge = said.format(*view.badge(run)) if run.verdict else NOTHING
    trouble = alert(run.error) if run.error else NOTHING
    return Markup('{}<span class="tiny soft">{}{}</span>{}').format(badge, where, shown, trouble)


def _acts(run: StoredRun, ids: str, name: str, ready: bool, own: bool) -> Iterator[Markup]:
    """Yield the buttons by which a run is stopped, taken up, shared or deleted."""
    button = Markup(
        '<button type="button" class="link {0}" data-do="{0}" data-run="{1}" '
        'aria-label="{2}: {3}"{4}>{2}</button>'
    )
    if own and run.state in OPEN:
        off = Markup(" disabled") if run.cancelling else NOTHING
        yield button.format("stop", ids, "Stopping" if run.cancelling else "Stop", name, off)
        return
    if own and run.state in STOPPED:
        yield button.format("again", ids, "Take up again", name, NOTHING)
    if own or ready:
        yield button.format("link", ids, "Copy link", name, NOTHING)
    if own:
        sure = Markup(' data-sure="{}"').format(
            f"Delete {name}, its model and its links? It cannot be brought back."
        )
        yield button.format("delete", ids, "Delete", name, sure)


def results(views: Sequence[RunView], runs: Sequence[StoredRun], looked: Looked) -> Markup:
    """Show what runs came to, those of a view together, or what will stand there."""
    shown = list[Markup]()
    for view in views:
        own = [run for run in runs if run.kind in view.kinds]
        begun = [run for run in own if run.results]
        if begun:
            ready = [(run.plan["model"], run.artefacts["model"]) for run in begun if _is_ready(run)]
            shown.append(earlier_weights(ready) + view.results(begun, looked))
        elif own:
            shown.append(_waiting(own))
        shown += [
            renewed(run) + twin(f"{view.named(run)}: each step", cells_table(run))
            for run in own
            if run.owner != OWNER
        ]
    return join(shown) or EMPTY.format(*views[0].empty)


def _is_ready(run: StoredRun) -> bool:
    return run.owner == OWNER


EMPTY = Markup('<div class="card empty"><h3>{}</h3><p>{}</p></div>')


def _waiting(runs: Sequence[StoredRun]) -> Markup:
    takes = math.fsum(map(_whole, runs))
    whole = f" All of it should take {duration_words(takes)}." if takes else ""
    if any(run.state == "running" for run in runs):
        words = f"What comes of it stands here as soon as it ends.{whole}"
        return EMPTY.format("The first step is under way", words)
    if any(run.state in OPEN for run in runs):
        words = f"The first step begins by itself, and what comes of it stands here.{whole}"
        return EMPTY.format("Waiting for its turn", words)
    return EMPTY.format("No step ended", "Take the run up again, or start another.")


def told(views: Sequence[RunView], runs: Sequence[StoredRun]) -> Markup:
    """Return what is told of the runs in the browser's title, and at their end."""
    state = "running" if any(run.state in OPEN for run in runs) else "finished"
    words = "; ".join(
        f"{state_in_words(run)}: {view.named(run)} · {steps_done(run)}"
        for run in runs
        for view in views
        if run.kind in view.kinds
    )
    return Markup('<span data-state="{}" data-title="{}" hidden></span>').format(state, words)


def mark_of(runs: Sequence[StoredRun], looked: Looked) -> str:
    """Return what changes when the results of these runs do."""
    states = (f"{run.id} {len(run.results)} {run.state} {bool(run.verdict)}" for run in runs)
    return "|".join([looked.task.name, looked.opened, looked.by, looked.rule, *states])


def steps_done(run: StoredRun) -> str:
    """Say how many steps are done."""
    return f"{len(run.results)} of {len(run.cells)} steps"


def how_far(run: StoredRun, before: int = 0, wait: float = 0.0) -> str:
    """Say how much is done, what is under way, how long it took and about how long it takes yet.

    So many others are `before` one that waits, for `wait` seconds, 0 where that is not known.
    """
    left = seconds_left(run)
    untold = run.artefacts.get("seconds") == 0 and not run.results
    measuring = "measuring how long it takes" if untold else ""
    if run.state == "queued" and not run.results:
        others = "1 run is" if before == 1 else f"{before} runs are"
        place = f"{others} before it" if before else "next in line"
        begins = f"begins in {duration_words(wait)}" if before and wait else ""
        waited = f"for {duration(time.time() - run.created)}"
        takes = f"takes {duration_words(left)}" if left else measuring
        return " · ".join(filter(None, [place, begins or waited, takes]))
    said = [steps_done(run), _under_way(run), took(run)]
    if run.state == "running" and left >= 1:
        said.append(f"{duration_words(left)} left")
    elif run.state == "running" and _whole(run):
        said.append("longer than expected")
    elif run.state == "running":
        said.append(measuring)
    return " · ".join(filter(None, said))


def _under_way(run: StoredRun) -> str:
    """Say how far the part is that is under way: its epoch, or its name."""
    for cell in run.cells:
        if cell.state == "running":
            told = cell.progress or {}
            if "epoch" in told:
                most = run.plan.get("max_epochs") or run.plan.get("training", {}).get("epochs")
                return f"epoch {told['epoch']}" + (f" of at most {most}" if most else "")
            count = told.get("texts", 0)
            texts = f", {count:,} text{'' if count == 1 else 's'}" if count else ""
            return str(told.get("part", "preparing")).replace("_", " ") + texts
    return ""


def share_done(run: StoredRun) -> float:
    """Return the share of a run that is done, by what it took and takes where that is known.

    One that takes longer than expected goes on nearing its end.
    """
    done, passed, whole = len(run.results) / max(1, len(run.cells)), _passed(run), _whole(run)
    going = run.state == "running" and whole
    return max(done, passed / max(whole, 1.1 * passed)) if going else done


def seconds_left(run: StoredRun) -> float:
    """Return about how long a run still takes, 0 where that cannot be told."""
    return max(_whole(run) - _passed(run), 0.0)


def _passed(run: StoredRun) -> float:
    """Return for how long a run has worked, at least what its steps took if it was taken up."""
    spent = math.fsum(each.get("seconds", 0.0) for each in run.results)
    return max(spent, worked(run) if run.state == "running" else 0.0)


def _whole(run: StoredRun) -> float:
    """Return about how long all of a run takes, 0 where that cannot be told.

    Before a step is done, it is as the form said; then by what the steps took and the one under way
    takes, and the more so the more are done, since the first ones are often short.
    """
    planned, done, every = (
        float(run.artefacts.get("seconds", 0.0)),
        len(run.results),
        len(run.cells),
    )
    if not done:
        return planned
    spent = math.fsum(each.get("seconds", 0.0) for each in run.results)
    paced = max(spent / done, _passed(run) / (done + 1)) * every
    return planned + (paced - planned) * (done + 1) / (every + 1) if planned else paced


def looking_at(looked: Looked, *ids: str, **changed: Any) -> Looked:
    """Return that other runs are looked at, as a person asked for."""
    return replace(looked, runs=ids, **{"opened": "", "rule": "", "asked": True, **changed})
