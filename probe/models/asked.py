"""What every language model has that is asked in words, computed here or at an address."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probe.errors import ExampleError
from probe.models.classifier import Precision, predict_each
from probe.models.prediction import Prediction, as_predictions, softmax
from probe.models.prompts import (
    BETWEEN,
    CALIBRATIONS,
    CONTENT_FREE,
    MEAN_OF,
    Asking,
    Prompt,
    by_label,
    drawn_shots,
)
from probe.statistics import percent, wilson
from probe.tasks.examples import bundled_examples
from probe.tasks.task import Example, Label, Task


class Asked(ABC):
    """A language model with the prompt by which it is asked for the labels of a task.

    `given` are examples in context that take the place of drawn ones.
    """

    name: str
    task: Task
    prompt: Prompt
    asking: Asking
    given: Sequence[Example]
    notes: tuple[str, ...]
    revision: str | None

    @property
    @abstractmethod
    def chats(self) -> bool:
        """Whether what is asked is a turn of a chat."""

    @abstractmethod
    def shown(self, example: Example) -> str:
        """Return all that the model reads of an example, to the label, as text."""

    @abstractmethod
    def too_long(self, example: Example) -> bool:
        """Whether an example is longer than what the model reads."""

    @abstractmethod
    def scores(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> NDArray[np.float64]:
        """Return the score of each label, before any calibration.  # (examples, labels)

        Raises Stopped between two batches.
        """

    @property
    def order(self) -> tuple[Label, ...]:
        """The labels in the order of the prompt's words: the task's."""
        return self.task.labels

    labels = order

    @property
    def how(self) -> Sequence[str]:
        """Which of several ways it is asked in, where that is not told by the rest."""
        return []

    @cached_property
    def orders(self) -> tuple[tuple[str, ...], ...]:
        """The orders in which the labels are listed, over which scores are averaged."""
        return self.prompt.orders[: 1 if self.asking.orders == "one" else None]

    @cached_property
    def shots(self) -> Sequence[tuple[Example, Example]]:
        """The examples in context, each with another in its place where it is the one asked."""
        if self.given:
            return list(zip(self.given, [*self.given[1:], self.given[0]], strict=True))
        return drawn_shots(self.task, self.asking.shots, self.asking.seed)

    def shots_for(self, example: Example) -> list[Example]:
        """Return the examples in context of one, which is itself none of them."""
        texts = self.task.texts
        return [spare if texts(shot) == texts(example) else shot for shot, spare in self.shots]

    def said(self, shot: Example) -> str:
        """The words by which an example in context is answered."""
        gold: Label = self.task.nearest(getattr(shot, "gold", None) or "") or ""
        return self.prompt.words[self.task.labels.index(gold)]

    def turns(
        self, order: Sequence[str], shots: Sequence[Example], last: str
    ) -> tuple[list[str], list[str]]:
        """Return what is said in each turn, the `last` text in the last, and the answers between.

        The first begins with the instruction. Where it is no chat the answers stand in their turns.
        """
        said, answers = list[str](), list[str]()
        for shot in shots:
            answers.append(self.said(shot))
            block, at = self.prompt.filled(self.task.texts(shot), answers[-1], order)
            said.append(block.text[:at].rstrip() if self.chats else block.text)
        first, *others = [*said, last]
        begin = self.prompt.beginning(order)
        return [BETWEEN.join(filter(None, [begin, first])), *others], answers

    @property
    def told(self) -> str:
        """How it is asked, in a sentence with the prompt."""
        asking, prompt = self.asking, self.prompt
        each = [
            *self.how,
            *(["in a turn of a chat"] if self.chats else []),
            *([f"the mean over {len(self.orders)} orders"] if len(self.orders) > 1 else []),
            *([f"{len(self.given)} given examples before it"] if self.given else []),
            *([f"{asking.shots} examples before it, seed {asking.seed}"] if asking.shots else []),
            *([CALIBRATIONS[asking.calibration]] if asking.calibration != "none" else []),
        ]
        how = f" ({'; '.join(each)})" if each else ""
        return f"it is asked about {self.task.title.lower()} by “{prompt.name}”{how}: {prompt.text}"

    @cached_property
    def usual(self) -> NDArray[np.float64]:
        """The logarithm of what the answer is where nothing is asked; 0 where none calibrates.

        # (labels,)
        """
        calibration = self.asking.calibration
        if calibration == "none":
            return np.zeros(len(self.labels))
        empty = [self.task.example(**dict.fromkeys(self.task.fields, t)) for t in CONTENT_FREE]
        of = empty if calibration == "content_free" else self.neutral_examples
        means: NDArray[np.float64] = np.log(softmax(self.scores(of)).mean(axis=0))
        return means

    @property
    def neutral_examples(self) -> Sequence[Example]:
        """The examples whose mean answer calibrates; their labels are not looked at."""
        return bundled_examples(self.task, "pool")[:MEAN_OF]

    def predict(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> list[Prediction]:
        """Answer for each example, in their order. Raises Stopped between two batches."""
        return as_predictions(self.scores(examples, precision) - self.usual, self.labels)


def messages(turns: Sequence[str], answers: Sequence[str]) -> list[dict[str, str]]:
    """Return the turns of a chat, each but the last with its answer, as templates take them."""
    said = [{"role": "user", "content": text} for text in turns]
    given = [{"role": "assistant", "content": word} for word in answers]
    return [*chain.from_iterable(zip(said, given, strict=False)), said[-1]]


def prompt_json(model: object) -> dict[str, Any]:  # Any: JSON
    """Return how a language model is asked, nothing of any other model."""
    return {"prompt": model.told} if isinstance(model, Asked) else {}


CHECKED = 24
"""Bundled examples on which a prompt is tried where a model is opened."""


@dataclass(frozen=True)
class PromptCheck:
    """How many of n bundled examples, as many of each label, are answered rightly.

    To those `unanswered` it says nothing that is a label, or its server does not take them.
    """

    correct: int
    n: int
    never: tuple[Label, ...]
    task: Task
    unanswered: int = 0

    @property
    def right(self) -> str:
        """How many are right: "11 of 24 bundled pairs"."""
        return f"{self.correct} of {self.n} bundled {self.task.unit}s"

    @property
    def doubt(self) -> str:
        """What a person should know before resting on its answers; "" where nothing."""
        found, said = wilson(self.correct, self.n), list[str]()
        if self.unanswered == self.n:
            return f"by this prompt it answers none of {self.n} bundled {self.task.unit}s"
        if self.task.has_spans:
            few = 2 * self.correct < self.n
            right = f"by this prompt its words are right on {self.right} ({percent(found)})"
            return f"{right}, word for word" if few else ""
        chance = 1 / len(self.task.labels)
        if found.low <= chance:
            said.append(
                f"by this prompt it is right on {self.right} ({percent(found)}), always one label "
                f"on {round(self.n * chance)}: it is not clear that it reads them at all"
            )
        if self.unanswered:
            said.append(f"{self.unanswered} of {self.n} get no answer and count as wrong")
        if self.never:
            said.append(f"it answers {' and '.join(self.never)} to none of {self.n}")
        return "; ".join(said)


def check_prompt(model: Asked) -> PromptCheck:
    """Try a prompt on bundled examples, which are the same each time, as many of each label."""
    task, rng = model.task, random.Random("prompt check")
    several = list(bundled_examples(task, "dev"))
    rng.shuffle(several)
    if task.has_spans:
        examples = several[:CHECKED]
    else:
        each = CHECKED // len(task.labels)
        examples = [example for of in by_label(task, several).values() for example in of[:each]]
    answers = [
        "" if isinstance(given, ExampleError) else given.answer  # which names none of the labels
        for given in predict_each(model, examples, "auto")
    ]
    pairs = zip(answers, examples, strict=True)
    correct = sum(task.matches(answer, example.gold) for answer, example in pairs)
    never = tuple(label for label in task.labels if label not in answers)
    return PromptCheck(
        correct, len(examples), never, task, 0 if task.has_spans else answers.count("")
    )
