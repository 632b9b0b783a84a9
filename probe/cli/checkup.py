"""`python -m probe checkup`: what the papers would say about one model."""

from pathlib import Path
from typing import Annotated

import typer

from probe.checkup.measure import Asked
from probe.checkup.page import checkup_page
from probe.checkup.report import (
    against,
    changes_words,
    check_up,
    read_report,
    too_low,
    without_rows,
)
from probe.cli.open_models import opened
from probe.cli.options import LabelOrder, PrecisionName, TaskName
from probe.cli.output import end_progress, make_folder, show_progress, write_json
from probe.data.rows import labelled
from probe.errors import CheckupError, writing
from probe.tasks.examples import bundled_examples

FAILED = 1
"""The exit code of a figure on the wrong side of its limit."""


def checkup_command(
    model: Annotated[str, typer.Argument(help="Bundled or inoculated name, folder, or hub id.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Labelled; else the bundled test set.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for report.html and report.json.")] = Path(
        "checkup"
    ),
    n: Annotated[int, typer.Option("--n", min=1, help="Examples changed in each way.")] = Asked.n,
    per_subcase: Annotated[
        int, typer.Option(min=1, help="Pairs of each sub-case of HANS.")
    ] = Asked.per_subcase,
    seed: Annotated[int, typer.Option(help="Draws the examples and the changes.")] = Asked.seed,
    older: Annotated[
        Path | None, typer.Option("--against", help="An older report.json to compare with.")
    ] = None,
    fail_under: Annotated[
        list[str], typer.Option(help="0.8 of the score, or NAME=0.6; may be repeated.")
    ] = [],  # noqa: B006
    reference: Annotated[
        Path | None, typer.Option(help="Also write the figures alone, as assets/checkups has them.")
    ] = None,
    task: TaskName = "",
    labels: LabelOrder = "",
    precision: PrecisionName = "auto",
) -> None:
    """Check a model up: every transform of its task, calibration, slices and HANS, in one report.

    Ends with exit code 1 where a figure is under its limit, or above it where less is better.
    """
    before = read_report(older) if older else None
    loaded = opened(model, labels, task)
    score = loaded.task.measure.lower()
    limits = dict(_limit(text, score) for text in fail_under)
    examples = labelled(file, loaded.task)[0] if file else bundled_examples(loaded.task, "test")
    make_folder(out)
    asked = Asked(n, per_subcase, seed, precision)
    report = check_up(
        loaded,
        model,
        examples,
        asked,
        file,
        lambda part, done, total: show_progress(f"{done}/{total} parts, {part:30}"),
    )
    end_progress()
    changes = against(before, report) if before else None
    write_json(report if changes is None else {**report, "changes": changes}, out / "report.json")
    with writing(out):
        (out / "report.html").write_text(checkup_page(report, changes), encoding="utf-8")
    if reference:
        write_json(without_rows(report), reference)
    for line in report["findings"]:
        typer.echo(line)
    for line in changes_words(changes) if changes is not None else ():
        typer.echo(line)
    for each in report["advice"]:
        typer.echo(f"try: {each['why']}: {each['command']}")
    typer.echo(f"written: {out / 'report.html'} and {out / 'report.json'}")
    if missed := too_low(report, limits):
        for line in missed:
            typer.echo(f"failed: {line}", err=True)
        raise typer.Exit(FAILED)


def _limit(text: str, score: str) -> tuple[str, float]:
    """Read a limit; a number alone is that of the score. Raises CheckupError."""
    name, _, number = text.rpartition("=")
    try:
        return name.strip() or score, float(number)
    except ValueError:
        raise CheckupError(
            f"--fail-under {text!r} is neither a share such as 0.8 nor of the form NAME=0.6"
        ) from None
