"""What a model reads and says of an example and of its transformed versions."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from probe.analysis.importance import (
    PAPER,
    AskedMethod,
    BaselineToken,
    Importance,
    attribute,
    known_check,
)
from probe.baselines import BASELINES, baselines_for
from probe.data.rows import Columns, Source, read_rows, require_text
from probe.errors import AttributionError, Unavailable
from probe.graphemes import has_unspaced
from probe.models.asked import prompt_json
from probe.models.classifier import Model, Precision, Prediction, resolve
from probe.models.library import AnyModel
from probe.models.prediction_file import Predicted
from probe.models.reader import SpanPrediction, span_place, stands_nowhere
from probe.models.served import BoundedPrediction, Served, bounds_json, bounds_words
from probe.models.text_model import TextModel
from probe.models.windows import WindowPrediction, window_json, window_words
from probe.tasks.task import Example, Label, Task
from probe.terms import capitalised
from probe.text.language import BEYOND_DOUBT, ENGLISH, foreign_reason, language_of
from probe.transforms import apply, default_of
from probe.transforms.apply import Result
from probe.transforms.options import DEFAULTS, Options
from probe.transforms.registry import chain, draws_of, require_ready

MOSTLY = 0.5
"""The share of unknown tokens from which a model cannot be said to read a text."""
SAMPLE, ENOUGH, FOREIGN_FILE = 500, 20, 0.9
"""The first rows, by which the language of a whole file is told; how many there are at least; and
the share of them in other languages from which the others are taken for such, too."""
NAMED = 4
"""Languages that a sentence names, the most frequent ones."""


@dataclass(frozen=True)
class Legibility:
    """What a model reads of an example.

    `cut`: its end is not read; `unknown` is the share of its tokens that the vocabulary has not;
    `language` is "" for English and where that is in doubt; `unspaced`: some of it is written
    without blanks between words.
    """

    cut: bool = False
    unknown: float = 0.0
    language: str = ""
    unspaced: bool = False

    @property
    def mostly_unknown(self) -> bool:
        """Whether the model knows less of the words than it does not know."""
        return self.unknown >= MOSTLY

    @property
    def foreign(self) -> str:
        """Why transforms for English say nothing of it, "" where they may."""
        words = f"the model does not know {self.unknown:.0%} of its tokens".replace("%", " %")
        return foreign_reason(self.language) or (words if self.mostly_unknown else "")


UNJUDGED = Legibility()
"""Of what no model has read."""


def legibility(
    model: Model, examples: Sequence[Example], below: float = BEYOND_DOUBT
) -> list[Legibility]:
    """Say of each example what a model reads of it; `below` is as `other_language` has it."""
    return [
        Legibility(
            model.too_long(example),
            _unknown(model, example),
            language_of(model.task, example, below),
            any(map(has_unspaced, model.task.texts(example).values())),
        )
        for example in examples
    ]


def _unknown(model: Model, example: Example) -> float:
    texts = model.task.texts(example).values()
    return model.unknown_share(texts) if isinstance(model, TextModel) else 0.0


def is_foreign(table: Source, columns: Columns, task: Task) -> bool:
    """Whether a file is beyond doubt not in English, whatever single short rows of it say."""
    languages, rows = _first_languages(table, columns, task)
    return len(rows) >= ENOUGH and languages.total() >= FOREIGN_FILE * len(rows)


def _first_languages(
    table: Source, columns: Columns, task: Task
) -> tuple[Counter[str], list[Example]]:
    """Return the first examples, and how many are in which language that is not English."""
    rows = islice(read_rows(table, columns, task), SAMPLE)
    examples = [row.example for row in rows if row.example]
    found = (language_of(task, example) for example in examples)
    return Counter(filter(None, found)), examples


def notes_before(
    table: Source,
    columns: Columns,
    task: Task,
    models: Sequence[Model] = (),
    names: Sequence[str] = (),
    options: Options = DEFAULTS,
) -> list[str]:
    """Say of the first rows of a file, before they are scored, what their figures will rest on.

    Of several models each is named.
    """
    languages, examples = _first_languages(table, columns, task)
    rows, first = len(examples), "" if len(table) <= SAMPLE else f"Of the first {SAMPLE} rows: "
    said = [language_words(languages, rows, names, options)]
    for model in models:
        who = [model.name] if len(models) > 1 else []
        unknown = sum(_unknown(model, example) >= MOSTLY for example in examples)
        said.append(counted_words("unknown", unknown, rows, *who))
        said.append(counted_words("cut", sum(map(model.too_long, examples)), rows, *who))
    return [first + sentence for sentence in said if sentence]


def language_words(
    languages: Mapping[str, int], rows: int, names: Sequence[str], options: Options
) -> str:
    """Say how many of so many rows are not in English, and which transforms leave them out."""
    count = sum(languages.values())
    if not count:
        return ""
    named = Counter(languages).most_common(NAMED)
    among = [f"{number:,} {name}" for name, number in named]
    if rest := count - sum(number for _, number in named):
        among.append(f"{rest:,} other")
    english = [name for name in names if any(link.language == ENGLISH for link in chain(name))]
    said = f"{_rows(count, rows)} not in English: {', '.join(among)}."
    if not english:
        return said
    if options.other_languages == "count":
        return f"{said} They count for {', '.join(english)} all the same (other_languages=count)."
    apply = "is for English and does" if len(english) == 1 else "are for English and do"
    return f"{said} {', '.join(english)} {apply} not apply to them (other_languages=skip)."


COUNTED_WORDS = {
    "unknown": "mostly words that are not in {}'s vocabulary. Its answers to them say nothing.",
    "cut": "longer than what {} reads, so that the end is cut.",
    "windowed": "longer than what {} reads at once, and read in windows, of which the best "
    "decides.",
    "bounded": "answered without a probability of each label: {}'s server lists only the most "
    "probable words, and the others have at most what stands there.",
    "unspaced": "written without blanks between words: each character counts as one, in changes of "
    "order and F1.",
}


def counted_words(what: str, count: int, rows: int, who: str = "the model") -> str:
    """Say how many of so many rows are as `COUNTED_WORDS` has it, "" where none is."""
    return f"{_rows(count, rows)} {COUNTED_WORDS[what].format(who)}" if count else ""


def _rows(count: int, rows: int) -> str:
    return f"{count:,} of {rows:,} row{'' if rows == 1 else 's'} {'is' if count == 1 else 'are'}"


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
        cut = "its end is cut" if self.cut else ""
        return "; ".join(filter(None, (self.result.note, cut, bounds_words(self.prediction))))

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
            scores = attribute(classifier, new, labels, method, self.options.sign, self.baseline)
        except AttributionError as problem:
            self.scored |= dict.fromkeys(new, str(problem))
        else:
            self.scored |= dict(zip(new, scores, strict=True))
        return [
            f"{' '.join(each.remarks)} The option ranks=shown takes another method's scores."
            if isinstance(each, Importance) and each.vanishes
            else each
            for each in (self.scored[example] for example in examples)
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
    if isinstance(model, Predicted):
        raise Unavailable(
            f"{name} cannot run here: {model.name} holds answers to these texts alone, and there "
            "is no model to ask about a changed one; name a model instead"
        )
    for link in chain(name):
        if "model" in link.needs and isinstance(model, Served):
            raise Unavailable(
                f"{link.name} cannot run here: {model.name} is asked at an address, so that it has "
                "no gradients that say which tokens matter to it"
            )
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

    A transform may make several examples of one, and one that draws by chance is made as often as
    the options say, by the seeds from `seed` on. Everything is classified together, in batches of
    like length, equal texts once; `predictions` are the model's of the examples in this precision.
    `scored` is the importance that sub-word transforms read, where it is known of the examples
    already, `foreign` as `apply` has it, `method` and `baseline` what they follow where the options
    say so. Raises UnknownTransform or Unavailable.
    """
    for name in names:
        require_usable(name, model)
    labels = [prediction.answer for prediction in predictions]
    # importance is taken in fp32, so that only such predictions serve it
    known = dict(zip(examples, labels, strict=True)) if resolve(precision) == "fp32" else {}
    before = dict(zip(examples, scored, strict=False))
    reader = ImportanceReader(model, options, known, before, method, baseline)

    def made(name: str) -> list[tuple[Result, ...]]:
        several = [
            apply(name, examples, model.task, seed + draw, options, reader, labels, foreign)
            for draw in range(draws_of(name, options))
        ]
        return [
            tuple(replace(each, number=at, of=len(row)) for at, each in enumerate(row, 1))
            for of_one in zip(*several, strict=True)
            for row in [[each for drawn in of_one for each in drawn]]
        ]

    def texts(example: Example) -> tuple[str, ...]:
        return tuple(model.task.texts(example).values())

    results = {name: made(name) for name in names}
    answers = dict(zip(map(texts, examples), predictions, strict=True))
    all_made = (each.example for rows in results.values() for row in rows for each in row)
    new = {key: each for each in all_made if (key := texts(each)) not in answers}
    answers |= zip(new, model.predict([*new.values()], precision), strict=True)

    def transformed(result: Result, before: Prediction) -> Transformed:
        now = answers[texts(result.example)]
        expected = default_of(result.transform, result.task) or before.label
        agrees = result.task.agrees(expected, now.label)
        return Transformed(result, now, agrees, model.too_long(result.example))

    return {
        name: [
            tuple(transformed(result, before) for result in row)
            for row, before in zip(rows, predictions, strict=True)
        ]
        for name, rows in results.items()
    }


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
            "The model's answer is in words of its own, which do not stand in the passage.": (
                stands_nowhere(answer)
            ),
            f"{capitalised(bounds_words(answer))}.": isinstance(answer, BoundedPrediction),
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
    against: Label | None = None,
) -> Examination:
    """Look at one example. `label` is what is explained: given, else gold, else predicted.

    With `against` it is what sets that apart from this other label.
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
            (importance,) = attribute(
                model, [example], [shown], method, options.sign, baseline, against=against
            )
        except AttributionError as problem:
            why_not = str(problem)
    # the sub-word transforms read these scores, taken in fp32
    ranks = options.ranks == "shown" or (importance and importance.method == PAPER)
    serves = importance and ranks and importance.target == usual and resolve(precision) == "fp32"
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


def examination_json(examination: Examination, precision: Precision) -> dict[str, Any]:
    """Return model, model_revision, precision, original, importance, rules, transformed.

    Of a language model also its prompt. `no_importance` says why there is none, and is null beside
    any; the "check" of importance is null until the network is checked. Then what the model reads
    of the example: cut, unknown, language, and notes that say so.
    """
    model, importance = examination.model, None
    if found := examination.importance:
        check = known_check(found.model)
        importance = {
            **{
                field: [{"token": each.token, "score": each.score} for each in scored]
                for field, scored in found.fields.items()
            },
            "label": found.label,
            "against": found.against,
            "method": found.method,
            "sign": found.sign,
            "where": found.where,
            "convergence_delta": found.delta,
            "remarks": list(found.remarks),
            "check": list(check.sentences) if check else None,
        }
    return {
        "model": model.name,
        "model_revision": model.revision,
        **prompt_json(model),
        "precision": None if isinstance(model, Served) else resolve(precision),
        "original": model.task.texts(examination.example) | _answer(examination.prediction),
        "importance": importance,
        "no_importance": examination.no_importance or None,
        "rules": dict(examination.rules),
        "cut": examination.legible.cut,
        "unknown": examination.legible.unknown,
        "language": examination.legible.language,
        "notes": examination.notes,
        "transformed": [transformed_json(one) for one in examination.transformed],
    }


def transformed_json(transformed: Transformed) -> dict[str, Any]:
    """Return one transformed example, its prediction, its facts, and what each link made."""
    result = transformed.result
    return {
        "transform": result.transform,
        "number": result.number,
        "of": result.of,
        **result.task.texts(result.example),
        **_answer(transformed.prediction),
        "agrees": transformed.agrees,
        "gold_rule": result.rule.name,
        "gold": result.gold,
        "changed": result.changed,
        "not_applicable": result.not_applicable,
        "exact": result.exact,
        "note": transformed.note,
        "ranked_by": result.ranked_by or None,
        "cut": transformed.cut,
        "seed": result.seed,
        "variant": result.variant,
        "steps": [
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
        ],
    }


def _answer(prediction: Prediction) -> dict[str, Any]:
    return {
        "label": prediction.label,
        "probabilities": prediction.by_label,
        "confidence": prediction.confidence if prediction.probabilities else None,
        **bounds_json(prediction),
        **span_place(prediction),
        **window_json(prediction),
    }
