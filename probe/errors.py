"""What a person can put right, as one tree; the message of each is a sentence for the person.

Pages and commands catch UserError and nothing wider: any other exception is a bug and shows as one.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FOLDERS = re.compile(r"(?<![\w.:/~<])/(?:[^/\s'\"<>]+/)+")
"""The folders before the name of a file."""
PLACE = re.compile(r"\bline (\d+),? column (\d+)")
"""Where a text is wrong, as the readers of JSON and TOML say it."""


class UserError(Exception):
    """Something that a person can put right."""


class SettingsError(UserError):
    """A setting of the environment that cannot be used."""


class LimitError(UserError):
    """More than one visitor may ask for here; a setting says how much that is."""


class ArgumentError(UserError):
    """A value that a field of the page or an argument of an endpoint does not take."""


class AccessError(UserError):
    """A password that is wrong, or a door that has closed again."""


class Stopped(UserError):
    """Work ended before its end: somebody stopped it, nobody waits for it, or its time is up."""


class FileError(UserError):
    """A file that cannot be read, understood or written."""


class FileQuestion(FileError):
    """A file that can be read in several ways; options of the command line settle in which.

    `sentence` names none of them, for a page that asks in its own way. Where the file fits other
    tasks than the one that is asked about, `tasks` names them.
    """

    def __init__(self, sentence: str, *options: str, tasks: Sequence[str] = ()) -> None:
        """Ask in one sentence without a full stop; at least one option answers."""
        models = [f"a model of the task {task}" for task in tasks]
        super().__init__(f"{sentence}; say it with {' or '.join([*options, *models])}")
        self.sentence = sentence
        self.options = options
        self.tasks = tuple(tasks)


class LabelError(UserError):
    """A label that is not known or disputed."""


class DisputedLabel(LabelError):
    """A label on which the annotators did not agree."""


class ExampleError(UserError):
    """An example that cannot be scored."""


class ModelError(UserError):
    """A model that cannot be used."""


class AttributionError(UserError):
    """What a model cannot be asked about its tokens."""


class TransformError(UserError):
    """A transform that cannot be applied."""


class UnknownTransform(TransformError):
    """A name that is not registered."""


class OptionError(TransformError):
    """An option that is not there or a value that it cannot have."""


class Unavailable(TransformError):
    """A transform that cannot run here; the message says what it lacks and how to get it."""


class MissingWordNet(UserError):
    """WordNet is not on this machine; the message says how to get it."""


class ComparisonError(UserError):
    """Models that cannot be compared."""


class CheckupError(UserError):
    """What is asked of a check-up cannot be answered."""


class TemplateError(UserError):
    """A request that the templates cannot meet."""


class BaselineError(UserError):
    """A rule baseline that cannot be used."""


class UnknownBaseline(BaselineError):
    """A name that is not registered."""


class MissingWeights(BaselineError):
    """The weights of a trained baseline are not there."""


class TrainingError(UserError):
    """What a training cannot go on without."""


class ExperimentError(UserError):
    """A plan or data that an experiment cannot use."""


class RunError(UserError):
    """A run that cannot be read, changed or computed."""


class UnknownRun(RunError):
    """There is no run of this id."""


class StoreError(RunError):
    """The run database cannot be read or written now; later it may be."""


class SurveyError(UserError):
    """Answers that a survey cannot take, or a survey that is not there."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise FileError where the system refuses to write a file."""
    try:
        yield
    except OSError as problem:
        raise FileError(f"{path} cannot be written: {problem.strerror or problem}") from problem


def write_json(value: Any, path: Path) -> Path:  # Any: JSON
    """Write a value as indented JSON, make the file's folder, and return the file.

    Raises FileError.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, also where the machine stops.

    Raises FileError.
    """
    fresh = path.with_name(f"{path.name}.new")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)


@contextmanager
def reading(
    name: str, form: str, advice: str = "", refusal: type[UserError] = FileError
) -> Iterator[None]:
    """Raise `refusal` in our own words where a library refuses a file that a person brought.

    `name` is what the person calls it, `form` the form that was expected and `advice` what to do.
    Libraries raise of every kind for what is damaged, and name what is nothing to the person.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as problem:
        ends = f"; {advice}" if advice else ""
        raise refusal(
            f"{name} cannot be read as {form}: {what_is_wrong(problem)}{ends}"
        ) from problem


def what_is_wrong(problem: BaseException) -> str:
    """Return what is wrong with a file by the exception of a library, without the library's words.

    The place where it stopped is told as far as the exception has it.
    """
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    if isinstance(problem, UnicodeDecodeError):
        return f"byte {problem.start + 1:,} is no text in {problem.encoding.upper()}"
    if isinstance(problem, MemoryError):
        return "it is damaged, or larger than the memory that is free"
    if place := PLACE.search(str(problem)):
        return f"it is written wrongly or ends at line {int(place[1]):,}, character {place[2]}"
    return "it is damaged, incomplete or of another form"


def public_words(problem: object) -> str:
    """Return a sentence with files by their names alone, for who does not own the machine.

    Where a file lies is nothing for who sent it, and nothing that they can use.
    """
    return FOLDERS.sub("", str(problem))


def library_words(problem: BaseException) -> str:
    """Return what a library says of a problem, in one line and without the folders of a file."""
    system = problem.strerror if isinstance(problem, OSError) else None
    words = (system or str(problem)).strip() or type(problem).__name__
    return public_words(words.splitlines()[0]).rstrip(":")
