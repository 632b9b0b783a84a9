"""Options that several commands of `python -m finetune` have alike."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from finetune.training.recipes import Mode
from probe.cli.options import choice

ModeName = Annotated[
    Mode, choice("mode", get_args(Mode), "full: all weights, as published; fast: the upper ones.")
]
Seeds = Annotated[str, typer.Option(help="Each draws its own examples and dropout.")]
Rate = Annotated[float | None, typer.Option(help="The usual one of its kind, if none.")]
Epochs = Annotated[int, typer.Option(help="Of each training.")]
Batch = Annotated[int | None, typer.Option(help="As the model was trained, if none.")]
Tests = Annotated[int, typer.Option(help="How many test examples are destroyed.")]
Share = Annotated[float, typer.Option(help="Of the examples, those destroyed too.")]
Original = Annotated[Path | None, typer.Option(help="Split into dev and test.")]
InsteadOfBundled = Annotated[Path | None, typer.Option(help="Instead of the bundled ones.")]
SampleSeed = Annotated[int, typer.Option(help="Splits --original.")]
