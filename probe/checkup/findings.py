"""What a check-up says in plain sentences, and what to try next."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from probe.checkup.difference import difference, is_sure, points
from probe.checkup.figure import Figure
from probe.metrics import percent
from probe.published import published_shares
from probe.tasks.task import Task

COSTS, SURE, KEPT, TRICKED = 0.02, 0.05, 0.5, 0.5
"""A loss that is worth a try at a cure; a calibration error; answers that stay on texts that nobody
can read; the share of pairs that are not entailed which is right at least."""


MOST = 3
"""Changes of a kind that are advised against, the worst first."""


Tone = Literal["good", "bad", ""]


@dataclass(frozen=True)
class Finding:
    """A sentence, and whether it speaks for the model, against it, or neither."""

    sentence: str
    tone: Tone = ""


@dataclass(frozen=True)
class Advice:
    """What to try, why, and the command that does it.

    `tab` is where the page does it, `challenge` what an inoculation is against there.
    """

    why: str
    command: str
    tab: str = "repair"
    challenge: str = ""


def findings(
    task: Task, figures: Sequence[Figure], others: Mapping[str, Mapping[str, Figure]]
) -> list[Finding]:
    """Say what a model is good and bad at; `others` are figures of other models by their names."""
    by_name = {figure.name: figure for figure in figures}
    parts = (_plain, _beside, _calibrated, _salad, _stress, _another, _hans, _slices)
    return [found for part in parts for found in part(task, by_name, others)]


_THAN: Mapping[bool, tuple[str, Tone]] = {
    True: ("more than", "good"),
    False: ("less than", "bad"),
}
Figures = Mapping[str, Figure]
Others = Mapping[str, Figures]


def _plain(task: Task, own: Figures, others: Others) -> Iterator[Finding]:
    found = own[task.measure.lower()]
    reached = percent(found.estimate)
    if task.has_spans:
        yield Finding(f"Its answers to {found.n:,} {task.unit}s have an F1 of {reached}.")
    else:
        yield Finding(f"It is right on {reached} of {found.n:,} {task.unit}s.")


def _beside(task: Task, own: Figures, others: Others) -> Iterator[Finding]:
    name = task.measure.lower()
    for other, known in others.items():
        if name in known:
            found, reached = difference(known[name], own[name]), percent(known[name].estimate)
            if not is_sure(found):
                yield Finding(f"That is not measurably different from {other}, {reached}.")
            else:
                than, tone = _THAN[found.value > 0]
                yield Finding(f"That is {points(found)} {than} {other}, {reached}.", tone)


def _calibrated(task: Task, own: Figures, others: Others) -> Iterator[Finding]:
    if "ece" in own:
        yield Finding(
            f"Its confidence is {100 * own['ece'].value:.1f} points from how often it is right, on "
            "average (expected calibration error, 15 bins).",
            "bad" if own["ece"].value > SURE else "good",
        )


def _salad(task: Task, own: Figures, others: Others) -> Iterator[Finding]:
    for figure in own.values():
        if figure.group != "salad":
            continue
        known = published_shares().get(f"agreement.{figure.name}.{task.name}")
        beside = f"; {known.who}: {100 * known.share:.1f} % ({known.source})" if known else ""
        yield Finding(
            f"“{figure.title}”: the answer stays as if the text could be read on "
            f"{percent(figure.estimate)} of {figure.n}{beside}.",
            _around(figure, KEPT),
        )


def _around(figure: Figure, middle: float) -> Tone:
    """Return the tone of a figure whose interval lies on one side of the middle."""
    if figure.low > middle:
        return "good" if figure.more_is_better else "bad"
    if figure.high < middle:
        return "bad" if figure.more_is_better else "good"
    return ""


def losses(own: Figures) -> dict[str, tuple[Figure, Figure]]:
    """Return before and after of each change that has a right answer, by its name."""
    return {
        name: (own[f"{name}.before"], figure)
        for name, figure in own.items()
        if figure.group == "stress" and f"{name}.before" in own
    }


def _stress(task: Task, own: Figures, others: Others) -> Iterator[Finding]:
    unmoved = list[str]()
    for before, after in losses(own).values():
        found = difference(before, after)
        if not is_sure(found):
            unmoved.append(f"“{after.title}”")
            continue
        yield Finding(
            f"“{after.title}” {'costs' if found.value < 0 else 'gains'} {points(found)}: "
            f"{task.measure} goes from {100 * before.value:.1f} to {100 * after.value:.1f} % "
            f"(n {after.n}).",
            "bad" if found.value < 0 else "good",
        )
    if unmoved:
        yield Finding(f"Nothing that can be measured is lost by {listing(unmoved)}.", "good")


def listing(names: Sequence[str]) -> str:
    """Return names with commas between them and "and" before the last."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _computed(own: Figures) -> list[Figure]:
    """Return the figures of changes after which another answer is right, the lowest first."""
    stress = [figure for figure in own.values() if figure.group == "stress"]
    alone = [f for f in stress if not f.name.endswith(".before") and f"{f.name}.before" not in own]
    return sorted(alone, key=lambda each: each.value)


def _another(task: Task, own: Figures, others: Others) -> Iterator[Finding]:
    for figure in _computed(own):
        reached, is_low = percent(figure.estimate), figure.high < own[task.measure.lower()].low
        yield Finding(
            f"“{figure.title}”, which another answer may fit: right on {reached} of {figure.n}.",
            "bad" if is_low else "",
        )


def _hans(task: Task, own: Figures, others: Others) -> Iterator[Finding]:
    for figure in own.values():
        if figure.group == "hans":
            reached, telling = percent(figure.estimate), figure.name.endswith(".non-entailment")
            yield Finding(
                f"HANS, {figure.title.lower()}: right on {reached} of {figure.n}.",
                # who always says entailment is right on the entailed ones too
                _around(figure, TRICKED) if telling else "",
            )


def _slices(task: Task, own: Figures, others: Others) -> Iterator[Finding]:
    whole = own[task.measure.lower()]
    low = [f for f in own.values() if f.group == "slices" and f.high < whole.value]
    for figure in sorted(low, key=lambda each: each.value):
        reached = percent(figure.estimate)
        yield Finding(f"It is weaker on {figure.title}: {reached} of {figure.n}.", "bad")


def advice(task: Task, model: str, own: Figures) -> list[Advice]:
    """Return what to try, the largest loss first."""
    found = [
        (after.value - before.value, name, after)
        for name, (before, after) in losses(own).items()
        if is_sure(difference(before, after)) and before.value - after.value >= COSTS
    ]
    wanted = [
        Advice(
            f"“{after.title}” costs {-100 * lost:.1f} points. See whether examples close the gap",
            *_inoculate(model, name, name),
        )
        for lost, name, after in sorted(found, key=lambda each: each[0])[:MOST]
    ]
    whole = own[task.measure.lower()]
    wanted += [
        Advice(
            f"“{each.title}” leaves {100 * each.value:.1f} % right. See whether examples help",
            *_inoculate(model, each.name, each.name),
        )
        for each in _computed(own)[:MOST]
        if each.high < whole.low
    ]
    tricked = [f for f in own.values() if f.group == "hans" and f.name.endswith(".non-entailment")]
    if any(figure.high < TRICKED for figure in tricked):
        why = "It says entailment where only the words are there. See whether that is learnt"
        wanted.append(Advice(why, *_inoculate(model, "templates_hans", "hans")))
    if any(figure.group == "salad" and figure.low > KEPT for figure in own.values()):
        wanted += _for_salad(task, model)
    if "ece" in own and own["ece"].value > SURE:
        wanted.append(
            Advice(
                "Its confidence is off. Scale it",
                _finetune("calibrate", {"--model": model, "--out": "repaired/calibration"}),
            )
        )
    return wanted


def _inoculate(model: str, challenge: str, folder: str) -> tuple[str, str, str]:
    """Return the command, the tab and the challenge of an inoculation."""
    options = {"--model": model, "--challenge": challenge, "--out": f"inoculated/{folder}"}
    return _finetune("inoculate", options), "inoculate", challenge


def _finetune(command: str, options: Mapping[str, str]) -> str:
    words = [word for option in options.items() for word in option]
    return shlex.join(["python", "-m", "finetune", command, *words])


def _for_salad(task: Task, model: str) -> list[Advice]:
    if task.has_spans:
        return []
    return [
        Advice(
            "It answers texts that nobody can read. Let it say that they are broken",
            _finetune("mitigate", {"--model": model, "--out": "repaired/mitigation"}),
        )
    ]
