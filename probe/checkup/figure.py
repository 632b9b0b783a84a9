"""One figure of a check-up: a share with its interval, and whether more of it is better."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from probe.metrics import Estimate
from probe.runs.run import Json
from probe.tasks.task import IN_COMMON

Group = Literal["plain", "labels", "salad", "confidence", "stress", "hans", "subcases", "slices"]
GROUPS: dict[Group, str] = {
    "plain": "Texts as they are",
    "labels": "By the right answer",
    "salad": "Texts that nobody can read (word salad)",
    "confidence": "How sure it is of texts that nobody can read",
    "stress": "Texts changed so that the right answer is known",
    "hans": "Where the words of one text stand in the other (HANS)",
    "subcases": "The sub-cases of HANS",
    "slices": "Kinds of texts",
}
"""The parts of a report and what each is called, in their order."""


@dataclass(frozen=True)
class Figure:
    """A share from 0 to 1 over n texts with its 95 % interval, low and high.

    `name` is what it is asked for by, such as negation, `title` what a person calls it. `low` and
    `high` are NaN where none is known, as of a calibration error. `more_is_better` is None of what
    is neither, such as a rule that a model is set beside. `rows` are the scores of the texts, by
    which two reports are compared text by text; a report of reference has none. It is `merged`
    where right answers are read in two classes, as some of them are; the title says so.
    """

    name: str
    title: str
    group: Group
    value: float
    low: float
    high: float
    n: int
    more_is_better: bool | None = True
    rows: tuple[float, ...] = ()
    merged: bool = False

    @property
    def estimate(self) -> Estimate:
        """The share with its interval."""
        return Estimate(self.value, self.low, self.high, self.n)

    @property
    def classes(self) -> str:
        """What a sentence adds to how often answers are right: in which classes, "" for all."""
        return f" {IN_COMMON}" if self.merged else ""


def figure_of(
    name: str,
    title: str,
    group: Group,
    found: Estimate,
    rows: Sequence[float] = (),
    more_is_better: bool | None = True,
    merged: bool = False,
) -> Figure:
    """Return a figure of an estimate; scores are kept to three places."""
    kept, ends = tuple(round(float(score), 3) for score in rows), (found.low, found.high)
    said = f"{title}, {IN_COMMON}" if merged else title
    return Figure(name, said, group, found.value, *ends, found.n, more_is_better, kept, merged)


def figure_json(figure: Figure) -> Json:
    """Return a figure as JSON; an interval that is not known is null."""
    return {
        "name": figure.name,
        "title": figure.title,
        "group": figure.group,
        "value": figure.value,
        "low": known(figure.low),
        "high": known(figure.high),
        "n": figure.n,
        "more_is_better": figure.more_is_better,
        "rows": list(figure.rows),
        **({"merged": True} if figure.merged else {}),
    }


def known(value: float) -> float | None:
    """Return a number for a JSON: null where it is not known (NaN)."""
    return None if math.isnan(value) else value


def figure_from(values: Json) -> Figure:
    """Read a figure from its JSON. Raises KeyError, TypeError or ValueError for another form."""
    ends = {
        end: float("nan") if values[end] is None else finite(values[end]) for end in ("low", "high")
    }
    numbers = {"value": finite(values["value"]), "n": int(values["n"]), **ends}
    rows = tuple(finite(row) for row in values.get("rows", ()))
    return Figure(**{**values, **numbers, "rows": rows})


def finite(value: object) -> float:
    """Return a number of a JSON. Raises TypeError or ValueError where it is none."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no finite number")
    return float(value)
