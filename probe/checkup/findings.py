"""What a check-up says in plain sentences, and what to try next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Advice:
    """What to try, why, and the command that does it."""

    why: str
    command: str


def findings(
    task: Task, figures: Sequence[Figure], others: Mapping[str, Mapping[str, Figure]]
) -> list[str]:
    """Say what a model is good and bad at; `others` are figures of other models by their names."""
    by_name = {figure.name: figure for figure in figures}
    parts = (_plain, _beside, _calibrated, _salad, _stress, _another, _hans, _slices)
    return [line for part in parts for line in part(task, by_name, others)]


Figures = Mapping[str, Figure]
Others = Mapping[str, Figures]


def _plain(task: Task, own: Figures, others: Others) -> Iterator[str]:
    found = own[task.measure.lower()]
    reached = percent(found.estimate)
    if task.has_spans:
        yield f"Its answers to {found.n:,} {task.unit}s have an F1 of {reached}."
    else:
        yield f"It is right on {reached} of {found.n:,} {task.unit}s."


def _beside(task: Task, own: Figures, others: Others) -> Iterator[str]:
    name = task.measure.lower()
    for other, known in others.items():
        if name in known:
            found, reached = difference(known[name], own[name]), percent(known[name].estimate)
            if not is_sure(found):
                yield f"That is not measurably different from {other}, {reached}."
            else:
                than = "more than" if found.value > 0 else "less than"
                yield f"That is {points(found)} {than} {other}, {reached}."


def _calibrated(task: Task, own: Figures, others: Others) -> Iterator[str]:
    if "ece" in own:
        yield (
            f"Its confidence is {100 * own['ece'].value:.1f} points from how often it is right, on "
            "average (expected calibration error, 15 bins)."
        )


def _salad(task: Task, own: Figures, others: Others) -> Iterator[str]:
    for figure in own.values():
        if figure.group != "salad":
            continue
        known = published_shares().get(f"agreement.{figure.name}.{task.name}")
        beside = f"; {known.who}: {100 * known.share:.1f} % ({known.source})" if known else ""
        yield (
            f"“{figure.title}”: the answer stays as if the text could be read on "
            f"{percent(figure.estimate)} of {figure.n}{beside}."
        )


def losses(own: Figures) -> dict[str, tuple[Figure, Figure]]:
    """Return before and after of each change that has a right answer, by its name."""
    return {
        name: (own[f"{name}.before"], figure)
        for name, figure in own.items()
        if figure.group == "stress" and f"{name}.before" in own
    }


def _stress(task: Task, own: Figures, others: Others) -> Iterator[str]:
    unmoved = list[str]()
    for before, after in losses(own).values():
        found = difference(before, after)
        if not is_sure(found):
            unmoved.append(f"“{after.title}”")
            continue
        yield (
            f"“{after.title}” {'costs' if found.value < 0 else 'gains'} {points(found)}: "
            f"{task.measure} goes from {100 * before.value:.1f} to {100 * after.value:.1f} % "
            f"(n {after.n})."
        )
    if unmoved:
        yield f"Nothing that can be measured is lost by {listing(unmoved)}."


def listing(names: Sequence[str]) -> str:
    """Return names with commas between them and "and" before the last."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _computed(own: Figures) -> list[Figure]:
    """Return the figures of changes after which another answer is right, the lowest first."""
    stress = [figure for figure in own.values() if figure.group == "stress"]
    alone = [f for f in stress if not f.name.endswith(".before") and f"{f.name}.before" not in own]
    return sorted(alone, key=lambda each: each.value)


def _another(task: Task, own: Figures, others: Others) -> Iterator[str]:
    for figure in _computed(own):
        reached = percent(figure.estimate)
        yield f"“{figure.title}”, which another answer may fit: right on {reached} of {figure.n}."


def _hans(task: Task, own: Figures, others: Others) -> Iterator[str]:
    for figure in own.values():
        if figure.group == "hans":
            reached = percent(figure.estimate)
            yield f"HANS, {figure.title.lower()}: right on {reached} of {figure.n}."


def _slices(task: Task, own: Figures, others: Others) -> Iterator[str]:
    whole = own[task.measure.lower()]
    low = [f for f in own.values() if f.group == "slices" and f.high < whole.value]
    for figure in sorted(low, key=lambda each: each.value):
        yield f"It is weaker on {figure.title}: {percent(figure.estimate)} of {figure.n}."


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
            _inoculate(model, name, name),
        )
        for lost, name, after in sorted(found, key=lambda each: each[0])[:MOST]
    ]
    whole = own[task.measure.lower()]
    wanted += [
        Advice(
            f"“{each.title}” leaves {100 * each.value:.1f} % right. See whether examples help",
            _inoculate(model, each.name, each.name),
        )
        for each in _computed(own)[:MOST]
        if each.high < whole.low
    ]
    tricked = [f for f in own.values() if f.group == "hans" and f.name.endswith(".non-entailment")]
    if any(figure.high < TRICKED for figure in tricked):
        why = "It says entailment where only the words are there. See whether that is learnt"
        wanted.append(Advice(why, _inoculate(model, "templates_hans", "hans")))
    if any(figure.group == "salad" and figure.low > KEPT for figure in own.values()):
        wanted += _for_salad(task, model)
    if "ece" in own and own["ece"].value > SURE:
        wanted.append(
            Advice(
                "Its confidence is off. Scale it",
                f"python -m finetune calibrate --model {model} --out repaired/calibration",
            )
        )
    return wanted


def _inoculate(model: str, challenge: str, folder: str) -> str:
    return (
        f"python -m finetune inoculate --model {model} --challenge {challenge} "
        f"--out inoculated/{folder}"
    )


def _for_salad(task: Task, model: str) -> list[Advice]:
    if task.has_spans:
        return []
    return [
        Advice(
            "It answers texts that nobody can read. Let it say that they are broken",
            f"python -m finetune mitigate --model {model} --out repaired/mitigation",
        )
    ]
