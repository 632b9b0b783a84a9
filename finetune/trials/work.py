"""How much there is to do in a run of repairs, and how long that takes here."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from finetune.training.frozen_layers import TENSOR_CACHE
from finetune.trials.base import Training
from finetune.trials.datasets import SourceData
from finetune.trials.pace import Pace, mean_characters, pace_of
from finetune.trials.salad_pace import salad_pace_of
from finetune.trials.word_salad import KEPT, gradient_names
from probe.analysis.pace import TransformPace, characters
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.tasks.task import Label


@dataclass(frozen=True)
class Texts:
    """Texts that a model prepares, by a name that is theirs alone, and their characters."""

    name: str
    length: float


@dataclass(frozen=True)
class Salad:
    """Texts to destroy, and the transforms that are applied to each of them."""

    texts: Texts
    transforms: tuple[str, ...]


@dataclass(frozen=True)
class Work:
    """What cells do, one after the other.

    `prepared` and `salads` hold what each cell asks for: what is kept of an earlier cell takes no
    time. `trained` and `predicted` are characters, counted each time that the model sees them.
    """

    prepared: tuple[Texts, ...] = ()
    trained: float = 0.0
    predicted: float = 0.0
    salads: tuple[Salad, ...] = ()

    def __add__(self, other: "Work") -> "Work":
        """Return this and then the other."""
        return Work(
            self.prepared + other.prepared,
            self.trained + other.trained,
            self.predicted + other.predicted,
            self.salads + other.salads,
        )


class RepairPlan(Protocol):
    """What of a plan says which model is trained and how."""

    @property
    def model(self) -> str:
        """Its name, folder or hub id."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The order of its outputs, where its config does not say it."""

    @property
    def training(self) -> Training:
        """How it is trained."""


def clean_texts(source: SourceData, name: str) -> Texts:
    """Return the set of this name."""
    return Texts(name, characters(source.task, getattr(source, name)))


def first_texts(source: SourceData, name: str, count: int) -> Texts:
    """Return the first texts of a set."""
    return Texts(f"{name} {count}", characters(source.task, getattr(source, name)[:count]))


def drawn_texts(source: SourceData, size: int, seed: int) -> Texts:
    """Return what a training draws of the pool, as long as its texts are on average."""
    return Texts(f"drawn {size} {seed}", size * mean_characters(source.task, source.pool))


def part_of(texts: Texts, share: float) -> Texts:
    """Return the first texts, a share of all."""
    return Texts(f"{share} of {texts.name}", share * texts.length)


def salad_texts(salad: Salad) -> Texts:
    """Return what becomes of texts, which is taken to be as long as they are."""
    names = salad.transforms
    return Texts(f"{salad.texts.name} {names}", len(names) * salad.texts.length)


def joined(*parts: Texts) -> Texts:
    """Return texts that are prepared together."""
    name = " and ".join(part.name for part in parts)
    return Texts(name, sum(part.length for part in parts))


def of_model(name: str, work: Work) -> Work:
    """Return work whose texts another model prepares, which shares them with no other."""
    own = tuple(Texts(f"{name}: {each.name}", each.length) for each in work.prepared)
    return replace(work, prepared=own)


def answering(texts: Texts, times: int = 1) -> Work:
    """Return the work of answering texts so many times."""
    return Work((texts,), predicted=times * texts.length)


def training(texts: Texts, dev: Texts, epochs: int) -> Work:
    """Return the work of a training that answers dev after each epoch."""
    return Work((texts,), trained=epochs * texts.length) + answering(dev, epochs)


def made_anew(salads: Sequence[Salad]) -> Iterator[Salad]:
    """Yield those that are not kept of the calls before."""
    kept: list[Salad] = []
    for salad in salads:
        if salad in kept:
            kept.remove(salad)
        else:
            yield salad
        kept = [*kept, salad][-KEPT:]


def work_seconds(
    plan: RepairPlan, cells: Iterable[Work], source: SourceData, classifier: Classifier | None
) -> float:
    """Return about how many seconds one worker takes for the work of all cells, alone on its core.

    The first question about a model costs a trial in a copy of it, `classifier` where it is loaded
    already. Raises ModelError, or ExperimentError where there is no fast mode.
    """
    opened = classifier or load(plan.model, plan.labels or None)
    pace = pace_of(plan.model, plan.labels, plan.training, source.pool, opened)
    salad = salad_pace_of(plan.model, source.test, opened)
    return seconds_at_pace(sum(cells, Work()), pace, salad, gradient_names(source.task))


def seconds_at_pace(work: Work, pace: Pace, salad: TransformPace, asking: tuple[str, ...]) -> float:
    """Return the seconds; each cell prepares its texts anew where they are too many to keep.

    `asking` are the transforms that ask the model which tokens matter.
    """
    distinct = sum(texts.length for texts in set(work.prepared))
    kept = pace.states * distinct <= TENSOR_CACHE.limit()
    prepared = distinct if kept else sum(texts.length for texts in work.prepared)
    destroyed = sum(
        salad.seconds(each.texts.length, each.transforms, asking) for each in made_anew(work.salads)
    )
    return (
        pace.prepare * prepared
        + pace.train * work.trained
        + pace.predict * work.predicted
        + destroyed
    )
