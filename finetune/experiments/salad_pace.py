"""How long it takes here to make word salad of a text: a short trial of each transform."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from threading import Lock

from finetune.experiments.inoculation.datasets import Examples
from finetune.experiments.pace import characters, sample, timed
from finetune.experiments.word_salad import OPTIONS, gradient_names, salad_names
from probe.analysis.transformed import ImportanceReader
from probe.models.classifier import Classifier
from probe.tasks.task import Example, Label
from probe.transforms import apply

TRIAL_EXAMPLES = 6


@dataclass(frozen=True)
class SaladPace:
    """Seconds that a character of a text takes.

    `answer` is the model's answer to the whole text, `ask` its word on which tokens matter, which
    transforms of the gradient share; `own` is what each transform takes besides, by its name.
    """

    answer: float
    ask: float
    own: Mapping[str, float]

    def seconds(self, length: float, names: tuple[str, ...], asking: tuple[str, ...]) -> float:
        """Return what it takes to destroy texts of `length` characters together with transforms.

        `asking` are those that need the model's word.
        """
        if not names:
            return 0.0
        ask = self.ask if set(names) & set(asking) else 0.0
        return length * (self.answer + ask + sum(self.own[name] for name in names))


_OWN: dict[str, Mapping[str, float]] = {}
_PACES: dict[str, SaladPace] = {}
_LOCK = Lock()


def salad_pace_of(model: str, examples: Examples, classifier: Classifier) -> SaladPace:
    """Return the pace with a model by name; the first question about it costs a trial."""
    with _LOCK:
        if model not in _PACES:
            _PACES[model] = trial(examples, classifier)
        return _PACES[model]


def trial(examples: Examples, classifier: Classifier) -> SaladPace:
    """Destroy a few examples once, after a first one that does not count.

    They are of one gold label: what transforms load for the others takes long, and is as fast.
    """
    alike = [example for example in examples if example.gold == examples[0].gold]
    few = tuple(sample(alike, TRIAL_EXAMPLES))
    length = characters(classifier.task, few)
    labels = [answer.label for answer in classifier.predict(few)]
    known = dict(zip(few, labels, strict=True))
    ask = partial(_ask, classifier, known)
    ask(few[:1])
    return SaladPace(
        timed(partial(classifier.predict, few), classifier.device) / length,
        timed(partial(ask, few), classifier.device) / length,
        _own_of(few, ask(few), classifier),
    )


def _ask(classifier: Classifier, known: Mapping[Example, Label], few: Examples) -> ImportanceReader:
    """Return what reads which tokens matter, with these read where a transform needs them."""
    reader = ImportanceReader(classifier, OPTIONS, dict(known))
    if gradient_names(classifier.task):
        reader(few)
    return reader


def _own_of(few: Examples, reader: ImportanceReader, classifier: Classifier) -> Mapping[str, float]:
    """Return what each transform takes besides the model, tried once for a task."""
    task = classifier.task
    labels = [reader.predicted[example] for example in few]

    def destroy(name: str, count: int) -> None:
        apply(name, few[:count], task, 0, OPTIONS, reader, labels[:count])

    def seconds(name: str) -> float:
        destroy(name, 1)  # loads what it works with
        return timed(partial(destroy, name, len(few)), classifier.device)

    if task.name not in _OWN:
        length = characters(task, few)
        _OWN[task.name] = {name: seconds(name) / length for name in salad_names(task)}
    return _OWN[task.name]
