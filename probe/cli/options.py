"""Options that several commands share, and how their texts are read."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, get_args

import typer

from probe.errors import ModelError, OptionError
from probe.models.classifier import Classifier, Precision
from probe.models.errors import UnclearLabels, UnclearTask
from probe.models.library import AnyModel, full_name, load, load_any, notes_of, open_model
from probe.models.windows import LONG, LONG_TITLE, Long
from probe.tasks.task import Task, read_labels, task_named
from probe.transforms.options import Options, read_options
from probe.transforms.registry import read_task_options


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
Keep = Annotated[float, typer.Option(help="r, the share of tokens kept.")]
Sign = Annotated[str, typer.Option(help="support, gupta or abs.")]
Pin = Annotated[str, typer.Option(help="Marks that stay at the end.")]
ById = Annotated[bool, typer.Option("--by-id", help="Keep tokens by id, as Gupta's code.")]
Draw = Annotated[str, typer.Option(help="vocabulary or paper_code.")]
Assignments = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="An option of `transforms --options`."),
]


Texts = Annotated[
    list[str],
    typer.Option("--text", metavar="FIELD=VALUE", help="A text of the task by its field."),
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


def fields_of(
    task: Task, option: str, texts: Sequence[str], named: Mapping[str, str]
) -> dict[str, str]:
    """Return values by field from FIELD=VALUE texts and options of a field's own.

    Raises OptionError for a field that the task has not, or that is given in both ways.
    """
    assigned = assignments(option, texts)
    given = {name: value for name, value in named.items() if value}
    _require_once(option, assigned.keys() & given.keys())
    values = assigned | given
    unknown = [name for name in values if name not in task.fields]
    if unknown:
        fields = ", ".join(task.fields)
        raise OptionError(f"the task {task.name} has no text {unknown[0]!r}; it has: {fields}")
    return values


def read_example(task: Task, texts: Mapping[str, str], gold: str) -> Any:  # Any: the task's own
    """Return an example of a task; a text that is not given is empty. Raises LabelError."""
    whole = {field: texts.get(field, "") for field in task.fields}
    return task.example(**whole, gold=task.read_gold(gold))


def transform_options(
    task: Task, keep: float, sign: str, pin: str, by_id: bool, draw: str, others: Sequence[str]
) -> Options:
    """Read the options of a task's transforms. Raises OptionError."""
    assigned = assignments("--set", others)
    given = read_options({"keep": keep, "sign": sign, "pin": pin, "by_id": by_id, "draw": draw})
    _require_once("--set", assigned.keys() & given.changed.keys())
    return read_task_options(task, assigned, given)


def _require_once(option: str, both: Collection[str]) -> None:
    """Refuse what is given by an option of its own and by another. Raises OptionError."""
    if both:
        name = min(both)
        raise OptionError(f"{name} is given twice, by --{name.replace('_', '-')} and by {option}")


def opened(name: str, labels: str = "", task: str = "") -> AnyModel:
    """Load a model, for the named task if one is named; warn where its labels seem wrong.

    Raises ModelError and LabelError.
    """
    with naming_options():
        asked = task_named(task) if task else None
        loaded = open_model(name, read_labels(labels, asked), asked)
    warn(loaded.warnings)
    return loaded.model


def loaded_any(name: str, labels: str = "", task: str = "") -> AnyModel:
    """Load a model of any task, without a look at whether its labels seem wrong."""
    with naming_options():
        asked = task_named(task) if task else None
        model = load_any(name, read_labels(labels, asked), asked)
    warn(notes_of(model))
    return model


def loaded(name: str, labels: str = "", task: str = "") -> Classifier:
    """Load a model as `opened` does, without a look at whether its labels seem wrong."""
    with naming_options():
        asked = task_named(task) if task else None
        model = load(name, read_labels(labels, asked), asked)
    warn(notes_of(model))
    return model


def warn(warnings: Iterable[str]) -> None:
    """Say on standard error what a person should know."""
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)


@contextmanager
def naming_options() -> Iterator[None]:
    """Say by which option a person answers what a model's config leaves open."""
    try:
        yield
    except UnclearLabels as unclear:
        raise ModelError(f"{unclear} (the option is --labels)") from unclear
    except UnclearTask as unclear:
        raise ModelError(f"{unclear} (the option is --task)") from unclear


def all_opened(names: Sequence[str], labels: Sequence[str], task: str = "") -> list[AnyModel]:
    """Load models; `labels` are of the form MODEL=LABELS. Raises ModelError and LabelError."""
    orders = dict(_named(text, names) for text in labels)
    return [opened(name, orders.get(name, ""), task) for name in names]


def _named(text: str, names: Sequence[str]) -> tuple[str, str]:
    name, _, order = text.rpartition("=")
    if name not in names:
        raise ModelError(f"--labels {text!r} is not of the form MODEL=LABELS with a --model's name")
    return name, order
