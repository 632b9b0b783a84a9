"""Measure a model for its check-up, part by part."""

import math
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from statistics import fmean
from threading import Lock
from typing import Any, Literal

import numpy as np

from probe.analysis.comparison import Row
from probe.analysis.hans import in_heuristics, profile
from probe.analysis.importance import Importance
from probe.analysis.slices import sliced
from probe.analysis.transformed import ImportanceReader, Transformed, transform_all
from probe.baselines import BASELINES, baselines_for
from probe.errors import CheckupError
from probe.models.classifier import Precision, Prediction, resolve, text_lengths
from probe.models.library import AnyModel, load_any, on_cpu, that_reads
from probe.models.served import Served, is_served
from probe.models.windows import LONG, LONG_TITLE, Long
from probe.published import published_shares
from probe.runs.run import Json
from probe.statistics import (
    FEWEST,
    Bin,
    Estimate,
    Share,
    averaged,
    calibration,
    mean,
    mean_error,
    mean_score,
    share,
    spread,
)
from probe.tasks.label_rules import KEEP, UNDEFINED
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT
from probe.tasks.task import IN_COMMON, Label, Task, task_named
from probe.templates import Request, generate, subcases
from probe.templates.generate import HEURISTICS
from probe.transforms import REGISTRY, Options
from probe.transforms.options import (
    DEFAULTS,
    OPTIONS,
    PUBLISHED,
    SIGNS,
    Option,
    Sign,
    option,
    with_sign,
)
from probe.transforms.registry import FAMILIES, Transform, missing, presets, ranks, ready

Group = Literal[
    "plain",
    "labels",
    "salad",
    "families",
    "by_label",
    "confidence",
    "entropy",
    "stress",
    "hans",
    "subcases",
    "slices",
]
GROUPS: dict[Group, str] = {
    "plain": "Texts as they are",
    "labels": "By the right answer",
    "salad": "Texts that nobody can read (word salad)",
    "families": "Word salad by kind, the mean over the changes of a kind",
    "by_label": "Word salad by the right answer before it",
    "confidence": "How sure it is of texts that nobody can read",
    "entropy": "How evenly its probability is spread over the labels of such texts (entropy)",
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
    where right answers are read in two classes, as some of them are, and has the `sign` by which
    tokens were ranked, "" where none were; the title says both. `spread` is the standard deviation
    of a change that was drawn by several seeds, each text's score being the mean of them.
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
    sign: Sign | Literal[""] = ""
    spread: float | None = None

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
    sign: Sign | Literal[""] = "",
    spread: float | None = None,
) -> Figure:
    """Return a figure of an estimate; scores are kept to three places."""
    kept, ends = tuple(round(float(score), 3) for score in rows), (found.low, found.high)
    said = f"{title}, {IN_COMMON}" if merged else with_sign(title, sign)
    values = (found.value, *ends, found.n, more_is_better, kept, merged, sign, spread)
    return Figure(name, said, group, *values)


def figure_json(figure: Figure) -> Json:
    """Return a figure as JSON; an interval that is not known is null."""
    ends = {"low": known(figure.low), "high": known(figure.high), "rows": list(figure.rows)}
    unsaid = {name for name in ("merged", "sign", "spread") if not getattr(figure, name)}
    return {name: value for name, value in {**vars(figure), **ends}.items() if name not in unsaid}


def known(value: float) -> float | None:
    """Return a number for a JSON: null where it is not known (NaN)."""
    return None if math.isnan(value) else value


def figure_from(values: Json) -> Figure:
    """Read a figure from its JSON, also of a version that ranked all tokens by our sign.

    Raises KeyError, TypeError or ValueError for another form.
    """

    def finite(value: object) -> float:
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{value!r} is no finite number")
        return float(value)

    low, high = (math.nan if (v := values[end]) is None else finite(v) for end in ("low", "high"))
    numbers = {"value": finite(values["value"]), "n": int(values["n"]), "low": low, "high": high}
    if "sign" not in values and ranks(values["name"].removeprefix("confidence.")):
        sign = BEFORE["sign"]
        values = {**values, "title": with_sign(values["title"], sign), "sign": sign}
    return Figure(**{**values, **numbers, "rows": tuple(map(finite, values.get("rows", ())))})


@dataclass(frozen=True)
class Part:
    """Figures, examples of a change as JSON, and the bins of a reliability diagram, lowest first.

    An example has its texts, what those that changed were before, both answers and how sure they
    are, and the right answer after the change, None where there is none.
    """

    figures: Sequence[Figure]
    examples: Sequence[Json] = ()
    bins: Sequence[Bin] = ()

    @property
    def json(self) -> Json:
        """The part as JSON."""
        figures, bins = map(figure_json, self.figures), map(asdict, self.bins)
        return {"figures": [*figures], "examples": [*self.examples], "bins": [*bins]}


def bins_from(rows: Sequence[Mapping[str, Any]]) -> tuple[Bin, ...]:
    """Read bins from their JSON. Raises TypeError for another form."""
    return tuple(Bin(**row) for row in rows)


MAX_SEED = 2**31 - 1
"""The largest seed: JSON and every database hold it."""
COMPUTES: Mapping[Precision, str] = {
    "auto": "bf16 where it is quick",
    "fp32": "32 bits",
    "bf16": "16 bits",
}


@dataclass(frozen=True)
class Asked:
    """What is asked of a check-up: the command, the page and HTTP are made of this table.

    The largest numbers are those of page and HTTP. The sign and how often a change is drawn are the
    paper's, unless an older check-up is repeated.
    """

    n: int = option(200, "how many examples are changed in each way", low=1, high=1000)
    per_subcase: int = option(20, "how many pairs each sub-case of HANS has", low=1, high=500)
    seed: int = option(0, "which examples are changed, and how", high=MAX_SEED)
    long: Long = option("cut", LONG_TITLE, LONG)
    precision: Precision = option("auto", "what computes", COMPUTES)
    sign: Sign = option(PUBLISHED.sign, OPTIONS["sign"].words, SIGNS)
    draws: int = option(
        PUBLISHED.draws,
        f"{OPTIONS['draws'].words}; of word salad",
        low=1,
        high=OPTIONS["draws"].high,
    )

    def options(self, transform: Transform) -> Options:
        """Return the options by which a transform is made; the paper draws word salad anew."""
        draws = self.draws if transform.rule is UNDEFINED else DEFAULTS.draws
        return Options(sign=self.sign, draws=draws)


ASKED: Mapping[str, Option] = {each.name: each.metadata["option"] for each in fields(Asked)}
NUMBERS = tuple(name for name, option in ASKED.items() if not option.values)
BEFORE: Mapping[str, Any] = {"sign": DEFAULTS.sign, "draws": DEFAULTS.draws}
"""What is asked, where what an earlier version stored does not say it."""


class Subject:
    """A model on examples that all have a gold label; what parts share is computed once.

    Whatever computes raises Stopped between two batches. Raises CheckupError for a model without
    confidence.
    """

    def __init__(self, model: AnyModel, examples: Sequence[Any], asked: Asked) -> None:
        """Compute nothing yet."""
        self.model = that_reads(model, asked.long)
        require_confidence(model)
        self.examples, self.asked = examples, asked
        rng = random.Random(f"{asked.seed}|checkup")
        count = len(examples)
        self._drawn = sorted(rng.sample(range(count), min(asked.n, count)))
        self.few = [examples[at] for at in self._drawn]

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
        known = {each: said.answer for each, said in zip(self.few, self.before, strict=True)}
        return ImportanceReader(self.model, Options(sign=self.asked.sign), known)(self.few)


def require_confidence(model: AnyModel) -> None:
    """Refuse a model that tells no probabilities. Raises CheckupError."""
    if isinstance(model, Served) and not model.confident:
        raise CheckupError(
            f"{model.name} tells no probabilities, on which most of a check-up rests; score a file "
            "with it instead"
        )


NO_GRADIENTS = "They need gradients, which a model at an address has not."
SHOWN = 3
"""Examples of a change that a report shows."""


def changed(transform: Transform, subject: Subject) -> Part:
    """Return what a transform costs where it leaves a right answer, else which answers stay.

    Of one example it may make several. The examples of it are those on which the model fails
    first, else in the texts' order.
    """
    task, asked, name, title = subject.model.task, subject.asked, transform.name, transform.title
    made = transform_all(
        subject.model,
        subject.few,
        subject.before,
        [name],
        asked.seed,
        asked.options(transform),
        asked.precision,
        scored=subject.importance if "model" in transform.needs else [],
    )[name]
    rows = zip(subject.few, subject.before, made, strict=True)
    of_each = [
        [(example.gold, before, one) for one in several if one.result.changed]
        for example, before, several in rows
    ]
    several = list(filter(None, of_each))
    changes = [each for own in several for each in own]
    if not changes:
        return Part(())
    if golden := [each for each in changes if each[2].result.gold]:
        # gold labels in the classes that all have
        whole, n = [each.gold for each in subject.examples], len(golden)
        golds = [gold for gold, *_ in golden] + [one.result.gold for *_, one in golden] + whole
        read, merged = task.in_common(golds), bool(task.merges(golds))
        was = _scores(task, [before.label for _, before, _ in golden], read[:n])
        now = _scores(task, [one.prediction.label for *_, one in golden], read[n : 2 * n])
        keeps = transform.rule is KEEP
        scored = ((name, title, now), (f"{name}.before", f"{title}: before", was))
        numbers = [at for at, own in enumerate(of_each) for each in own if each[2].result.gold]
        figures = [
            figure_of(
                each, words, "stress", _over_texts(task, scores, numbers), scores, merged=merged
            )
            for each, words, scores in scored[: 1 + keeps]
        ]
        failed = [after < (before if keeps else 1) for before, after in zip(was, now, strict=True)]
    else:
        figures = list(_salad(transform, subject, several))
        changes = [own[0] for own in several]
        failed = [one.agrees for *_, one in changes]
    examples, shown = list[Json](), zip(failed, golden or changes, strict=True)
    for _, (_, old, after) in sorted(shown, key=lambda each: not each[0])[:SHOWN]:
        result, answer = after.result, after.prediction
        texts, were = task.texts(result.example), task.texts(result.original)
        examples.append(
            {
                "texts": texts,
                "before": {name: text for name, text in were.items() if text != texts[name]},
                "answer_before": old.label,
                "answer": answer.label,
                "confidence_before": round(old.confidence, 3),
                "confidence": round(answer.confidence, 3),
                "gold": result.gold,
            }
        )
    return Part(figures, examples)


def _over_texts(task: Task, scores: Sequence[float], texts: Sequence[int]) -> Estimate:
    """Return the mean score of changed texts, with an interval over the texts they are made of."""
    one = Share()
    for score, text in zip(scores, texts, strict=True):
        one.add(score, text)
    return one.mean() if task.has_spans else one.estimate()


Change = tuple[Label | None, Prediction, Transformed]
"""The gold label of an example, the answer before a change, and what the change made."""


def _salad(
    transform: Transform, subject: Subject, several: Sequence[Sequence[Change]]
) -> Iterator[Figure]:
    """Yield how often answers stay, and how sure the model is of changed texts and was before.

    `several` are the changes of each text; the score of one that is drawn anew is the mean of its
    draws. How often answers stay is told by gold label too where the paper tells it.
    """
    task, name, title = subject.model.task, transform.name, transform.title
    sign: Sign | Literal[""] = subject.asked.sign if ranks(name) else ""
    seeds = {one.result.seed for own in several for *_, one in own}

    def stays(own: Sequence[Sequence[Change]], name: str, title: str, group: Group) -> Figure:
        rows = [fmean(one.agrees for *_, one in each) for each in own]
        found = share([row == 1 for row in rows]) if len(seeds) == 1 else mean(rows)
        apart = _spread(seeds, own, lambda one: float(one.agrees))
        return figure_of(name, title, group, found, rows, False, sign=sign, spread=apart)

    yield stays(several, name, title, "salad")
    for gold in task.golds:
        own = [each for each in several if each[0][0] == gold]
        if own and f"agreement.{name}.{gold}.{task.name}" in published_shares():
            yield stays(own, f"{name}.{gold}", f"{title}: {gold}", "by_label")
    for group, more, of in sureness(task):
        rows = [fmean(of(one.prediction) for *_, one in each) for each in several]
        apart = _spread(seeds, several, lambda one: of(one.prediction))  # noqa: B023  # at once
        called = f"{group}.{name}", title, group
        yield figure_of(*called, mean(rows), rows, more, sign=sign, spread=apart)
        rows = [of(each[0][1]) for each in several]
        called = f"{group}.{name}.before", f"{title}: before", group
        yield figure_of(*called, mean(rows), rows, None)


Sureness = tuple[Group, bool, Callable[[Prediction], float]]
SURENESS: Sequence[Sureness] = (
    ("confidence", False, lambda said: said.confidence),
    ("entropy", True, lambda said: said.entropy),
)
"""What says how sure a model is, and whether more of it is better on word salad."""


def sureness(task: Task) -> Sequence[Sureness]:
    """Return what says how sure a model of a task is; entropy is of labels."""
    return SURENESS if task.labels else SURENESS[:1]


def _spread(
    seeds: Iterable[int], several: Sequence[Sequence[Change]], of: Callable[[Transformed], float]
) -> float | None:
    """Return how far the means of the seeds lie apart, None of a single one."""
    made = [one for own in several for *_, one in own]
    return spread([mean([of(one) for one in made if one.result.seed == seed]) for seed in seeds])


HYPOTHESIS_ONLY = "hypothesis_only"


def unchanged(subject: Subject) -> Part:
    """Measure a model on all examples as they are, in the classes that their gold labels have.

    Where these are three, the score in two stands beside, for changes that leave two; then the
    calibration error, what one label for all reaches, and of NLI the words of the hypothesis alone.
    """
    task, answers = subject.model.task, [each.label for each in subject.predictions]
    golds = task.in_common([example.gold for example in subject.examples])
    scores, merged = _scores(task, answers, golds), bool(task.merges(golds))
    figures, bins, title = list[Figure](), tuple[Bin, ...](), task.measure.capitalize()

    def add(
        name: str,
        title: str,
        group: Group,
        scores: Sequence[float],
        more: bool | None = True,
        merged: bool = False,
    ) -> None:
        found = mean_score(task, scores)
        figures.append(figure_of(name, title, group, found, scores, more, merged))

    add(task.measure.lower(), title, "plain", scores, merged=merged)
    if not merged and (merging := task.merges(task.golds)):
        fewer = task.in_common([*golds, merging])[:-1]
        add(merged_name(task), title, "plain", _scores(task, answers, fewer), merged=True)
    if not task.has_spans:
        labels = subject.predictions[0].labels
        measured = calibration(
            np.array([each.probabilities for each in subject.predictions], dtype=np.float64),
            np.array([task.admissible(gold, labels) for gold in golds]),
        )
        error, bins = mean_error([measured]), measured.bins
        by_chance = "Calibration error by chance alone, of perfectly calibrated answers"
        figures += [
            figure_of("ece", "Calibration error", "plain", error.found, (), False, merged),
            figure_of("ece_by_chance", by_chance, "plain", error.chance, (), None),
        ]
        always = {label: _scores(task, [label] * len(golds), golds) for label in task.labels}
        most = max(always, key=lambda label: sum(always[label]))
        add("majority", f"Rule: always “{most}”", "plain", always[most], None)
        if HYPOTHESIS_ONLY in baselines_for(task):
            rule = _scores(task, BASELINES[HYPOTHESIS_ONLY](subject.examples), golds)
            add(HYPOTHESIS_ONLY, "Rule: the words of the hypothesis alone", "plain", rule, None)
        for gold in filter(golds.__contains__, task.golds or task.labels):
            own = [score for score, each in zip(scores, golds, strict=True) if each == gold]
            add(f"label.{gold}", f"right answer: {gold}", "labels", own)
    for measure, _, of in sureness(task):
        sure = [of(each) for each in subject.predictions]
        figures.append(figure_of(measure, "Texts as they are", measure, mean(sure), sure, None))
    answered = [
        Row(at, task, *both)
        for at, both in enumerate(
            zip(subject.examples, zip(subject.predictions, strict=True), strict=True)
        )
    ]
    for each, members in sliced(answered).items():
        if len(members) >= FEWEST:
            name = f"{each.group}: {each.name}"
            add(name, name, "slices", [scores[row.number] for row in members])
    return Part(figures, bins=bins)


def _scores(task: Task, answers: Sequence[Label], golds: Sequence[Label | None]) -> list[float]:
    """Return how right each answer is."""
    return [task.score(answer, gold or "") for answer, gold in zip(answers, golds, strict=True)]


def merged_name(task: Task) -> str:
    """Return the name of the score in two classes where right answers are in three."""
    return f"{task.measure.lower()}.merged"


def parts_of(task: Task, model: str = "") -> list[str]:
    """Return the names of the parts: plain, each transform that the task has here, HANS.

    Of a model at an address those are left out that need gradients.
    """
    hans = ["hans"] if task.example is NLI.example else []
    unable = without_gradients(model)
    return ["plain", *(name for name in ready(task) if name not in unable), *hans]


def without_gradients(model: str) -> dict[str, str]:
    """Return the transforms that a model cannot be asked for, by name, and why."""
    needing = [name for name, each in REGISTRY.items() if "model" in each.needs]
    return dict.fromkeys(needing, NO_GRADIENTS) if is_served(model) else {}


def measure_part(subject: Subject, part: str) -> Part:
    """Return what a part comes to, by its name as of `parts_of`.

    That of HANS has the accuracy by heuristic and gold label, and then of each sub-case.
    """
    asked, figures = subject.asked, list[Figure]()
    if part == "plain":
        return unchanged(subject)
    if part != "hans":
        return changed(REGISTRY[part], subject)
    rows = list(profile(subject.model, asked.per_subcase, asked.seed, asked.precision))
    for row in [*in_heuristics(rows), *rows]:
        name, group, kind = f"{row.heuristic}.{row.gold}", "hans", row.heuristic.replace("_", " ")
        title = f"{kind.capitalize()}, {'' if row.gold == ENTAILMENT else 'not '}entailed"
        if row.subcase:
            name, group = row.subcase, "subcases"
            title += f": {name.split('_', 1)[1].replace('_', ' ')}"
        figures.append(figure_of(f"hans.{name}", title, group, row.estimate))  # type: ignore[arg-type]  # one of its groups
    return Part(figures)


KINDS: Mapping[str, str] = {
    **{
        f"salad.{family}": FAMILIES[family].title
        for family in ("lexical", "gradient", "statistical")
    },
    "salad.average": "All changes",
}
"""The families of word salad, and what is the mean over all of them."""


def by_kind(task: Task, own: Mapping[str, Figure]) -> Iterator[Figure]:
    """Yield the mean over the changes of each family of word salad, where all are measured."""
    for name, title in KINDS.items():
        made = [
            each
            for each in presets(task).get("Word salad", ())
            if name in ("salad.average", f"salad.{REGISTRY[each].family}")
        ]
        found = [own[each] for each in made if each in own]
        if found and len(found) == len(made):
            sign = max(each.sign for each in found)  # of those that have one, which is the same
            mean_of = averaged([each.estimate for each in found])
            yield figure_of(name, title, "families", mean_of, (), False, sign=sign)


IN_SLICES = ": "
"""Is in the names of slices, which depend on the examples, and in no other."""


def figure_names(task: Task) -> Iterator[str]:
    """Yield the names that figures of a task may have, but those of slices."""
    sure = [name for name, *_ in sureness(task)]
    yield from (task.measure.lower(), *sure)
    if task.merges(task.golds):
        yield merged_name(task)
    if not task.has_spans:
        yield from ("ece", "ece_by_chance", "majority")
        yield from (f"label.{gold}" for gold in task.golds or task.labels)
    if HYPOTHESIS_ONLY in baselines_for(task):
        yield HYPOTHESIS_ONLY
    for name in ready(task):
        yield from (name, f"{name}.before", *(f"{name}.{gold}" for gold in task.golds))
        yield from (f"{each}.{name}{end}" for each in sure for end in ("", ".before"))
    yield from KINDS
    if task.example is NLI.example:
        golds = (ENTAILMENT, NON_ENTAILMENT)
        yield from (f"hans.{heuristic}.{gold}" for heuristic in HEURISTICS for gold in golds)
        yield from (f"hans.{subcase}" for subcase in subcases())


@dataclass(frozen=True)
class Plan:
    """What a check-up examines.

    `parts` are those that can be measured here. `file` names a person's file, "" for the bundled
    examples, and `reading` are the options of the command that say how it is read. `labels` are
    those of the model's outputs in their order, where its config does not say it; `address` and
    `template` are how a model is read that a person brought to the page.
    """

    model: str
    task: str
    parts: tuple[str, ...]
    asked: Asked
    labels: tuple[Label, ...] = ()
    file: str = ""
    reading: tuple[str, ...] = ()
    address: str = ""
    template: str = ""

    @property
    def opened(self) -> str:
        """What leads to the model from any process."""
        return self.address or self.model


def plan_from(values: Json) -> Plan:
    """Read a plan from its JSON."""
    lists = {name: tuple(values[name]) for name in ("parts", "labels", "reading")}
    return Plan(**{**values, **lists, "asked": Asked(**{**BEFORE, **values["asked"]})})


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
    for name in NUMBERS:
        if (number := getattr(asked, name)) < (least := ASKED[name].low):
            raise CheckupError(f"{name} is {number}, but {ASKED[name].words}: at least {least}")
    if asked.seed > MAX_SEED:
        raise CheckupError(f"seed is {asked.seed}, but at most {MAX_SEED}")
    exact = replace(asked, precision=resolve(asked.precision))
    return Plan(model, task.name, tuple(parts_of(task, model)), exact, labels, file, tuple(reading))


def left_out(task: Task, model: str) -> dict[str, str]:
    """Return the transforms of a task that cannot run here, by name, and what they lack."""
    suitable = {name: each for name, each in REGISTRY.items() if each.suits(task)}
    unable = without_gradients(model)
    return {
        name: why
        for name, each in suitable.items()
        if (why := missing(each, task) or unable.get(name, ""))
    }


def with_gold(examples: Sequence[Any], task: Task) -> list[Any]:  # Any: the task's own examples
    """Return the examples that have a gold label. Raises CheckupError where none has one."""
    labelled = [each for each in examples if each is not None and each.gold]
    if not labelled:
        raise CheckupError(f"the file holds no {task.unit} with a gold label; a check-up needs one")
    return labelled


TRIAL = 4
"""Examples by which the time of a check-up is told before its start."""
_PACES: dict[tuple[str, ...], tuple[float, float]] = {}
_LOCK = Lock()


def estimate_seconds(plan: Plan, examples: Sequence[Any], model: AnyModel | None = None) -> float:
    """Return about how many seconds one worker takes for all parts, alone on its core.

    The first question about a model costs a trial: the seconds that a character of a text takes to
    be answered, and to be changed in all ways with the answers to that. `model` is where it is
    loaded already. Raises ModelError, and CheckupError for one without confidence.
    """
    task, names = task_named(plan.task), [part for part in plan.parts if part in REGISTRY]
    with _LOCK:
        by_options = dict[Options, list[str]]()
        for name in names:
            by_options.setdefault(plan.asked.options(REGISTRY[name]), []).append(name)
        key = (plan.opened, str(plan.asked.draws), *names)
        if key not in _PACES:
            order = plan.labels or None
            loaded = model or load_any(plan.opened, order, template=plan.template)
            require_confidence(loaded)  # before an hour of work
            few = examples[:: max(1, len(examples) // TRIAL)][:TRIAL]
            # on a CPU the time of one core, which is what a worker has
            clock = time.process_time if on_cpu(loaded) else time.perf_counter
            for some in (few[:1], few):  # the first loads what it works with
                began = clock()
                answers = loaded.predict(some)
                answered = clock()
                for asked, made in by_options.items():
                    transform_all(loaded, some, answers, made, options=asked)
            length = sum(text_lengths(task, few))
            _PACES[key] = (answered - began) / length, (clock() - answered) / length
        answer, change = _PACES[key]
    whole, pairs = sum(text_lengths(task, examples)), 0
    if "hans" in plan.parts:
        of_each = [next(generate(Request("hans", subcase=each), 1, 0)) for each in subcases()]
        pairs = sum(text_lengths(task, of_each)) * plan.asked.per_subcase
    return answer * (whole + pairs) + change * whole * min(1.0, plan.asked.n / len(examples))
