"""Transformed examples and what a model says of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from probe.analysis.importance import PAPER, AskedMethod, BaselineToken, Importance, attribute
from probe.errors import AttributionError, Unavailable
from probe.models.classifier import Model, Precision, Prediction, resolve
from probe.models.library import AnyModel
from probe.models.text_model import TextModel
from probe.tasks.task import Example, Label, Task
from probe.transforms import Options, apply, chain, default_of
from probe.transforms.apply import Result, Step
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
        classifier = require_importance(self.model)
        new = [example for example in dict.fromkeys(examples) if example not in self.scored]
        unknown = [example for example in new if example not in self.predicted]
        answers = classifier.predict(unknown)
        self.predicted |= {
            example: answer.answer for example, answer in zip(unknown, answers, strict=True)
        }
        labels = explained(classifier.task, new, [self.predicted[example] for example in new])
        try:
            scores: Sequence[Importance | str] = attribute(
                classifier, new, labels, self.ranked_by, self.options.sign, self.baseline
            )
        except AttributionError as problem:
            scores = [str(problem)] * len(new)
        self.scored |= dict(zip(new, scores, strict=True))
        return [_ranking(self.scored[example]) for example in examples]

    @property
    def ranked_by(self) -> AskedMethod:
        """The method whose scores rank the tokens."""
        return PAPER if self.options.ranks == "paper" else self.method


def _ranking(scores: Importance | str) -> Importance | str:
    if isinstance(scores, str) or not scores.vanishes:
        return scores
    return f"{' '.join(scores.remarks)} The option ranks=shown takes another method's scores."


def explained(task: Task, examples: Sequence[Example], predicted: Sequence[Label]) -> list[Label]:
    """Return the label each example is explained for: gold (Gupta), else predicted (Feng)."""
    return [
        (task.nearest(example.gold) if example.gold else None) or label
        for example, label in zip(examples, predicted, strict=True)
    ]


def require_importance(model: Model) -> AnyModel:
    """Return a model that says which tokens matter to it. Raises Unavailable for any other."""
    if not isinstance(model, AnyModel):
        raise Unavailable(f"the model {model.name!r} does not say which tokens matter to it")
    return model


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
    return {
        name: [
            tuple(_transformed(result, predicted, next(answers), model) for result in row)
            for row, predicted in zip(rows, predictions, strict=True)
        ]
        for name, rows in results.items()
    }


def _transformed(result: Result, before: Prediction, now: Prediction, model: Model) -> Transformed:
    expected = default_of(result.transform, result.task) or before.label
    agrees = result.task.agrees(expected, now.label)
    return Transformed(result, now, agrees, model.too_long(result.example))


def lineage_json(result: Result) -> list[dict[str, Any]]:
    """Return each link's texts, gold label, edits by field as [kind, text], seed and note."""
    return [_step(step) | {"seed": result.seed} for step in result.steps]


def _step(step: Step) -> dict[str, Any]:
    return {
        "transform": step.transform,
        **step.task.texts(step.example),
        "gold": step.example.gold,
        "edits": {
            field: [[edit.kind, edit.text] for edit in stretches]
            for field, stretches in step.edits.items()
        },
        "note": step.note,
    }
