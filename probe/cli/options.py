"""Options that several commands share, and how their texts are read."""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any, TypeVar, get_args

import typer

from probe.analysis.importance import Method
from probe.cli.group import LAST_WORDS
from probe.errors import ModelError, OptionError
from probe.models.asked import Asked
from probe.models.classifier import Classifier, Precision
from probe.models.errors import UnclearLabels, UnclearTask
from probe.models.library import AnyModel, full_name, load, load_any, notes_of, open_model
from probe.models.served import Served
from probe.models.windows import LONG, LONG_TITLE, Long
from probe.tasks.task import Task, read_labels, task_named
from probe.terms import capitalised
from probe.transforms.options import SIGNS, Options, Sign, read_options
from probe.transforms.registry import read_task_options

Opened = TypeVar("Opened")


def one_of(name: str, choices: tuple[str, ...]) -> Callable[[str], Any]:
    """Return the reader of an option that is one of a Literal's values. It raises OptionError."""

    def read(value: str) -> Any:  # Any: one of a Literal's values
        if value not in choices:
            raise OptionError(f"--{name} {value!r} is not one of {', '.join(choices)}")
        return value

    return read


def choice(name: str, choices: tuple[str, ...], help: str) -> Any:  # Any: as typer has it
    """Return an option that takes one of a Literal's values."""
    return typer.Option(metavar="|".join(choices), parser=one_of(name, choices), help=help)


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PrecisionName = Annotated[
    Precision,
    choice("precision", get_args(Precision), "What computes; auto: bf16 where it is quick."),
]

LongTexts = Annotated[
    Long,
    choice(
        "long",
        get_args(Long),
        f"{LONG_TITLE}: {'; '.join(f'{name}, {words}' for name, words in LONG.items())}.",
    ),
]
SignName = Annotated[
    Sign,
    choice(
        "sign",
        get_args(Sign),
        f"What is important: {'; '.join(f'{name}, {words}' for name, words in SIGNS.items())}.",
    ),
]
ImportanceName = Annotated[
    Method | None,
    choice(
        "importance",
        get_args(Method),
        "Scores the words of each row by a method, for its gold label, else for the answer.",
    ),
]
InProcess = Annotated[bool, typer.Option(help="Compute without worker processes.")]
Threads = Annotated[int, typer.Option(min=1, help="Torch threads; several imply --in-process.")]
MODEL_NAME = "Bundled or inoculated name, folder, or hub id."
ModelName = Annotated[str, typer.Option(help=MODEL_NAME)]
KeptModelName = Annotated[str, typer.Option("--model", help=MODEL_NAME, callback=full_name)]
"""Of a model that is named in what the command keeps."""
LabelOrder = Annotated[
    str,
    typer.Option(
        "--labels",
        help="The labels of the outputs in their order, with commas between; or guess: the order "
        "that answers plain examples best.",
    ),
]
ModelNames = Annotated[
    list[str], typer.Option("--model", help="Name, folder or hub id; twice or more.")
]
LabelOrders = Annotated[
    list[str],
    typer.Option(
        "--labels",
        metavar="MODEL=LABELS",
        help="The labels of a model's outputs in their order, with commas between.",
    ),
]

Guard = Annotated[
    bool,
    typer.Option(
        "--guard", help="Put an apostrophe before what spreadsheets would compute; CSV and TSV."
    ),
]
Texts = Annotated[
    list[str],
    typer.Option("--text", metavar="FIELD=VALUE", help="A text of the task by its field."),
]
BundleColumn = Annotated[
    str,
    typer.Option(
        "--bundle", metavar="COLUMN", help="Joins rows to contrast sets, of which all are right."
    ),
]
TaskName = Annotated[str, typer.Option("--task", help="The model's task; its own if empty.")]


def assignments(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Read texts of the form NAME=VALUE, each name once. Raises OptionError."""
    values: dict[str, str] = {}
    for text in texts:
        written, mark, value = text.partition("=")
        name = written.strip()
        if not mark:
            raise OptionError(f"{option} {text!r} is not of the form NAME=VALUE")
        if name in values:
            raise OptionError(f"{option} names {name!r} twice")
        values[name] = value
    return values


def read_example(
    task: Task, texts: Sequence[str], premise: str, hypothesis: str, gold: str
) -> Any:  # Any: the task's own
    """Return an example of a task; a text that is not given is empty.

    `texts` are of the form FIELD=VALUE. Raises LabelError, and OptionError for a field that the
    task has not, or that is given in both ways.
    """
    assigned = assignments("--text", texts)
    named = {"premise": premise, "hypothesis": hypothesis}
    given = {name: value for name, value in named.items() if value}
    _require_once("--text", assigned.keys() & given.keys())
    values = dict.fromkeys(task.fields, "") | assigned | given
    unknown = [name for name in values if name not in task.fields]
    if unknown:
        fields = ", ".join(task.fields)
        raise OptionError(f"the task {task.name} has no text {unknown[0]!r}; it has: {fields}")
    return task.example(**values, gold=task.read_gold(gold))


def takes(
    name: str, read: Callable[..., Any], options: Mapping[str, inspect.Parameter] | None = None
) -> Callable[[Callable[..., Any]], Any]:  # Any: typer takes any function
    """Give a command the options of a function that reads them as one value, its own parameter.

    They stand where that parameter does, else last; `options` are those of the function that the
    command takes, all where it is None.
    """
    own = options or inspect.signature(read).parameters

    def with_options(command: Callable[..., Any]) -> Any:
        @wraps(command)
        def called(**given: Any) -> Any:
            value = read(**{option: given.pop(option) for option in own})
            return command(**given, **{name: value})

        parameters = dict(inspect.signature(command).parameters)
        place = [*parameters].index(name) if name in parameters else len(parameters)
        parameters.pop(name, None)
        others = [*parameters.values()]
        called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # typer reads it
            [
                each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                for each in (*others[:place], *own.values(), *others[place:])
            ]
        )
        return called

    return with_options


Changes = Callable[[Task], Options]
"""Reads what a person says of the transforms of a task. It raises OptionError."""


def read_changes(
    keep: Annotated[float, typer.Option(help="r, the share of tokens kept.")] = 0.5,
    sign: Annotated[str, typer.Option(help="support, gupta or abs.")] = "support",
    pin: Annotated[str, typer.Option(help="Marks that stay at the end.")] = ".!?",
    by_id: Annotated[
        bool, typer.Option("--by-id", help="Keep tokens by id, as Gupta's code.")
    ] = False,
    draw: Annotated[str, typer.Option(help="vocabulary or paper_code.")] = "vocabulary",
    others: Annotated[
        list[str],
        typer.Option("--set", metavar="NAME=VALUE", help="An option of `transforms --options`."),
    ] = [],  # noqa: B006
) -> Changes:
    """Return what reads the options of a task's transforms."""

    def read(task: Task) -> Options:
        assigned = assignments("--set", others)
        given = read_options({"keep": keep, "sign": sign, "pin": pin, "by_id": by_id, "draw": draw})
        _require_once("--set", assigned.keys() & given.changed.keys())
        return read_task_options(task, assigned, given)

    return read


takes_changes = takes("changes", read_changes)


def _require_once(option: str, both: Collection[str]) -> None:
    """Refuse what is given by an option of its own and by another. Raises OptionError."""
    if both:
        name = min(both)
        raise OptionError(f"{name} is given twice, by --{name.replace('_', '-')} and by {option}")


def _asked(open: Callable[..., Opened], name: str, labels: str, task: str) -> Opened:
    """Open a model, for the named task if one is named. Raises ModelError and LabelError.

    What a model's config leaves open is asked for by the option that answers it.
    """
    try:
        asked = task_named(task) if task else None
        return open(name, read_labels(labels, asked), asked)
    except UnclearLabels as unclear:
        raise ModelError(f"{unclear} (the option is --labels)") from unclear
    except UnclearTask as unclear:
        raise ModelError(f"{unclear} (the option is --task)") from unclear


def opened(name: str, labels: str = "", task: str = "") -> AnyModel:
    """Load a model; warn where its labels seem wrong. Raises ModelError and LabelError."""
    found = _asked(open_model, name, labels, task)
    warn(found.warnings)
    if isinstance(found.model, Asked):
        typer.echo(capitalised(found.model.told), err=True)
    if isinstance(found.model, Served):
        connection = found.model.connection
        LAST_WORDS[connection.name] = lambda: connection.counted
    return found.model


def loaded_any(name: str, labels: str = "", task: str = "") -> AnyModel:
    """Load a model of any task, without a look at whether its labels seem wrong."""
    model = _asked(load_any, name, labels, task)
    warn(notes_of(model))
    return model


def loaded(name: str, labels: str = "", task: str = "") -> Classifier:
    """Load a model that answers with labels, without a look at whether these seem wrong."""
    model = _asked(load, name, labels, task)
    warn(notes_of(model))
    return model


def warn(warnings: Iterable[str]) -> None:
    """Say on standard error what a person should know."""
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)


def all_opened(names: Sequence[str], labels: Sequence[str], task: str = "") -> list[AnyModel]:
    """Load models; `labels` are of the form MODEL=LABELS. Raises ModelError and LabelError."""
    orders = {}
    for text in labels:
        name, _, orders[name] = text.rpartition("=")
        if name not in names:
            raise ModelError(
                f"--labels {text!r} is not of the form MODEL=LABELS with a --model's name"
            )
    return [opened(name, orders.get(name, ""), task) for name in names]
