"""How long a model and the transforms take here for a text: a short trial of each."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

from probe.analysis.transformed import ImportanceReader
from probe.models.classifier import text_lengths
from probe.models.library import AnyModel
from probe.tasks.task import Example, Task
from probe.transforms import Options, apply
from probe.transforms.registry import REGISTRY

TRIAL_EXAMPLES = 6
RETIME_BELOW_SECONDS = 0.5
"""Seconds of work that is timed twice, so that a hiccup does not count."""


@dataclass(frozen=True)
class TransformPace:
    """Seconds that a character of a text takes.

    `answer` is the model's answer to the whole text, `ask` its word on which tokens matter, which
    transforms share; `own` is what each transform takes besides, by its name.
    """

    answer: float
    ask: float
    own: Mapping[str, float]

    def seconds(self, length: float, names: tuple[str, ...], asking: tuple[str, ...]) -> float:
        """Return what it takes to transform texts of `length` characters together.

        `asking` are the transforms that need the model's word.
        """
        if not names:
            return 0.0
        ask = self.ask if set(names) & set(asking) else 0.0
        return length * (self.answer + ask + sum(self.own[name] for name in names))


_OWN: dict[tuple[str, tuple[str, ...]], Mapping[str, float]] = {}
_LOCK = Lock()


def trial(
    names: tuple[str, ...], options: Options, examples: Sequence[Any], model: AnyModel
) -> TransformPace:
    """Transform a few examples once, after a first one that does not count.

    They are of one gold label: what transforms load for the others takes long, and is as fast. What
    the transforms take besides the model is tried once for a task.
    """
    alike = [example for example in examples if example.gold == examples[0].gold]
    few = tuple(sample(alike, TRIAL_EXAMPLES))
    length = characters(model.task, few)
    labels = [answer.label for answer in model.predict(few)]
    known = dict(zip(few, labels, strict=True))
    ask = partial(_ask, names, options, model, known)
    ask(few[:1])
    key = (model.task.name, names)
    reader = ask(few)
    with _LOCK:
        if key not in _OWN:
            _OWN[key] = _own_of(names, options, few, reader, model)
    return TransformPace(
        timed(partial(model.predict, few), model.device) / length,
        timed(partial(ask, few), model.device) / length,
        _OWN[key],
    )


def asking(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of some transforms that ask the model which tokens matter."""
    return tuple(name for name in names if "model" in REGISTRY[name].needs)


def _ask(
    names: tuple[str, ...],
    options: Options,
    model: AnyModel,
    known: Mapping[Any, str],
    few: Sequence[Any],
) -> ImportanceReader:
    """Return what reads which tokens matter, with these read where a transform needs them."""
    reader = ImportanceReader(model, options, dict(known))
    if asking(names):
        reader(few)
    return reader


def _own_of(
    names: tuple[str, ...],
    options: Options,
    few: Sequence[Any],
    reader: ImportanceReader,
    model: AnyModel,
) -> Mapping[str, float]:
    task, length = model.task, characters(model.task, few)
    labels = [reader.predicted[example] for example in few]

    def transform(name: str, count: int) -> None:
        apply(name, few[:count], task, 0, options, reader, labels[:count])

    def seconds(name: str) -> float:
        transform(name, 1)  # loads what it works with
        return timed(partial(transform, name, len(few)), model.device)

    return {name: seconds(name) / length for name in names}


def sample(examples: Sequence[Any], count: int) -> Sequence[Any]:
    """Return a few examples from all over."""
    return examples[:: max(1, len(examples) // count)][:count]


def timed(work: Callable[[], object], device: Any) -> float:  # Any: torch need not be loaded
    """Return the seconds of some work; on a CPU those of one core, which is what a worker has."""
    clock = time.process_time if device.type == "cpu" else time.perf_counter

    def once() -> float:
        began = clock()
        work()
        return clock() - began

    took = once()
    return min(took, once()) if took < RETIME_BELOW_SECONDS else took


def characters(task: Task, *sets: Iterable[Example]) -> int:
    """Return the characters of all texts of some sets."""
    return sum(sum(text_lengths(task, list(examples))) for examples in sets)
