"""Options that several commands share, and how their texts are read."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, get_args

import typer

from probe.errors import OptionError
from probe.models.classifier import Precision
from probe.transforms.options import Options, read_options


def one_of(name: str, choices: tuple[str, ...]) -> Callable[[str], Any]:
    """Return the reader of an option that is one of a Literal's values. It raises OptionError."""

    def read(value: str) -> Any:  # Any: one of a Literal's values
        if value not in choices:
            raise OptionError(f"--{name} {value!r} is not one of {', '.join(choices)}")
        return value

    return read


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PrecisionName = Annotated[
    Precision,
    typer.Option(
        metavar="<str>",
        parser=one_of("precision", get_args(Precision)),
        help="auto, fp32 or bf16.",
    ),
]

ModelName = Annotated[str, typer.Option(help="Bundled or inoculated name, folder, or hub id.")]
LabelOrder = Annotated[
    str,
    typer.Option("--labels", help="The labels of the outputs in their order, with commas between."),
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

Keep = Annotated[float, typer.Option(help="r, the share of tokens kept.")]
Sign = Annotated[str, typer.Option(help="support, gupta or abs.")]
Pin = Annotated[str, typer.Option(help="Marks that stay at the end.")]
ById = Annotated[bool, typer.Option("--by-id", help="Keep tokens by id, as Gupta's code.")]
Draw = Annotated[str, typer.Option(help="vocabulary or paper_code.")]
Assignments = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="An option of `transforms --options`."),
]


def transform_options(
    keep: float, sign: str, pin: str, by_id: bool, draw: str, assignments: Sequence[str]
) -> Options:
    """Read the options of the transforms. Raises OptionError."""
    wrong = [text for text in assignments if "=" not in text]
    if wrong:
        raise OptionError(f"--set {wrong[0]!r} is not of the form NAME=VALUE")
    named = {"keep": keep, "sign": sign, "pin": pin, "by_id": by_id, "draw": draw}
    return read_options(named | dict(text.split("=", 1) for text in assignments))
