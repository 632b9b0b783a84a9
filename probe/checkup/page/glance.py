"""A report at a glance: one sentence, and a few numbers that anybody can read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from probe.checkup.conclusions.findings import (
    BOUND,
    KEPT,
    TRICKED,
    Tone,
    error_of,
    tone_of_error,
)
from probe.checkup.figure import Figure
from probe.checkup.report import figures_of
from probe.metrics import FEWEST, interval
from probe.models.bundled import title_of
from probe.runs.run import Json
from probe.tasks.task import Task, task_named
from probe.terms import capitalised

TONE_WORDS: Mapping[Tone, str] = {"good": "good", "bad": "bad", "": "neither good nor bad"}
"""What a colour says, for who does not see it."""


@dataclass(frozen=True)
class Glance:
    """A number, what it is of, and whether it speaks for the model, against it, or neither."""

    number: str
    words: str
    tone: Tone = ""


def verdict(report: Json) -> str:
    """Say in a sentence or two how good a model is and what it cannot do; "" before it is known."""
    task, own = task_named(report["task"]), figures_of(report)
    if task.measure.lower() not in own:
        return ""
    whole = own[task.measure.lower()]
    score = "has an F1 of" if task.has_spans else "is right on"
    name, texts = title_of(report["model"]["name"]), f"{whole.n:,} {task.unit}s"
    told = [f"{name} {score} {_percent(whole)} of {texts}{whole.classes}"]
    costly, harmless = _harmless(report, own)
    if harmless:
        changes, cost = _changes_cost(harmless)
        told.append(f"{costly} of {harmless} harmless {changes} of the texts {cost} it answers")
    kept, unreadable = _kept(own)
    if unreadable:
        told.append(
            f"in {kept} of {unreadable} {_ways(unreadable)} of making a text unreadable it mostly "
            "answers as if nothing had happened"
        )
    first, *rest = told
    return f"{first}. {capitalised('; '.join(rest))}." if rest else f"{first}."


def glances(report: Json) -> list[Glance]:
    """Return the numbers of a report, none before the texts as they are have been measured."""
    task, own = task_named(report["task"]), figures_of(report)
    if task.measure.lower() not in own:
        return []
    parts = (_score(report, task, own), _changes(report, own), _salad(own), _hans(own), _off(own))
    return [each for part in parts for each in part]


def _score(report: Json, task: Task, own: Mapping[str, Figure]) -> Iterator[Glance]:
    whole = own[task.measure.lower()]
    known = f"{interval(whole.estimate)} %"
    if "majority" not in own:
        yield Glance(_percent(whole), f"{task.measure} on texts as they are ({known})")
        return
    is_better = any(
        row["remains"] and row["value"] > 0 for row in report["tests"] if row["name"] == "majority"
    )
    yield Glance(
        _percent(whole),
        f"right on texts as they are{whole.classes} ({known}); one answer for all: "
        f"{_percent(own['majority'])}",
        "good" if is_better else "bad",
    )


def _changes(report: Json, own: Mapping[str, Figure]) -> Iterator[Glance]:
    costly, harmless = _harmless(report, own)
    if harmless:
        changes, cost = _changes_cost(harmless)
        words = f"harmless {changes}, such as a spelling mistake, {cost} it answers"
        bounded = all(row["low"] > -BOUND for row in _harmless_rows(report, own))
        tone: Tone = "bad" if costly else "good" if bounded else ""
        yield Glance(f"{costly} of {harmless}", words, tone)


def _changes_cost(count: int) -> tuple[str, str]:
    return ("change", "costs") if count == 1 else ("changes", "cost")


def _harmless(report: Json, own: Mapping[str, Figure]) -> tuple[int, int]:
    """Return how many changes that leave the right answer cost something, and of how many."""
    rows = _harmless_rows(report, own)
    return sum(row["remains"] and row["value"] < 0 for row in rows), len(rows)


def _harmless_rows(report: Json, own: Mapping[str, Figure]) -> list[Json]:
    return [row for row in report["tests"] if f"{row['name']}.before" in own]


def _salad(own: Mapping[str, Figure]) -> Iterator[Glance]:
    kept, unreadable = _kept(own)
    if unreadable:
        ways = _ways(unreadable)
        words = f"{ways} of making a text unreadable after which it mostly answers as before"
        all_change = all(each.high < KEPT for each in own.values() if each.group == "salad")
        tone: Tone = "bad" if kept else "good" if all_change else ""
        yield Glance(f"{kept} of {unreadable}", words, tone)


def _ways(count: int) -> str:
    return "way" if count == 1 else "ways"


def _kept(own: Mapping[str, Figure]) -> tuple[int, int]:
    """Return after how many kinds of word salad most answers stay, and how many there are."""
    salad = [each for each in own.values() if each.group == "salad"]
    return sum(each.low > KEPT for each in salad), len(salad)


def _hans(own: Mapping[str, Figure]) -> Iterator[Glance]:
    hans = [each for each in own.values() if each.group == "hans" and each.n >= FEWEST]
    if telling := [each for each in hans if each.name.endswith(".non-entailment")]:
        worst = min(telling, key=lambda each: each.value)
        tone: Tone = "bad" if worst.high < TRICKED else "good" if worst.low > TRICKED else ""
        words = "right where the same words suggest a yes and the answer is no (HANS, the worst)"
        yield Glance(_percent(worst), words, tone)


def _off(own: Mapping[str, Figure]) -> Iterator[Glance]:
    if "ece" in own:
        error, points = error_of(own), f"{100 * own['ece'].value:.1f} points"
        beside = error.beside if error else "its interval is not known"
        words = f"between how sure it says it is and how often it is right ({beside})"
        yield Glance(points, words, tone_of_error(error) if error else "")


def _percent(figure: Figure) -> str:
    return f"{100 * figure.value:.0f} %"
