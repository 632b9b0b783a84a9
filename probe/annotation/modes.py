"""What people can be asked about a text, after Gupta et al. 2021 and Jia and Liang 2017."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from probe.errors import ArgumentError
from probe.tasks.task import Label, Task

VALID, INVALID = "valid", "invalid"
KEPT, DROPPED = "yes", "no"


@dataclass(frozen=True)
class Mode:
    """A question to people: `suits` says for which tasks, `answers` what they choose from.

    `whole` says that they see all texts of an example, else the changed one alone.
    """

    name: str
    title: str
    summary: str
    instructions: str
    question: Callable[[Task], str]
    answers: Callable[[Task], tuple[Label, ...]]
    suits: Callable[[Task], bool]
    whole: bool


def _labelled(task: Task) -> bool:
    return bool(task.labels)


MODES: Mapping[str, Mode] = {
    mode.name: mode
    for mode in (
        Mode(
            "valid",
            "Is it a text at all?",
            "Each text is called valid or invalid, as in table 4 of Gupta et al. 2021.",
            "Some of these texts were broken by a program, others are as somebody wrote them. Call "
            "a text invalid only if it is neither natural nor understandable.",
            lambda task: "Is this text valid?",
            lambda task: (VALID, INVALID),
            _labelled,
            whole=False,
        ),
        Mode(
            "labels",
            "Do the model's task",
            "People answer what the model is asked, as in table 14 of Gupta et al. 2021.",
            "Some of these texts were broken by a program. Think of what they may have said "
            "before, as well as you can, and answer.",
            lambda task: task.question,
            lambda task: task.labels,
            _labelled,
            whole=True,
        ),
        Mode(
            "distractor",
            "Check the distractors",
            "Each sentence is kept or dropped, as in the last step of Jia and Liang 2017.",
            "Each sentence was made by a program, to mislead a reader. It may say what is false, "
            "and in a wrong tense. Yes only if it is grammatical, states something, and does not "
            "answer the question.",
            lambda task: "Grammatical, a statement, and no answer to the question?",
            lambda task: (KEPT, DROPPED),
            lambda task: task.has_spans,
            whole=True,
        ),
    )
}


def modes_for(task: Task) -> tuple[Mode, ...]:
    """Return what people can be asked about a task's examples."""
    return tuple(mode for mode in MODES.values() if mode.suits(task))


def mode_for(task: Task, name: str) -> Mode:
    """Return a mode by its name. Raises ArgumentError where the task has none of this name."""
    suitable = {mode.name: mode for mode in modes_for(task)}
    if name not in suitable:
        known = ", ".join(suitable) or "none"
        raise ArgumentError(f"{task.title} has no annotation {name!r}; it has: {known}")
    return suitable[name]
