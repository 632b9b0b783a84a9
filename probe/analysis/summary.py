"""What scored rows say together: agreement, confidence and accuracy, by transform and label."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from probe.analysis.batch import Row
from probe.analysis.transformed import Transformed
from probe.models.classifier import Prediction
from probe.models.windows import WindowPrediction
from probe.statistics import NOTHING, Estimate, Share
from probe.tasks.task import INVALID, MERGED, TOLD_APART, Label, Task

COUNTED = ("rows", "scored", "cut", "unknown", "unspaced", "windowed", "sampled", "differing")
UNIT = 2.0**-200
"""Of the sums of an earlier version, which were whole numbers: no mean is above 1."""
ORIGINAL = "original"
"""How the untouched examples are called where transforms are."""


def measures(task: Task) -> tuple[str, ...]:
    """Return the names of what is measured; the groups of a task are accuracies of their own.

    Where answers are spans, the accuracy is their exact match, and F1 stands beside it.
    """
    return ("agreement", "confidence", "accuracy", *(("f1",) if task.f1 else ()), *task.groups)


@dataclass(frozen=True)
class Measured:
    """Estimates by measure over some examples; one with n = 0 is not defined.

    Nor is the accuracy where some gold labels merge two that others tell apart, as non-entailment
    does: answers in two classes and in three have no average. The groups are reported instead.
    `not_applicable` counts examples in another language than the transform's; they are in no n. A
    group is that of the examples' own gold label, as HANS and fritz report entailed pairs.
    """

    estimates: Mapping[str, Estimate]
    unchanged: int = 0
    inexact: int = 0
    not_applicable: int = 0

    def __getitem__(self, measure: str) -> Estimate:
        """Return the estimate of a measure."""
        return self.estimates[measure]


@dataclass(frozen=True)
class Summary:
    """What the rows say together, overall and by transform, each also by gold label.

    Of `sampled` answers that were given in bf16 and in fp32, `differing` are not the same. Of
    `unknown` rows the model's vocabulary has not the words, `unspaced` ones have no blanks between
    words, of `windowed` ones a window decided; `languages` counts those that are not in English.
    """

    rows: int
    scored: int
    errors: int
    cut: int
    original: Measured
    transforms: Mapping[str, Measured]
    by_label: Mapping[str, Mapping[str, Measured]]
    predicted: Mapping[str, int]
    sampled: int = 0
    differing: int = 0
    unknown: int = 0
    unspaced: int = 0
    windowed: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)


@dataclass
class Counts:
    """Counts over examples of a task, from which what is measured follows."""

    task: Task
    shares: defaultdict[str, Share] = field(default_factory=lambda: defaultdict(Share))
    confidence: Share = field(default_factory=Share)
    f1: Share = field(default_factory=Share)
    unchanged: int = 0
    inexact: int = 0
    not_applicable: int = 0

    def add(self, prediction: Prediction, gold: Label | None) -> None:
        """Count the answer to an example with this gold label."""
        self.confidence.add(prediction.confidence)
        if gold is None:
            return
        self.shares["accuracy"].add(self.task.matches(prediction.label, gold))
        if kind := self.task.gold_kind(gold):
            self.shares[kind].add(True)
        if self.task.f1:
            self.f1.add(self.task.f1(prediction.label, gold))
        for name, group in self.task.groups.items():
            if gold in group.golds:
                self.shares[name].add(self.task.matches(prediction.label, group.gold))

    def add_transformed(self, transformed: Transformed) -> None:
        """Count a transformed example; one that the transform left as it was says nothing."""
        result = transformed.result
        if result.not_applicable:
            self.not_applicable += 1
            return
        if not result.changed:
            self.unchanged += 1
            return
        self.shares["agreement"].add(transformed.agrees)
        self.inexact += not result.exact
        self.add(transformed.prediction, result.gold)

    def measured(self) -> Measured:
        """Return the estimates so far."""
        estimates = {name: self.shares[name].estimate() for name in measures(self.task)}
        estimates["confidence"] = self.confidence.mean()
        if all(self.shares[kind].n for kind in (MERGED, TOLD_APART)):
            estimates["accuracy"] = NOTHING
        if self.task.f1:
            estimates["f1"] = self.f1.mean()
        return Measured(estimates, self.unchanged, self.inexact, self.not_applicable)

    def merge(self, state: Mapping[str, Any]) -> None:  # Any: JSON
        """Count what `state` gave of other examples."""
        for name, (count, n) in state["shares"].items():
            self.shares[name].count += count
            self.shares[name].n += n
        for name in ("confidence", "f1"):
            share: Share = getattr(self, name)
            total, squares, n = state[name]
            unit = UNIT if total > n else 1.0
            share.count += total * unit
            share.squares += squares * unit * unit
            share.n += n
        self.unchanged += state["unchanged"]
        self.inexact += state["inexact"]
        self.not_applicable += state.get("not_applicable", 0)  # an earlier version counted less

    @property
    def state(self) -> dict[str, Any]:  # Any: JSON
        """The counts as JSON values."""
        return {
            "shares": {name: [share.count, share.n] for name, share in self.shares.items()},
            "confidence": [self.confidence.count, self.confidence.squares, self.confidence.n],
            "f1": [self.f1.count, self.f1.squares, self.f1.n],
            "unchanged": self.unchanged,
            "inexact": self.inexact,
            "not_applicable": self.not_applicable,
        }


class Totals:
    """Takes scored rows chunk by chunk and sums them up; a chunk costs what its own rows cost."""

    def __init__(self, task: Task, names: Sequence[str]) -> None:
        """`names` are the transforms of the rows."""
        self.task, self.names = task, tuple(names)
        self.counted = dict.fromkeys(COUNTED, 0)
        self._languages = Counter[str]()
        self._predicted = dict.fromkeys(task.labels, 0)
        labels = [gold for gold in task.golds if task.nearest(gold)]
        self._counts = {
            group: {name: Counts(task) for name in (ORIGINAL, *self.names)}
            for group in ("", *labels)
        }

    @property
    def rows(self) -> int:
        """How many rows are counted."""
        return self.counted["rows"]

    def add(self, rows: Iterable[Row]) -> None:
        """Count more rows."""
        for row in rows:
            self.counted["rows"] += 1
            if row.prediction:
                self._add(row, row.prediction)

    def _add(self, row: Row, prediction: Prediction) -> None:
        legible, sampled = row.legible, row.fp32 is not None
        for name, is_so in {
            "scored": True,
            "cut": legible.cut,
            "unknown": legible.mostly_unknown,
            "unspaced": legible.unspaced,
            "windowed": isinstance(prediction, WindowPrediction),
            "sampled": sampled,
            "differing": sampled and row.fp32 != prediction.label,
        }.items():
            self.counted[name] += is_so
        if legible.language:
            self._languages[legible.language] += 1
        if prediction.label in self._predicted or prediction.label == INVALID:
            self._predicted[prediction.label] = self._predicted.get(prediction.label, 0) + 1
        for group in {"", row.example.gold} & {*self._counts}:
            counts = self._counts[group]
            counts[ORIGINAL].add(prediction, row.example.gold)
            for name in self.names:
                for transformed in row.transformed[name]:
                    counts[name].add_transformed(transformed)

    def merge(self, state: Mapping[str, Any]) -> None:  # Any: JSON
        """Count the rows that `state` gave of others of the same task and transforms."""
        for name in COUNTED:
            self.counted[name] += state.get(name, 0)  # an earlier version counted less
        self._languages.update(state.get("languages", {}))
        for label, count in state["predicted"].items():
            self._predicted[label] = self._predicted.get(label, 0) + count
        for group, counts in state["counts"].items():
            for name, one in counts.items():
                self._counts[group][name].merge(one)

    @property
    def state(self) -> dict[str, Any]:  # Any: JSON
        """The counts as JSON values, from which `merge` goes on."""
        return {
            **self.counted,
            "predicted": self._predicted,
            "languages": dict(self._languages),
            "counts": {
                group: {name: one.state for name, one in counts.items()}
                for group, counts in self._counts.items()
            },
        }

    def summary(self) -> Summary:
        """Measure the rows so far. A transform is measured over the rows that it changed."""
        measured = {
            label: {name: counts.measured() for name, counts in group.items()}
            for label, group in self._counts.items()
        }
        every = measured.pop("")
        return Summary(
            original=every[ORIGINAL],
            transforms={name: every[name] for name in self.names},
            by_label={
                label: group for label, group in measured.items() if group[ORIGINAL]["confidence"].n
            },
            predicted=dict(self._predicted),
            languages=dict(self._languages),
            errors=self.counted["rows"] - self.counted["scored"],
            **self.counted,
        )


def summarise(rows: Iterable[Row], names: Sequence[str], task: Task) -> Summary:
    """Measure scored rows of a task and these transforms."""
    totals = Totals(task, names)
    totals.add(rows)
    return totals.summary()


LARGEST, SMALLEST, SHARE = 200, 32, 10
"""Rows of a sample: one in ten, so that fp32, half as quick as bf16, takes a fifth longer at most;
of a small file a few more, of a large one no more than tell something."""


def fp32_sample(rows: int, seed: int) -> frozenset[int]:
    """Return the numbers, from 0, of the sampled ones of so many rows.

    One is drawn from each of equally long stretches of the file; the smallest are taken whole.
    """
    count = min(rows, LARGEST, max(SMALLEST, rows // SHARE))
    rng = random.Random(f"{seed}|fp32")
    bounds = [at * rows // count for at in range(count + 1)] if count else []
    return frozenset(map(rng.randrange, bounds, bounds[1:]))


def fp32_words(sampled: int, differing: int) -> str:
    """Say how many sampled answers bf16 changes; "" where none was given in both precisions."""
    if not sampled:
        return ""
    answers = f"{differing:,} of {sampled:,} answer{'' if sampled == 1 else 's'}"
    differ = "differs" if differing == 1 or sampled == 1 else "differ"
    return f"In a sample of the rows computed in bf16 {answers} {differ} from fp32."
