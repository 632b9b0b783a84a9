"""Measure a model for its check-up, part by part."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any, Literal

import numpy as np

from probe.analysis.comparison import Row
from probe.analysis.hans import Profiled, in_heuristics, profile
from probe.analysis.importance import Importance
from probe.analysis.pace import TransformPace, asking, characters, trial
from probe.analysis.slices import sliced
from probe.analysis.transformed import ImportanceReader, Transformed, transform_all
from probe.baselines import BASELINES, baselines_for
from probe.errors import CheckupError
from probe.models.classifier import Precision, Prediction, resolve
from probe.models.library import AnyModel, load_any, that_reads
from probe.models.windows import Long
from probe.runs.run import Json
from probe.statistics import (
    FEWEST,
    NOTHING,
    Bin,
    Calibration,
    Estimate,
    calibration,
    mean,
    mean_error,
    mean_score,
    share,
)
from probe.tasks.label_rules import KEEP
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT
from probe.tasks.task import IN_COMMON, Label, Task, task_named
from probe.templates import Request, generate, subcases
from probe.templates.generate import HEURISTICS
from probe.transforms import REGISTRY, Options
from probe.transforms.registry import Transform, missing, ready

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


@dataclass(frozen=True)
class ChangedExample:
    """A changed example: its texts, what those that changed were before, and both answers.

    `gold` is the right answer after the change, None where there is none.
    """

    texts: Mapping[str, str]
    before: Mapping[str, str]
    answer_before: str
    answer: str
    confidence_before: float
    confidence: float
    gold: str | None


@dataclass(frozen=True)
class Part:
    """Figures, examples of a change, and the bins of a reliability diagram, lowest first."""

    figures: Sequence[Figure]
    examples: Sequence[ChangedExample] = ()
    bins: Sequence[Bin] = ()


def part_json(part: Part) -> Json:
    """Return a part as JSON."""
    return {
        "figures": [figure_json(figure) for figure in part.figures],
        "examples": [asdict(each) for each in part.examples],
        "bins": [asdict(each) for each in part.bins],
    }


def bins_from(rows: Sequence[Mapping[str, Any]]) -> tuple[Bin, ...]:
    """Read bins from their JSON. Raises TypeError for another form."""
    return tuple(Bin(**row) for row in rows)


@dataclass(frozen=True)
class Asked:
    """What is asked of a check-up.

    `n` examples drawn by the seed are transformed, and `per_subcase` pairs made of each of HANS's
    sub-cases; `long` is as `probe.models.windows.LONG` has it.
    """

    n: int = 200
    per_subcase: int = 20
    seed: int = 0
    precision: Precision = "auto"
    long: Long = "cut"


class Subject:
    """A model on examples that all have a gold label; what parts share is computed once.

    Whatever computes raises Stopped between two batches.
    """

    def __init__(self, model: AnyModel, examples: Sequence[Any], asked: Asked) -> None:
        """Compute nothing yet."""
        self.model = that_reads(model, asked.long)
        self.examples, self.asked = examples, asked
        rng = random.Random(f"{asked.seed}|checkup")
        count = len(examples)
        self._drawn = sorted(rng.sample(range(count), min(asked.n, count)))
        self.few = [examples[at] for at in self._drawn]

    @property
    def task(self) -> Task:
        """The model's task."""
        return self.model.task

    @cached_property
    def predictions(self) -> list[Prediction]:
        """The answers to all examples."""
        return list(self.model.predict(self.examples, self.asked.precision))

    @property
    def before(self) -> list[Prediction]:
        """The answers to the few that are transformed."""
        return [self.predictions[at] for at in self._drawn]

    @cached_property
    def importance(self) -> list[Importance | str]:
        """Which tokens of these few matter, or why that is not known."""
        answers = [each.answer for each in self.before]
        known = dict(zip(self.few, answers, strict=True))
        return ImportanceReader(self.model, Options(), known)(self.few)


SHOWN = 3
"""Examples of a change that a report shows."""


@dataclass(frozen=True)
class Change:
    """One changed example with the answers and the gold labels before and after."""

    before: Prediction
    gold_before: Label
    after: Transformed
    gold: Label | None

    @property
    def score_before(self) -> float:
        """How right the answer was."""
        return self.after.result.task.score(self.before.label, self.gold_before)

    @property
    def score(self) -> float:
        """How right the answer is now, by the new gold label."""
        return self.after.result.task.score(self.after.prediction.label, self.gold or "")


def changed(transform: Transform, subject: Subject) -> Part:
    """Return what a transform costs where it leaves a right answer, else which answers stay."""
    changes = _changes(transform, subject)
    golden, merged = _in_common(subject, [each for each in changes if each.gold])
    if not changes:
        return Part(())
    if golden:
        failed = [each.score < (each.score_before if _keeps(transform) else 1) for each in golden]
        figures, shown = _scored(transform, subject.task, golden, merged), golden
    else:
        failed = [each.after.agrees for each in changes]
        figures, shown = _salad(transform, changes), changes
    return Part(list(figures), _telling(shown, failed))


def _changes(transform: Transform, subject: Subject) -> list[Change]:
    """Return what a transform changes of the few, classified: of one example perhaps several."""
    asked, name = subject.asked, transform.name
    made = transform_all(
        subject.model,
        subject.few,
        subject.before,
        [name],
        asked.seed,
        precision=asked.precision,
        scored=subject.importance if "model" in transform.needs else [],
    )[name]
    return [
        Change(before, example.gold, one, one.result.gold)
        for example, before, several in zip(subject.few, subject.before, made, strict=True)
        for one in several
        if one.result.changed
    ]


def _in_common(subject: Subject, changes: Sequence[Change]) -> tuple[list[Change], bool]:
    """Return changes with gold labels in the classes that all have, and whether some are merged."""
    task, whole = subject.task, [example.gold for example in subject.examples]
    golds = [*whole, *(each.gold_before for each in changes), *(each.gold for each in changes)]
    read = task.in_common(golds)[len(whole) :]
    pairs = zip(changes, read[: len(changes)], read[len(changes) :], strict=True)
    told = [replace(each, gold_before=before or "", gold=gold) for each, before, gold in pairs]
    return told, bool(task.merges(golds))


def _keeps(transform: Transform) -> bool:
    """Whether the right answer stays what it was."""
    return transform.rule is KEEP


def _scored(
    transform: Transform, task: Task, golden: Sequence[Change], merged: bool
) -> Iterator[Figure]:
    """Yield the score after the change and, where the right answer stays, that before it."""
    figures = {transform.name: (transform.title, [each.score for each in golden])}
    if _keeps(transform):
        before = [each.score_before for each in golden]
        figures[f"{transform.name}.before"] = (f"{transform.title}: before", before)
    for name, (words, scores) in figures.items():
        yield figure_of(name, words, "stress", mean_score(task, scores), scores, merged=merged)


def _salad(transform: Transform, changes: Sequence[Change]) -> Iterator[Figure]:
    """Yield how often the answer stays, and how sure it is of changed texts and was before."""
    name, title = transform.name, transform.title
    stays = [each.after.agrees for each in changes]
    yield figure_of(name, title, "salad", share(stays), stays, more_is_better=False)
    sure = [each.after.prediction.confidence for each in changes]
    yield figure_of(f"confidence.{name}", title, "confidence", mean(sure), sure, False)
    sure = [each.before.confidence for each in changes]
    yield figure_of(
        f"confidence.{name}.before", f"{title}: before", "confidence", mean(sure), sure, None
    )


def _telling(changes: Sequence[Change], failed: Sequence[bool]) -> list[ChangedExample]:
    """Return a few examples, those on which the model fails first, else in the texts' order."""
    order = sorted(range(len(changes)), key=lambda at: not failed[at])
    return [_shown(changes[at]) for at in order[:SHOWN]]


def _shown(change: Change) -> ChangedExample:
    result, answer = change.after.result, change.after.prediction
    texts, earlier = (result.task.texts(each) for each in (result.example, result.original))
    return ChangedExample(
        texts,
        {name: text for name, text in earlier.items() if text != texts[name]},
        change.before.label,
        answer.label,
        round(change.before.confidence, 3),
        round(answer.confidence, 3),
        result.gold,
    )


HYPOTHESIS_ONLY = "hypothesis_only"


def unchanged(subject: Subject) -> Part:
    """Measure a model on all examples as they are, in the classes that their gold labels have.

    Where these are three, the score in two stands beside, for changes that leave two.
    """
    task, answers = subject.task, [each.label for each in subject.predictions]
    golds = task.in_common([example.gold for example in subject.examples])
    scores, merged = _scores(task, answers, golds), bool(task.merges(golds))
    sure = [each.confidence for each in subject.predictions]
    measured = None if task.has_spans else _calibration(subject, golds)
    name, title = task.measure.lower(), task.measure.capitalize()
    figures = [
        figure_of(name, title, "plain", mean_score(task, scores), scores, merged=merged),
        *(_in_fewer(task, answers, golds) if not merged else ()),
        *(_error(measured, merged) if measured else ()),
        *_rules(subject, golds),
        *_by_label(task, golds, scores),
        figure_of("confidence", "Texts as they are", "confidence", mean(sure), sure, None),
        *_slices(subject, scores),
    ]
    return Part(figures, bins=measured.bins if measured else ())


def _scores(task: Task, answers: Sequence[Label], golds: Sequence[Label | None]) -> list[float]:
    """Return how right each answer is."""
    return [task.score(answer, gold or "") for answer, gold in zip(answers, golds, strict=True)]


def _in_fewer(
    task: Task, answers: Sequence[Label], golds: Sequence[Label | None]
) -> Iterator[Figure]:
    """Yield the score where gold labels that a label of the task's files merges are merged."""
    if merging := task.merges(task.golds):
        scores = _scores(task, answers, task.in_common([*golds, merging])[:-1])
        name, found = merged_name(task), mean_score(task, scores)
        yield figure_of(name, task.measure.capitalize(), "plain", found, scores, merged=True)


def merged_name(task: Task) -> str:
    """Return the name of the score in two classes where right answers are in three."""
    return f"{task.measure.lower()}.merged"


def _calibration(subject: Subject, golds: Sequence[Label | None]) -> Calibration:
    labels = subject.predictions[0].labels
    return calibration(
        np.array([each.probabilities for each in subject.predictions], dtype=np.float64),
        np.array([subject.task.admissible(gold, labels) for gold in golds]),
    )


def _error(measured: Calibration, merged: bool) -> Iterator[Figure]:
    error = mean_error([measured])
    yield figure_of(
        "ece", "Calibration error", "plain", error.found, more_is_better=False, merged=merged
    )
    title = "Calibration error by chance alone, of perfectly calibrated answers"
    yield figure_of("ece_by_chance", title, "plain", error.chance, more_is_better=None)


def _rules(subject: Subject, golds: Sequence[Label | None]) -> Iterator[Figure]:
    """Yield what one label for all reaches, and of NLI the words of the hypothesis alone."""
    task = subject.task
    if task.has_spans:
        return
    always = [_scores(task, [label] * len(golds), golds) for label in task.labels]
    label, scores = max(zip(task.labels, always, strict=True), key=lambda each: sum(each[1]))
    title = f"Rule: always “{label}”"
    yield figure_of("majority", title, "plain", mean_score(task, scores), scores, None)
    if HYPOTHESIS_ONLY in baselines_for(task):
        scores = _scores(task, BASELINES[HYPOTHESIS_ONLY](subject.examples), golds)
        title = "Rule: the words of the hypothesis alone"
        yield figure_of(HYPOTHESIS_ONLY, title, "plain", mean_score(task, scores), scores, None)


def _by_label(
    task: Task, golds: Sequence[Label | None], scores: Sequence[float]
) -> Iterator[Figure]:
    if task.has_spans:
        return
    for gold in filter(golds.__contains__, task.golds or task.labels):
        own = [score for score, each in zip(scores, golds, strict=True) if each == gold]
        title = f"right answer: {gold}"
        yield figure_of(f"label.{gold}", title, "labels", mean_score(task, own), own)


def _slices(subject: Subject, scores: Sequence[float]) -> Iterator[Figure]:
    answered = [
        Row(at, subject.task, example, (answer,))
        for at, (example, answer) in enumerate(
            zip(subject.examples, subject.predictions, strict=True)
        )
    ]
    for each, members in sliced(answered).items():
        if len(members) >= FEWEST:
            name, own = f"{each.group}: {each.name}", [scores[row.number] for row in members]
            yield figure_of(name, name, "slices", mean_score(subject.task, own), own)


HANS_TITLES = {"entailment": "entailed", "non-entailment": "not entailed"}


def parts_of(task: Task) -> list[str]:
    """Return the names of the parts: plain, each transform that the task has here, HANS."""
    hans = ["hans"] if task.example is NLI.example else []
    return ["plain", *ready(task), *hans]


def measure_part(subject: Subject, part: str) -> Part:
    """Return what a part comes to, by its name as of `parts_of`."""
    if part == "plain":
        return unchanged(subject)
    if part == "hans":
        return Part(list(_hans(subject)))
    return changed(REGISTRY[part], subject)


def _hans(subject: Subject) -> Iterator[Figure]:
    """Yield the accuracy by heuristic and gold label, and then that of each sub-case."""
    asked = subject.asked
    rows = list(profile(subject.model, asked.per_subcase, asked.seed, asked.precision))
    for row in in_heuristics(rows):
        found = row.estimate if row.n else NOTHING
        yield figure_of(f"hans.{row.heuristic}.{row.gold}", _title(row), "hans", found)
    for row in rows:
        title = f"{_title(row)}: {row.subcase.split('_', 1)[1].replace('_', ' ')}"
        yield figure_of(f"hans.{row.subcase}", title, "subcases", row.estimate)


def _title(row: Profiled) -> str:
    return f"{row.heuristic.replace('_', ' ').capitalize()}, {HANS_TITLES[row.gold]}"


IN_SLICES = ": "
"""Is in the names of slices, which depend on the examples, and in no other."""


def figure_names(task: Task) -> Iterator[str]:
    """Yield the names that figures of a task may have, but those of slices."""
    yield from (task.measure.lower(), "confidence")
    if task.merges(task.golds):
        yield merged_name(task)
    if not task.has_spans:
        yield from ("ece", "ece_by_chance", "majority")
        yield from (f"label.{gold}" for gold in task.golds or task.labels)
    if HYPOTHESIS_ONLY in baselines_for(task):
        yield HYPOTHESIS_ONLY
    for name in ready(task):
        yield from (name, f"{name}.before", f"confidence.{name}", f"confidence.{name}.before")
    if task.example is NLI.example:
        golds = (ENTAILMENT, NON_ENTAILMENT)
        yield from (f"hans.{heuristic}.{gold}" for heuristic in HEURISTICS for gold in golds)
        yield from (f"hans.{subcase}" for subcase in subcases())


MAX_SEED = 2**31 - 1
"""The largest seed: JSON and every database hold it."""


@dataclass(frozen=True)
class Plan:
    """What a check-up examines.

    `parts` are those that can be measured here. `file` names a person's file, "" for the bundled
    examples, and `reading` are the options of the command that say how it is read. `labels` are
    those of the model's outputs in their order, where its config does not say it.
    """

    model: str
    task: str
    parts: tuple[str, ...]
    asked: Asked
    labels: tuple[Label, ...] = ()
    file: str = ""
    reading: tuple[str, ...] = ()


def plan_json(plan: Plan) -> Json:
    """Return a plan as JSON."""
    return asdict(plan)


def plan_from(values: Json) -> Plan:
    """Read a plan from its JSON."""
    lists = {name: tuple(values[name]) for name in ("parts", "labels", "reading")}
    return Plan(**{**values, **lists, "asked": Asked(**values["asked"])})


def new_plan(
    model: str,
    task: Task,
    asked: Asked,
    labels: tuple[Label, ...] = (),
    file: str = "",
    reading: Sequence[str] = (),
) -> Plan:
    """Return the plan of all parts that the task has here, in the precision of this machine.

    Raises CheckupError for numbers that cannot be.
    """
    _refuse(
        {
            "at least one example must be changed in each way": asked.n < 1,
            "each sub-case of HANS needs at least one pair": asked.per_subcase < 1,
            f"the seed must be a whole number from 0 to {MAX_SEED}": not 0
            <= asked.seed
            <= MAX_SEED,
        }
    )
    exact = replace(asked, precision=resolve(asked.precision))
    return Plan(model, task.name, tuple(parts_of(task)), exact, labels, file, tuple(reading))


def _refuse(problems: Mapping[str, bool]) -> None:
    for sentence, is_true in problems.items():
        if is_true:
            raise CheckupError(sentence)


def left_out(task: Task) -> dict[str, str]:
    """Return the transforms of a task that cannot run here, by name, and what they lack."""
    lacking = {name: missing(each, task) for name, each in REGISTRY.items() if each.suits(task)}
    return {name: why for name, why in lacking.items() if why}


def with_gold(examples: Sequence[Any], task: Task) -> list[Any]:  # Any: the task's own examples
    """Return the examples that have a gold label. Raises CheckupError where none has one."""
    labelled = [each for each in examples if each is not None and each.gold]
    if not labelled:
        raise CheckupError(f"the file holds no {task.unit} with a gold label; a check-up needs one")
    return labelled


_PACES: dict[tuple[str, tuple[str, ...]], TransformPace] = {}
_LOCK = Lock()


def estimate_seconds(plan: Plan, examples: Sequence[Any], model: AnyModel | None = None) -> float:
    """Return about how many seconds one worker takes for all parts, alone on its core.

    The first question about a model costs a trial, `model` where it is loaded already. Raises
    ModelError.
    """
    names = tuple(part for part in plan.parts if part in REGISTRY)
    pace = _pace_of(plan, names, examples, model)
    return seconds_at_pace(plan, names, examples, pace)


def _pace_of(
    plan: Plan, names: tuple[str, ...], examples: Sequence[Any], model: AnyModel | None
) -> TransformPace:
    key = (plan.model, names)
    with _LOCK:
        if key not in _PACES:
            loaded = model or load_any(plan.model, plan.labels or None)
            _PACES[key] = trial(names, Options(), examples, loaded)
        return _PACES[key]


def seconds_at_pace(
    plan: Plan, names: Sequence[str], examples: Sequence[Any], pace: TransformPace
) -> float:
    """Return the seconds; what a transform makes is taken to be as long as what it is made of."""
    whole = characters(task_named(plan.task), examples)
    few = whole * min(1.0, plan.asked.n / len(examples))
    own = sum(pace.own[name] + pace.answer for name in names)
    ask = pace.ask if asking(names) else 0.0
    pairs = _pair_characters() * plan.asked.per_subcase if "hans" in plan.parts else 0
    return pace.answer * (whole + pairs) + few * (own + ask)


def _pair_characters() -> int:
    """Return the characters of one pair of each sub-case of HANS."""
    pairs = [pair for each in subcases() for pair in generate(Request("hans", subcase=each), 1, 0)]
    return sum(len(pair.premise) + len(pair.hypothesis) for pair in pairs)
