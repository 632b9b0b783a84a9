"""Which figures of a check-up are tested against which, in families of one kind."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from probe.checkup.conclusions.significance import Compared, compared
from probe.checkup.figure import Figure, figure_of
from probe.checkup.measuring.unchanged import merged_name
from probe.metrics import FEWEST, mean_score
from probe.models.bundled import title_of
from probe.tasks.task import Task

Family = Literal["changes", "beside", "kinds"]
FAMILIES: dict[Family, str] = {
    "changes": "a change of the texts",
    "beside": "another model or a rule",
    "kinds": "a kind of texts, beside all other texts",
}
"""What the tests of a report are about; each kind is corrected for by itself."""
Figures = Mapping[str, Figure]
Others = Mapping[str, Figures]
Tests = Mapping[Family, Mapping[str, Compared]]


def families_of(task: Task, own: Figures, others: Others) -> Tests:
    """Test the figures of a model, against each other and those of other models by their names."""
    pairs: dict[Family, dict[str, tuple[Figure, Figure]]] = {
        "changes": _changes(task, own),
        "beside": _beside(task, own, others),
        "kinds": _kinds(task, own),
    }
    return {
        family: dict(zip(each, compared(list(each.values())), strict=True))
        for family, each in pairs.items()
    }


def losses(own: Figures) -> dict[str, tuple[Figure, Figure]]:
    """Return before and after of each change that has a right answer, by its name."""
    return {
        name: (own[f"{name}.before"], figure)
        for name, figure in own.items()
        if figure.group == "stress" and f"{name}.before" in own
    }


def computed(own: Figures) -> list[Figure]:
    """Return the figures of changes after which another answer is right, the lowest first.

    Those of fewer than `FEWEST` texts are not among them, see `too_few`.
    """
    return sorted((each for each in _alone(own) if each.n >= FEWEST), key=lambda each: each.value)


def too_few(own: Figures) -> list[Figure]:
    """Return those that are of too few texts to be ranked."""
    return [each for each in _alone(own) if each.n < FEWEST]


def _alone(own: Figures) -> list[Figure]:
    stress = [figure for figure in own.values() if figure.group == "stress"]
    return [f for f in stress if not f.name.endswith(".before") and f"{f.name}.before" not in own]


def _changes(task: Task, own: Figures) -> dict[str, tuple[Figure, Figure]]:
    """Pair each change with the same texts before, or where another answer is right with all.

    Before and after have as many texts where they are the same ones, and the same classes.
    """
    plain = own[task.measure.lower()]
    wholes = {
        each.merged: replace(each, title=f"all texts as they are{each.classes}", rows=())
        for each in (own.get(merged_name(task), plain), plain)
    }
    return losses(own) | {
        each.name: (wholes.get(each.merged, wholes[plain.merged]), each) for each in computed(own)
    }


def _beside(task: Task, own: Figures, others: Others) -> dict[str, tuple[Figure, Figure]]:
    name = task.measure.lower()
    rules = {each: own[each] for each in ("majority", "hypothesis_only") if each in own}
    models = {
        other: replace(known[name], title=title_of(other))
        for other, known in others.items()
        if name in known
    }
    return {beside: (figure, own[name]) for beside, figure in {**rules, **models}.items()}


def _kinds(task: Task, own: Figures) -> dict[str, tuple[Figure, Figure]]:
    """Pair each kind of texts with all others, but for kinds of a few texts."""
    whole = own[task.measure.lower()]
    kinds = [f for f in own.values() if f.group in ("labels", "slices") and f.n >= FEWEST]
    pairs = {each.name: (_rest(task, whole, each), each) for each in kinds}
    return {name: pair for name, pair in pairs.items() if pair[0].n}


def _rest(task: Task, whole: Figure, kind: Figure) -> Figure:
    """Return the figure of the texts that are not of a kind, without their scores."""
    rows = list((Counter(whole.rows) - Counter(kind.rows)).elements())
    found = mean_score(task, rows)
    return figure_of(whole.name, "all other texts", whole.group, found)
