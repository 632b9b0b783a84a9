"""Transformed examples and what a model says of them."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from probe.analysis.importance import PAPER, AskedMethod, BaselineToken, Importance, attribute
from probe.analysis.legibility import UNJUDGED, Legibility, legibility
from probe.baselines import BASELINES, baselines_for
from probe.data.rows import require_text
from probe.errors import AttributionError, Unavailable
from probe.models.classifier import Model, Precision, Prediction, resolve
from probe.models.library import AnyModel
from probe.models.reader import SpanPrediction
from probe.models.text_model import TextModel
from probe.models.windows import WindowPrediction, window_words
from probe.tasks.task import Example, Label, Task
from probe.transforms import Options, apply, chain, default_of
from probe.transforms.apply import Result
from probe.transforms.registry import require_ready


@dataclass(frozen=True)
class Transformed:
    """A transformed example and what the model says of it.

    `agrees`: the prediction is that of the original example, or the transform's default label;
    `cut`: the new example is longer than what the model reads.
    """

    result: Result
    prediction: Prediction
    agrees: bool
    cut: bool = False

    @property
    def note(self) -> str:
        """What there is to know of the new example, one reason after the other."""
        return "; ".join(filter(None, (self.result.note, "its end is cut" if self.cut else "")))

    @property
    def right(self) -> bool | None:
        """Whether the prediction matches the new gold label, None where that is undefined."""
        gold = self.result.gold
        return self.result.task.matches(self.prediction.label, gold) if gold else None


@dataclass
class ImportanceReader:
    """Scores examples for the sub-word transforms, each example once.

    They are ranked by the paper's gradient × input, or by `method` where the options say that they
    follow what is shown. `predicted` and `scored` hold what is known of some of them before.
    """

    model: Model
    options: Options
    predicted: dict[Example, Label] = field(default_factory=dict)
    scored: dict[Example, Importance | str] = field(default_factory=dict)
    method: AskedMethod = "auto"
    baseline: BaselineToken = "pad"

    def __call__(self, examples: Sequence[Example]) -> list[Importance | str]:
        """Return the importance of the examples for their explained labels, or why there is none.

        None is what a method gives that vanishes: it would rank by chance.
        """
        classifier = self.model
        if not isinstance(classifier, AnyModel):
            named = repr(classifier.name)
            raise Unavailable(f"the model {named} does not say which tokens matter to it")
        new = [example for example in dict.fromkeys(examples) if example not in self.scored]
        unknown = [example for example in new if example not in self.predicted]
        for example, answer in zip(unknown, classifier.predict(unknown), strict=True):
            self.predicted[example] = answer.answer
        labels = explained(classifier.task, new, [self.predicted[example] for example in new])
        method = PAPER if self.options.ranks == "paper" else self.method
        try:
            scores: Sequence[Importance | str] = attribute(
                classifier, new, labels, method, self.options.sign, self.baseline
            )
        except AttributionError as problem:
            scores = [str(problem)] * len(new)
        self.scored |= dict(zip(new, scores, strict=True))
        known = [self.scored[example] for example in examples]
        return [
            f"{' '.join(each.remarks)} The option ranks=shown takes another method's scores."
            if isinstance(each, Importance) and each.vanishes
            else each
            for each in known
        ]


def explained(task: Task, examples: Sequence[Example], predicted: Sequence[Label]) -> list[Label]:
    """Return the label each example is explained for: gold (Gupta), else predicted (Feng)."""
    return [
        (task.nearest(example.gold) if example.gold else None) or label
        for example, label in zip(examples, predicted, strict=True)
    ]


def require_usable(name: str, model: Model) -> None:
    """Raise UnknownTransform or Unavailable where a chain cannot run on this model's examples."""
    require_ready(name, model.task)
    for link in chain(name):
        if "model" in link.needs and not isinstance(model, TextModel):
            raise Unavailable(
                f"{link.name} cannot run here: the model {model.name!r} does not say which tokens "
                "matter to it"
            )


def transform_all(
    model: Model,
    examples: Sequence[Example],
    predictions: Sequence[Prediction],
    names: Sequence[str],
    seed: int = 0,
    options: Options = Options(),
    precision: Precision = "fp32",
    scored: Sequence[Importance | str] = (),
    foreign: Sequence[str] | None = None,
    method: AskedMethod = "auto",
    baseline: BaselineToken = "pad",
) -> dict[str, list[tuple[Transformed, ...]]]:
    """Apply each transform or chain to every example and classify what comes out.

    A transform may make several examples of one. Everything is classified together, in batches of
    like length. `scored` is the importance that sub-word transforms read, where it is known of the
    examples already, `foreign` as `apply` has it, `method` and `baseline` what they follow where
    the options say so. Raises UnknownTransform or Unavailable.
    """
    for name in names:
        require_usable(name, model)
    labels = [prediction.answer for prediction in predictions]
    # importance is taken in fp32, so that only such predictions serve it
    known = dict(zip(examples, labels, strict=True)) if resolve(precision) == "fp32" else {}
    before = dict(zip(examples, scored, strict=False))
    reader = ImportanceReader(model, options, known, before, method, baseline)
    results = {
        name: apply(name, examples, model.task, seed, options, reader, labels, foreign)
        for name in names
    }
    new = [result.example for rows in results.values() for row in rows for result in row]
    answers = iter(model.predict(new, precision))

    def transformed(result: Result, before: Prediction) -> Transformed:
        now, expected = next(answers), default_of(result.transform, result.task) or before.label
        agrees = result.task.agrees(expected, now.label)
        return Transformed(result, now, agrees, model.too_long(result.example))

    return {
        name: [
            tuple(transformed(result, before) for result in row)
            for row, before in zip(rows, predictions, strict=True)
        ]
        for name, rows in results.items()
    }


def lineage_json(result: Result) -> list[dict[str, Any]]:
    """Return each link's texts, gold label, edits by field as [kind, text], seed and note."""
    return [
        {
            "transform": step.transform,
            **step.task.texts(step.example),
            "gold": step.example.gold,
            "edits": {
                field: [[edit.kind, edit.text] for edit in stretches]
                for field, stretches in step.edits.items()
            },
            "note": step.note,
            "seed": result.seed,
        }
        for step in result.steps
    ]


WINDOW = (
    "The premise is longer than what the model reads at once. It was read in windows of whole "
    "sentences that overlap, and window {} decides: “{}”"
)
SHOWN = 160
"""Characters at either end of a window that is shown."""


@dataclass(frozen=True)
class Examination:
    """An example, the prediction, the importance of its tokens, and its transformed versions.

    `importance` is None where it is not to be had, and `no_importance` says why; `rules` is what
    the rule baselines of the task answer, `legible` what the model reads of the example, `seconds`
    the time that the prediction took.
    """

    model: Model
    example: Any  # Any: of the task's own dataclass
    prediction: Prediction
    importance: Importance | None
    transformed: tuple[Transformed, ...]
    rules: Mapping[str, Label]
    legible: Legibility = UNJUDGED
    seconds: float = field(default=0.0, compare=False)
    no_importance: str = ""

    @property
    def notes(self) -> list[str]:
        """Sentences on what the model does not read, reads in parts, or may not understand."""
        legible, unit = self.legible, self.model.task.unit
        answer, window = self.prediction, ""
        windows = answer.windows if isinstance(answer, SpanPrediction) else 1
        if isinstance(answer, WindowPrediction):
            text = getattr(self.example, self.model.task.source or "")[answer.start : answer.end]
            if len(text) > 2 * SHOWN:
                text = f"{text[:SHOWN]} … {text[-SHOWN:]}"
            window = WINDOW.format(window_words(answer), text)
        said = {
            f"This {unit} is too long for the model: its end is cut.": legible.cut,
            "The passage is longer than what the model reads at once: it was read in "
            f"{windows} parts that overlap.": windows > 1,
            window: window,
            f"This {unit} is in {legible.language}. Transforms for English leave it as it is, and "
            "a model that has learnt English alone can say little of it.": legible.language,
            f"The model does not know {100 * legible.unknown:.0f} % of the tokens of this {unit}: "
            "its answer says nothing.": legible.mostly_unknown,
        }
        return [sentence for sentence, applies in said.items() if applies]


def examine(
    model: Model,
    example: Any,  # Any: of the task's own dataclass
    names: Sequence[str] = (),
    seed: int = 0,
    options: Options = Options(),
    method: AskedMethod = "auto",
    baseline: BaselineToken = "pad",
    label: Label | None = None,
    precision: Precision = "fp32",
) -> Examination:
    """Look at one example. `label` is what is explained: given, else gold, else predicted.

    The answer is given where importance is not to be had, too.

    Raises ExampleError where a text is empty, UnknownTransform for a name that is not there,
    Unavailable for a transform that cannot run here.
    """
    require_text(model.task, example)
    for name in names:
        require_usable(name, model)
    began = time.perf_counter()
    prediction = model.predict([example], precision)[0]
    seconds = time.perf_counter() - began
    usual = explained(model.task, [example], [prediction.answer])[0]
    importance, why_not = None, f"{model.name} does not say which tokens its answer rests on"
    if isinstance(model, AnyModel):
        shown = label or usual
        try:
            importance = attribute(model, [example], [shown], method, options.sign, baseline)[0]
        except AttributionError as problem:
            why_not = str(problem)
    # the sub-word transforms read these scores, taken in fp32
    ranks = options.ranks == "shown" or (importance and importance.method == PAPER)
    serves = importance and ranks and importance.label == usual and resolve(precision) == "fp32"
    scored = [importance] if importance and serves else []
    (legible,) = legibility(model, [example])
    transformed = transform_all(
        model,
        [example],
        [prediction],
        names,
        seed,
        options,
        precision,
        scored,
        [legible.foreign],
        method,
        baseline,
    )
    new_examples = tuple(new for rows in transformed.values() for new in rows[0])
    # what the rule baselines answer, but the majority label, which is that of a set
    names = [name for name in baselines_for(model.task) if name != "majority"]
    return Examination(
        model,
        example,
        prediction,
        importance,
        new_examples,
        {name: BASELINES[name]([example])[0] for name in names},
        legible,
        seconds,
        "" if importance else why_not,
    )
