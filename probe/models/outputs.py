"""What the outputs of a model mean: the task that it answers, and its labels in their order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

from probe.data.names import listed
from probe.errors import ModelError
from probe.models.errors import UnclearTask
from probe.tasks.nli import NLI
from probe.tasks.task import INVALID, TASKS, Label, Task

if TYPE_CHECKING:
    from probe.models.classifier import Classifier

NUMBERED = re.compile(r"LABEL_\d+")
"""What transformers calls an output without a name."""


def read_outputs(
    name: str,
    outputs: Sequence[str],
    own: Task | None = None,
    asked: Task | None = None,
    order: tuple[Label, ...] | None = None,
    likely: Task | None = None,
) -> tuple[Task, tuple[Label, ...] | None]:
    """Return a model's task and its labels in the order of the outputs, None if nothing says it.

    `own` is the task that the config names. `asked` is the one that a person wants: it, or another
    that asks about the same texts; `likely` decides only where the outputs may be of several. A
    given `order` overrides the names of the outputs. An output `INVALID` beside the task's labels
    stays where it is. Raises ModelError, UnclearTask where several tasks may be meant.
    """
    ordinary = [output for output in outputs if output != INVALID]
    if len(ordinary) < len(outputs):
        rest = tuple(label for label in order if label != INVALID) if order else None
        task, known = read_outputs(name, ordinary, own, asked, rest, likely)
        labels = iter(known or ())
        whole = tuple(output if output == INVALID else next(labels, "") for output in outputs)
        return task, whole if known else None
    tasks = [own] if own else sorted(TASKS.values(), key=lambda task: task is not (asked or likely))
    wanted = own or asked or likely
    read = {task.name: _read(task, outputs, wanted) for task in tasks}
    possible = [task for task in tasks if read[task.name] or len(task.labels) == len(outputs)]
    if not possible and own:
        labels_of_own = ", ".join(own.labels)
        raise ModelError(
            f"the model {name!r} has {len(outputs)} outputs, {own.title} has: {labels_of_own}"
        )
    if not possible and wanted:
        raise _wrong_size(name, outputs, wanted)
    if not possible:
        sizes = sorted({len(task.labels) for task in tasks} - {0}, reverse=True)
        raise ModelError(
            f"the model {name!r} has {len(outputs)} outputs, not {', nor '.join(map(str, sizes))}"
        )
    readable = [task for task in possible if read[task.name] and not order]
    meant = readable or possible
    alike = [task for task in meant if asked is None or task.example is asked.example]
    if asked and not alike:
        certain = own or readable or all(map(NUMBERED.fullmatch, outputs))
        if not certain or len({task.example for task in meant}) != 1:
            raise _wrong_size(name, outputs, asked)
        raise ModelError(
            f"the model {name!r} answers {meant[0].title.lower()} ({', '.join(meant[0].labels)}), "
            f"not {asked.title.lower()}"
        )
    if order:
        for task in alike:
            if {*task.labels} == {*order} - {""}:
                return task, order
        first = alike[0].labels
        raise ModelError(
            f"the model {name!r} has {len(first)} outputs; order these labels: {', '.join(first)}"
        )
    if not wanted:  # all labels of another task and further ones are refused
        named = [
            task
            for task in TASKS.values()
            if any(map(task.read_order, combinations(outputs, len(task.labels))))
        ]
        if named and not {task.example for task in named} & {task.example for task in alike}:
            raise _wrong_size(name, outputs, named[0])
    alike = [task for task in alike if likely and task.example is likely.example] or alike
    if len({task.example for task in alike}) > 1:
        raise UnclearTask(name, outputs, [task.name for task in alike])
    return alike[0], alike[0].read_order(outputs)


def _read(task: Task, outputs: Sequence[str], wanted: Task | None) -> tuple[Label, ...] | None:
    """Return a task's labels of named outputs: of finer ones where no other task is wanted."""
    order = task.read_order(outputs)
    other = wanted is not None and wanted.example is not task.example
    return None if order and other and is_merged(order) else order


def is_merged(order: Sequence[Label]) -> bool:
    """Whether several outputs count as one label, or some as none."""
    return "" in order or len(set(order)) < len(order)


def merged_sentence(outputs: Sequence[str], order: Sequence[Label]) -> str:
    """Say what each of a model's outputs counts as."""
    kinds = {
        label: [o for o, own in zip(outputs, order, strict=True) if own == label] for label in order
    }
    read = [f"{' and '.join(each)} as {label}" for label, each in kinds.items() if label]
    left = " and ".join(kinds.get("", []))
    aside = f"; {left} is left out, and probabilities are shares of the others" if left else ""
    return f"of its {len(outputs)} outputs it reads {', '.join(read)}{aside}"


def is_probability(config: Any) -> bool:  # Any: transformers' configs
    """Whether a config's own words for sentence_transformers make a probability of its number."""
    own = getattr(config, "sentence_transformers", None)
    named = own.get("activation_fn") if isinstance(own, Mapping) else None
    written = named or getattr(config, "sbert_ce_default_activation_function", "")
    return str(written).rpartition(".")[2] == "Sigmoid"


def _wrong_size(name: str, outputs: Sequence[str], task: Task) -> ModelError:
    """Return the error for a model with other outputs than the labels of a task."""
    alike = [each.labels for each in TASKS.values() if each.example is task.example]
    sizes = [f"{len(labels)} ({', '.join(labels)})" for labels in alike if labels]
    wanted = f"has {' or '.join(sizes)}" if sizes else "is answered with spans"
    return ModelError(
        f"the model {name!r} has {len(outputs)} outputs ({listed(outputs)}), and "
        f"{task.title.lower()} {wanted}"
    )


MIN_ADVANTAGE = 3  # examples that a better order gets right in addition; a swap costs up to four
MAX_WRONG = 1  # examples of an order that is suggested


@dataclass(frozen=True)
class LabelCheck:
    """The numbers of correct sanity examples, of n, with `order` and with the best order.

    `best_order` is `order` where no other is better.
    """

    correct: int
    n: int
    order: tuple[Label, ...]
    best_order: tuple[Label, ...]
    best_correct: int
    task: Task = NLI
    alone: bool = True
    """Whether no other order is as good as the best."""

    @property
    def suggestion(self) -> tuple[Label, ...] | None:
        """The best order, None if it gets too many wrong."""
        return self.best_order if self.best_correct >= self.n - MAX_WRONG else None

    @property
    def better_order(self) -> tuple[Label, ...] | None:
        """Another order that is clearly better, None if there is none."""
        return self.suggestion if self.best_correct - self.correct >= MIN_ADVANTAGE else None

    @property
    def right(self) -> str:
        """How many are right: "6 of 6 plain pairs"."""
        return f"{self.correct} of {self.n} plain {self.task.unit}s"

    @property
    def doubt(self) -> str:
        """A sentence that another order fits the answers better, or none; "" where this does."""
        if self.better_order:
            return (
                f"with this order the model gets {self.right} right; with "
                f"{', '.join(self.better_order)} {self.best_correct} of {self.n} - are the labels "
                "named wrongly?"
            )
        if self.correct > self.n // 2:
            return ""
        return (
            f"the model gets only {self.right} right, and no other order of "
            "its labels is clearly better - is it trained for "
            f"{(self.task.choice or self.task.title).lower()}?"
        )


def check_labels(classifier: "Classifier") -> LabelCheck | None:
    """Score the task's sanity examples with every order of the model's labels.

    Returns None where the task has none.
    """
    task, order = classifier.task, classifier.order
    if not task.sanity_examples:
        return None
    predictions = classifier.predict(task.sanity_examples)
    outputs = [order.index(prediction.answer) for prediction in predictions]

    golds = [example.gold or "" for example in task.sanity_examples]  # each has one
    named = is_merged(order)  # names that say so much are right
    correct = {
        each: sum(task.matches(each[at], gold) for at, gold in zip(outputs, golds, strict=True))
        for each in ([order] if named else permutations(order))
    }
    best = max(correct, key=lambda each: (correct[each], each == order))
    alone = list(correct.values()).count(correct[best]) == 1
    return LabelCheck(correct[order], len(outputs), order, best, correct[best], task, alone)
