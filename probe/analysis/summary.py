"""What scored rows say together: agreement, confidence and accuracy, by transform and label."""

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from probe.analysis.batch import Row
from probe.analysis.confusion import Confusion, confusion, confusion_json
from probe.analysis.importance import METHODS, Importance, word_scores
from probe.analysis.transformed import (
    Transformed,
    counted_words,
    language_words,
    transformed_json,
)
from probe.models.asked import prompt_json
from probe.models.classifier import Classifier, Model, Named, Precision, Prediction, resolve
from probe.models.reader import span_place
from probe.models.served import BoundedPrediction, Served
from probe.models.windows import Long, WindowPrediction, window_words
from probe.statistics import NOTHING, Estimate, Share, averaged, spread
from probe.tasks.task import INVALID, MERGED, TOLD_APART, Label, Task
from probe.text.words import listing
from probe.transforms import Options
from probe.transforms.options import SIGNS
from probe.transforms.registry import ranks

COUNTED = (
    *("rows", "scored", "cut", "unknown", "unspaced", "windowed", "bounded"),
    *("sampled", "differing"),
)
UNIT = 2.0**-200
"""Of the sums of an earlier version, which were whole numbers: no mean is above 1."""
ORIGINAL = "original"
"""How the untouched examples are called where transforms are."""
MEANS, KINDS = ("confidence", "entropy", "f1"), ("unchanged", "inexact", "not_applicable")
"""Measures that are means of values from 0 to 1, and kinds of transformed examples."""


def measures(task: Task) -> tuple[str, ...]:
    """Return the names of what is measured; the groups of a task are accuracies of their own.

    Where answers are spans, the accuracy is their exact match, F1 stands beside it, and there is no
    entropy, which is over labels (Gupta et al. 2021, a footnote, have it beside confidence).
    """
    known = {"entropy": bool(task.labels), "f1": bool(task.f1)}
    told = ("agreement", "confidence", "entropy", "accuracy", "f1")
    return (*(name for name in told if known.get(name, True)), *task.groups)


@dataclass(frozen=True)
class Measured:
    """Estimates by measure over some examples; one with n = 0 is not defined.

    Nor is the accuracy where some gold labels merge two that others tell apart, as non-entailment
    does: answers in two classes and in three have no average. The groups are reported instead.
    `not_applicable` counts examples in another language than the transform's; they are in no n. A
    group is that of the examples' own gold label, as HANS and fritz report entailed pairs.

    Of a transform that is drawn several times an estimate is the mean of the draws', with the mean
    of their intervals, which are about the texts; `spreads` has the standard deviation of the draws
    by measure. The counts are of the first draw.
    """

    estimates: Mapping[str, Estimate]
    unchanged: int = 0
    inexact: int = 0
    not_applicable: int = 0
    spreads: Mapping[str, float] = field(default_factory=dict)

    def __getitem__(self, measure: str) -> Estimate:
        """Return the estimate of a measure."""
        return self.estimates[measure]


@dataclass(frozen=True)
class Summary:
    """What the rows say together, overall and by transform, each also by gold label.

    Of `sampled` answers that were given in bf16 and in fp32, `differing` are not the same. Of
    `unknown` rows the model's vocabulary has not the words, `unspaced` ones have no blanks between
    words, of `windowed` ones a window decided, of `bounded` ones a probability is a bound;
    `languages` counts those that are not in English. `first_error` says why the first row that is
    not scored is not.
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
    bounded: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    confusion: Confusion | None = None
    first_error: str = ""


@dataclass
class Counts:
    """Counts over examples of a task, from which what is measured follows.

    `further` are those of a transform's draws behind the first one.
    """

    task: Task
    shares: defaultdict[str, Share] = field(default_factory=lambda: defaultdict(Share))
    unchanged: int = 0
    inexact: int = 0
    not_applicable: int = 0
    further: list["Counts"] = field(default_factory=list)

    def draw(self, at: int) -> "Counts":
        """Return the counts of a draw by its number from 0; this object has the first."""
        while at > len(self.further):
            self.further.append(Counts(self.task))
        return self.further[at - 1] if at else self

    def add(self, prediction: Prediction, gold: Label | None, text: int | None = None) -> None:
        """Count the answer to an example with this gold label, made of the text of this number."""
        if prediction.probabilities:  # a file may tell the answer alone
            self.shares["confidence"].add(prediction.confidence, text)
            if self.task.labels:
                self.shares["entropy"].add(prediction.entropy, text)
        if gold is None:
            return
        self.shares["accuracy"].add(self.task.matches(prediction.label, gold), text)
        if kind := self.task.gold_kind(gold):
            self.shares[kind].add(True)
        if self.task.f1:
            self.shares["f1"].add(self.task.f1(prediction.label, gold), text)
        for name, group in self.task.groups.items():
            if gold in group.golds:
                self.shares[name].add(self.task.matches(prediction.label, group.gold), text)

    def add_transformed(self, transformed: Transformed, text: int) -> None:
        """Count a transformed example of the text of this number.

        One that the transform left as it was says nothing.
        """
        result = transformed.result
        if result.not_applicable or not result.changed:
            self.not_applicable += result.not_applicable
            self.unchanged += not result.not_applicable
            return
        self.shares["agreement"].add(transformed.agrees, text)
        self.inexact += not result.exact
        self.add(transformed.prediction, result.gold, text)

    def measured(self) -> Measured:
        """Return the estimates so far."""
        every = [each.estimates() for each in (self, *self.further)]
        spreads = {name: spread([each[name] for each in every]) for name in measures(self.task)}
        return Measured(
            {name: averaged([each[name] for each in every]) for name in measures(self.task)},
            *(self.unchanged, self.inexact, self.not_applicable),
            {name: value for name, value in spreads.items() if value is not None},
        )

    def estimates(self) -> dict[str, Estimate]:
        """Return the estimates of this draw alone."""
        estimates = {
            name: share.mean() if name in MEANS else share.estimate()
            for name in measures(self.task)
            for share in [self.shares[name]]
        }
        if all(self.shares[kind].n for kind in (MERGED, TOLD_APART)):
            estimates["accuracy"] = NOTHING
        return estimates

    def merge(self, state: Mapping[str, Any]) -> None:  # Any: JSON
        """Count what `state` gave of other examples."""
        sums = {name: [count, 0, n] for name, (count, n) in state["shares"].items()}
        for name, (count, squares, n) in (
            sums | {name: state[name] for name in MEANS if name in state}
        ).items():
            share, unit = self.shares[name], UNIT if count > n else 1.0
            share.count += count * unit
            share.squares += squares * unit * unit
            share.n += n
            alone = (n, squares * unit * unit or count, count * unit, n)  # each of its own text
            share.join(state.get("clusters", {}).get(name, alone))
        for name in KINDS:
            value = getattr(self, name) + state.get(name, 0)  # an earlier version counted less
            setattr(self, name, value)
        for at, own in enumerate(state.get("further", ()), 1):
            self.draw(at).merge(own)

    @property
    def state(self) -> dict[str, Any]:  # Any: JSON
        """The counts as JSON values."""
        clusters = {name: each.clusters for name, each in self.shares.items() if each.is_clustered}
        return {
            "shares": {
                name: [share.count, share.n]
                for name, share in self.shares.items()
                if name not in MEANS
            },
            **{
                name: [share.count, share.squares, share.n]
                for name in MEANS
                for share in [self.shares[name]]
            },
            **{name: getattr(self, name) for name in KINDS},
            **({"clusters": clusters} if clusters else {}),
            **({"further": [each.state for each in self.further]} if self.further else {}),
        }


class Totals:
    """Takes scored rows chunk by chunk and sums them up; a chunk costs what its own rows cost."""

    def __init__(self, task: Task, names: Sequence[str]) -> None:
        """`names` are the transforms of the rows."""
        self.task, self.names = task, tuple(names)
        self.counted = Counter(dict.fromkeys(COUNTED, 0))
        self._first_error = ""
        self._languages = Counter[str]()
        self._predicted = Counter(dict.fromkeys(task.labels, 0))
        self._confused = Counter[tuple[Label, Label]]()
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
            prediction, legible, sampled = row.prediction, row.legible, row.fp32 is not None
            self.counted["rows"] += 1
            if prediction is None:
                self._first_error = self._first_error or row.error
                continue
            self.counted.update(
                scored=1,
                cut=legible.cut,
                unknown=legible.mostly_unknown,
                unspaced=legible.unspaced,
                windowed=isinstance(prediction, WindowPrediction),
                bounded=isinstance(prediction, BoundedPrediction),
                sampled=sampled,
                differing=sampled and row.fp32 != prediction.label,
            )
            if legible.language:
                self._languages[legible.language] += 1
            if prediction.label in self._predicted or prediction.label == INVALID:
                self._predicted[prediction.label] += 1
            if row.example.gold and self.task.labels:
                self._confused[row.example.gold, prediction.label] += 1
            for group in {"", row.example.gold} & {*self._counts}:
                counts = self._counts[group]
                counts[ORIGINAL].add(prediction, row.example.gold)
                for name in self.names:
                    seeds = {each.result.seed: None for each in row.transformed[name]}
                    for transformed in row.transformed[name]:
                        draw = [*seeds].index(transformed.result.seed)
                        counts[name].draw(draw).add_transformed(transformed, self.rows)

    def merge(self, state: Mapping[str, Any]) -> None:  # Any: JSON
        """Count the rows that `state` gave of others of the same task and transforms."""
        # an earlier version counted less
        self.counted.update({name: state.get(name, 0) for name in COUNTED})
        self._first_error = self._first_error or state.get("first_error", "")
        self._languages.update(state.get("languages", {}))
        self._predicted.update(state["predicted"])
        self._confused.update({(gold, said): n for gold, said, n in state.get("confusion", ())})
        for group, counts in state["counts"].items():
            for name, one in counts.items():
                self._counts[group][name].merge(one)

    @property
    def state(self) -> dict[str, Any]:  # Any: JSON
        """The counts as JSON values, from which `merge` goes on."""
        return {
            **self.counted,
            "predicted": dict(self._predicted),
            "languages": dict(self._languages),
            "first_error": self._first_error,
            "confusion": [[*both, n] for both, n in self._confused.items()],
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
        # of a run that an earlier version began some rows are not counted
        whole = self._confused.total() == self._counts[""][ORIGINAL].shares["accuracy"].n
        return Summary(
            original=every[ORIGINAL],
            transforms={name: every[name] for name in self.names},
            by_label={
                label: group
                for label, group in measured.items()
                if any(each.n for each in group[ORIGINAL].estimates.values())
            },
            predicted=dict(self._predicted),
            languages=dict(self._languages),
            errors=self.counted["rows"] - self.counted["scored"],
            first_error=self._first_error,
            confusion=confusion(self.task, self._confused) if whole else None,
            **self.counted,
        )


LARGEST, SMALLEST, SHARE = 200, 32, 10
"""Rows of a sample: one in ten, so that fp32, half as quick as bf16, takes a fifth longer."""


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
    return (
        f"Computed with numbers of 16 bits (bf16): in a sample of the rows {answers} {differ} from "
        "those with 32 bits (fp32)."
    )


def importance_words(told: Mapping[str, Any]) -> str:  # Any: JSON
    """Say of how many rows the words are scored, how, and for what."""
    title, sign = METHODS[told["method"]].title, told["sign"]
    return (
        f"Words of {told['rows']:,} row{'' if told['rows'] == 1 else 's'} scored for the right "
        f"label where it is known, else for the answer, by the method {title.lower()}"
        f"{f' (sign {sign})' if METHODS[told['method']].signed else ''}; a word has the sum of its "
        "tokens."
    )


WINDOW = ("window", "window_text")
"""Columns that name the window that decided, where a long source is read in such, and show it."""
AT_MOST = "at_most"
"""The column that names the labels whose probability is a bound, as a server may leave it."""
SPAN_COLUMNS = ("start", "end", "em", "f1")
LEGIBLE = ("cut", "unknown", "language")
"""Columns that say what a model reads of a row: whether its end is cut, the share of its tokens
that the vocabulary has not, and its language where it is beyond doubt not English."""
EXPLAINED, NO_WORDS = "explained", "importance_note"
"""Columns of the label for which the words of a row are scored, and what is to be known of these
scores, or why there are none."""
WORD_COLUMNS = ("row", "field", "position", "word", "score", EXPLAINED)
"""Of the file that has a row for each word; rows and places count from 1."""


def of_words(field: str) -> str:
    """Return the column of the words of a text with their scores, JSON as of `word_scores`."""
    return f"importance_{field}"


RIGHT = "right"
"""The column that says whether the prediction is the gold label, empty where there is none."""
LATER = (RIGHT, *LEGIBLE)
"""Columns that earlier versions did not write."""


def model_labels(model: Model) -> tuple[Label, ...]:
    """Return the labels that a model chooses among; the answers of a span task have none."""
    return model.labels if isinstance(model, Classifier) else model.task.labels


def scored_columns(
    labels: Sequence[Label],
    task: Task,
    names: Sequence[str],
    long: Long = "cut",
    served: bool = False,
    importance: bool = False,
) -> list[str]:
    """Return the names of our cells behind those of a row of the input."""
    return [
        *("prediction", "confidence", *(f"p_{label}" for label in labels)),
        *(SPAN_COLUMNS if task.f1 else ()),
        *("error", *LATER, *(WINDOW if long == "windows" else ())),
        *([AT_MOST] if served else []),
        *([EXPLAINED, *map(of_words, task.fields), NO_WORDS] if importance else []),
        *(f"{name}.{part}" for name in dict.fromkeys(names) for part in _cell_names(task)),
    ]


def with_legible(values: Sequence[Any], columns: Sequence[str]) -> Sequence[Any]:
    """Return our cells of a row, with empty ones that an earlier version did not write."""
    place = columns.index(LATER[0])
    return [*values[:place], *[None] * (len(columns) - len(values)), *values[place:]]


def word_cells(
    number: int, columns: Sequence[str], values: Sequence[Any], task: Task
) -> Iterator[list[Any]]:  # Any: as of Cells
    """Yield a row of `WORD_COLUMNS` for each word of a row of this number, from 0."""
    cells = dict(zip(columns, values, strict=True))
    for name in task.fields:
        for at, (word, score) in enumerate(json.loads(cells.get(of_words(name)) or "[]"), 1):
            yield [number + 1, name, at, word, score, cells[EXPLAINED]]


Cells = dict[str, Any]  # Any: text, numbers and truth values


def scored_cells(row: Row, columns: Sequence[str]) -> list[Any]:  # Any: as of Cells
    """Return our cells of one row, those of the first example that each transform made."""
    cells: Cells = {"error": row.error, RIGHT: row.right}
    if row.prediction is not None:
        legible, answer = row.legible, row.prediction
        read = (legible.cut, round(legible.unknown, 4), legible.language)
        cells |= _answer_cells(row.task, answer) | dict(zip(LEGIBLE, read, strict=True))
        if isinstance(answer, BoundedPrediction):
            cells[AT_MOST] = ", ".join(answer.at_most)
        if isinstance(answer, WindowPrediction) and row.task.source:
            text = getattr(row.example, row.task.source)[answer.start : answer.end]
            cells |= dict(zip(WINDOW, (window_words(answer), text), strict=True))
    if isinstance(found := row.importance, Importance):
        for name, text in row.task.texts(row.example).items():
            words = word_scores(text, () if found.vanishes else found.tokens(name))
            rounded = [(word, at if at is None else float(f"{at:.6g}")) for word, at in words]
            cells[of_words(name)] = json.dumps(rounded, ensure_ascii=False)
        cells |= {EXPLAINED: found.label, NO_WORDS: " ".join(found.remarks)}
    elif found:
        cells[NO_WORDS] = found
    if row.f1 is not None:
        cells |= {"em": int(bool(row.right)), "f1": round(row.f1, 6)}
    for name, (first, *_) in row.transformed.items():
        result = first.result
        of = f"the first of {result.of}" if result.of > 1 else ""
        values = (
            *result.task.texts(result.example).values(),
            result.gold,
            first.prediction.label,
            rounded_confidence(first.prediction),
            first.agrees,
            "; ".join(filter(None, (of, first.note))),
        )
        parts = zip(_cell_names(result.task), values, strict=True)
        cells |= {f"{name}.{part}": value for part, value in parts}
    return [cells.get(name) for name in columns]


def _cell_names(task: Task) -> tuple[str, ...]:
    return (*task.fields, "gold", "prediction", "confidence", "agrees", "note")


def _answer_cells(task: Task, prediction: Prediction) -> Cells:
    return {
        "prediction": prediction.label,
        "confidence": rounded_confidence(prediction),
        **probabilities(task, prediction),
        **span_place(prediction),
    }


def rounded_confidence(prediction: Prediction) -> float | None:
    """Return how sure an answer is as files have it, None where that is not known."""
    return round(prediction.confidence, 6) if prediction.probabilities else None


def probabilities(task: Task, prediction: Prediction) -> dict[str, float]:
    """Return a column for each label; the answers of a span task have none."""
    if not task.labels:
        return {}
    return {f"p_{label}": round(value, 6) for label, value in prediction.by_label.items()}


def made_columns(labels: Sequence[Label], task: Task) -> list[str]:
    """Return the columns of the examples that the transforms made."""
    return [
        *("row", "transform", "number", "of", *task.fields, "gold", "rule", "changed"),
        *("exact", "note", "prediction", "confidence"),
        *(f"p_{label}" for label in labels),
        *(SPAN_COLUMNS[:2] if task.f1 else ()),
        *("agrees", "seed", "variant", "steps"),
    ]


def made_cells(row: Row, columns: Sequence[str]) -> Iterator[list[Any]]:  # Any: as of Cells
    """Yield the examples that the transforms made of a row, `row` its number from 1.

    `steps` is the lineage as JSON text: what each link of a chain made.
    """
    for several in row.transformed.values():
        for transformed in several:
            made = transformed_json(transformed)
            cells = {
                **made,
                "row": row.number + 1,
                "rule": made["gold_rule"],
                **_answer_cells(row.task, transformed.prediction),
                "steps": json.dumps(made["steps"], ensure_ascii=False),
            }
            yield [cells.get(name) for name in columns]


def summarise(rows: Iterable[Row], names: Sequence[str], task: Task) -> Summary:
    """Measure scored rows of a task and these transforms."""
    totals = Totals(task, names)
    totals.add(rows)
    return totals.summary()


TOLD = ("rows", "scored", "errors", "first_error", "cut", "windowed", "bounded", "unknown")


def summary_json(
    summary: Summary, model: Named, precision: Precision, seed: int, options: Options
) -> dict[str, Any]:
    """Return the summary as JSON values; an undefined measure is null."""
    names = measures(model.task)
    sample = {"rows": summary.sampled, "differing": summary.differing}

    def by_transform(group: Mapping[str, Measured]) -> dict[str, Any]:
        return {
            name: {
                "n": measured["confidence"].n,
                **_measured_json(measured, names, model.task),
                **{kind: getattr(measured, kind) for kind in KINDS},
            }
            for name, measured in group.items()
        }

    return {
        "model": model.name,
        "model_revision": model.revision,
        **prompt_json(model),
        "precision": None if isinstance(model, Served) else resolve(precision),
        "seed": seed,
        "variant": options.variant,
        **{name: getattr(summary, name) for name in TOLD},
        "languages": dict(summary.languages),
        "notes": notes(summary, options),
        **({"fp32_sample": sample} if summary.sampled else {}),
        "predicted": dict(summary.predicted),
        **confusion_json(summary.confusion),
        **_measured_json(summary.original, names[1:], model.task),
        "transforms": by_transform(summary.transforms),
        "by_label": {label: by_transform(group) for label, group in summary.by_label.items()},
    }


def notes(summary: Summary, options: Options) -> list[str]:
    """Return sentences on what the figures rest on: languages, unknown words, texts cut."""
    rows, names = summary.scored, list(summary.transforms)
    counted = ["unknown", "cut", "windowed", "bounded"]
    if names or "f1" in summary.original.estimates:
        counted.append("unspaced")
    said = [counted_words(what, getattr(summary, what), rows) for what in counted]
    ranked, sign = list(filter(ranks, names)), SIGNS[options.sign]
    sign = f"By the sign {options.sign}, in {listing(ranked)}, {sign}." if ranked else ""
    languages = language_words(summary.languages, rows, names, options)
    return list(filter(None, [languages, *said, sign]))


def _measured_json(measured: Measured, names: Sequence[str], task: Task) -> dict[str, Any]:
    """Return the measures by name; the accuracy of spans is their exact match, em."""
    shape: dict[str, Any] = {}
    for measure in names:
        estimate = measured[measure]
        name = "em" if measure == "accuracy" and task.has_spans else measure
        shape[name] = estimate.value if estimate.n else None
        shape[f"{name}_interval"] = [estimate.low, estimate.high] if estimate.n else None
        shape[f"{name}_n"] = estimate.n
        if measure in measured.spreads:
            shape[f"{name}_spread"] = measured.spreads[measure]
    return shape


def summary_frame(summary: Summary) -> pd.DataFrame:
    """Return the measures as a tidy frame: label, transform, measure, value, low, high, n, spread.

    `label` is "all" or a gold label; the untouched examples are the transform "original". Behind n
    stands how many rows a transform for English does not apply to.
    """
    groups = {"all": {ORIGINAL: summary.original, **summary.transforms}, **summary.by_label}
    return pd.DataFrame(
        [
            (
                *(label, name, measure, estimate.value, estimate.low, estimate.high, estimate.n),
                measured.spreads.get(measure, math.nan),
                measured.not_applicable,
            )
            for label, group in groups.items()
            for name, measured in group.items()
            for measure, estimate in measured.estimates.items()
        ],
        columns=[
            *("label", "transform", "measure", "value", "low", "high", "n", "spread"),
            "not_applicable",
        ],
    )
