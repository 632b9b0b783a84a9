"""What the outputs of a model mean: the task that it answers, and its labels in their order."""

from collections.abc import Sequence

from probe.errors import ModelError
from probe.models.errors import UnclearTask
from probe.tasks.task import INVALID, TASKS, Label, Task


def read_config(
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
    stays where it is. Raises ModelError with a sentence, and
    UnclearTask where several tasks may be meant.
    """
    ordinary = [output for output in outputs if output != INVALID]
    if len(ordinary) < len(outputs):
        task, known = read_config(name, ordinary, own, asked, _without_invalid(order), likely)
        return task, _with_invalid(known, outputs) if known else None
    possible = _of_size(name, len(outputs), own, asked)
    readable = [task for task in possible if task.read_order(outputs) and not order]
    meant = readable or possible
    wanted = [task for task in meant if asked is None or task.example is asked.example]
    if not wanted:
        raise _wrong_task(name, meant[0], asked)
    if order:
        return _of_labels(name, wanted, order), order
    wanted = [task for task in wanted if likely and task.example is likely.example] or wanted
    if len({task.example for task in wanted}) > 1:
        raise UnclearTask(name, outputs, [task.name for task in wanted])
    return wanted[0], wanted[0].read_order(outputs)


def _without_invalid(order: tuple[Label, ...] | None) -> tuple[Label, ...] | None:
    return tuple(label for label in order if label != INVALID) if order else None


def _with_invalid(order: Sequence[Label], outputs: Sequence[str]) -> tuple[Label, ...]:
    """Put `INVALID` into an order of labels where the outputs have it."""
    labels = iter(order)
    return tuple(INVALID if output == INVALID else next(labels) for output in outputs)


def _of_size(name: str, outputs: int, own: Task | None, asked: Task | None) -> list[Task]:
    """Return the tasks with as many labels as there are outputs; the one asked for comes first."""
    tasks = [own] if own else sorted(TASKS.values(), key=lambda task: task is not asked)
    possible = [task for task in tasks if len(task.labels) == outputs]
    if possible:
        return possible
    if own:
        labels = ", ".join(own.labels)
        raise ModelError(f"the model {name!r} has {outputs} outputs, {own.title} has: {labels}")
    sizes = sorted({len(task.labels) for task in tasks} - {0}, reverse=True)
    raise ModelError(
        f"the model {name!r} has {outputs} outputs, not {', nor '.join(map(str, sizes))}"
    )


def _of_labels(name: str, possible: Sequence[Task], order: tuple[Label, ...]) -> Task:
    task = next((task for task in possible if sorted(task.labels) == sorted(order)), None)
    if task is None:
        first = possible[0]
        raise ModelError(
            f"the model {name!r} has {len(first.labels)} outputs; order these labels: "
            f"{', '.join(first.labels)}"
        )
    return task


def _wrong_task(name: str, answered: Task, asked: Task | None) -> ModelError:
    """Return the error for a model that answers another task than the one asked for."""
    assert asked is not None  # without it every task is wanted
    return ModelError(
        f"the model {name!r} answers {answered.title.lower()} ({', '.join(answered.labels)}), not "
        f"{asked.title.lower()}"
    )
